"""Turns between processes: what one of them is at, the others wait for, rather than do it twice.

A turn is a lock on one byte of a file. The system gives it back when its process ends, however that
ends, and copies of the process do not have it.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import sys
import time
from pathlib import Path

NAME = ".turns"
"""Of the file, which stays empty."""

_LONGEST = 300.0  # s; who has a turn for longer was stopped, or sleeps
_PAUSE = 0.02  # s
_BITS = 62  # of a place in a file


class Turns:
    """What processes that share a folder take turns at.

    Parameters
    ----------
    folder : Path
        Where the file is. If it cannot be written, or locked, it is everybody's turn.
    """

    def __init__(self, folder: Path) -> None:
        self._handle = _opened(folder / NAME)

    def take(self, what: str) -> bool:
        """Whether it is this process's turn, from now until `give_back`."""
        return self._handle is None or _lock(self._handle, _place(what))

    def wait_for(self, what: str) -> None:
        """Take a turn when nobody has it any more; go on without where that takes too long."""
        until = time.monotonic() + _LONGEST
        while not self.take(what) and time.monotonic() < until:
            time.sleep(_PAUSE)

    def give_back(self, what: str) -> None:
        """Let others have their turn."""
        if self._handle is not None:
            _unlock(self._handle, _place(what))


@functools.cache
def turns_in(folder: Path) -> Turns:
    """Those of a folder. One handle a process: closing another one would give back its turns."""
    return Turns(folder)


def _opened(path: Path) -> int | None:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        return None


def _place(what: str) -> int:
    """Byte of the file that stands for something."""
    number = int.from_bytes(hashlib.sha256(what.encode()).digest()[:8], "little")
    return number >> (64 - _BITS)


if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int, place: int) -> bool:
        """Whether nobody else has it."""
        os.lseek(handle, place, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(handle: int, place: int) -> None:
        os.lseek(handle, place, os.SEEK_SET)
        with contextlib.suppress(OSError):
            msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    def _lock(handle: int, place: int) -> bool:
        """Whether nobody else has it."""
        try:
            fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
        except (BlockingIOError, PermissionError):
            return False
        except OSError:  # some file systems cannot
            return True
        return True

    def _unlock(handle: int, place: int) -> None:
        with contextlib.suppress(OSError):
            fcntl.lockf(handle, fcntl.LOCK_UN, 1, place)
