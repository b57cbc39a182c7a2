"""min z.H z / 2 + c.z over z >= 0, C z >= d by daqp or clarabel, and the multipliers of C z >= d.

As a program of its own the problem keeps its symmetric Hessian; as the complementarity problem of its conditions it has
twice the size and a semidefinite matrix that is not symmetric, on which these libraries fail.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from spatialops._arrays import Array
from spatialops.contact.lcp.basis import polish
from spatialops.contact.lcp.convex_qp import ConvexQP
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP, point
from spatialops.contact.lcp.status import Status
from spatialops.errors import MissingLibraryError


def solve_program(conditions: MixedLCP, size: int, solver: ConvexQP) -> LCPSolution:
    """Solve the program whose conditions, (z, y) with z (size,), are 0 <= z _|_ H z + c - C^T y, 0 <= y _|_ C z - d.

    Raises
    ------
    MissingLibraryError
        If the solver's library is not installed.
    """
    A, b = np.asarray(conditions.A), conditions.b
    run = _daqp if solver.library == "daqp" else _clarabel
    scale = max(float(np.abs(b).max(initial=0.0)), 1e-300)
    try:
        z, iterations = run(A[:size, :size], b[:size] / scale, A[size:, :size], -b[size:] / scale)
    except ImportError as error:
        raise MissingLibraryError(
            f"the solver 'qp' needs {solver.library}, which is not installed: pip install 'spatialops[qp]'"
        ) from error
    z, _ = polish(conditions, scale * np.maximum(np.where(np.isfinite(z), z, 0.0), 0.0), solver.tolerance)
    return point(conditions, z, Status.INACCURATE, iterations, f"program ({solver.library})", solver.tolerance)


def _daqp(H: Array, c: Array, C: Array, d: Array) -> tuple[Array, int]:
    import daqp

    n, far = c.size, 1e30
    z, _, _, info = daqp.solve(
        np.ascontiguousarray(H),
        c.copy(),
        np.ascontiguousarray(C),
        np.full(n + d.size, far),
        np.concatenate([np.zeros(n), d]),
        np.zeros(n + d.size, dtype=np.int32),
        primal_tol=1e-11,
        dual_tol=1e-11,
        eps_prox=1e-6,
        iter_limit=10000,
    )
    return np.concatenate([z, -np.asarray(info["lam"])[n:]]), int(info["iterations"])


def _clarabel(H: Array, c: Array, C: Array, d: Array) -> tuple[Array, int]:
    import clarabel

    settings: Any = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    rows, right = scipy.sparse.csc_matrix(-np.vstack([np.eye(c.size), C])), -np.concatenate([np.zeros(c.size), d])
    upper = scipy.sparse.csc_matrix(np.triu(H))
    cones = [clarabel.NonnegativeConeT(right.size)]
    answer = clarabel.DefaultSolver(upper, c, rows, right, cones, settings).solve()
    return np.concatenate([np.asarray(answer.x), np.asarray(answer.z)[c.size :]]), int(answer.iterations)
