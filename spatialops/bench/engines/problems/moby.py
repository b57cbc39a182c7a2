"""Drake's solver of complementarity problems, Moby's: pivoting with regularization."""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array
from spatialops.bench.engines.entrant import library


class Moby:
    """As `LCPSolver` says; time includes stating the program, Python's only way."""

    name = "drake-moby"
    module = "pydrake.all"
    distribution = "drake"

    def solve(self, matrix: Array, vector: Array) -> Array | None:
        """What was found, or None."""
        lib = library(self)
        program = lib.MathematicalProgram()
        z = program.NewContinuousVariables(len(vector))
        program.AddLinearComplementarityConstraint(matrix, vector, z)
        result = lib.MobyLcpSolver().Solve(program)
        return np.asarray(result.GetSolution(z)) if result.is_success() else None


MOBY = Moby()
