"""What an error within a run carries: the record until then, and the last state."""

from __future__ import annotations

import os
from collections.abc import Callable
from types import TracebackType

from spatialops.errors import RecordError, SpatialOpsError
from spatialops.simulation.records.record import Record


class carrying:  # as those of contextlib; a generator takes three times as long
    """Give errors the record that has been made so far, and its end as the last state.

    Parameters
    ----------
    record : callable
        record(failure) -> Record, with the error's text among its metadata.
    path : path-like, optional
        Where that record is saved; default: nowhere.
    """

    def __init__(
        self, record: Callable[[str], Record], path: str | os.PathLike[str] | None = None
    ) -> None:
        self._record = record
        self._path = path

    def __enter__(self) -> None:
        return

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, SpatialOpsError):
            error.record = self._record(str(error))
            error.state = error.record.final
            if self._path is not None:
                error.add_note(_saved(error.record, self._path))


def _saved(record: Record, path: str | os.PathLike[str]) -> str:
    """Save a record; says where it is, or why not: the error that it belongs to matters more."""
    try:
        return f"the record up to then is in {record.save(path)}"
    except RecordError as error:
        return f"the record up to then is not saved: {error}"
