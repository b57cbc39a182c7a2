"""Single steps from Python at little cost: tables stay between calls, and nothing is copied."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from spatialops._arrays import Array, ArrayLike
from spatialops.collision.contact_set import ContactSet
from spatialops.errors import ArgumentError
from spatialops.forces.effort_limits import Effort
from spatialops.forces.external import External, checked_external
from spatialops.simulation import _layout as at
from spatialops.simulation.records.record_file import Kept
from spatialops.simulation.records.step_info import StepInfo
from spatialops.simulation.runs.observed_step import ObservedStep, observed
from spatialops.simulation.runs.one_thread import OneThread
from spatialops.simulation.runs.resumption import put_away, taken_up
from spatialops.simulation.runs.stepping_run import SteppingRunner, info_of
from spatialops.simulation.stepping.adapter import acting, load_new, put_external, state_of
from spatialops.simulation.stepping.held.held_loop import HeldLoop
from spatialops.simulation.stepping.held.watched_steps import begin_held, clear_held, step_watched
from spatialops.simulation.stepping.loop_start import LoopStart
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.state import State

_ONE_STEP = (1, 1)  # steps and rows that its tables have room for


class Stepper:
    """Steps a scene from Python, in place.

    `Simulator.stepper` makes it. Its steps are those of `Simulator.run` with a controller, to the
    bit: contacts begin from the forces of the step before. It shares nothing with its simulator
    that changes, so that each of several threads may have one.

    Parameters
    ----------
    runner : SteppingRunner
        The simulator's.

    Attributes
    ----------
    time : float
        s.

    Examples
    --------
    >>> import spatialops as so
    >>> stepper = so.Simulator(so.models.pendulum(2).scene(), dt=0.01).stepper()
    >>> for _ in range(3):
    ...     stepper.step([0.1, 0.0])
    >>> round(stepper.time, 9), stepper.q.shape, len(stepper.contacts)
    (0.03, (2,), 0)
    """

    def __init__(self, runner: SteppingRunner) -> None:
        self._runner = runner
        setup = runner.setup
        self._effort = Effort(setup.scene.model, setup.options.clip_effort)
        self._closures = LoopStart(setup.scene, setup.options.dt)
        stepping = setup.stepping.apart()
        self._loop = HeldLoop(stepping, stepping.tables(), runner.watched)
        self._failed = False
        self._driven = False  # whether the last step had controls or wrenches of its own
        self._one_thread = OneThread("Stepper")
        self.reset()

    def __repr__(self) -> str:
        return f"Stepper at t = {self.time:g} s of {self._runner.setup.scene.size_text()}"

    @property
    def time(self) -> float:
        """Where it stands, s."""
        return float(self._tables.monitor[at.TIME])

    @property
    def q(self) -> Array:
        """Coordinates, (nq,); a view that `step` changes."""
        return _view(self._tables.q)

    @property
    def v(self) -> Array:
        """Velocities, (nv,); a view that `step` changes."""
        return _view(self._tables.v)

    @property
    def state(self) -> State:
        """Where it stands, copied."""
        return state_of(self._tables)

    @property
    def contacts(self) -> ContactSet:
        """Those of the last contact problem with their impulses, as controllers see them."""
        return acting(self._tables)

    @property
    def info(self) -> StepInfo:
        """What happened in the last step, as `Simulator.step` tells."""
        t = self._tables
        return info_of(t, self._effort.clipped > 0, None)

    @property
    def contact_records(self) -> Array:
        """Contacts of the last step, (k, 13), as `Record.contact_records`."""
        return self._tables.contact_records[: self._tables.control[at.CONTACT_ROWS]].copy()

    def observed(self, start: State) -> ObservedStep:
        """The last step as sensors see it.

        Parameters
        ----------
        start : State
            Where it began.

        Returns
        -------
        ObservedStep
            For `read` of the sensors.
        """
        return observed(self._runner.setup.scene, self._tables, start)

    def reset(self, state: State | None = None) -> None:
        """Begin at a state, without a past.

        Parameters
        ----------
        state : State, optional
            Default: the scene's.

        Raises
        ------
        ArgumentError
            For a wrong shape, NaN or infinity, or a joint far beyond its limits.
        """
        setup = self._runner.setup
        begin = setup.checked(setup.scene.state if state is None else state)
        with self._one_thread:
            self._loop.advance(clear_held)
            load_new(self._tables, begin)
            self._closures.begin(self._tables)
            self._loop.advance(begin_held)
            self._loop.stepping.external.begin()
            self._failed = False

    def step(
        self,
        tau: ArrayLike | None = None,
        *,
        ctrl: ArrayLike | None = None,
        external: External | None = None,
    ) -> None:
        """One step of the simulator's `dt`.

        Parameters
        ----------
        tau : (nv,) array_like, optional
            Joint forces, N m or N. Default zero.
        ctrl : (n_actuators,) array_like, optional
            Controls. Default: the scene's.
        external : External, optional
            Wrenches on bodies, as of `Simulator.run`. Default none.

        Raises
        ------
        ArgumentError
            For a wrong shape, NaN or infinity, and after an error until `reset`.
        SolverFailed, ContactError
            As `Simulator.step`; geoms that overlap at the start fail here.

        Examples
        --------
        >>> import spatialops as so
        >>> stepper = so.Simulator(so.models.pendulum(2).scene(), dt=0.01).stepper()
        >>> stepper.step([0.1, 0.0])
        >>> round(stepper.time, 9), bool(abs(stepper.v).max() > 0.0)
        (0.01, True)
        """
        with self._one_thread:
            if self._failed:
                raise ArgumentError("step: the last one failed; begin anew with reset(state)")
            self._effort.forget()
            self._tables.tau[:] = self._effort(tau)
            if self._driven or ctrl is not None or external is not None:
                self._put(ctrl, external)
            if self._closures.varies:
                self._closures.put_rates(self._tables)
            self._failed = True
            if not self._loop.advance(step_watched):
                self._runner.check(self._tables)
            self._failed = False

    def save(self) -> dict[str, npt.NDArray[np.generic]]:
        """All that the next steps depend on: where it stands, and what it remembers.

        Returns
        -------
        dict of str to array
            For `restore`; `numpy.savez` writes it to a file.

        Raises
        ------
        ArgumentError
            After an error, until `reset`.

        Examples
        --------
        >>> import spatialops as so
        >>> stepper = so.Simulator(so.models.pendulum(2).scene(), dt=0.01).stepper()
        >>> kept = stepper.save()
        >>> stepper.step([0.1, 0.0])
        >>> once = stepper.q.copy()
        >>> stepper.restore(kept)
        >>> stepper.step([0.1, 0.0])
        >>> bool((stepper.q == once).all())
        True
        """
        with self._one_thread:
            if self._failed:
                raise ArgumentError("save: the last step failed; begin anew with reset(state)")
            return put_away(self._loop.stepping, self._effort, self._tables)

    def restore(self, kept: Kept) -> None:
        """Go on from where `save` was called, to the same bits.

        Parameters
        ----------
        kept : mapping of str to array
            What `save` gave, here or with another simulator of the same scene and options.

        Raises
        ------
        RecordError
            If it does not fit this scene.
        """
        with self._one_thread:
            tables = taken_up(self._loop.stepping, self._effort, _ONE_STEP, kept)
            self._closures.put_rates(tables)
            self._loop.hold(tables)
            self._failed = False
            self._driven = True  # perhaps: the next step puts what is not given

    def _put(self, ctrl: ArrayLike | None, external: External | None) -> None:
        """Controls and wrenches of the coming step; the scene's and none where none are given."""
        setup = self._runner.setup
        self._tables.ctrl[:] = setup.scene.checked_ctrl(ctrl)
        wrenches = checked_external(setup.scene.model, external)
        put_external(self._tables, wrenches, setup.options.dt)
        self._driven = ctrl is not None or external is not None

    @property
    def _tables(self) -> Tables:
        return self._loop.tables


def _view(values: Array) -> Array:
    view = values.view()
    view.flags.writeable = False
    return view
