"""Our solvers by their names."""

from __future__ import annotations

from dataclasses import dataclass

from spatialops._arrays import Array
from spatialops.contact.lcp.problem import MixedLCP
from spatialops.contact.solve import solve


@dataclass(frozen=True)
class Ours:
    """One of the solvers that `contact.solve` knows, as `LCPSolver` says.

    Attributes
    ----------
    name : str
    option : str
        How `contact.solve` calls it.
    """

    name: str
    option: str
    module: str = "spatialops"
    distribution: str = "spatialops"

    def solve(self, matrix: Array, vector: Array) -> Array | None:
        """What was found; None where its own residual says that it is no solution."""
        solution = solve(MixedLCP(matrix, vector), self.option)
        return solution.z if solution.solved else None


AUTO = Ours("spatialops-auto", "auto")
LEMKE = Ours("spatialops-lemke", "lemke")
PIVOTING = Ours("spatialops-pivoting", "principal-pivoting")
NEWTON = Ours("spatialops-newton", "newton")
INTERIOR_POINT = Ours("spatialops-interior-point", "interior-point")
