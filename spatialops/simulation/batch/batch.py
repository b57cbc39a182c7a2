"""B environments of one scene, or of like scenes, that step together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeVar

import numpy as np

from spatialops._arrays import (
    Array,
    ArrayLike,
    BoolArray,
    IntArray,
    array,
    dimensions,
    is_one_of,
    whole,
)
from spatialops._processors import processors
from spatialops.errors import ArgumentError
from spatialops.simulation.batch.chunk import Begin, Chunk, Failure, Work
from spatialops.simulation.batch.helpers import Helpers
from spatialops.simulation.batch.likeness import felt_geoms, listed, refuse_unlike
from spatialops.simulation.batch.readings import Readings, first_readings, noise_seeds
from spatialops.simulation.batch.starts import Starts, stacked
from spatialops.simulation.batch.stock import Stock, taken
from spatialops.simulation.runs.one_thread import OneThread, alone
from spatialops.simulation.simulator import Simulator

OnFailure = Literal["freeze", "reset"]

Item = TypeVar("Item")


@dataclass(frozen=True, eq=False)
class Rollout:
    """What B environments did in T steps.

    Parameters
    ----------
    q : (B, T, nq) array
        Coordinates at the ends of the steps.
    v : (B, T, nv) array
        Velocities.
    forces : (B, T, n_geoms, 3) array or None
        Mean contact force of the step on every geom with the impulses of impacts, world axes, N; on
        those that were named.
    sensors : dict of str to (B, T, k) array
        Readings of the simulators' sensors behind the steps, by name.
    failures : dict of int to Failure
        By environment: the first step that failed, and why. From there on its rows are where it
        was, readings NaN; or those of an environment that began anew.
    """

    q: Array
    v: Array
    forces: Array | None
    sensors: dict[str, Array]
    failures: dict[int, Failure]


class Batch:
    """Many environments that step together, on several threads.

    Every environment does what `Simulator.run` does with a controller that returns its torques, to
    the bit, whatever the number of threads. An environment whose step fails is reported by index;
    the others go on. Sensors of the simulators are read behind every step; noise in environment e
    is that of its seed + e, so that environments do not err alike.

    Parameters
    ----------
    simulators : Simulator or sequence of Simulator
        What each environment is of. Several may differ in all but dt, the numbers of coordinates
        and velocities, names of geoms and sensors: masses, friction, gravity, laws.
    size : int, optional
        How many environments there are of the one simulator; with a sequence as many as that has.
    threads : int, optional
        Threads that work. Default: the processors that this process may use.
    on_failure : {"freeze", "reset"}
        Whether a failed environment stays where it is, or begins anew where it began and goes on.
        Default "freeze".
    forces : bool or sequence of str
        Whether contact forces are reported; or the names of the geoms on which they are. Default
        False.

    Attributes
    ----------
    q : (B, nq) array
        Coordinates; `step` and `reset` change it.
    v : (B, nv) array
        Velocities.
    activation : (B, n_states) array
        What actuators with a state have come to, in an array of its own.
    forces : (B, n_geoms, 3) array or None
        Mean contact force of the last step on every geom, or on those named, world axes, N.
    sensors : dict of str to (B, k) array
        Readings of the sensors behind the last step, by name; where an environment begins, NaN of
        those that need a step.
    failures : dict of int to Failure
        Environments that are frozen, or that failed in the last step: how many steps they had made
        before, and why.

    Raises
    ------
    ArgumentError
        For simulators that do not fit together; with `EventDriven`, ``certify="full"``, or closures
        whose rates are functions of time.

    Examples
    --------
    >>> import numpy as np, spatialops as so
    >>> simulator = so.Simulator(so.models.pendulum(2).scene(), dt=0.01)
    >>> with so.Batch(simulator, 3) as batch:
    ...     batch.reset(q=[[0.0, 0.0], [0.1, 0.0], [0.2, 0.0]])
    ...     batch.step(np.zeros((3, 2)))
    ...     rollout = batch.rollout(np.zeros((3, 10, 2)))
    >>> batch.q.shape, rollout.q.shape, rollout.failures
    ((3, 2), (3, 10, 2), {})

    Sensors, each environment with noise of its own, and forces on the ball alone:

    >>> from spatialops.sensors import JointPositions, Noise
    >>> encoder = JointPositions("q", noise=Noise(std=1e-3, seed=5))
    >>> simulator = so.Simulator(so.models.pendulum(2).scene(), dt=0.01, sensors=[encoder])
    >>> batch = so.Batch(simulator, 3, forces=[simulator.scene.geoms[-1].name])
    >>> rollout = batch.rollout(np.zeros((3, 10, 2)))
    >>> rollout.sensors["q"].shape, rollout.forces.shape
    ((3, 10, 2), (3, 10, 1, 3))
    >>> bool(np.abs(rollout.sensors["q"] - rollout.q).max() < 5e-3)
    True
    """

    def __init__(
        self,
        simulators: Simulator | Sequence[Simulator],
        size: int | None = None,
        *,
        threads: int | None = None,
        on_failure: OnFailure = "freeze",
        forces: bool | Sequence[str] = False,
    ) -> None:
        each = listed(simulators, size)
        self._runners = [one.stepping_runner("batch") for one in each]
        self._felt = felt_geoms(each[0], forces)
        refuse_unlike(each, forces=bool(self._felt))
        if not is_one_of(on_failure, ("freeze", "reset")):
            raise ArgumentError(f"on_failure: expected 'freeze' or 'reset', got {on_failure!r}")
        self._resets = on_failure == "reset"
        self.threads = whole(processors() if threads is None else threads, "threads", low=1)
        self._helpers = Helpers(self.threads - 1)
        self._compiled = False
        model = each[0].scene.model
        self._nq = model.nq
        self._n_geoms = len(each[0].scene.geoms)
        self._sensing = each[0].setup.sensing  # says which columns are whose
        observed = bool(forces) or self._sensing.width > 0
        self._stock = Stock(self._runners, self.threads, observed=observed)
        self._chunks: list[Chunk] = []
        self._setups = [one.setup for one in self._runners]
        self._limits = stacked([one.effort.limit for one in self._setups])
        self._harmless = float(self._limits.min(initial=np.inf))
        self._begin = Starts(self._setups)
        self._starts = self._begin.rows()
        self._taus = np.zeros((self.size, 1, model.nv))
        self._n_actuators = len(each[0].scene.actuators)
        self._n_bodies = model.n_bodies
        self._nothing = (
            np.zeros((self.size, 0, self._n_actuators)),
            np.zeros((self.size, 0, self._n_bodies, 6)),
        )
        self._states = np.zeros((self.size, 1, model.nq + model.nv))
        self._forces = np.zeros((self.size if forces else 0, 1, self._n_geoms, 3))
        self._everything = np.arange(self.size)
        self._readings = self._unread(None, 1)
        self.failures: dict[int, Failure] = {}
        self._steps = np.zeros(self.size, dtype=np.int64)  # since each was reset
        self.one_thread = OneThread("Batch")
        self.reset()

    def __repr__(self) -> str:
        scene = self._runners[0].setup.scene
        return f"Batch of {self.size} on {self.threads} threads of {scene.size_text()}"

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def close(self) -> None:
        """Let the threads go.

        Examples
        --------
        >>> import spatialops as so
        >>> batch = so.Batch(so.Simulator(so.models.pendulum(2).scene(), dt=0.01), 2)
        >>> batch.step()
        >>> batch.close()
        """
        self._helpers.close()

    @property
    def size(self) -> int:
        """B, how many environments there are."""
        return len(self._runners)

    @property
    def q(self) -> Array:
        """Coordinates, (B, nq); `step` and `reset` change them."""
        return self._states[:, 0, : self._nq]

    @property
    def v(self) -> Array:
        """Velocities, (B, nv)."""
        return self._states[:, 0, self._nq :]

    @property
    def activation(self) -> Array:
        """Activations of actuators, (B, n_states), in an array of its own."""
        found = self._starts[:, self._states.shape[2] + 1 :].copy()
        for chunk in self._chunks:
            for e, one in zip(chunk.which.tolist(), chunk.environments):
                found[e] = one.loop.tables.activation
        return found

    @property
    def forces(self) -> Array | None:
        """Mean contact forces of the last step, (B, n_geoms, 3), N; None: they were not asked."""
        return self._felt_of(self._forces[:, 0])

    @property
    def sensors(self) -> dict[str, Array]:
        """Readings behind the last step by sensor, (B, k); `step` and `reset` change them."""
        return self._sensing.by_name(self._readings.values[:, 0])

    @alone
    def reset(
        self,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        *,
        time: ArrayLike = 0.0,
        activation: ArrayLike | None = None,
        where: ArrayLike | None = None,
        seeds: ArrayLike | None = None,
    ) -> None:
        """Have environments begin at states, without a past.

        Parameters
        ----------
        q : (nq,) or (n, nq) array_like, optional
            Coordinates. Default: the scenes'.
        v : (nv,) or (n, nv) array_like, optional
            Velocities. Default: the scenes'.
        time : float or (n,) array_like
            s. Default 0.
        activation : (n_states,) or (n, n_states) array_like, optional
            Of actuators that have dynamics. Default: the scenes'.
        where : (n,) int or (B,) bool array_like, optional
            Which environments, in the order of the rows of the others. Default: all.
        seeds : (n,) int array_like, optional
            Added to the seeds of the sensors' noise. Default: the indices of the environments.

        Raises
        ------
        ArgumentError
            For wrong shapes, NaN or infinity, and joints far beyond their limits.

        Examples
        --------
        >>> import spatialops as so
        >>> simulator = so.Simulator(so.models.pendulum(2).scene(), dt=0.01)
        >>> with so.Batch(simulator, 2) as batch:
        ...     batch.reset(q=[[0.1, 0.0], [0.2, 0.0]])
        ...     batch.q[:, 0].tolist()
        [0.1, 0.2]
        """
        which = self._which(where)
        if not which.size:
            return
        setups = [self._runners[e].setup for e in which]
        rows = Starts(setups).rows(q, v, time, activation)
        for e, seed in zip(which.tolist(), noise_seeds(seeds, which)):
            self._readings.seeds[e] = seed
        own = [self._readings.seeds[e] for e in which]
        self._readings.values[which, 0] = first_readings(setups, rows, own)
        self._starts[which] = rows
        self._states[which, 0] = rows[:, : self._states.shape[2]]
        self._forces[which if len(self._forces) else []] = 0.0
        self._steps[which] = 0
        for e in which.tolist():
            self.failures.pop(e, None)
        begun = set(which.tolist())
        for chunk in self._chunks:
            for e, one in zip(chunk.which.tolist(), chunk.environments):
                if e in begun:
                    one.begin(self._starts[e])

    @alone
    def step(
        self,
        taus: ArrayLike | None = None,
        *,
        ctrls: ArrayLike | None = None,
        external: ArrayLike | None = None,
    ) -> None:
        """One step of all environments; those that failed stay where they are until `reset`.

        Parameters
        ----------
        taus : (B, nv) array_like, optional
            Joint forces, N m or N. Default zero.
        ctrls : (B, n_actuators) array_like, optional
            Controls. Default: those of the scenes.
        external : (B, n_bodies, 6) array_like, optional
            Wrenches [moment; force] on bodies, the moment about their origins, world axes. Default
            none.

        Raises
        ------
        ArgumentError
            For a wrong shape, NaN or infinity.

        Examples
        --------
        >>> import spatialops as so
        >>> simulator = so.Simulator(so.models.pendulum(2).scene(), dt=0.01)
        >>> with so.Batch(simulator, 2) as batch:
        ...     batch.step([[0.1, 0.0], [0.0, 0.1]])
        ...     batch.v.shape
        (2, 2)
        """
        if taus is None:
            self._taus[:] = 0.0
        else:
            self._taus[:, 0] = self._cut(array(taus, self._taus[:, 0].shape, "taus"))
        if not self._chunks:
            self._chunks = self._stock.lasting_chunks(self._starts)
        inputs = self._nothing
        if ctrls is not None or external is not None:
            inputs = self._inputs(ctrls, external)
        work = Work(self._starts, self._taus, *inputs, self._states, self._forces)
        frozen = {} if self._resets else self.failures
        if len(self._forces):
            self._forces[list(frozen)] = 0.0
        self._readings.values[list(frozen)] = np.nan

        def go_on(chunk: Chunk) -> dict[int, Failure]:
            own = work, self._readings, Begin.GOES_ON
            return chunk.run(*own, resets=self._resets, frozen=frozen)

        found = self._all(go_on, self._chunks)
        steps = {e: Failure(int(self._steps[e]), one.error) for e, one in found.items()}
        self.failures = {**frozen, **steps}
        self._steps += 1

    @alone
    def rollout(
        self,
        taus: ArrayLike,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        *,
        time: ArrayLike = 0.0,
        activation: ArrayLike | None = None,
        ctrls: ArrayLike | None = None,
        external: ArrayLike | None = None,
        seeds: ArrayLike | None = None,
    ) -> Rollout:
        """T steps of all environments from states, apart from where `step` has brought them.

        It takes the memory of what it returns, and of one environment a thread, or of eight.

        Parameters
        ----------
        taus : (B, T, nv) array_like
            Joint forces, N m or N.
        q, v, time, activation : array_like, optional
            Where they begin, in the shapes of `reset`. Default: the scenes' states at time 0,
            whatever `reset` and `step` have made of the environments.
        ctrls : (B, T, n_actuators) array_like, optional
            Controls. Default: those of the scenes.
        external : (B, T, n_bodies, 6) array_like, optional
            Wrenches, as of `step`.
        seeds : (B,) int array_like, optional
            As of `reset`.

        Returns
        -------
        Rollout
            States, forces where the batch reports them, readings of sensors, and failures.

        Raises
        ------
        ArgumentError
            For wrong shapes, NaN or infinity, and joints far beyond their limits.

        Examples
        --------
        >>> import numpy as np, spatialops as so
        >>> simulator = so.Simulator(so.models.pendulum(2).scene(), dt=0.01)
        >>> with so.Batch(simulator, 2) as batch:
        ...     rollout = batch.rollout(np.zeros((2, 5, 2)))
        >>> rollout.q.shape, rollout.failures
        ((2, 5, 2), {})
        """
        given = array(taus, (self.size, None, self._taus.shape[2]), "taus")
        n_steps = given.shape[1]
        starts = self._begin.rows(q, v, time, activation)
        cut = self._cut(given)
        inputs = self._inputs(ctrls, external, n_steps)
        states = np.empty((self.size, n_steps, self._states.shape[2]))
        forces = np.empty((len(self._forces), n_steps, self._n_geoms, 3))
        work = Work(starts, cut, *inputs, states, forces)
        readings = self._unread(seeds, n_steps)
        roll = partial(self._stock.roll, work=work, readings=readings, resets=self._resets)
        failures = self._all(roll, self._stock.parts)
        return Rollout(
            work.states[..., : self._nq],
            work.states[..., self._nq :],
            self._felt_of(work.forces),
            self._sensing.by_name(readings.values),
            failures,
        )

    def _felt_of(self, forces: Array) -> Array | None:
        """Of forces (..., n_geoms, 3) on all geoms those that are reported."""
        if not len(self._forces):
            return None
        every = self._felt == list(range(self._n_geoms))
        return forces if every else forces[..., self._felt, :]

    def _unread(self, seeds: ArrayLike | None, n_steps: int) -> Readings:
        """Room for readings of so many steps."""
        values = np.empty((self.size, n_steps, self._sensing.width))
        values.fill(np.nan)
        return Readings(noise_seeds(seeds, self._everything), values)

    def _inputs(
        self, ctrls: ArrayLike | None, external: ArrayLike | None, *n_steps: int
    ) -> tuple[Array, Array]:
        """Controls and wrenches of so many steps, or one; of none where they are not given."""
        if ctrls is None and external is None:
            return self._nothing
        shapes = (self._n_actuators,), (self._n_bodies, 6)
        made = []
        for name, values, shape in zip(("ctrls", "external"), (ctrls, external), shapes):
            if values is None:
                made.append(np.zeros((self.size, 0, *shape)))
            else:
                given = array(values, (self.size, *n_steps, *shape), name, finite=True)
                made.append(given.reshape(self.size, math.prod(n_steps), *shape))
        return made[0], made[1]

    def _all(
        self, run: Callable[[Item], dict[int, Failure]], items: Iterable[Item]
    ) -> dict[int, Failure]:
        """Run items on the threads, of which the caller's is one; the failures of all of them."""
        waiting = list(items)
        found: list[dict[int, Failure]] = []

        def work() -> None:
            while (item := taken(waiting)) is not None:
                found.append(run(item))

        if waiting and not self._compiled:  # by itself: it compiles what is not compiled yet
            found.append(run(waiting.pop()))
            self._compiled = True
        self._helpers.share(work, min(self.threads, len(waiting)) - 1)
        return dict(sorted(item for some in found for item in some.items()))

    def _which(self, where: ArrayLike | None) -> IntArray:
        """Indices of the environments that are meant."""
        every = self._everything
        if where is None:
            return every
        dimensions(where, "where")
        try:
            found = every[_indices(where)].reshape(-1)
        except IndexError as error:
            raise ArgumentError(f"where: no environments of {self.size}: {error}") from error
        if len(np.unique(found)) != len(found):
            raise ArgumentError(f"where: names an environment twice: {found.tolist()}")
        return found

    def _cut(self, taus: Array) -> Array:
        """Joint forces, found finite, as effort limits leave them: each environment's own."""
        low, high = taus.min(initial=0.0), taus.max(initial=0.0)
        if not (low > -np.inf and high < np.inf):
            array(taus, taus.shape, "taus", finite=True)  # refuses them
        if -self._harmless <= low and high <= self._harmless:
            return taus
        limits = self._limits.reshape(self.size, *[1] * (taus.ndim - 2), -1)
        return np.clip(taus, -limits, limits)


def _indices(where: ArrayLike) -> IntArray | BoolArray:
    """An array as it was given, but for an empty list, of which NumPy makes an array of floats."""
    given = np.asarray(where)
    return given if given.size else given.astype(np.int64)
