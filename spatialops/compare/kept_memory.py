"""Memory that is freed stays with the process, so that pages are not timed that the system clears.

A call that returns new arrays of megabytes gets them as pages that the system clears one by one
when they are first written to, each time anew: glibc gives large blocks back as soon as they are
freed. That costs 0.2 to 3 us a page of 4 kB, by the machine, and can be more than what is computed.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

# Options of mallopt, from malloc.h, and what glibc has them at.
_TRIM_THRESHOLD, _MMAP_MAX = -1, -4
_USUAL_TRIM, _USUAL_MMAPS = 128 * 1024, 65536
_NEVER = 2**31 - 1


@contextmanager
def kept_memory() -> Iterator[bool]:
    """Keep what is freed while this lasts; whether the C library is one that can (glibc)."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        yield False
        return
    kept = bool(mallopt(_MMAP_MAX, 0) and mallopt(_TRIM_THRESHOLD, _NEVER))
    try:
        yield kept
    finally:
        mallopt(_MMAP_MAX, _USUAL_MMAPS)
        mallopt(_TRIM_THRESHOLD, _USUAL_TRIM)
