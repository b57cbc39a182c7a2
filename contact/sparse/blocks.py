"""Sparse matrices of blocks."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import scipy

from spatialops._arrays import Array

Matrix: TypeAlias = (
    Any  # an array or a sparse array of SciPy: both multiply, neither has a common type
)


def is_sparse(W: Matrix) -> bool:
    """Whether W is one of SciPy's sparse arrays or matrices."""
    return bool(scipy.sparse.issparse(W))


def block_diagonal(blocks: Array) -> Matrix:
    """Sparse (m dim, m dim) array with these blocks (m, dim, dim) on its diagonal."""
    m, dim, _ = blocks.shape
    size = (m * dim, m * dim)
    return scipy.sparse.csr_array(
        scipy.sparse.bsr_array(
            (np.ascontiguousarray(blocks), np.arange(m), np.arange(m + 1)), shape=size
        )
    )
