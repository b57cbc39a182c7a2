"""A run on disk: its record in files of one folder, written as it goes on.

Each file is a record of its own and is written whole or not at all; with it goes what the next step
needs. Whatever ends the run, the files before are whole, and the last of them is where it goes on.
The folder is locked while somebody writes, by a lock that ends with its process.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from types import TracebackType

from spatialops._files import checked_path, locked
from spatialops.errors import ArgumentError, RecordError
from spatialops.simulation.records.loading import load_stored
from spatialops.simulation.records.record import Record, stored
from spatialops.simulation.records.record_file import (
    Kept,
    Stored,
    file_name,
    numbered_files,
    write_record,
)

_BYTES = 16e6  # of rows and contacts in memory until they are written
_SECONDS = 10.0  # until they are written however few they are: what a kill may cost


class RunFolder:
    """Where a run is written; a context, which holds the folder's lock.

    Parameters
    ----------
    path : path-like
        The folder.
    made : bool
        Whether it is made if it is not there.
    """

    def __init__(self, path: str | os.PathLike[str], *, made: bool = True) -> None:
        self.path = checked_path(path)
        self._made = made
        self._handle = -1
        self._number = 0  # of the next file
        self._written = monotonic()

    def __enter__(self) -> RunFolder:
        try:
            if self._made:
                self.path.mkdir(parents=True, exist_ok=True)
            self._handle = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            raise RecordError(f"{self.path}: no folder to write to: {error}") from error
        if not locked(self._handle):
            self.__exit__(None, None, None)
            raise RecordError(f"{self.path}: another simulation is writing to it")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._handle)

    def begin(self) -> None:
        """Refuse a folder with something in it but what a killed run left of its first file."""
        for left in self.path.glob(f".{file_name(0)}.*.part"):
            left.unlink(missing_ok=True)
        if any(self.path.iterdir()):
            raise ArgumentError(
                f"folder: {self.path} is not empty; Simulator.resume goes on with a run"
            )

    def last(self) -> Stored:
        """The last file from which the run can go on; what is behind it will be replaced.

        Raises
        ------
        RecordError
            If there is no run, or a file is damaged.
        """
        files: Sequence[Path] = numbered_files(self.path)
        for left in self.path.glob(".*.part"):  # of a write that was killed
            left.unlink(missing_ok=True)
        while files:
            found = load_stored(files[-1])
            if found.resume:
                self._number = len(files)
                return found
            files = files[:-1]
        raise RecordError(f"{self.path}: there is nothing to go on from")

    def is_due(self, n_bytes: int) -> bool:
        """Whether so much is to be written now."""
        return n_bytes >= _BYTES or monotonic() - self._written >= _SECONDS

    def append(self, record: Record, resume: Kept) -> None:
        """Write the next file.

        Raises
        ------
        RecordError
            If it cannot be written; the files before are as they were.
        """
        if not self._is_there():
            raise RecordError(f"{self.path}: the folder of the run was moved or removed")
        write_record(self.path / file_name(self._number), stored(record, resume))
        self._number += 1
        self._written = monotonic()

    def _is_there(self) -> bool:
        try:
            return os.path.samestat(os.stat(self.path), os.fstat(self._handle))
        except OSError:
            return False
