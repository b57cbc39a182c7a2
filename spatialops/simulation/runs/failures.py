"""What an error within a run carries: the record until then, and the last state."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from spatialops.errors import RecordError, SpatialOpsError
from spatialops.simulation.records.record import Record


@contextmanager
def carrying(
    record: Callable[[str], Record], path: str | os.PathLike[str] | None = None
) -> Iterator[None]:
    """Give errors the record that has been made so far, and its end as the last state.

    Parameters
    ----------
    record : callable
        record(failure) -> Record, with the error's text among its metadata.
    path : path-like, optional
        Where that record is saved; default: nowhere.
    """
    try:
        yield
    except SpatialOpsError as error:
        error.record = record(str(error))
        error.state = error.record.final
        if path is not None:
            error.add_note(_saved(error.record, path))
        raise


def _saved(record: Record, path: str | os.PathLike[str]) -> str:
    """Save a record; says where it is, or why not: the error that it belongs to matters more."""
    try:
        return f"the record up to then is in {record.save(path)}"
    except RecordError as error:
        return f"the record up to then is not saved: {error}"
