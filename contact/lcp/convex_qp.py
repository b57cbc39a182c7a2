"""Monotone problems as convex quadratic programs, by daqp or clarabel.

Symmetric A: the problem is the optimality condition of min z.A z / 2 + b.z over z >= 0 (free z
unbounded). Any other A whose symmetric part is semidefinite: min z.(A z + b) over z >= 0, A z + b
>= 0 (= 0 on free rows), whose least value is zero where there is a solution (Cottle, Pang and Stone
1992, section 3.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, get_args

import numpy as np
import scipy

from spatialops._arrays import ArrayLike, is_one_of, scalar
from spatialops.contact.lcp.basis import polish
from spatialops.contact.lcp.infeasibility import infeasible
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP, point
from spatialops.contact.lcp.scaling import equilibrated
from spatialops.contact.lcp.solver import Handles, dense_problem, not_applicable
from spatialops.contact.lcp.status import Status
from spatialops.contact.qp import Library, QuadraticProgram, by_clarabel, by_daqp, load
from spatialops.errors import ArgumentError

WHO = "the solver 'qp'"
_SYMMETRIC = 1e-14  # difference of A and A^T, relative to A, that is rounding
_INDEFINITE = 1e-10  # below minus this an eigenvalue of the scaled symmetric part is negative
# Tolerances asked of the libraries: the basis they point to is solved anew.
_DAQP = 1e-10
_CLARABEL = 1e-11


@dataclass(frozen=True)
class ConvexQP:
    """Convex quadratic programming, for positive semidefinite A, symmetric or not.

    Proved for these: SOLVED, or NO_SOLUTION with a certificate. Others are refused.

    Parameters
    ----------
    tolerance : float
        Largest accepted residual, relative to the problem's scale.
    library : {"daqp", "clarabel"}
        daqp is a dual active-set method, quick on small problems; clarabel an interior point for
        larger ones. They come with the extra ``spatialops[qp]``.

    Raises
    ------
    MissingLibraryError
        By `solve`, if the library is not installed.
    """

    tolerance: float = 1e-9
    library: Library = "daqp"

    handles: ClassVar[Handles] = Handles(
        proved=("positive semidefinite",),
        semidefinite=True,
        warm_start=False,
        shows_no_solution=True,
    )

    def __post_init__(self) -> None:
        scalar(self.tolerance, "tolerance", low=0.0)
        if not is_one_of(self.library, get_args(Library)):
            raise ArgumentError(
                f"library: expected one of {', '.join(get_args(Library))}, got {self.library!r}"
            )

    def solve(self, problem: MixedLCP, warm_start: ArrayLike | None = None) -> LCPSolution:
        """Solve as a program, and the basis that its answer points to.

        Parameters
        ----------
        problem : MixedLCP
            Dense or sparse, free rows first.
        warm_start : (n,) array_like, optional
            Not used.

        Returns
        -------
        LCPSolution
            SOLVED, NO_SOLUTION with a certificate, or NOT_APPLICABLE where A is not semidefinite.

        Raises
        ------
        MissingLibraryError
            If the library is not installed.
        """
        problem, name = dense_problem(problem), f"qp ({self.library})"
        load(self.library, WHO)
        if problem.size == 0:
            return point(problem, np.zeros(0), Status.SOLVED, 0, name, self.tolerance)
        easier, scales = equilibrated(problem)
        lowest = float(scipy.linalg.eigvalsh(easier.A + easier.A.T)[0])
        if lowest < -_INDEFINITE * max(1.0, np.abs(easier.A).max()):
            reason = f"the symmetric part of A has the eigenvalue {lowest / 2.0:.2e} (scaled)"
            return not_applicable(problem, name, f"{reason}: it is not semidefinite")
        program = _program(easier)
        if self.library == "daqp":
            found = by_daqp(program, WHO, primal=_DAQP, dual=_DAQP)
        else:
            found = by_clarabel(program, WHO, tolerance=_CLARABEL, proof=_CLARABEL)
        usable = found.status != "none" and bool(np.isfinite(found.x).all())
        z = scales.back(found.x) if usable else np.zeros(problem.size)
        z[problem.n_free :] = np.maximum(z[problem.n_free :], 0.0)
        z, residual = polish(problem, z, self.tolerance)
        status = Status.INACCURATE
        if not residual <= self.tolerance and infeasible(problem) is not None:
            status = Status.NO_SOLUTION
        return point(problem, z, status, found.iterations, name, self.tolerance)


def _program(problem: MixedLCP) -> QuadraticProgram:
    """The convex program whose least point solves a monotone problem."""
    A, b = problem.A, problem.b
    n = problem.size
    free = np.arange(n) < problem.n_free
    lower, upper = np.where(free, -np.inf, 0.0), np.full(n, np.inf)
    if np.abs(A - A.T).max() <= _SYMMETRIC * np.abs(A).max():
        return QuadraticProgram(0.5 * (A + A.T), b, np.zeros((0, n)), lower, upper)
    equal = np.where(free, -b, np.inf)
    return QuadraticProgram(
        A + A.T, b, A, np.concatenate([lower, -b]), np.concatenate([upper, equal])
    )
