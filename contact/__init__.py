"""Contact problems: complementarity problems, formulations and solvers."""

from spatialops.contact.formulations import FORMULATIONS, Formulation, check_formulation
from spatialops.contact.formulations.mc import MinimalCoordinates
from spatialops.contact.formulations.nmc import NonMinimalCoordinates
from spatialops.contact.formulations.nmc_os import NonMinimalOperationalSpace
from spatialops.contact.formulations.operational_space import OperationalSpace
from spatialops.contact.formulations.rmc import ReducedMinimalCoordinates
from spatialops.contact.formulations.trinkle import Trinkle
from spatialops.contact.lcp.lemke import Lemke
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP
from spatialops.contact.lcp.solve import Solver, solve
from spatialops.contact.lcp.status import Status
from spatialops.contact.problem import ContactProblem, ContactSolution, Indeterminacy, indeterminacy

__all__ = [
    "ContactProblem",
    "ContactSolution",
    "Indeterminacy",
    "indeterminacy",
    "MixedLCP",
    "LCPSolution",
    "Status",
    "solve",
    "Solver",
    "Lemke",
    "FORMULATIONS",
    "Formulation",
    "check_formulation",
    "OperationalSpace",
    "NonMinimalCoordinates",
    "MinimalCoordinates",
    "ReducedMinimalCoordinates",
    "NonMinimalOperationalSpace",
    "Trinkle",
]
