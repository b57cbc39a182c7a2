"""Proximal points: r <- solution of the problem with u + eps (r - r_before), eps adapted to what Newton can do.

Each step is a regular problem. Along the null directions of W it moves by (residual) / eps, which is what cures rank
deficiency, where sweeps creep and plain Newton takes wrong active sets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from spatialops._arrays import Array
from spatialops.contact.cone.gauss_seidel import sweep
from spatialops.contact.cone.newton import map_norm, newton

if TYPE_CHECKING:
    from spatialops.contact.cone.system import System


@dataclass(frozen=True)
class Proximal:
    """Options of the proximal-point method.

    Parameters
    ----------
    map : int
        `NATURAL` or `DISCS`.
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
    target: float = 1e-14

    def improve(self, system: System, r: Array) -> int:
        """Change r in place to the best point found; returns the Newton steps taken."""
        center, eps, taken = r.copy(), self.eps, 0
        now = best = map_norm(system, center, self.map)
        for _ in range(self.steps):
            wanted = max(1e-2 * min(now, 1.0) * min(eps, 1.0), 0.1 * self.target)
            trial, steps, reached = self._inner(system, center, eps, wanted)
            taken += steps
            if reached <= max(wanted, noise(trial)):
                center, now = trial, map_norm(system, trial, self.map)
                eps = max(eps * (0.1 if steps <= 8 else 0.3 if steps <= 25 else 0.7), 1e-12)
            else:
                if reached < 0.5 * now:  # not there, but on the way
                    center = trial
                else:
                    sweep(system, center, 10)
                now, eps = map_norm(system, center, self.map), min(5.0 * eps, 10.0)
            if now < best:
                best, r[:] = now, center
            if best <= max(self.target, 0.1 * noise(r)) or taken > self.budget:
                break
        return taken

    def _inner(self, system: System, center: Array, eps: float, wanted: float) -> tuple[Array, int, float]:
        """Solve one regularised problem: Newton from its centre, or where that fails from some sweeps on it."""
        trial = center.copy()
        steps, reached = newton(system, trial, self.map, self.inner, wanted, eps, center)
        if reached <= max(wanted, noise(trial)):
            return trial, steps, reached
        trial = center.copy()
        sweep(system, trial, 10, eps, center)
        more, reached = newton(system, trial, self.map, self.inner, wanted, eps, center)
        return trial, steps + more, reached


def noise(r: Array) -> float:
    """What rounding may leave of |F| at impulses r, W being of size one."""
    return 1e-14 * max(1.0, float(np.abs(r).max(initial=0.0)))
