"""Lemke's method of QuantEcon, compiled by Numba."""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array
from spatialops.bench.engines.entrant import library


class QuantEcon:
    """As `LCPSolver` says."""

    name = "quantecon-lemke"
    module = "quantecon.optimize"
    distribution = "quantecon"

    def solve(self, matrix: Array, vector: Array) -> Array | None:
        """What was found, or None."""
        found = library(self).lcp_lemke(matrix, vector)
        return np.asarray(found.z) if found.success else None


QUANTECON = QuantEcon()
