"""Newton's method on F(x, u(x)) = 0, F semismooth and u affine, with a nonmonotone line search.

The Jacobian has a shift that follows the residual: where u's matrix is singular, a shifted step
moves along its null directions as a proximal step does. A step must lower the largest |F|^2 of the
last ones by a share (L. Grippo, F. Lampariello, S. Lucidi, A nonmonotone line search technique for
Newton's method, 1986), or is halved.

`contact.cone.newton` is the same method compiled for dense matrices of the cone's own maps.
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from spatialops._arrays import Array

# The shift is this part of |F|, between two bounds, and grows where the matrix is singular.
SHIFT_RATE = 0.01
LEAST_SHIFT = 1e-15
MOST_SHIFT = 0.1
SHIFT_GROWTH = 100.0
SHIFTS = 8  # of them at one point
DESCENT = 1e-4
HALVINGS = 12
_WINDOW = 4  # steps that the line search looks back


class SemismoothMap(Protocol):
    """What Newton's method asks of a map."""

    def speeds(self, x: Array) -> Array:
        """Return u(x)."""

    def change(self, step: Array) -> Array:
        """Return u(x + step) - u(x)."""

    def value(self, x: Array, u: Array) -> Array:
        """Return F."""

    def direction(self, x: Array, u: Array, F: Array, shift: float) -> Array | None:
        """Return the Newton step with the shifted Jacobian; None where that is singular."""


def semismooth_newton(
    of: SemismoothMap, x: Array, limit: int, target: float
) -> tuple[Array, float, int]:
    """Seek F = 0 from x.

    Parameters
    ----------
    of : SemismoothMap
        The map.
    x : (n,) array
        The start, which is left as it is.
    limit : int
        Most steps.
    target : float
        |F| at which to stop.

    Returns
    -------
    best : (n,) array
        The best point on the way.
    least : float
        |F| there.
    taken : int
        Steps.
    """
    u = of.speeds(x)
    F = of.value(x, u)
    best, least = x, float(F @ F)
    recent = [least]
    taken = 0
    while taken < limit and least > target * target:
        step = _direction(of, x, u, F)
        if step is None:
            break
        taken += 1
        alpha = _length(of, x, u, step, max(recent))
        if alpha == 0.0:
            break
        x = x + alpha * step
        u = of.speeds(x)
        F = of.value(x, u)
        merit = float(F @ F)
        recent = [*recent[1 - _WINDOW :], merit]
        if merit < least:
            best, least = x, merit
    return best, math.sqrt(least), taken


def _direction(of: SemismoothMap, x: Array, u: Array, F: Array) -> Array | None:
    """Newton's step with the least shift that makes the Jacobian regular."""
    shift = float(np.clip(SHIFT_RATE * np.linalg.norm(F), LEAST_SHIFT, MOST_SHIFT))
    for _ in range(SHIFTS):
        step = of.direction(x, u, F, shift)
        if step is not None and np.isfinite(step).all():
            return step
        shift *= SHIFT_GROWTH
    return None


def _length(of: SemismoothMap, x: Array, u: Array, step: Array, bound: float) -> float:
    """How much of a step to take, 0 where no part of it helps."""
    du = of.change(step)
    alpha = 1.0
    for _ in range(HALVINGS):
        F = of.value(x + alpha * step, u + alpha * du)
        if F @ F <= (1.0 - DESCENT * alpha) * bound:
            return alpha
        alpha *= 0.5
    return 0.0
