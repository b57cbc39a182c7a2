"""The named arrays that pivoting works in, cut from plain ones.

The stepping loop keeps them as a few flat buffers, which its kernels cut to the size of the present
problem; Python makes fresh ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined

INT_ROWS = 6  # rows of n + 1 whole numbers, and
VECTOR_ROWS = 3  # of n numbers, that `lemke_scratch` takes


class BasisScratch(NamedTuple):
    """What solving a basis works in."""

    M: Array  # (n, n) at least: the active block, and its factors
    chosen: IntArray  # rows of the problem that are in the block; dropped ones as -1 - i
    rows: IntArray  # their order after pivoting
    right: Array  # (n,)
    step: Array  # (n,)


class LemkeScratch(NamedTuple):
    """What Lemke's method works in."""

    D: Array  # (n, n + 2) dictionary
    basic: (
        IntArray  # (n + 1,) names of basic variables: w_i is i, z_i n + i, the artificial one 2 n
    )
    others: IntArray  # (n + 1,) of non-basic ones
    tied: IntArray  # (n + 1,) rows that block at once
    where: IntArray  # (n + 1,) columns of w while a tie is broken; names wanted in a new dictionary
    trial: Array  # (n,) a z
    basis: BasisScratch


@inlined
def basis_scratch(M: Array, ints: IntArray, vectors: Array) -> BasisScratch:
    """Name the parts of `ints` (2, n) or longer rows, and of `vectors` (2, n)."""
    return BasisScratch(M, ints[0], ints[1], vectors[0], vectors[1])


@inlined
def lemke_scratch(D: Array, ints: IntArray, vectors: Array) -> LemkeScratch:
    """Name parts of `ints` (INT_ROWS, n + 1), `vectors` (VECTOR_ROWS, n); D is (n, n + 2)."""
    basis = basis_scratch(D, ints[4:6], vectors)
    return LemkeScratch(D, ints[0], ints[1], ints[2], ints[3], vectors[2], basis)


def new_basis_scratch(n: int) -> BasisScratch:
    """Fresh scratch for bases of a problem of n rows."""
    return BasisScratch(
        M=np.empty((n, n)),
        chosen=np.empty(n, dtype=np.int64),
        rows=np.empty(n, dtype=np.int64),
        right=np.empty(n),
        step=np.empty(n),
    )


def new_lemke_scratch(n: int) -> LemkeScratch:
    """Fresh scratch for Lemke's method on a problem of n rows."""
    return LemkeScratch(
        D=np.empty((n, n + 2)),
        basic=np.empty(n + 1, dtype=np.int64),
        others=np.empty(n + 1, dtype=np.int64),
        tied=np.empty(n + 1, dtype=np.int64),
        where=np.empty(n + 1, dtype=np.int64),
        trial=np.empty(n),
        basis=new_basis_scratch(n),
    )
