"""Linear operators of two functions each, themselves and their adjoints, and their dense form."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse.linalg import LinearOperator

from spatialops._arrays import Array


def operator(
    shape: tuple[int, int], forward: Callable[[Array], Array], backward: Callable[[Array], Array]
) -> LinearOperator:
    """An operator of itself and its adjoint, functions of rows of vectors (c, size)."""

    def by_rows(apply: Callable[[Array], Array]) -> Callable[[Array], Array]:
        def columns(X: Array) -> Array:
            rows = np.array(X if X.ndim == 2 else X[:, None], dtype=np.float64).T.copy()
            result = apply(rows).T
            return result if X.ndim == 2 else result[:, 0]

        return columns

    to, back = by_rows(forward), by_rows(backward)
    return LinearOperator(shape, matvec=to, rmatvec=back, matmat=to, rmatmat=back, dtype=np.float64)


def dense(operator: LinearOperator) -> Array:
    """The matrix of an operator, column by column: for looking at and for checking.

    Parameters
    ----------
    operator : LinearOperator
        Of shape (m, n).

    Returns
    -------
    (m, n) array
        In O(n) applications.
    """
    return np.asarray(operator @ np.eye(operator.shape[1]))


def diagonal(values: Array) -> LinearOperator:
    """The operator that multiplies entry by entry."""
    values = values.copy()
    return operator(
        (values.size, values.size), lambda rows: rows * values, lambda rows: rows * values
    )


def block_diagonal(blocks: Array) -> LinearOperator:
    """The operator of symmetric blocks (n, 6, 6), one a link."""

    def apply(rows: Array) -> Array:
        return np.einsum("kij,ckj->cki", blocks, rows.reshape(len(rows), len(blocks), 6)).reshape(
            rows.shape
        )

    return operator((6 * len(blocks),) * 2, apply, apply)
