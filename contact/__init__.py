"""Contact problems: complementarity problems, cone problems, formulations and solvers."""

from spatialops.contact.cone.convex import ConvexCone, ConvexSolution
from spatialops.contact.cone.ladder import ConeLadder, ConeSolver
from spatialops.contact.cone.problem import ConeProblem, ConeSolution
from spatialops.contact.cone.residual import Residuals
from spatialops.contact.cone.solvers import ConeGaussSeidel, ConeInteriorPoint, ConeNewton
from spatialops.contact.formulations.operational_space import OperationalSpace
from spatialops.contact.lcp.lemke import Lemke
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP
from spatialops.contact.lcp.solve import Solver, solve
from spatialops.contact.lcp.status import Status
from spatialops.contact.problem import ContactProblem

__all__ = [
    "ConeGaussSeidel",
    "ConeInteriorPoint",
    "ConeLadder",
    "ConeNewton",
    "ConeProblem",
    "ConeSolution",
    "ConeSolver",
    "ConvexCone",
    "ConvexSolution",
    "ContactProblem",
    "LCPSolution",
    "Lemke",
    "MixedLCP",
    "OperationalSpace",
    "Residuals",
    "Solver",
    "Status",
    "solve",
]
