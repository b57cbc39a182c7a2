"""One step of a Runge-Kutta rule on (q, v), with its error where the rule has a pair."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.simulation.stepping.integrators.runge_kutta import rates
from spatialops.tree.state import integrate_kernel

Accelerations = Callable[[float, Array, Array], Array]

# J. R. Dormand, P. J. Prince, A family of embedded Runge-Kutta formulae, J. Comput. Appl. Math. 6
# (1980).
_NODES = (0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0)
_ROWS: tuple[tuple[float, ...], ...] = (
    (),
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
)
_STAGES = tuple(np.array(row) for row in _ROWS)
_FIFTH = np.array([35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84])
_ERROR = np.array([71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40])


class Step(NamedTuple):
    """The state after a step, and its error over the tolerance (0 where the rule does not tell)."""

    q: Array
    v: Array
    error: float


class RungeKutta:
    """A rule for q' = rates(q, v), v' = a(t, q, v); quaternions get unit length at the end."""

    def __init__(self, tree: IntArray, method: str, tolerance: float) -> None:
        self.tree, self.tolerance = tree, tolerance
        self.step = self._dormand_prince if method == "dormand-prince" else self._classical

    def _slope(self, a: Accelerations, time: float, q: Array, v: Array) -> Array:
        out = np.empty(q.size + v.size)
        rates(self.tree, q, v, out[: q.size])
        out[q.size :] = a(time, q, v)
        return out

    def _unit(self, y: Array, nq: int) -> tuple[Array, Array]:
        q, still = np.empty(nq), np.zeros(y.size - nq)
        integrate_kernel(self.tree, y[:nq].copy(), still, 0.0, q)
        return q, y[nq:].copy()

    def _dormand_prince(self, a: Accelerations, time: float, q: Array, v: Array, h: float) -> Step:
        nq, y = q.size, np.concatenate([q, v])
        slopes = np.empty((7, y.size))
        for i, (node, weights) in enumerate(zip(_NODES, _STAGES, strict=True)):
            at = y + h * (weights @ slopes[:i])
            slopes[i] = self._slope(a, time + node * h, at[:nq], at[nq:])
        end = y + h * (_FIFTH @ slopes[:6])
        slopes[6] = self._slope(a, time + h, end[:nq], end[nq:])
        miss = h * (_ERROR @ slopes)
        scale = self.tolerance * (1.0 + np.maximum(np.abs(y), np.abs(end)))
        return Step(*self._unit(end, nq), float(np.abs(miss / scale).max(initial=0.0)))

    def _classical(self, a: Accelerations, time: float, q: Array, v: Array, h: float) -> Step:
        nq, y = q.size, np.concatenate([q, v])
        slopes = [self._slope(a, time, q, v)]
        for share in (0.5, 0.5, 1.0):
            at = y + share * h * slopes[-1]
            slopes.append(self._slope(a, time + share * h, at[:nq].copy(), at[nq:].copy()))
        end = y + h / 6.0 * (slopes[0] + 2.0 * slopes[1] + 2.0 * slopes[2] + slopes[3])
        return Step(*self._unit(end, nq), 0.0)
