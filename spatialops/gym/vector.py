"""Many environments of a scene that step together, as Gymnasium's vector environments do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from gymnasium.spaces import Box
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from spatialops._arrays import Array, BoolArray, instance, several, whole
from spatialops.errors import ArgumentError
from spatialops.gym.environment import Infos, observation_space
from spatialops.gym.task import Task
from spatialops.gym.world import World
from spatialops.simulation.simulator import Simulator


class SceneVectorEnv(VectorEnv[Array, Array, Array]):
    """A task on many environments of a scene, which step on several threads.

    Environment e with seed s does what a `SceneEnv` with seed s + e does, to the bit, on any number
    of threads. One that has ended begins anew with the next step, whose action it ignores and
    whose reward is zero (`AutoresetMode.NEXT_STEP`).

    Parameters
    ----------
    task : Task
        Scene, rewards and all that is asked.
    num_envs : int
        How many environments.
    simulators : sequence of Simulator, optional
        One for each environment, where they differ: in masses, friction, gravity, gains. Default:
        all are of the task's.
    threads : int, optional
        Default: the processors that this process may use.

    Examples
    --------
    >>> import numpy as np, spatialops as so
    >>> from spatialops.gym import SceneVectorEnv, Task
    >>> task = Task(
    ...     simulator=so.Simulator(so.models.pendulum(2).scene(), dt=0.01),
    ...     reward=lambda moment: -np.abs(moment.q[:, 0]),
    ...     action_limit=2.0,
    ... )
    >>> envs = SceneVectorEnv(task, 4)
    >>> observations, infos = envs.reset(seed=1)
    >>> observations, rewards, terminated, truncated, infos = envs.step(np.zeros((4, 2)))
    >>> observations.shape, rewards.shape
    ((4, 4), (4,))
    >>> envs.close()
    """

    metadata: Infos = {  # noqa: RUF012  # as Gymnasium declares it
        "render_modes": [],
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        task: Task,
        num_envs: int,
        *,
        simulators: Sequence[Simulator] | None = None,
        threads: int | None = None,
    ) -> None:
        instance(task, Task, "task")
        each = task.simulator if simulators is None else simulators
        self._world = World(task, each, num_envs, threads)
        self.num_envs = self._world.size
        self.single_action_space = Box(self._world.low, self._world.high, dtype=np.float64)
        self.single_observation_space = observation_space(self._world)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self._generators = [seeding.np_random()[0] for _ in range(self.num_envs)]
        self._over = np.zeros(self.num_envs, dtype=bool)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: Infos | None = None,
    ) -> tuple[Array, Infos]:
        """Have all begin anew.

        Parameters
        ----------
        seed : int or sequence of int, optional
            Environment e gets seed + e, or its own. Default: chance goes on.
        options : dict, optional
            None are known.

        Returns
        -------
        observations : (B, k) array
            What is seen.
        infos : dict
            Empty.

        Raises
        ------
        ArgumentError
            For seeds that are not whole numbers, or not as many as environments.
        """
        seeds: Sequence[int | None] = ()
        if isinstance(seed, (int, np.integer)):
            seeds = range(int(seed), int(seed) + self.num_envs)
        elif seed is not None:
            seeds = several(seed, "seed", "whole numbers or None")
            if len(seeds) != self.num_envs:
                raise ArgumentError(f"seed: expected one or {self.num_envs}, got {len(seeds)}")
        for e, own in enumerate(seeds):
            if own is not None:
                own = whole(own, "seed", low=0)
                self._generators[e] = seeding.np_random(own)[0]
        self._world.begin(dict(enumerate(self._generators)))
        self._over[:] = False
        return self._world.observe(), {}

    def step(self, actions: Array) -> tuple[Array, Array, BoolArray, BoolArray, Infos]:
        """Act in all of them.

        Parameters
        ----------
        actions : (B, n_actions) array
            Joint forces or controls; cut to the action space.

        Returns
        -------
        observations : (B, k) array
            What is seen.
        rewards : (B,) array
            For what was done.
        terminated, truncated : (B,) bool array
            Whether the task has ended; whether its time is over or the simulation failed.
        infos : dict
            "failure": why simulations failed, where one did.

        Raises
        ------
        ArgumentError
            For a wrong shape, NaN or infinity.
        """
        again = {int(e): self._generators[e] for e in np.flatnonzero(self._over)}
        found = self._world.act(actions, again)
        self._over = found.ended | found.cut
        infos: Infos = {}
        for e, text in found.failures.items():
            infos = self._add_info(infos, {"failure": text}, e)
        return found.observations, found.rewards, found.ended, found.cut, infos

    def close_extras(self, **kwargs: object) -> None:
        """Let the threads go."""
        self._world.batch.close()
