"""Sparse matrices of blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from spatialops._arrays import Array


def is_sparse(W: Any) -> bool:
    """Whether W is one of SciPy's sparse arrays or matrices."""
    return bool(sp.issparse(W))


def block_diagonal(blocks: Array) -> Any:
    """Sparse (m dim, m dim) array with these blocks (m, dim, dim) on its diagonal."""
    m, dim, _ = blocks.shape
    size = (m * dim, m * dim)
    return sp.csr_array(sp.bsr_array((np.ascontiguousarray(blocks), np.arange(m), np.arange(m + 1)), shape=size))


def columns_of(W: Any) -> Any:
    """W by columns, as sparse LU wants it."""
    return sp.csc_array(W)
