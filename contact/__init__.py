"""Contact problems: complementarity problems, formulations and solvers."""

from spatialops.contact.lcp.lemke import Lemke
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP
from spatialops.contact.lcp.solve import Solver, solve
from spatialops.contact.lcp.status import Status

__all__ = ["LCPSolution", "Lemke", "MixedLCP", "Solver", "Status", "solve"]
