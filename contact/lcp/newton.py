"""Semismooth Newton on the Fischer-Burmeister function or the minimum map, with Levenberg's damping where it must be.

A complementary pair is a zero of phi(z, w) = z + w - sqrt(z^2 + w^2) (Fischer 1992), or of min(z, w). Newton's step on
all rows together is followed by a line search on |phi|^2 / 2 of Fischer and Burmeister, which is smooth; where the step
does not descend, Levenberg's does (De Luca, Facchinei and Kanzow 1996).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy

from spatialops._arrays import Array
from spatialops.contact.lcp.basis import polish
from spatialops.contact.lcp.handles import Handles
from spatialops.contact.lcp.problem import LCPSolution, MixedLCP, point
from spatialops.contact.lcp.status import Status
from spatialops.errors import ArgumentError

FUNCTIONS = ("fischer-burmeister", "min")


@dataclass(frozen=True)
class Newton:
    """Semismooth Newton.

    Proved: every accumulation point is a solution for P0-matrices (positive semidefinite ones among them) where the
    Jacobian stays regular, and for P-matrices always; quadratic, in the end exact, where the solution is regular.
    For others it may stop at a local minimum of the merit function: STALLED.

    Parameters
    ----------
    tolerance : float
        Largest accepted residual, relative to the problem's scale.
    function : {"fischer-burmeister", "min"}
        Whose Newton step is tried first; the merit function is Fischer and Burmeister's.
    max_iterations : int
    """

    tolerance: float = 1e-9
    function: str = "fischer-burmeister"
    max_iterations: int = 100

    handles: ClassVar[Handles] = Handles(proved=("P",))

    def __post_init__(self) -> None:
        if self.function not in FUNCTIONS:
            raise ArgumentError(f"function: expected one of {', '.join(FUNCTIONS)}, got {self.function!r}")

    def solve(self, problem: MixedLCP, warm_start: Any = None) -> LCPSolution:
        """Solve, starting from `warm_start` (n,) or from zero."""
        problem = problem.dense()
        n, n_free = problem.size, problem.n_free
        a, unit = np.abs(problem.A).max(initial=0.0), np.abs(problem.b).max(initial=0.0)
        if n == 0 or a == 0.0 or unit == 0.0:
            return point(problem, np.zeros(n), Status.INACCURATE, 0, "newton", self.tolerance)
        A, b, back = problem.A / a, problem.b / unit, unit / a
        y = np.zeros(n) if warm_start is None else np.asarray(warm_start, dtype=np.float64) / back
        best, smallest, status = y * back, problem.residual(y * back), Status.ITERATION_LIMIT
        recent: list[float] = []
        k = 0
        for k in range(self.max_iterations):
            if smallest <= self.tolerance:
                break
            phi, J = fischer_burmeister(A, b, n_free, y)
            recent = [*recent[-4:], float(phi @ phi)]
            if k % 4 == 3 or recent[-1] < 1e-4:
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

    def _step(self, A: Array, b: Array, n_free: int, y: Array, phi: Array, J: Array, worst: float) -> Array | None:
        """A step that makes the merit smaller than the `worst` of late; None if there is none."""
        gradient = J.T @ phi
        merit, steepness = phi @ phi, np.sqrt(gradient @ gradient)
        if not steepness > 1e-12 * np.sqrt(merit):
            return None
        for direction in self._directions(A, b, n_free, y, phi, J, gradient):
            slope = gradient @ direction
            if not np.isfinite(slope) or slope > -1e-10 * steepness * np.sqrt(direction @ direction):
                continue
            for halvings in range(25):
                t = float(np.ldexp(1.0, -halvings))
                trial = values(A, b, n_free, y + t * direction)
                if trial @ trial <= worst + 2e-4 * t * slope:
                    return t * direction
        return None

    def _directions(
        self, A: Array, b: Array, n_free: int, y: Array, phi: Array, J: Array, gradient: Array
    ) -> Iterator[Any]:
        """Newton's step of the chosen function, of the other one, then Levenberg's ever nearer to steepest descent."""
        if self.function == "min":
            yield _newton_step(*minimum_map(A, b, n_free, y))
        yield _newton_step(J, phi)
        least = max(float(phi @ phi), 1e-6)
        normal = J.T @ J
        for damping in (1e-8, 1e-4, 1e-1):
            try:
                factor = scipy.linalg.cho_factor(normal + damping * least * np.eye(y.size))
            except scipy.linalg.LinAlgError:
                continue
            yield -scipy.linalg.cho_solve(factor, gradient)
        yield -gradient


def values(A: Array, b: Array, n_free: int, y: Array) -> Array:
    """Phi (n,): w on free rows, y + w - sqrt(y^2 + w^2) on the others."""
    w = A @ y + b
    return np.where(np.arange(y.size) < n_free, w, y + w - np.hypot(y, w))


def fischer_burmeister(A: Array, b: Array, n_free: int, y: Array) -> tuple[Array, Array]:
    """Phi (n,) and an element (n, n) of its generalized Jacobian."""
    w = A @ y + b
    radius = np.hypot(y, w)
    kink = radius <= 1e-300
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


def _newton_step(J: Array, phi: Array) -> Any:
    try:
        return -np.linalg.solve(J, phi)
    except np.linalg.LinAlgError:
        return np.full(phi.size, np.nan)
