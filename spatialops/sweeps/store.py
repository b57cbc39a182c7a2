"""Results of a sweep in a folder: files that are written whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

from spatialops._files import locked, opened, written_beside
from spatialops.errors import RecordError
from spatialops.sweeps.tasks import Row

_SUFFIX = ".json"


def write_rows(folder: Path, rows: list[Row]) -> None:
    """A file with these rows; its name is the hash of their keys.

    Raises
    ------
    AssetError
        If it cannot be written.
    """
    name = hashlib.sha256("".join(str(row["key"]) for row in rows).encode()).hexdigest()[:32]
    with written_beside(folder / f"{name}{_SUFFIX}") as part, part.open("x") as file:
        json.dump(rows, file)
        file.flush()
        os.fsync(file.fileno())


def read_rows(folder: Path) -> dict[str, Row]:
    """All rows by key; what two files have is there once.

    Raises
    ------
    RecordError
        For a file that is none of a sweep.
    """
    found: dict[str, Row] = {}
    for path in sorted(folder.glob(f"*{_SUFFIX}")):
        try:
            with opened(path) as file:
                rows = json.load(file)
            found |= {str(row["key"]): row for row in rows}
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            raise RecordError(f"{path}: not results of a sweep: {error}") from error
    return found


class SweepFolder:
    """The folder of a sweep at work; a context, which holds its lock until its process ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle = -1

    def __enter__(self) -> SweepFolder:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._handle = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            raise RecordError(f"{self.path}: no folder to write to: {error}") from error
        if not locked(self._handle):
            os.close(self._handle)
            raise RecordError(f"{self.path}: another sweep is writing to it")
        for left in self.path.glob(".*.part"):  # of writes that were killed
            left.unlink(missing_ok=True)
        return self

    def __exit__(self, *details: object) -> None:
        os.close(self._handle)
