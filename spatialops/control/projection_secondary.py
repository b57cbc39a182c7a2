"""Secondary tasks: accelerations of what tasks leave free. They add up: ``lambda m, s: rest(m, s) + away(m, s)``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spatialops._arrays import Array
from spatialops.control.projection_tasks import Task
from spatialops.tree.model import Model
from spatialops.tree.state import State, difference, integrate


@dataclass(frozen=True, eq=False, kw_only=True)
class Rest:
    """Pull towards a configuration q (nq,): stiffness (1/s^2) times the way there, damping (1/s) times -v."""

    q: Any
    stiffness: float = 25.0
    damping: float = 10.0

    def __call__(self, model: Model, state: State) -> Array:
        """Accelerations (nv,)."""
        result: Array = self.stiffness * difference(model, state.q, np.asarray(self.q)) - self.damping * state.v
        return result


@dataclass(frozen=True, kw_only=True)
class JointLimits:
    """Push joints away from their limits, only within `margin` (rad, m) of one; stiffness 1/s^2, damping 1/s.

    References
    ----------
    F. Chaumette, E. Marchand, IEEE Trans. Robotics and Automation 17 (2001): avoidance that is active near limits only.
    """

    margin: float = 0.1
    stiffness: float = 200.0
    damping: float = 20.0

    def __call__(self, model: Model, state: State) -> Array:
        """Accelerations (nv,)."""
        result = np.zeros(model.nv)
        for name in model.joint_names:
            q, v = model.q_slice(name), model.v_slice(name)
            if q.stop - q.start != v.stop - v.start:
                continue
            x, low, high = state.q[q], model.lower[v] + self.margin, model.upper[v] - self.margin
            inward = np.maximum(low - x, 0.0) - np.maximum(x - high, 0.0)
            result[v] = self.stiffness * inward - self.damping * state.v[v] * (inward != 0.0)
        return result


@dataclass(frozen=True, eq=False, kw_only=True)
class AwayFromSingularity:
    """Climb the manipulability sqrt(det J J^T) of a task, where it is below `enough`.

    The gradient is taken by central differences: 2 nv Jacobians a call.
    """

    task: Task
    enough: float
    gain: float = 50.0
    step: float = 1e-5

    def manipulability(self, model: Model, q: Array) -> float:
        """sqrt(det J J^T)."""
        J = self.task.motion(model, State(q, np.zeros(model.nv))).J
        return float(np.sqrt(max(np.linalg.det(J @ J.T), 0.0)))

    def __call__(self, model: Model, state: State) -> Array:
        """Accelerations (nv,)."""
        here, gradient = self.manipulability(model, state.q), np.zeros(model.nv)
        if here >= self.enough:
            return gradient
        for j, move in enumerate(self.step * np.eye(model.nv)):
            ends = [self.manipulability(model, integrate(model, state.q, sign * move)) for sign in (1.0, -1.0)]
            gradient[j] = (ends[0] - ends[1]) / (2.0 * self.step)
        result: Array = self.gain * (1.0 - here / self.enough) * gradient / max(float(np.linalg.norm(gradient)), 1e-12)
        return result
