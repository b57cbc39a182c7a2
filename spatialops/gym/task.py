"""What is to be learned on a scene: what is seen, what can be done, and what is good."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from spatialops._arrays import Array, ArrayLike, IntArray, array, dimensions, scalar, several, whole
from spatialops.errors import ArgumentError
from spatialops.simulation.simulator import Simulator
from spatialops.tree.state import State


@dataclass(frozen=True, eq=False)
class Moment:
    """B environments behind an action, or where they begin.

    Parameters
    ----------
    q : (B, nq) array
        Coordinates.
    v : (B, nv) array
        Velocities.
    time : (B,) array
        Since each began, s.
    action : (B, n_actions) array
        The last one, within its limits; zero where an environment begins.
    forces : (B, n_geoms, 3) array or None
        Mean contact forces of the last step on the geoms, world axes, N, where the task has them.
    sensors : dict of str to (B, k) array
        Readings of the simulators' sensors behind the last step, by name. Where an environment
        begins, NaN of those that need a step.
    activation : (B, n_states) array
        What actuators with a state have come to.
    """

    q: Array
    v: Array
    time: Array
    action: Array
    forces: Array | None
    sensors: dict[str, Array]
    activation: Array


Rule: TypeAlias = Callable[[Moment], ArrayLike]


@dataclass(frozen=True, eq=False, kw_only=True)
class Task:
    """A task on a scene, for one environment and for many.

    Its functions are called with arrays over all environments: written with ``moment.q[:, 0]``,
    they serve any number.

    Parameters
    ----------
    simulator : Simulator
        Of the scene. What its sensors read is in the moments, with noise by the environments'
        seeds: new whenever one begins.
    reward : callable
        ``reward(moment) -> (B,)``.
    observe : callable, optional
        ``observe(moment) -> (B, k)``. Default: q and v.
    ended : callable, optional
        ``ended(moment) -> (B,) of bool``: whether the task has ended, well or badly. Default: it
        never does.
    begin : callable, optional
        ``begin(rng) -> State`` for one environment; all chance comes from the generator. Default:
        the scene's state.
    joints : sequence of str, optional
        Actions are the forces of these joints, N m or N. Default: the controls of the scene's
        actuators; where it has none, the forces of all joints.
    action_limit : float or (n_actions,) array_like, optional
        Actions lie within +- this. Default: effort limits, or the ranges of the controls.
    steps : int
        Steps of the simulator for which an action holds. Default 1.
    duration : float
        An environment is cut off after this time, s. Default 10.
    forces : bool or sequence of str
        Whether moments have contact forces; or the names of the geoms on which they are. Default
        False.

    Raises
    ------
    ArgumentError
        For what these cannot be, and actions without limits.

    Examples
    --------
    >>> import numpy as np, spatialops as so
    >>> from spatialops.gym import Task
    >>> simulator = so.Simulator(so.models.pendulum(2).scene(), dt=0.01)
    >>> task = Task(
    ...     simulator=simulator,
    ...     reward=lambda moment: -np.abs(moment.q[:, 0]) - 1e-3 * moment.action[:, 0] ** 2,
    ...     begin=lambda rng: so.State(rng.uniform(-0.1, 0.1, 2), np.zeros(2)),
    ...     action_limit=2.0,
    ... )
    >>> task.limits()
    (array([-2., -2.]), array([2., 2.]))
    """

    simulator: Simulator
    reward: Rule
    observe: Rule | None = None
    ended: Rule | None = None
    begin: Callable[[np.random.Generator], State] | None = None
    joints: Sequence[str] | None = None
    action_limit: ArrayLike | None = None
    steps: int = 1
    duration: float = 10.0
    forces: bool | Sequence[str] = False

    def __post_init__(self) -> None:
        if not isinstance(self.simulator, Simulator):
            raise ArgumentError(f"simulator: expected a Simulator, got {self.simulator!r}")
        for name in ("reward", "observe", "ended", "begin"):
            rule = getattr(self, name)
            if not (callable(rule) or (rule is None and name != "reward")):
                raise ArgumentError(f"{name}: expected a function, got {rule!r}")
        whole(self.steps, "steps", low=1)
        scalar(self.duration, "duration", low=0.0, strict=True)
        low, high = self.limits()
        if not np.isfinite([low, high]).all():
            raise ArgumentError(
                "action_limit: some actions have no limits of their own: give them here"
            )

    @property
    def by_controls(self) -> bool:
        """Whether actions are controls of actuators."""
        return self.joints is None and bool(self.simulator.scene.actuators)

    def columns(self) -> IntArray:
        """Where the actions stand in tau, or in ctrl, (n_actions,)."""
        scene = self.simulator.scene
        if self.by_controls:
            return np.arange(len(scene.actuators))
        every = np.arange(scene.model.nv)
        if self.joints is None:
            return every
        joints = several(self.joints, "joints", "names")
        parts = [every[scene.model.v_slice(joint)] for joint in joints]
        return np.concatenate([every[:0], *parts])

    def limits(self) -> tuple[Array, Array]:
        """Lowest and highest actions, (n_actions,) each.

        Returns
        -------
        low, high : (n_actions,) array
            N m or N, or as the controls have them.
        """
        scene, columns = self.simulator.scene, self.columns()
        if self.action_limit is not None:
            one = dimensions(self.action_limit, "action_limit") == 0
            limit = np.asarray(self.action_limit)
            given = np.broadcast_to(limit, columns.shape) if one else limit
            high = array(given, columns.shape, "action_limit").copy()
            if (high < 0.0).any():
                raise ArgumentError(f"action_limit: expected limits >= 0, got {limit}")
            return -high, high
        if self.by_controls:
            ranges = np.array([one.ctrl_range for one in scene.actuators])
            return ranges[:, 0].copy(), ranges[:, 1].copy()
        high = scene.model.effort_limit[columns]
        return -high, high
