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
    of threads. When one that has ended begins anew is said by Gymnasium's `AutoresetMode`.

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
    autoreset_mode : AutoresetMode or str
        "NextStep", the default: one that has ended begins anew with the next step, whose action it
        ignores and whose reward is zero. "SameStep": with the step that ends it; what was seen last
        is ``infos["final_obs"][e]``, and what was said of it in ``infos["final_info"]``.
        "Disabled": when ``reset(options={"reset_mask": mask})`` says so.

    Raises
    ------
    ArgumentError
        For another mode.

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
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    ) -> None:
        instance(task, Task, "task")
        self._mode = _checked_mode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self._mode}
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
        """Have all begin anew, or some.

        Parameters
        ----------
        seed : int or sequence of int, optional
            Environment e gets seed + e, or its own. Default: chance goes on.
        options : dict, optional
            "reset_mask": (B,) bool array, of those that begin anew. Default: all.

        Returns
        -------
        observations : (B, k) array
            What is seen, of all.
        infos : dict
            Empty.

        Raises
        ------
        ArgumentError
            For seeds that are not whole numbers, or not as many as environments, and such a mask.
        """
        chosen = self._chosen(options or {})
        seeds: Sequence[int | None] = ()
        if isinstance(seed, (int, np.integer)):
            seeds = range(int(seed), int(seed) + self.num_envs)
        elif seed is not None:
            seeds = several(seed, "seed", "whole numbers or None")
            if len(seeds) != self.num_envs:
                raise ArgumentError(f"seed: expected one or {self.num_envs}, got {len(seeds)}")
        for e, own in enumerate(seeds):
            if own is not None and chosen[e]:
                own = whole(own, "seed", low=0)
                self._generators[e] = seeding.np_random(own)[0]
        self._begin(chosen)
        return self._world.observe(), {}

    def _chosen(self, options: Infos) -> BoolArray:
        """Which environments are asked to begin anew."""
        mask = np.asarray(options.get("reset_mask", np.ones(self.num_envs, dtype=bool)))
        if mask.dtype != np.bool_ or mask.shape != (self.num_envs,):
            raise ArgumentError(
                f"reset_mask: expected {self.num_envs} of True or False, got {mask.dtype} of shape "
                f"{mask.shape}"
            )
        return mask

    def _begin(self, chosen: BoolArray) -> None:
        self._world.begin({int(e): self._generators[e] for e in np.flatnonzero(chosen)})
        self._over[chosen] = False

    def step(self, actions: Array) -> tuple[Array, Array, BoolArray, BoolArray, Infos]:
        """Act in all of them.

        Parameters
        ----------
        actions : (B, n_actions) array
            Joint forces or controls; cut to the action space.

        Returns
        -------
        observations : (B, k) array
            What is seen; of those that begin anew, their beginning.
        rewards : (B,) array
            For what was done.
        terminated, truncated : (B,) bool array
            Whether the task has ended; whether its time is over or the simulation failed.
        infos : dict
            "failure": why simulations failed, where one did; and as the mode says.

        Raises
        ------
        ArgumentError
            For a wrong shape, NaN or infinity; in the mode "Disabled" where one that has ended was
            not reset.
        """
        if self._mode == AutoresetMode.DISABLED and self._over.any():
            raise ArgumentError(
                f"step: environments {np.flatnonzero(self._over).tolist()} have ended; call "
                'reset(options={"reset_mask": mask}) first'
            )
        again = {int(e): self._generators[e] for e in np.flatnonzero(self._over)}
        found = self._world.act(actions, again)
        self._over = found.ended | found.cut
        said: dict[int, Infos] = {e: {"failure": text} for e, text in found.failures.items()}
        seen = found.observations
        infos: Infos = {}
        if self._mode == AutoresetMode.SAME_STEP and self._over.any():
            for e in np.flatnonzero(self._over).tolist():
                said[e] = {"final_obs": seen[e].copy(), "final_info": said.get(e, {})}
            self._begin(self._over.copy())
            seen = self._world.observe()
        for e, own in said.items():
            infos = self._add_info(infos, own, e)
        return seen, found.rewards, found.ended, found.cut, infos

    def close_extras(self, **kwargs: object) -> None:
        """Let the threads go."""
        self._world.batch.close()


def _checked_mode(mode: AutoresetMode | str) -> AutoresetMode:
    try:
        return AutoresetMode(mode)
    except ValueError:
        known = ", ".join(repr(one.value) for one in AutoresetMode)
        raise ArgumentError(f"autoreset_mode: expected one of {known}, got {mode!r}") from None
