"""Poses and own inertias of links, each link's in a row of a table.

Poses in the parents' frames are made for eight links at a time (`composite_lanes`). From link to
link a column of a rotation is one register, and what multiplies it are numbers from memory. Then
eight links at a time again: the first registers of `transposed` are those of their first numbers.
"""

from __future__ import annotations

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined
from spatialops.algebra.simd import (
    WIDTH,
    Lanes,
    load,
    load1,
    load3,
    load_sym3,
    spread,
    spread1,
    store,
    zeros,
)
from spatialops.algebra.simd_blocks import Block, between, transposed
from spatialops.algebra.simd_rows import load_half, store_half
from spatialops.algebra.vectors import rotate, rotation_from_quaternion, sym_rotated, times
from spatialops.dynamics.composite_lanes import (
    PLACED,
    TURNED,
    column9,
    gather_coordinates,
    place_in_parents,
    put_column9,
)

# Columns of a link's row: its axes in the world and its lever, four numbers each,
AXES, LEVER = 0, 12
SECOND, CENTER = 16, 24  # and its own inertia, in the two registers that `rigid_rows` takes
OWN_COLUMNS = 32


@inlined
def place_and_weigh(tree: IntArray, constants: Array, q: Array, work: Array, rows: Array) -> None:
    """Poses and own inertias of all links into `rows`."""
    end = work.shape[0]
    gather_coordinates(tree, q, work, 0, end)
    place_in_parents(constants, work, 0, end)
    place_in_rows(tree, q, work, rows)
    for eight in range(end):
        weigh(constants, rows, eight)


@inlined
def unit(lane: int) -> Lanes:
    """1 in one lane."""
    return between(zeros() + 1.0, lane, lane)


@inlined
def place_in_rows(tree: IntArray, q: Array, work: Array, rows: Array) -> None:
    """Axes in the world and levers from the parents' origins, base to tips."""
    x = zeros()
    y = zeros()
    z = zeros()
    for k in range(tree.shape[0]):
        parent, frame = tree[k, layout.PARENT], tree[k, layout.FRAME]
        lever = zeros()
        if frame != layout.SAME:
            if frame in (layout.ATTITUDE, layout.POSE):
                turn_by_quaternion(tree, q, work, k)
            if parent < 0:
                x, y = unit(0), unit(1)
                z = unit(2)
            else:
                if parent != k - 1:  # else they are in registers still
                    x = load_half(rows, parent, AXES)
                    y = load_half(rows, parent, AXES + 4)
                    z = load_half(rows, parent, AXES + 8)
                lever = combined(work, PLACED, 1, k, x, y, z)
            a, b = combined(work, TURNED, 3, k, x, y, z), combined(work, TURNED + 1, 3, k, x, y, z)
            z = combined(work, TURNED + 2, 3, k, x, y, z)
            x, y = a, b
        store_half(rows, k, AXES, x)
        store_half(rows, k, AXES + 4, y)
        store_half(rows, k, AXES + 8, z)
        store_half(rows, k, LEVER, lever)


@inlined
def combined(work: Array, row: int, step: int, k: int, x: Lanes, y: Lanes, z: Lanes) -> Lanes:
    """The vector with these components, numbers of link k, along x, y and z."""
    along_z = spread1(work, row + 2 * step, k) * z
    return spread1(work, row, k) * x + spread1(work, row + step, k) * y + along_z


@inlined
def turn_by_quaternion(tree: IntArray, q: Array, work: Array, k: int) -> None:
    """Turn link k of a ball or free joint, in its parent's frame."""
    i = tree[k, layout.FIRST_Q] + (3 if tree[k, layout.FRAME] == layout.POSE else 0)
    turn = rotation_from_quaternion(q[i], q[i + 1], q[i + 2], q[i + 3])
    put_column9(work, TURNED, k, times(column9(work, TURNED, k), turn))


@inlined
def weigh(constants: Array, rows: Array, eight: int) -> None:
    """Own inertias of eight links."""
    a, b = take_block(rows, eight, AXES), take_block(rows, eight, AXES + WIDTH)
    rotation = (a[0], a[4], b[0]), (a[1], a[5], b[1]), (a[2], a[6], b[2])
    none, mass = zeros(), load1(constants, layout.MASS, eight)
    J = sym_rotated(rotation, load_sym3(constants, layout.INERTIA, eight))
    h = rotate(rotation, load3(constants, layout.COM, eight))
    put_block(rows, eight, SECOND, (J[0], J[1], J[2], J[3], J[4], J[5], mass, none))
    minus = none - h[0], none - h[1], none - h[2]
    put_block(rows, eight, CENTER, (h[0], h[1], h[2], none, minus[0], minus[1], minus[2], none))


@inlined
def take_block(rows: Array, eight: int, column: int) -> Block:
    """Eight numbers of eight links, from each link's side by side."""
    k = WIDTH * eight
    return transposed(
        (
            load(rows, k, column),
            load(rows, k + 1, column),
            load(rows, k + 2, column),
            load(rows, k + 3, column),
            load(rows, k + 4, column),
            load(rows, k + 5, column),
            load(rows, k + 6, column),
            load(rows, k + 7, column),
        )
    )


@inlined
def put_block(rows: Array, eight: int, column: int, block: Block) -> None:
    """Put them there."""
    a, b, c, d, e, f, g, h = transposed(block)
    k = WIDTH * eight
    store(rows, k, column, a)
    store(rows, k + 1, column, b)
    store(rows, k + 2, column, c)
    store(rows, k + 3, column, d)
    store(rows, k + 4, column, e)
    store(rows, k + 5, column, f)
    store(rows, k + 6, column, g)
    store(rows, k + 7, column, h)


@inlined
def axis_of(tree: IntArray, rows: Array, k: int) -> tuple[Lanes, Lanes, Lanes]:
    """The axis of motion of link k, each component in all lanes."""
    column = AXES + 4 * tree[k, layout.AXIS]
    return spread(rows, k, column), spread(rows, k, column + 1), spread(rows, k, column + 2)


@inlined
def lever_of(rows: Array, k: int) -> tuple[Lanes, Lanes, Lanes]:
    """Its lever from the parent's origin, likewise."""
    return spread(rows, k, LEVER), spread(rows, k, LEVER + 1), spread(rows, k, LEVER + 2)
