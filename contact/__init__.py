"""Contact problems: complementarity problems, cone problems, formulations and solvers."""

from spatialops.contact.certificate import Certificate, certify
from spatialops.contact.cone.convex import ConvexCone, ConvexSolution
from spatialops.contact.cone.fallback_solver import ConeLadder, ConeSolver
from spatialops.contact.cone.problem import ConeProblem, ConeSolution
from spatialops.contact.cone.residual import Residuals
from spatialops.contact.cone.solvers import ConeGaussSeidel, ConeInteriorPoint, ConeNewton
from spatialops.contact.decompression import decompression
from spatialops.contact.fclib import load_fclib, load_fclib_solution, save_fclib
from spatialops.contact.formulations import FORMULATIONS, check_formulation
from spatialops.contact.formulations.formulation import Formulation
from spatialops.contact.formulations.mc import MinimalCoordinates
from spatialops.contact.formulations.nmc import NonMinimalCoordinates
from spatialops.contact.formulations.nmc_os import NonMinimalOperationalSpace
from spatialops.contact.formulations.operational_space import OperationalSpace
from spatialops.contact.formulations.rmc import ReducedMinimalCoordinates
from spatialops.contact.formulations.trinkle import Trinkle
from spatialops.contact.indeterminacy import Indeterminacy, indeterminacy
from spatialops.contact.laws import LAWS, check_law
from spatialops.contact.laws.as_printed import (
    PrintedPivots,
    RowIndices,
    find_indices,
    modified_ppm,
)
from spatialops.contact.laws.compliant import Compliant
from spatialops.contact.laws.cone import ConeCoulomb
from spatialops.contact.laws.convex import Convex, ConvexLawSolution
from spatialops.contact.laws.coulomb import Coulomb
from spatialops.contact.laws.frictionless import Frictionless
from spatialops.contact.laws.law import Law, LawSolution
from spatialops.contact.laws.max_dissipation import MaxDissipation
from spatialops.contact.laws.no_slip import NoSlip
from spatialops.contact.laws.pairwise import Pairwise
from spatialops.contact.laws.viscous import Viscous
from spatialops.contact.lcp.bounds import Recovery
from spatialops.contact.lcp.convex_qp import ConvexQP
from spatialops.contact.lcp.enumeration import Enumeration
from spatialops.contact.lcp.exact import ExactLemke
from spatialops.contact.lcp.interior_point import InteriorPoint
from spatialops.contact.lcp.ladder import Auto
from spatialops.contact.lcp.lemke import Lemke
from spatialops.contact.lcp.newton import Newton
from spatialops.contact.lcp.principal_pivoting import PrincipalPivoting
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP
from spatialops.contact.lcp.projected_gauss_seidel import ProjectedGaussSeidel
from spatialops.contact.lcp.solver import Handles, Solver
from spatialops.contact.lcp.status import Status
from spatialops.contact.problem import ContactProblem, ContactSolution
from spatialops.contact.solve import solve

__all__ = [
    "ContactProblem",
    "ContactSolution",
    "Certificate",
    "certify",
    "decompression",
    "modified_ppm",
    "PrintedPivots",
    "find_indices",
    "RowIndices",
    "Indeterminacy",
    "indeterminacy",
    "MixedLCP",
    "Recovery",
    "LCPSolution",
    "Status",
    "FORMULATIONS",
    "Formulation",
    "check_formulation",
    "OperationalSpace",
    "NonMinimalCoordinates",
    "MinimalCoordinates",
    "ReducedMinimalCoordinates",
    "NonMinimalOperationalSpace",
    "Trinkle",
    "Auto",
    "ConvexQP",
    "Enumeration",
    "ExactLemke",
    "InteriorPoint",
    "Lemke",
    "Newton",
    "PrincipalPivoting",
    "ProjectedGaussSeidel",
    "Handles",
    "Solver",
    "ConeGaussSeidel",
    "ConeInteriorPoint",
    "ConeLadder",
    "ConeNewton",
    "ConeProblem",
    "ConeSolution",
    "ConeSolver",
    "ConvexCone",
    "ConvexSolution",
    "Residuals",
    "load_fclib",
    "load_fclib_solution",
    "save_fclib",
    "LAWS",
    "check_law",
    "Law",
    "LawSolution",
    "Compliant",
    "ConeCoulomb",
    "Convex",
    "ConvexLawSolution",
    "Coulomb",
    "Frictionless",
    "MaxDissipation",
    "NoSlip",
    "Pairwise",
    "Viscous",
    "solve",
]
