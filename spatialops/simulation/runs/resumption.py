"""A whole run put away and taken up again: tables, solvers' answers, counts, the controller."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from spatialops._arrays import whole
from spatialops.contact.certificate import UNITS, Certificate
from spatialops.errors import ArgumentError, RecordError
from spatialops.forces.effort_limits import Effort
from spatialops.simulation.plain_data import PlainData
from spatialops.simulation.records.record_file import Kept, Stored
from spatialops.simulation.runs.runner import Controller, KeepsMemory
from spatialops.simulation.runs.setup import Setup
from spatialops.simulation.runs.snapshot import floats_of, ints_of, restore, snapshot
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.stepping.driver import Stepping
from spatialops.simulation.stepping.tables import Tables
from spatialops.simulation.stepping.warm.warm_start import Memory

_CONTROLLER = "controller."  # begins the names of what a controller saves
_OF_THE_BEGINNING = {"redundant_rows"}  # of closures, where the run began
_NAME = 3  # numbers that name a contact


def kept(
    setup: Setup, t: Tables, controller: Controller | None, since: Certificate
) -> dict[str, npt.NDArray[np.generic]]:
    """All that the next step depends on; `since` is the worst certificate since the last row."""
    memory = _memory_of(controller)
    own = {} if memory is None else memory.save()
    return {
        **put_away(setup.stepping, setup.effort, t),
        **{_CONTROLLER + name: np.array(item) for name, item in own.items()},
        "certificate": np.nan_to_num(since.to_array(), nan=-1.0),
    }


def put_away(stepping: Stepping, effort: Effort, t: Tables) -> dict[str, npt.NDArray[np.generic]]:
    """Tables, solvers' answers and counts."""
    external = stepping.external
    return {
        **snapshot(t),
        **{f"answers.{name}": item for name, item in external.memory.to_arrays().items()},
        "fallbacks": np.array(external.fallbacks),
        "clipped": effort.clipped.copy(),
    }


def taken_up(stepping: Stepping, effort: Effort, steps: tuple[int, int], past: Kept) -> Tables:
    """Tables that stand where `put_away` took them; answers and counts are put back.

    Raises
    ------
    RecordError
        If they are not those of this scene.
    """
    t = restore(stepping, steps, past)
    names = ints_of(past, "answers.names", (None, _NAME))
    rows = floats_of(past, "answers.rows", (len(names), None, 3))
    if rows.shape[1] not in (1, 2):
        raise RecordError("what the next step needs does not fit this scene: answers")
    external = stepping.external
    external.memory = Memory.from_arrays(names, rows, floats_of(past, "answers.times", (2,)))
    external.fallbacks = int(ints_of(past, "fallbacks", ()))
    effort.clipped[:] = ints_of(past, "clipped", effort.clipped.shape)
    return t


def restored(
    setup: Setup, steps: tuple[int, int], controller: Controller | None, past: Stored
) -> tuple[Tables, Certificate]:
    """Tables that stand where a run was put away, and the worst certificate since its last row.

    Solvers' answers, counts and the controller are put back.
    """
    resume = past.resume
    t = taken_up(setup.stepping, setup.effort, steps, resume)
    _put_back(controller, resume)
    since = floats_of(resume, "certificate", (len(UNITS),))
    return t, Certificate.from_array(np.where(since < 0.0, np.nan, since))


def refuse_other(scene: Scene, options: PlainData, past: Stored) -> None:
    """Refuse to go on with a run of another scene, or with other options.

    Raises
    ------
    ArgumentError
    """
    for name in options.keys() - _OF_THE_BEGINNING:
        had, has = past.metadata.get(name), options[name]
        if _without_addresses(had) != _without_addresses(has):
            raise ArgumentError(f"{name}: the run has {had!r}, this simulator {has!r}")
    same = json.dumps(scene.to_data()) == json.dumps(past.scene.to_data())
    own, other = scene.model.to_arrays(), past.scene.model.to_arrays()
    if not (same and own.keys() == other.keys()):
        raise ArgumentError("scene: it is not the one of the run")
    for name, item in own.items():
        if not np.array_equal(item, other[name]):
            raise ArgumentError(f"scene: its model is not the one of the run: {name} differs")


def _without_addresses(option: object) -> str:
    """An option as text: objects that only say where in memory they are say nothing."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", json.dumps(option))


def planned_by(past: Stored) -> tuple[int, int]:
    """Steps of the whole run, and of one row, as it was begun.

    Raises
    ------
    RecordError
    """
    try:
        n_steps = whole(past.metadata["planned_steps"], "planned_steps", low=0)
        return n_steps, whole(past.metadata["record_every"], "record_every", low=1)
    except (KeyError, ArgumentError) as error:
        raise RecordError(f"what the run was planned to be is not in its file: {error}") from error


def redundant_rows_of(past: Stored) -> tuple[str, ...]:
    """Rows of closures that others implied where the run began.

    Raises
    ------
    RecordError
    """
    rows = past.metadata.get("redundant_rows")
    if not isinstance(rows, list) or not all(isinstance(row, str) for row in rows):
        raise RecordError(f"redundant_rows: expected names in the run's file, got {rows!r}")
    return tuple(rows)


def _put_back(controller: Controller | None, resume: Kept) -> None:
    """Give a controller its memory."""
    own: Mapping[str, npt.NDArray[np.float64]] = {
        name.removeprefix(_CONTROLLER): np.asarray(item)
        for name, item in resume.items()
        if name.startswith(_CONTROLLER)
    }
    memory = _memory_of(controller)
    if memory is not None:
        memory.restore(own)
    elif own:
        raise ArgumentError("controller: the run had one with a memory; give one that restores it")


def _memory_of(controller: object) -> KeepsMemory | None:
    """The controller, where it has a memory that can be put away."""
    return controller if isinstance(controller, KeepsMemory) else None
