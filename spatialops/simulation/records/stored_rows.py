"""The arrays of a record as they come from a file: of shapes that fit its scene and one another."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from spatialops._arrays import Array, array
from spatialops.contact.certificate import UNITS
from spatialops.errors import ArgumentError, RecordError
from spatialops.simulation import _layout as at
from spatialops.simulation.scene.scene import Scene

_OF_ROWS = ("kinetic", "potential", "residuals", "penetrations", "closure_errors")
_COUNTS = ("contact_counts", "impact_counts", "pivots")
_OF_JOINTS = ("v", "stop_impulses", "dry_impulses", "joint_work")
_RECORDS = ("contact_records", "moments")
_FINITE = ("times", "q", "v", "end", "events", *_RECORDS)


def checked_rows(given: Mapping[str, Array], scene: Scene) -> dict[str, Array]:
    """Arrays of a record, if they can be those of this scene.

    Parameters
    ----------
    given : mapping of str to array
        By names of fields; those that older files lack may be missing.
    scene : Scene
        What was simulated.

    Returns
    -------
    dict of str to array
        The same, float64.

    Raises
    ------
    RecordError
        For other shapes, counts that are none, and pairs that the scene does not have.
    """
    model = scene.model
    n_rows = np.asarray(given["times"]).size
    shapes: dict[str, tuple[int | None, ...]] = {
        "times": (n_rows,),
        "q": (n_rows, model.nq),
        "loop_forces": (n_rows, scene.loops.n_rows),
        "events": (None, at.EVENT_COLUMNS),
        "certificates": (n_rows, len(UNITS)),
        "readings": (n_rows, None),
        "end": (1 + model.nq + model.nv + scene.elements.n_states,),
    }
    shapes |= dict.fromkeys((*_OF_ROWS, *_COUNTS), (n_rows,))
    shapes |= dict.fromkeys(_OF_JOINTS, (n_rows, model.nv))
    shapes |= dict.fromkeys(_RECORDS, (None, at.RECORD_COLUMNS))
    try:
        rows = {
            name: array(values, shapes[name], name, finite=name in _FINITE)
            for name, values in given.items()
        }
    except ArgumentError as error:
        raise RecordError(f"the arrays do not fit the scene: {error}") from error
    for name in _COUNTS:
        if not (np.isfinite(rows[name]) & (rows[name] >= 0.0)).all():
            raise RecordError(f"{name}: expected counts, none below zero")
    for name in _RECORDS:
        pairs = rows.get(name, np.zeros((0, at.RECORD_COLUMNS)))[:, at.RECORD_PAIR]
        if not ((pairs >= 0.0) & (pairs < scene.n_pairs)).all():
            raise RecordError(f"{name}: expected pairs from 0 to {scene.n_pairs - 1}")
    if not (np.diff(rows["times"]) >= 0.0).all():
        raise RecordError("times: they go back, or are none")
    return rows
