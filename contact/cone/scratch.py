"""The named arrays that the compiled Newton method of cone problems works on and in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined

CONTACT_ROWS = 16  # rows, and
MOST_DIM = 6  # columns that solving one contact works in: see `one_contact`


class Blocks(NamedTuple):
    """W by blocks, in rows of blocks; those on the diagonal are always there."""

    rows: IntArray  # (m + 1,) where the blocks of a row begin
    columns: IntArray  # (k,) columns of blocks
    blocks: Array  # (k, dim, dim)


class DenseSystem(NamedTuple):
    """u = W r + b for contacts with coefficients mu (m, k); W = L R^T where a rank is given."""

    W: Array  # (n, n)
    L: Array  # (n, n), of which `rank` columns count
    R: Array
    b: Array  # (n,)
    mu: Array  # (m, k)
    starts: IntArray  # (k + 1,) rows of a contact where its kinds of friction begin, and its rows


class NewtonScratch(NamedTuple):
    """What a Newton method works in."""

    J: Array  # (n, n): the Jacobian, or Woodbury's small matrix, and its factors
    Y: Array  # (n, n), with a factored W only
    P: Array  # (m, dim, dim) derivatives of the projections
    Q: Array  # (m, dim, dim) the same by velocities
    chosen: IntArray  # (n,) rows of closed contacts
    order: IntArray  # (n,) of pivots
    u: Array  # (n,) velocities
    x: Array  # (n,) projected points
    F: Array  # (n,) the map's value
    step: Array  # (n,)
    du: Array  # (n,) change of u along the step
    right: Array  # (n,)
    reduced: Array  # (n,) the step in the closed rows, or in Woodbury's small system
    point: Array  # (n,) tried by the line search
    speed: Array  # (n,) its velocities
    best: Array  # (n,) impulses of the least |F|
    contact: Array  # (CONTACT_ROWS, MOST_DIM) for one contact


@inlined
def newton_scratch(
    squares: Array, slopes: Array, ints: IntArray, vectors: Array, contact: Array
) -> NewtonScratch:
    """Name the parts of these arrays.

    `squares` are (2, n, n) at least, `slopes` (2, m, dim, dim), `ints` (2, n), `vectors` (10, n).
    """
    return NewtonScratch(
        squares[0],
        squares[1],
        slopes[0],
        slopes[1],
        ints[0],
        ints[1],
        vectors[0],
        vectors[1],
        vectors[2],
        vectors[3],
        vectors[4],
        vectors[5],
        vectors[6],
        vectors[7],
        vectors[8],
        vectors[9],
        contact,
    )


def new_newton_scratch(m: int, dim: int) -> NewtonScratch:
    """Fresh scratch for m contacts of `dim` rows."""
    n = m * dim
    return NewtonScratch(
        J=np.empty((n, n)),
        Y=np.empty((n, n)),
        P=np.empty((m, dim, dim)),
        Q=np.empty((m, dim, dim)),
        chosen=np.empty(n, dtype=np.int64),
        order=np.empty(n, dtype=np.int64),
        u=np.empty(n),
        x=np.empty(n),
        F=np.empty(n),
        step=np.empty(n),
        du=np.empty(n),
        right=np.empty(n),
        reduced=np.empty(n),
        point=np.empty(n),
        speed=np.empty(n),
        best=np.empty(n),
        contact=np.empty((CONTACT_ROWS, MOST_DIM)),
    )
