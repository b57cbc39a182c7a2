"""Sparse LU, for the Newton steps of cone problems and the free rows of LCPs."""

from __future__ import annotations

from typing import Any, TypeAlias

import scipy

Matrix: TypeAlias = Any  # a sparse array or matrix of SciPy, which have no common type

_KEPT = 0.1  # of its column's largest entry: a diagonal that is no smaller stays the pivot


def sparse_factor(M: Matrix) -> scipy.sparse.linalg.SuperLU:
    """Sparse LU of a square matrix whose pattern is nearly symmetric, as dynamics with rows has it.

    Minimum degree on the pattern of M + M^T, and pivots kept on the diagonal where they are not ten
    times smaller: up to twice as fast as SciPy's default on piles and walls.

    Raises
    ------
    RuntimeError
        Where it is singular.
    """
    return scipy.sparse.linalg.splu(
        scipy.sparse.csc_array(M), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=_KEPT
    )
