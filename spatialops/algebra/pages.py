"""Memory of large tables, in pages as large as there are.

A processor that sweeps over more than a few thousand pages looks up where they lie as often as it
computes. NumPy asks for large ones, but memory that somebody had before stays in the small ones
that it was given in.
"""

from __future__ import annotations

import contextlib
import mmap

import numpy as np

from spatialops._arrays import Array

_LARGE = 1 << 22  # bytes from which NumPy asks for large pages as well


def zeroed(count: int) -> Array:
    """An array of zeros."""
    size = count * np.dtype(np.float64).itemsize
    if size < _LARGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        return np.zeros(count)
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with contextlib.suppress(OSError):  # of a system that has none
        memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, dtype=np.float64)
