"""Parts of a buffer, by name."""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops._compile.jit import merged


@merged
def matrix(floats: Array, at: int, rows: int, columns: int) -> Array:
    """So many rows and columns of a buffer, from `at` on."""
    return floats[at : at + rows * columns].reshape((rows, columns))
