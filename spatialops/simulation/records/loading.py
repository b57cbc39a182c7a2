"""Reading records: of one file, or of all files of a run on disk."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from spatialops._files import checked_path
from spatialops.errors import ArgumentError, RecordError
from spatialops.simulation.records.record import Record, array_names
from spatialops.simulation.records.record_file import Stored, numbered_files, read_record

# Not in the first records of this format.
_LATER = (
    "closure_errors",
    "loop_forces",
    "moments",
    "certificates",
    "readings",
    "end",
    "stop_impulses",
    "dry_impulses",
    "joint_work",
)
_BEGUN = {"activation"}  # metadata of the file that the run begins in
_NO_ROWS = ("contact_records", "events", "moments")  # their lengths are not those of the rows


def load_record(path: str | os.PathLike[str]) -> Record:
    """Read a record that `Record.save` wrote, or a run that `Simulator.run_to_disk` writes.

    Parameters
    ----------
    path : path-like
        The .npz file, or the folder of a run: all of its files are one record then. Each of them
        is a record of its own as well, for runs that are longer than memory.

    Returns
    -------
    Record
        With its scene, which starts where the record does.

    Raises
    ------
    RecordError
        If the file is missing, damaged or of another format, or files of a run do not fit
        together.

    Examples
    --------
    >>> import tempfile
    >>> import spatialops as so
    >>> record = so.Simulator(so.models.pendulum(2).scene(), dt=0.01).run(duration=0.1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = so.load_record(record.save(f"{folder}/run.npz"))
    >>> bool((again.v == record.v).all()), again.scene.model.joint_names
    (True, ('pin1', 'pin2'))
    """
    place = checked_path(path)
    if not os.path.isdir(place):  # `Path.is_dir` raises for names that are too long
        record = _record(load_stored(place))
        if len(record.times):
            return record
        raise RecordError(f"{path}: there is no row in this part of a run: load its folder")
    records = [_record(load_stored(file)) for file in numbered_files(place)]
    if not len(records[0].times):
        raise RecordError(f"{path}: the run has no first row")
    counts = [int(record.metadata["steps"]) for record in records]
    if any(b < a for a, b in pairwise(counts)):
        raise RecordError(f"{path}: the files are not of one run: steps go back")
    try:
        begun = {name: records[0].metadata[name] for name in _BEGUN & records[0].metadata.keys()}
        return replace(joined(records), metadata={**records[-1].metadata, **begun})
    except ValueError as error:
        raise RecordError(f"{path}: the files are not of one run: {error}") from error


def load_stored(path: str | os.PathLike[str]) -> Stored:
    """All that one file holds; RecordError if it is missing, damaged or of another format."""
    return read_record(path, array_names(), _LATER)


def joined(records: Sequence[Record]) -> Record:
    """One record of several that follow one another, with the metadata of the first.

    Where a record begins with the row that the one before ends with, that row is taken once.

    Raises
    ------
    ArgumentError
        If there is none.
    """
    if not records:
        raise ArgumentError("records: there are none to join")
    again = [0]
    for a, b in pairwise(records):
        again.append(int(len(a.times) > 0 and len(b.times) > 0 and b.times[0] == a.times[-1]))
    each: dict[str, Any] = {"end": records[-1].end}
    for name in array_names():
        if name != "end":
            drops = [0] * len(records) if name in _NO_ROWS else again
            each[name] = np.concatenate(
                [getattr(record, name)[drop:] for record, drop in zip(records, drops)]
            )
    return replace(records[0], **each)


def _record(stored: Stored) -> Record:
    return Record(scene=stored.scene, metadata=stored.metadata, **stored.arrays)
