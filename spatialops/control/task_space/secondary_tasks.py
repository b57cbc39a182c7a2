"""Secondary tasks: accelerations of what tasks leave free.

They add up: `lambda model, state: rest(model, state) + away(model, state)`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spatialops._arrays import Array, ArrayLike, IntArray, instance, not_finite, scalar, vector
from spatialops._compile.jit import kernel
from spatialops.algebra.vectors import is_finite
from spatialops.control.task_space.tasks import Task
from spatialops.tree.model import Model
from spatialops.tree.state import State, both_finite, difference_kernel, integrate

_LEVEL = 1e-12  # slope of the manipulability below which it points nowhere


@dataclass(frozen=True, eq=False, kw_only=True)
class Rest:
    """Pull towards a configuration: stiffness times the way there less damping times v.

    Parameters
    ----------
    q : (nq,) array_like
        Where joints are drawn to.
    stiffness : float, default 25
        1/s^2.
    damping : float, default 10
        1/s.

    Examples
    --------
    >>> import numpy as np
    >>> import spatialops as so
    >>> from spatialops.control import Rest
    >>> arm = so.models.pendulum(2)
    >>> state = so.State(np.array([0.1, 0.0]), np.array([0.0, 0.5]))
    >>> Rest(q=[0.0, 0.0])(arm.model, state).tolist()
    [-2.5, -5.0]
    """

    q: ArrayLike
    stiffness: float = 25.0
    damping: float = 10.0

    def __post_init__(self) -> None:
        scalar(self.stiffness, "stiffness", low=0.0)
        scalar(self.damping, "damping", low=0.0)

    def __call__(self, model: Model, state: State) -> Array:
        """Wanted accelerations.

        Parameters
        ----------
        model : Model
            The mechanism.
        state : State
            Configuration and velocity.

        Returns
        -------
        (nv,) array
            rad/s^2 or m/s^2.
        """
        instance(model, Model, "model")
        instance(state, State, "state")
        q, v = vector(state.q, model.nq, "q"), vector(state.v, model.nv, "v")
        goal = vector(self.q, model.nq, "q")
        pull = np.empty(model.nv)
        gains = float(self.stiffness), float(self.damping)
        if not rest_kernel(model.tree, q, v, goal, gains, pull):
            raise not_finite(q=q, v=v, goal=goal)
        return pull


@kernel
def rest_kernel(
    tree: IntArray, q: Array, v: Array, goal: Array, gains: tuple[float, float], pull: Array
) -> bool:
    """Stiffness times the way to a goal less damping times v; whether all of it is finite."""
    if not (both_finite(q, goal) and is_finite(v)):
        return False
    difference_kernel(tree, q, goal, pull)
    for k in range(v.size):
        pull[k] = gains[0] * pull[k] - gains[1] * v[k]
    return True


@dataclass(frozen=True, kw_only=True)
class JointLimits:
    """Push joints away from their limits, only near one.

    Parameters
    ----------
    margin : float, default 0.1
        Distance from a limit within which a joint is pushed, rad or m.
    stiffness : float, default 200
        1/s^2.
    damping : float, default 20
        1/s.

    References
    ----------
    F. Chaumette, E. Marchand, IEEE Trans. Robotics and Automation 17 (2001): avoidance
    that is active near limits only.
    """

    margin: float = 0.1
    stiffness: float = 200.0
    damping: float = 20.0

    def __call__(self, model: Model, state: State) -> Array:
        """Wanted accelerations.

        Parameters
        ----------
        model : Model
            The mechanism.
        state : State
            Configuration and velocity.

        Returns
        -------
        (nv,) array
            rad/s^2 or m/s^2.
        """
        result = np.zeros(model.nv)
        for name in model.joint_names:
            q, v = model.q_slice(name), model.v_slice(name)
            if q.stop - q.start != v.stop - v.start:
                continue
            x = state.q[q]
            low = model.lower[v] + self.margin
            high = model.upper[v] - self.margin
            inward = np.maximum(low - x, 0.0) - np.maximum(x - high, 0.0)
            result[v] = self.stiffness * inward - self.damping * state.v[v] * (inward != 0.0)
        return result


@dataclass(frozen=True, eq=False, kw_only=True)
class AwayFromSingularity:
    """Climb the manipulability sqrt(det J J^T) of a task, where it is too low.

    The gradient is taken by central differences: 2 nv Jacobians a call.

    Parameters
    ----------
    task : Task
        Whose Jacobian must keep its rank.
    enough : float
        Manipulability from which on nothing is done.
    gain : float, default 50
        Largest acceleration, rad/s^2 or m/s^2.
    step : float, default 1e-5
        Of the differences, rad or m.

    References
    ----------
    T. Yoshikawa, Manipulability of robotic mechanisms, Int. J. Robotics Research 4 (1985).
    """

    task: Task
    enough: float
    gain: float = 50.0
    step: float = 1e-5

    def manipulability(self, model: Model, q: Array) -> float:
        """The manipulability sqrt(det J J^T).

        Parameters
        ----------
        model : Model
            The mechanism.
        q : (nq,) array
            Coordinates.

        Returns
        -------
        float
            Zero at a singularity.
        """
        J = self.task.motion(model, State(q, np.zeros(model.nv))).J
        return float(np.sqrt(max(np.linalg.det(J @ J.T), 0.0)))

    def __call__(self, model: Model, state: State) -> Array:
        """Wanted accelerations.

        Parameters
        ----------
        model : Model
            The mechanism.
        state : State
            Configuration and velocity.

        Returns
        -------
        (nv,) array
            rad/s^2 or m/s^2.
        """
        here, gradient = self.manipulability(model, state.q), np.zeros(model.nv)
        if here >= self.enough:
            return gradient
        for j, move in enumerate(self.step * np.eye(model.nv)):
            ends = [
                self.manipulability(model, integrate(model, state.q, sign * move))
                for sign in (1.0, -1.0)
            ]
            gradient[j] = (ends[0] - ends[1]) / (2.0 * self.step)
        result: Array = (
            self.gain
            * (1.0 - here / self.enough)
            * gradient
            / max(float(np.linalg.norm(gradient)), _LEVEL)
        )
        return result
