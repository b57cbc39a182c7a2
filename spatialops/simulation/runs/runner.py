"""What a time method does with a scene: single steps, and runs that are recorded."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

from spatialops._arrays import Array, ArrayLike
from spatialops.collision.contact_set import ContactSet
from spatialops.contact.problem import ContactProblem
from spatialops.errors import ArgumentError
from spatialops.forces.external import ExternalWrenches
from spatialops.simulation.inputs import Command, Inputs
from spatialops.simulation.plain_data import PlainData
from spatialops.simulation.records.record import Record
from spatialops.simulation.records.record_file import Stored
from spatialops.simulation.records.step_info import StepInfo
from spatialops.simulation.runs.run_folder import RunFolder
from spatialops.tree.state import State

Controller: TypeAlias = Callable[[float, State, ContactSet], ArrayLike | Command]


@runtime_checkable
class KeepsMemory(Protocol):
    """A controller that is more than a function of its arguments, and can be put back."""

    def save(self) -> Mapping[str, ArrayLike]:
        """All that the next command depends on, as named arrays of numbers."""

    def restore(self, kept: Mapping[str, Array]) -> None:
        """Go on from what `save` gave."""


class Plan(NamedTuple):
    """What a run is to do.

    Attributes
    ----------
    n_steps : int
        From its beginning to its end.
    record_every : int or None
        Steps a row; None: a brief record of two rows.
    metadata : callable
        Makes the options for the record, once the run has begun.
    ctrl : (n_actuators,) array
        Controls where the controller gives none.
    folder : RunFolder or None
        Where the record is written as it grows.
    past : Stored or None
        What was written last, for a run that goes on.
    external : ExternalWrenches or None
        Wrenches on bodies.
    """

    n_steps: int
    controller: Controller | None
    record_every: int | None
    progress: bool
    metadata: Callable[[], PlainData]
    ctrl: Array
    save_on_failure: str | os.PathLike[str] | None = None
    folder: RunFolder | None = None
    past: Stored | None = None
    external: ExternalWrenches | None = None

    @property
    def every(self) -> int:
        """Steps from one recorded row to the next: to the end in a brief record."""
        return max(self.n_steps, 1) if self.record_every is None else self.record_every

    def all_metadata(self) -> PlainData:
        """The options, with what was planned."""
        planned = {"record_every": self.record_every, "planned_steps": self.n_steps}
        return {**self.metadata(), **planned}


def checked_controller(controller: Controller | None) -> Controller | None:
    """The controller itself; ArgumentError for what cannot be called."""
    if controller is not None and not callable(controller):
        raise ArgumentError(
            f"controller: expected a function (time, state, contacts) -> tau, got {controller!r}"
        )
    return controller


def commanded(controller: Controller, time: float, state: State, contacts: ContactSet) -> Command:
    """What a controller answers, as a command; ArgumentError where it returns nothing."""
    answer = controller(time, state, contacts)
    if answer is None:
        raise ArgumentError(
            f"controller: {controller!r} returned None at t = {time:g} s; return joint forces "
            "(nv,), zeros where there are none, or so.Command"
        )
    return answer if isinstance(answer, Command) else Command(answer)


class Runner(Protocol):
    """A time method at work on one scene."""

    @property
    def redundant_rows(self) -> tuple[str, ...]:
        """Rows of closures that others implied where it last began."""

    def step(self, state: State, inputs: Inputs) -> tuple[State, StepInfo]:
        """One step of `dt` under inputs that are checked and cut."""

    def run(self, state: State, plan: Plan) -> Record:
        """As many steps as planned; the record, or of a run on disk what was written last."""

    def problem(self, state: State, inputs: Inputs) -> ContactProblem | None:
        """The first contact problem of a step; None where it meets no contact."""
