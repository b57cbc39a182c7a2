"""What a time method does with a scene: single steps, and runs that are recorded."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeAlias

from spatialops._arrays import Array, ArrayLike
from spatialops.collision.contact_set import ContactSet
from spatialops.contact.problem import ContactProblem
from spatialops.simulation.plain_data import PlainData
from spatialops.simulation.record import Record
from spatialops.simulation.stepping.step_info import StepInfo
from spatialops.tree.state import State

Controller: TypeAlias = Callable[[float, State, ContactSet], ArrayLike | None]


class Plan(NamedTuple):
    """What a run is to do.

    `metadata` makes the options for the record, once the run has begun.
    """

    n_steps: int
    controller: Controller | None
    record_every: int
    progress: bool
    save_on_failure: str | os.PathLike[str] | None
    metadata: Callable[[], PlainData]


class Runner(Protocol):
    """A time method at work on one scene."""

    @property
    def redundant_rows(self) -> tuple[str, ...]:
        """Rows of closures that others implied where it last began."""

    def step(self, state: State, tau: Array) -> tuple[State, StepInfo]:
        """One step of `dt` under joint forces (nv,) that are checked and cut."""

    def run(self, state: State, plan: Plan) -> Record:
        """As many steps as planned, recorded."""

    def problem(self, state: State, tau: Array) -> ContactProblem | None:
        """The first contact problem of a step; None where it meets no contact."""
