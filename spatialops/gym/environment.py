"""One environment of a scene, as Gymnasium has it."""

from __future__ import annotations

from typing import TypeAlias

import gymnasium
import numpy as np
from gymnasium.spaces import Box

from spatialops._arrays import Array, array, instance, whole
from spatialops.gym.task import Task
from spatialops.gym.world import World

Infos: TypeAlias = dict[str, object]


class SceneEnv(gymnasium.Env[Array, Array]):
    """A task on a scene as a Gymnasium environment.

    Actions are cut to their space. An environment whose simulation fails is cut off (truncated),
    and ``info["failure"]`` says why. What the functions of the task get has B = 1.

    Parameters
    ----------
    task : Task
        Scene, rewards and all that is asked.

    Examples
    --------
    >>> import numpy as np, spatialops as so
    >>> from spatialops.gym import SceneEnv, Task
    >>> task = Task(
    ...     simulator=so.Simulator(so.models.pendulum(2).scene(), dt=0.01),
    ...     reward=lambda moment: -np.abs(moment.q[:, 0]),
    ...     action_limit=2.0,
    ... )
    >>> env = SceneEnv(task)
    >>> observation, info = env.reset(seed=1)
    >>> observation, reward, terminated, truncated, info = env.step(np.array([0.5, 0.0]))
    >>> observation.shape, terminated, truncated
    ((4,), False, False)
    """

    metadata: Infos = {"render_modes": []}  # noqa: RUF012  # as Gymnasium declares it

    def __init__(self, task: Task) -> None:
        instance(task, Task, "task")
        self._world = World(task, task.simulator, 1, 1)
        self.action_space = Box(self._world.low, self._world.high, dtype=np.float64)
        self.observation_space = observation_space(self._world)
        self.render_mode = None

    def reset(
        self, *, seed: int | None = None, options: Infos | None = None
    ) -> tuple[Array, Infos]:
        """Begin anew.

        Parameters
        ----------
        seed : int, optional
            Of all chance from here on. Default: it goes on.
        options : dict, optional
            None are known.

        Returns
        -------
        observation : (k,) array
            What is seen.
        info : dict
            Empty.
        """
        super().reset(seed=None if seed is None else whole(seed, "seed", low=0))
        self._world.begin({0: self.np_random})
        return self._world.observe()[0], {}

    def step(self, action: Array) -> tuple[Array, float, bool, bool, Infos]:
        """Act.

        Parameters
        ----------
        action : (n_actions,) array
            Joint forces or controls; cut to the action space.

        Returns
        -------
        observation : (k,) array
            What is seen.
        reward : float
            For what was done.
        terminated, truncated : bool
            Whether the task has ended; whether its time is over or the simulation failed.
        info : dict
            "failure": why the simulation failed, where it did.

        Raises
        ------
        ArgumentError
            For a wrong shape, NaN or infinity.
        """
        given = array(action, self.action_space.shape, "action")
        found = self._world.act(given[None], {})
        info: Infos = {"failure": found.failures[0]} if found.failures else {}
        over = bool(found.ended[0]), bool(found.cut[0])
        return found.observations[0], float(found.rewards[0]), *over, info

    def close(self) -> None:
        """Let go of what it holds."""
        self._world.batch.close()


def observation_space(world: World) -> Box:
    """What one environment of a world can see: any numbers."""
    return Box(-np.inf, np.inf, world.observe().shape[1:], dtype=np.float64)
