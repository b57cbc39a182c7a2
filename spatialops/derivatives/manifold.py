"""Derivatives of motions along the manifold of coordinates, and of velocities carried with them.

They are block diagonal: numbers on the diagonal, but for ball and free joints. Kernels keep them as
tables with a row for each velocity, and in it the columns of its joint: `spans` says which.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import (
    Array,
    ArrayLike,
    IntArray,
    Mat3,
    Vec3,
    all_finite,
    not_finite,
    scalar,
    vector,
)
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import cross, dot, rotate, scaled
from spatialops.tree.model import Model, not_a_model

_SERIES = 1e-4  # rad^2 below which the series of three terms is exact

WIDEST = 6  # columns of a free joint

# Tables of a move.
BY_Q = 0
BY_V = 1
CARRIED = 2
MOVES = 3

# Columns of the table of spans.
FIRST = 0
WIDTH = 1
SPAN_COLUMNS = 2


class MoveDerivatives(NamedTuple):
    """What `integrate_derivatives` returns.

    Parameters
    ----------
    dq : (nv, nv) array
        By the coordinates that the move begins at: both ends in the tangent space there.
    dv : (nv, nv) array
        By the velocity.
    carried : (nv, nv) array
        By the velocity, of the velocity that arrives: linear ones of free bodies stay as they are
        in the world, and have other components along axes that have turned.
    """

    dq: Array
    dv: Array
    carried: Array


def integrate_derivatives(
    model: Model, q: ArrayLike, v: ArrayLike, step: float = 1.0
) -> MoveDerivatives:
    """Derivatives of `integrate(model, q, step * v)` on the tangent spaces of its two ends.

    Parameters
    ----------
    model : Model
        The mechanism.
    q : (nq,) array_like
        Coordinates, rad and m.
    v : (nv,) array_like
        Velocities, rad/s and m/s.
    step : float
        s. Default: 1.

    Returns
    -------
    MoveDerivatives
        All block diagonal: diagonal but for ball and free joints.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN or infinity.

    Examples
    --------
    >>> import spatialops as so
    >>> model = so.models.pendulum(2).model
    >>> so.integrate_derivatives(model, [0.3, 0.1], [1.0, 2.0], 0.5).dv
    array([[0.5, 0. ],
           [0. , 0.5]])
    """
    if type(model) is not Model:
        raise not_a_model(model)
    q = vector(q, model.nq, "q")
    v = vector(v, model.nv, "v")
    step = scalar(step, "step")
    if not (all_finite(q) and all_finite(v)):
        raise not_finite(q=q, v=v)
    where, blocks = spans(model), np.empty((MOVES, model.nv, WIDEST))
    move_kernel(model.tree, v, step, blocks)
    return MoveDerivatives(*(dense_blocks(where, block) for block in blocks))


def dense_blocks(where: IntArray, block: Array) -> Array:
    """The matrix that a table of blocks stands for."""
    result = np.zeros((len(where), len(where)))
    for k, (first, width) in enumerate(where):
        result[k, first : first + width] = block[k, :width]
    return result


def spans(model: Model) -> IntArray:
    """(nv, 2) table: the first velocity of each velocity's joint, and how many turn together."""
    where = np.stack([np.arange(model.nv), np.ones(model.nv, np.int64)], axis=1)
    for k in turning(model):
        width = WIDEST if model.tree[k, layout.FRAME] == layout.POSE else 3
        where[k : k + width] = k, width
    return where


def turning(model: Model) -> list[int]:
    """First links of ball and free joints."""
    frames = model.tree[:, layout.FRAME]
    found: list[int] = np.flatnonzero(
        (frames == layout.ATTITUDE) | (frames == layout.POSE)
    ).tolist()
    return found


@inlined
def turns(r: Vec3, a: float, b: float) -> Mat3:
    """Matrix 1 + a r~ + b r~ r~."""
    square = dot(r, r)
    x = scaled(b, r)
    return (
        (
            1.0 + x[0] * r[0] - b * square,
            x[0] * r[1] - a * r[2],
            x[0] * r[2] + a * r[1],
        ),
        (
            x[1] * r[0] + a * r[2],
            1.0 + x[1] * r[1] - b * square,
            x[1] * r[2] - a * r[0],
        ),
        (
            x[2] * r[0] - a * r[1],
            x[2] * r[1] + a * r[0],
            1.0 + x[2] * r[2] - b * square,
        ),
    )


