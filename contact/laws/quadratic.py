"""min z.H z / 2 + c.z over z >= 0, C z >= d by daqp or clarabel, and the multipliers of C z >= d.

As a program of its own the problem keeps its symmetric Hessian; as the complementarity problem of
its conditions it has twice the size and a semidefinite matrix that is not symmetric, on which these
libraries fail.
"""

from __future__ import annotations

import numpy as np

from spatialops._arrays import NOTHING
from spatialops.contact.lcp.basis import polish
from spatialops.contact.lcp.convex_qp import WHO, ConvexQP
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP, point
from spatialops.contact.lcp.status import Status
from spatialops.contact.qp import QuadraticProgram, by_clarabel, by_daqp


def solve_program(conditions: MixedLCP, size: int, solver: ConvexQP) -> LCPSolution:
    """Solve the program whose `conditions` are 0 <= z _|_ H z + c - C^T y, 0 <= y _|_ C z - d.

    The first `size` unknowns are z.

    Raises
    ------
    MissingLibraryError
        If the solver's library is not installed.
    """
    A, b = np.asarray(conditions.A), conditions.b
    scale = max(float(np.abs(b).max(initial=0.0)), NOTHING)
    H, C = A[:size, :size], A[size:, :size]
    lower = np.concatenate([np.zeros(size), -b[size:] / scale])
    program = QuadraticProgram(H, b[:size] / scale, C, lower, np.full(len(b), np.inf))
    solve = by_daqp if solver.library == "daqp" else by_clarabel
    found = solve(program, WHO)
    z = np.concatenate([found.x, found.multipliers[size:]])
    z, _ = polish(
        conditions, scale * np.maximum(np.where(np.isfinite(z), z, 0.0), 0.0), solver.tolerance
    )
    name = f"program ({solver.library})"
    return point(conditions, z, Status.INACCURATE, found.iterations, name, solver.tolerance)
