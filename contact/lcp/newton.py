"""Semismooth Newton on the Fischer-Burmeister function or the minimum map, damped where need be.

A complementary pair is a zero of phi(z, w) = z + w - sqrt(z^2 + w^2) (Fischer 1992), or of min(z,
w). Newton's step on all rows together is followed by a line search on |phi|^2 / 2 of Fischer and
Burmeister, which is smooth; where the step does not descend, Levenberg's does (De Luca, Facchinei
and Kanzow 1996).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias, get_args

import numpy as np
import scipy

from spatialops._arrays import Array, ArrayLike, is_one_of, scalar
from spatialops.contact.lcp.basis import polish
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP, point
from spatialops.contact.lcp.solver import Handles, checked_start, dense_problem
from spatialops.contact.lcp.status import Status
from spatialops.errors import ArgumentError

Function: TypeAlias = Literal["fischer-burmeister", "min"]

_FLAT = 1e-12  # slope of the merit, relative to its root, of a point that is no solution: a minimum
_DESCENT = 1e-10  # cosine between a direction and the gradient below which it does not descend
_ARMIJO = 2e-4  # part of the decrease that the slope promises, of |phi|^2
_DAMPING = (1e-8, 1e-4, 1e-1)  # Levenberg's, times |phi|^2, which counts as no less than
_LEAST = 1e-6
_NEAR = 1e-4  # |phi|^2 from which on the basis of every iterate is tried
_KINK = 1e-300  # radius below which Fischer and Burmeister's function is at its kink


@dataclass(frozen=True)
class Newton:
    """Semismooth Newton on all rows together, with a line search and Levenberg's damping.

    Proved: every accumulation point is a solution for P0-matrices (positive semidefinite ones among
    them) where the Jacobian stays regular, and for P-matrices always; quadratic, in the end exact,
    where the solution is regular. For others it may stop at a local minimum of the merit function:
    STALLED.

    Parameters
    ----------
    tolerance : float
        Largest accepted residual, relative to the problem's scale.
    function : {"fischer-burmeister", "min"}
        Whose Newton step is tried first; the merit function is Fischer and Burmeister's.
    max_iterations : int
        Newton steps.
    """

    tolerance: float = 1e-9
    function: Function = "fischer-burmeister"
    max_iterations: int = 100

    handles: ClassVar[Handles] = Handles(proved=("P",))

    def __post_init__(self) -> None:
        scalar(self.tolerance, "tolerance", low=0.0)
        if not is_one_of(self.function, get_args(Function)):
            raise ArgumentError(
                f"function: expected one of {', '.join(get_args(Function))}, got {self.function!r}"
            )

    def solve(self, problem: MixedLCP, warm_start: ArrayLike | None = None) -> LCPSolution:
        """Solve by damped Newton steps.

        Parameters
        ----------
        problem : MixedLCP
            Dense or sparse, free rows first.
        warm_start : (n,) array_like, optional
            Where to start; default: zero.

        Returns
        -------
        LCPSolution
            `status` is SOLVED only if the residual in the original data is at most `tolerance`.
        """
        problem = dense_problem(problem)
        n, n_free = problem.size, problem.n_free
        a, unit = np.abs(problem.A).max(initial=0.0), np.abs(problem.b).max(initial=0.0)
        if n == 0 or a == 0.0 or unit == 0.0:
            return point(problem, np.zeros(n), Status.INACCURATE, 0, "newton", self.tolerance)
        A = problem.A / a
        b = problem.b / unit
        back = unit / a
        start = checked_start(problem, warm_start)
        y = np.zeros(n) if start is None else start / back
        best = y * back
        smallest = problem.residual(y * back)
        status = Status.ITERATION_LIMIT
        recent: list[float] = []
        k = 0
        for k in range(self.max_iterations):
            if smallest <= self.tolerance:
                break
            phi, J = fischer_burmeister(A, b, n_free, y)
            recent = [*recent[-4:], float(phi @ phi)]
            if k % 4 == 3 or recent[-1] < _NEAR:
                candidate, found = polish(problem, y * back, self.tolerance, 2)
                if found < smallest:
                    best, smallest = candidate, found
            step = self._step(A, b, n_free, y, phi, J, max(recent))
            if step is None:
                status = Status.STALLED
                break
            y = y + step
        candidate, found = polish(problem, y * back, self.tolerance)
        best = candidate if found < smallest else best
        return point(problem, best, status, k, "newton", self.tolerance)

    def _step(
        self, A: Array, b: Array, n_free: int, y: Array, phi: Array, J: Array, worst: float
    ) -> Array | None:
        """A step that makes the merit smaller than the `worst` of late; None if there is none."""
        gradient = J.T @ phi
        merit, steepness = phi @ phi, np.sqrt(gradient @ gradient)
        if not steepness > _FLAT * np.sqrt(merit):
            return None
        for direction in self._directions(A, b, n_free, y, phi, J, gradient):
            slope = gradient @ direction
            if not np.isfinite(slope) or slope > -_DESCENT * steepness * np.sqrt(
                direction @ direction
            ):
                continue
            for halvings in range(25):
                t = float(np.ldexp(1.0, -halvings))
                trial = values(A, b, n_free, y + t * direction)
                if trial @ trial <= worst + _ARMIJO * t * slope:
                    return t * direction
        return None

    def _directions(
        self, A: Array, b: Array, n_free: int, y: Array, phi: Array, J: Array, gradient: Array
    ) -> Iterator[Array]:
        """Newton's step of the chosen function, of the other, then ever steeper descent."""
        if self.function == "min":
            yield _newton_step(*minimum_map(A, b, n_free, y))
        yield _newton_step(J, phi)
        least = max(float(phi @ phi), _LEAST)
        normal = J.T @ J
        for damping in _DAMPING:
            try:
                factor = scipy.linalg.cho_factor(normal + damping * least * np.eye(y.size))
            except scipy.linalg.LinAlgError:
                continue
            yield -scipy.linalg.cho_solve(factor, gradient)
        yield -gradient


def values(A: Array, b: Array, n_free: int, y: Array) -> Array:
    """The value phi (n,): w on free rows, y + w - sqrt(y^2 + w^2) on the others."""
    w = A @ y + b
    return np.where(np.arange(y.size) < n_free, w, y + w - np.hypot(y, w))


def fischer_burmeister(A: Array, b: Array, n_free: int, y: Array) -> tuple[Array, Array]:
    """The value phi (n,) and an element (n, n) of its generalized Jacobian."""
    w = A @ y + b
    radius = np.hypot(y, w)
    kink = radius <= _KINK
    safe = np.where(kink, 1.0, radius)
    corner = 1.0 - np.sqrt(0.5)
    of_y, of_w = np.where(kink, corner, 1.0 - y / safe), np.where(kink, corner, 1.0 - w / safe)
    of_y[:n_free], of_w[:n_free] = 0.0, 1.0
    phi = y + w - radius
    phi[:n_free] = w[:n_free]
    return phi, of_w[:, None] * A + np.diag(of_y)


def minimum_map(A: Array, b: Array, n_free: int, y: Array) -> tuple[Array, Array]:
    """Jacobian (n, n) of min(y, w), w on free rows, and its value (n,)."""
    w = A @ y + b
    inactive = y < w
    inactive[:n_free] = False
    return np.where(inactive[:, None], np.eye(y.size), A), np.where(inactive, y, w)


def _newton_step(J: Array, phi: Array) -> Array:
    try:
        return np.asarray(-np.linalg.solve(J, phi))
    except np.linalg.LinAlgError:
        return np.full(phi.size, np.nan)
