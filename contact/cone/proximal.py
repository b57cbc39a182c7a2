"""Proximal points: r <- the solution with u + eps (r - r_before), eps as small as Newton can do.

Each step is a regular problem. Along the null directions of W it moves by (residual) / eps, which
is what cures rank deficiency, where sweeps creep and plain Newton takes wrong active sets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from spatialops._arrays import Array
from spatialops.contact.cone.gauss_seidel import sweep
from spatialops.contact.cone.newton import TARGET, map_norm, newton

if TYPE_CHECKING:
    from spatialops.contact.cone.scaled_problem import ScaledProblem

_INNER = 1e-2  # part of |F| that a regularised problem must be solved to
# The range of the weight eps.
_LEAST = 1e-12
_MOST = 10.0
# Its next one, by Newton's steps for the last: (up to so many, factor).
_FAST = (8, 0.1)
_SLOW = (25, 0.3)
_SLOWEST = 0.7
_GROWTH = 5.0  # after a failure
_ROUNDED = 0.1  # of the target or of rounding: a residual below it needs not fall


@dataclass(frozen=True)
class Proximal:
    """Options of the proximal-point method.

    Parameters
    ----------
    map : int
        `DE_SAXCE` or `ALART_CURNIER`.
    eps : float
        First weight of the proximal term; the scaled W has diagonal blocks of size one.
    steps, inner, budget : int
        Most proximal steps, Newton steps in each, and Newton steps altogether.
    target : float
        |F| at which to stop.
    """

    map: int
    eps: float = 0.1
    steps: int = 60
    inner: int = 20
    budget: int = 1200
    target: float = TARGET

    def improve(self, system: ScaledProblem, r: Array) -> int:
        """Change r in place to the best point found; returns the Newton steps taken."""
        center = r.copy()
        eps = self.eps
        taken = 0
        now = best = map_norm(system, center, self.map)
        for _ in range(self.steps):
            wanted = max(_INNER * min(now, 1.0) * min(eps, 1.0), _ROUNDED * self.target)
            trial, steps, reached = self._inner(system, center, eps, wanted)
            taken += steps
            if reached <= max(wanted, noise(trial)):
                center, now = trial, map_norm(system, trial, self.map)
                eps = max(eps * _shrunk(steps), _LEAST)
            else:
                if reached < 0.5 * now:  # not there, but on the way
                    center = trial
                else:
                    sweep(system, center, 10)
                now, eps = map_norm(system, center, self.map), min(_GROWTH * eps, _MOST)
            if now < best:
                best, r[:] = now, center
            if best <= max(self.target, _ROUNDED * noise(r)) or taken > self.budget:
                break
        return taken

    def _inner(
        self, system: ScaledProblem, center: Array, eps: float, wanted: float
    ) -> tuple[Array, int, float]:
        """Solve one regularised problem by Newton from its centre, or from some sweeps on it."""
        trial = center.copy()
        steps, reached = newton(system, trial, self.map, self.inner, wanted, eps, center)
        if reached <= max(wanted, noise(trial)):
            return trial, steps, reached
        trial = center.copy()
        sweep(system, trial, 10, eps, center)
        more, reached = newton(system, trial, self.map, self.inner, wanted, eps, center)
        return trial, steps + more, reached


def _shrunk(steps: int) -> float:
    """Factor of the weight after an inner problem that took so many steps of Newton's."""
    for most, factor in (_FAST, _SLOW):
        if steps <= most:
            return factor
    return _SLOWEST


def noise(r: Array) -> float:
    """What rounding may leave of |F| at impulses r, W being of size one."""
    return TARGET * max(1.0, float(np.abs(r).max(initial=0.0)))
