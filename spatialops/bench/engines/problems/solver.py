"""What a solver of linear complementarity problems has to do to take part."""

from __future__ import annotations

from typing import Protocol

from spatialops._arrays import Array
from spatialops.bench.engines.entrant import Entrant


class LCPSolver(Entrant, Protocol):
    """Solves w = M z + q, w >= 0, z >= 0, z w = 0, with its own defaults; an object, no class."""

    def solve(self, matrix: Array, vector: Array) -> Array | None:
        """The z that was found for M (n, n) and q (n,); None where the solver says it failed."""
