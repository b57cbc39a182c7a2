"""Monotone problems as convex quadratic programs, by libraries that are kept up elsewhere: daqp and clarabel.

Symmetric A: the problem is the optimality condition of min z.A z / 2 + b.z over z >= 0 (free z unbounded). Any other A
whose symmetric part is semidefinite: min z.(A z + b) over z >= 0, A z + b >= 0 (= 0 on free rows), whose least value is
zero where there is a solution (Cottle, Pang and Stone 1992, section 3.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy

from spatialops._arrays import Array
from spatialops.contact.lcp.basis import polish
from spatialops.contact.lcp.certificate import infeasible
from spatialops.contact.lcp.handles import Handles, not_applicable
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP, point
from spatialops.contact.lcp.scaling import equilibrated
from spatialops.contact.lcp.status import Status
from spatialops.errors import ArgumentError, MissingLibraryError

LIBRARIES = ("daqp", "clarabel")


@dataclass(frozen=True)
class ConvexQP:
    """Convex quadratic programming.

    Proved for positive semidefinite A, symmetric or not: SOLVED, or NO_SOLUTION with a certificate. Others are refused.

    Parameters
    ----------
    tolerance : float
        Largest accepted residual, relative to the problem's scale.
    library : {"daqp", "clarabel"}
        daqp is a dual active-set method, quick on small problems; clarabel an interior point for larger ones. They come
        with the extra ``spatialops[qp]``.

    Raises
    ------
    MissingLibraryError
        By `solve`, if the library is not installed.
    """

    tolerance: float = 1e-9
    library: str = "daqp"

    handles: ClassVar[Handles] = Handles(
        proved=("positive semidefinite",), semidefinite=True, warm_start=False, shows_no_solution=True
    )

    def __post_init__(self) -> None:
        if self.library not in LIBRARIES:
            raise ArgumentError(f"library: expected one of {', '.join(LIBRARIES)}, got {self.library!r}")

    def solve(self, problem: MixedLCP, warm_start: Any = None) -> LCPSolution:
        """Solve; `warm_start` is not used."""
        problem, name = problem.dense(), f"qp ({self.library})"
        run = _import_solver(self.library)
        if problem.size == 0:
            return point(problem, np.zeros(0), Status.SOLVED, 0, name, self.tolerance)
        easier, scales = equilibrated(problem)
        lowest = float(scipy.linalg.eigvalsh(easier.A + easier.A.T)[0])
        if lowest < -1e-10 * max(1.0, np.abs(easier.A).max()):
            reason = f"the symmetric part of A has the eigenvalue {lowest / 2.0:.2e} (scaled): it is not semidefinite"
            return not_applicable(problem, name, reason)
        y, iterations = run(*_program(easier))
        z = np.zeros(problem.size) if y is None else scales.back(y)
        z[problem.n_free :] = np.maximum(z[problem.n_free :], 0.0)
        z, residual = polish(problem, z, self.tolerance)
        status = Status.INACCURATE
        if not residual <= self.tolerance and infeasible(problem) is not None:
            status = Status.NO_SOLUTION
        return point(problem, z, status, iterations, name, self.tolerance)


Program = tuple[Array, Array, Array, Array, Array, Array]


def _program(problem: MixedLCP) -> Program:
    """H, c, rows G and their bounds, lower and upper, the first n bounds those of z: min z.H z / 2 + c.z."""
    A, b, n, f = problem.A, problem.b, problem.size, problem.n_free
    lower, upper = np.where(np.arange(n) < f, -np.inf, 0.0), np.full(n, np.inf)
    if np.abs(A - A.T).max() <= 1e-14 * np.abs(A).max():
        return 0.5 * (A + A.T), b, np.zeros((0, n)), lower, upper, np.zeros(0)
    rest = np.where(np.arange(n) < f, -b, np.inf)
    return A + A.T, b, A, np.concatenate([lower, -b]), np.concatenate([upper, rest]), b


def _import_solver(library: str) -> Any:
    try:
        if library == "daqp":
            import daqp  # noqa: F401
        else:
            import clarabel  # noqa: F401
    except ImportError as error:
        raise MissingLibraryError(
            f"the solver 'qp' needs {library}, which is not installed: pip install 'spatialops[qp]'"
        ) from error
    return _daqp if library == "daqp" else _clarabel


def _daqp(H: Array, c: Array, G: Array, lower: Array, upper: Array, b: Array) -> tuple[Array | None, int]:
    import daqp

    sense = np.where(lower == upper, 5, 0).astype(np.int32)
    far = 1e30
    answer = daqp.solve(
        np.ascontiguousarray(H),
        c.copy(),
        np.ascontiguousarray(G),
        np.minimum(upper, far),
        np.maximum(lower, -far),
        sense,
        primal_tol=1e-10,
        dual_tol=1e-10,
        eps_prox=1e-6,
        iter_limit=10000,
    )
    z, _, flag, info = answer
    return (np.asarray(z) if flag > 0 and np.isfinite(z).all() else None), int(info["iterations"])


def _clarabel(H: Array, c: Array, G: Array, lower: Array, upper: Array, b: Array) -> tuple[Array | None, int]:
    import clarabel

    rows = np.vstack([np.eye(c.size), G])
    equal, below = lower == upper, np.isfinite(lower) & (lower != upper)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = 200
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    settings.tol_infeas_abs = settings.tol_infeas_rel = 1e-11
    cones = [clarabel.ZeroConeT(int(equal.sum())), clarabel.NonnegativeConeT(int(below.sum()))]
    matrix = scipy.sparse.csc_matrix(np.vstack([rows[equal], -rows[below]]))
    right = np.concatenate([lower[equal], -lower[below]])
    answer = clarabel.DefaultSolver(
        scipy.sparse.csc_matrix(np.triu(H)), c, matrix, right, [cone for cone in cones if cone.dim > 0], settings
    ).solve()
    z = np.asarray(answer.x)
    return (z if np.isfinite(z).all() else None), int(answer.iterations)
