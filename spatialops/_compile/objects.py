"""Objects of this process that machine code compares with: read from slots that are found by name.

Code on disk must not hold addresses of this process. It loads them from slots, which the linker of
LLVM finds here, and a shared library has of its own.
"""

from __future__ import annotations

import ctypes

import numpy as np
from llvmlite import binding

OBJECTS: dict[str, object] = {
    "spatialops_ndarray": np.ndarray,
    "spatialops_float64": np.dtype(np.float64),
    "spatialops_int64": np.dtype(np.int64),
}
"""By the names of their slots."""

_WORD = ctypes.sizeof(ctypes.c_void_p)
_slots = (ctypes.c_void_p * len(OBJECTS))(*map(id, OBJECTS.values()))


def offer_slots() -> None:
    """Let code that is compiled in this process find the slots."""
    for k, name in enumerate(OBJECTS):
        binding.add_symbol(name, ctypes.addressof(_slots) + k * _WORD)