@inlined
def series_of_turn(square: float) -> tuple[float, float, float]:
    """Of the angle x: sin x / x, (1 - cos x) / x^2 and (x - sin x) / x^3."""
    if square < _SERIES:
        return (
            1.0 - square / 6.0 + square * square / 120.0,
            0.5 - square / 24.0 + square * square / 720.0,
            1.0 / 6.0 - square / 120.0 + square * square / 5040.0,
        )
    x = math.sqrt(square)
    return math.sin(x) / x, (1.0 - math.cos(x)) / square, (x - math.sin(x)) / (x * square)


@inlined
def put_block(block: Array, row: int, column: int, m: Mat3) -> None:
    for i in range(3):
        for j in range(3):
            block[row + i, column + j] = m[i][j]


@inlined
def crossed(a: Vec3, m: Mat3) -> Mat3:
    """a~ m, column by column."""
    x = cross(a, (m[0][0], m[1][0], m[2][0]))
    y = cross(a, (m[0][1], m[1][1], m[2][1]))
    z = cross(a, (m[0][2], m[1][2], m[2][2]))
    return (x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2])


@kernel
def move_kernel(tree: IntArray, v: Array, step: float, blocks: Array) -> None:
    """Tables (MOVES, nv, WIDEST) of a move by step * v, in columns that turn together.

    A turn by r = step w arrives in axes that have turned back, exp(-r~), and a change of r turns
    there by 1 - (1 - cos x) / x^2 r~ + (x - sin x) / x^3 r~ r~ (Sola 2018, equation 143).
    """
    for k in range(tree.shape[0]):
        blocks[BY_Q, k, 0] = blocks[CARRIED, k, 0] = 1.0
        blocks[BY_V, k, 0] = step
    for k in range(tree.shape[0]):
        frame = tree[k, layout.FRAME]
        if frame not in (layout.ATTITUDE, layout.POSE):
            continue
        r = scaled(step, (v[k], v[k + 1], v[k + 2]))
        first, second, third = series_of_turn(dot(r, r))
        back, turned = turns(r, -first, second), turns(r, -second, third)
        turned = scaled(step, turned[0]), scaled(step, turned[1]), scaled(step, turned[2])
        put_block(blocks[BY_Q], k, 0, back)
        put_block(blocks[BY_V], k, 0, turned)
        put_block(blocks[CARRIED], k, 0, turns(r, 0.0, 0.0))
        if frame == layout.POSE:
            put_moved(blocks, k, (v[k + 3], v[k + 4], v[k + 5]), back, step)


@inlined
def put_moved(blocks: Array, k: int, v: Vec3, back: Mat3, step: float) -> None:
    """Rows of a free joint's linear velocities v, which `back` takes to the axes at the end."""
    arrived = rotate(back, v)
    turned = (
        (blocks[BY_V, k, 0], blocks[BY_V, k, 1], blocks[BY_V, k, 2]),
        (blocks[BY_V, k + 1, 0], blocks[BY_V, k + 1, 1], blocks[BY_V, k + 1, 2]),
        (blocks[BY_V, k + 2, 0], blocks[BY_V, k + 2, 1], blocks[BY_V, k + 2, 2]),
    )
    swung = crossed(
        scaled(-step, arrived), back
    )  # -step exp(-r~) v~ = -step (exp(-r~) v)~ exp(-r~)
    put_block(blocks[BY_Q], k + 3, 0, swung)
    put_block(blocks[BY_Q], k + 3, 3, back)
    moved = scaled(step, back[0]), scaled(step, back[1]), scaled(step, back[2])
    nothing = scaled(0.0, v)
    for table in (BY_Q, BY_V, CARRIED):
        put_block(blocks[table], k, 3, (nothing, nothing, nothing))
    put_block(blocks[BY_V], k + 3, 0, (nothing, nothing, nothing))
    put_block(blocks[BY_V], k + 3, 3, moved)
    put_block(blocks[CARRIED], k + 3, 0, crossed(arrived, turned))
    put_block(blocks[CARRIED], k + 3, 3, back)
