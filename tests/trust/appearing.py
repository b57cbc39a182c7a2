"""Waiting for a name to appear in a folder, without looking again and again (Linux: inotify)."""

from __future__ import annotations

import ctypes
import fnmatch
import os
import select
import struct
import time
from pathlib import Path

_CREATED = 0x100  # IN_CREATE of <sys/inotify.h>; a folder is created, too
_EVENT = struct.Struct("iIII")  # watch, what, cookie, bytes of the name that follows
_BYTES = 1 << 16


class Appearing:
    """Files of a pattern that appear in a folder from now on; a context.

    Parameters
    ----------
    folder : path
        Is made where it is not there.
    pattern : str
        Of their names.
    """

    def __init__(self, folder: Path, pattern: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._pattern = pattern
        self._library = ctypes.CDLL(None, use_errno=True)
        self._handle = self._library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        watch = self._library.inotify_add_watch(self._handle, os.fsencode(folder), _CREATED)
        if watch < 0:
            raise OSError(ctypes.get_errno(), "inotify", str(folder))

    def __enter__(self) -> Appearing:
        return self

    def __exit__(self, *details: object) -> None:
        os.close(self._handle)

    def comes_before(self, other: int, seconds: float) -> bool:
        """Wait; False where there is something to be read of `other` first, or for too long."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0.0:
            ready, _, _ = select.select([self._handle, other], [], [], left)
            if self._handle in ready and self._has_come():
                return True
            if other in ready:
                return False
        return False

    def _has_come(self) -> bool:
        content = os.read(self._handle, _BYTES)
        place = 0
        while place < len(content):
            length = _EVENT.unpack_from(content, place)[3]
            place += _EVENT.size
            name = os.fsdecode(content[place : place + length].rstrip(b"\0"))
            if fnmatch.fnmatchcase(name, self._pattern):
                return True
            place += length
        return False
