"""Sparse matrices as they come from files: SciPy's own check believes a matrix without entries."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from spatialops._arrays import Array, IntArray


def stored_sparse(
    values: Array, indices: IntArray, starts: IntArray, shape: tuple[int, int], *, columns: bool
) -> Any:
    """A matrix by compressed columns or rows, its indices checked before anybody follows them.

    Raises
    ------
    ValueError
        If an index lies outside, or the parts do not fit one another.
    """
    n_major, n_minor = shape[::-1] if columns else shape
    if values.ndim != 1 or indices.shape != values.shape or starts.shape != (n_major + 1,):
        raise ValueError("the parts of a sparse matrix do not fit one another")
    if indices.dtype.kind not in "iu" or starts.dtype.kind not in "iu":
        raise ValueError("a sparse matrix has indices that are no whole numbers")
    if starts[0] != 0 or starts[-1] != len(indices) or (np.diff(starts.astype(np.int64)) < 0).any():
        raise ValueError("rows or columns of a sparse matrix do not follow one another")
    if len(indices) and not (0 <= indices.min() and indices.max() < n_minor):
        raise ValueError("an index of a sparse matrix lies outside of it")
    make = scipy.sparse.csc_array if columns else scipy.sparse.csr_array
    return make((values, indices, starts), shape=shape)
