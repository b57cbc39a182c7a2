"""Poses of links, each link's in a row of a table, and own inertias of eight of them.

Poses in the parents' frames are made for eight links at a time (`composite_lanes`). From link to
link a column of a rotation is one register, and what multiplies it are numbers from memory.
Inertias are made for eight links again, when a sweep comes to them: no link keeps more than its
pose, since of trees that are larger than the cache a sweep costs what it moves through memory.
"""

from __future__ import annotations

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, Vec3
from spatialops._compile.jit import inlined
from spatialops.algebra.prefetch import prefetch, prefetch_own, prefetch_rows
from spatialops.algebra.simd import (
    WIDTH,
    Lanes,
    LanesVec3,
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
from spatialops.algebra.simd_rows import Six, load_half, rigid_rows, store_half
from spatialops.algebra.vectors import (
    plus,
    plus_scaled,
    rotate,
    rotation_from_quaternion,
    scaled,
    sym_rotated,
    times,
    vec3,
)
from spatialops.dynamics.composite_lanes import (
    COMPOSITE_ROWS,
    PLACED,
    TURNED,
    column9,
    gather_coordinates,
    place_in_parents,
    put_column9,
)
from spatialops.tree.branches import TURNING

# Columns of a link's row: its axes in the world and its lever, four numbers each. In place of the
# fourth of a lever stands which row of `held` has what branches leave at it, 0 where none does.
AXES, LEVER = 0, 12
MET = 15
POSE_COLUMNS = 16
BLOCK = 8  # eights that go through several steps together
PLACE_COLUMNS = WIDTH * COMPOSITE_ROWS  # of the table that placing needs, of BLOCK rows
# Of `held`: first the own inertias of 64 links, in the two registers that `rigid_rows` takes, then
# what branches leave.
SECOND, CENTER = 0, 8
OWN_ROWS = WIDTH * BLOCK
HELD_COLUMNS = 48
_CACHED = 512  # links


@inlined
def held_rows(n: int) -> int:
    """Rows of `held`: branches meet at every second link at most."""
    return OWN_ROWS + n // 2


@inlined
def place_in_rows(tree: IntArray, constants: Array, q: Array, work: Array, rows: Array) -> None:
    """Axes in the world and levers from the parents' origins, base to tips."""
    pose = zeros(), zeros(), zeros()
    for first in range(0, constants.shape[0], BLOCK):
        end = min(first + BLOCK, constants.shape[0])
        gather_coordinates(tree[WIDTH * first :], q, work, 0, end - first)
        place_in_parents(constants[first:end], work, 0, end - first)
        pose = place_block(tree, constants, q, work, rows, WIDTH * first, pose)


@inlined
def unit(lane: int) -> Lanes:
    """1 in one lane."""
    return between(zeros() + 1.0, lane, lane)


@inlined
def place_block(
    tree: IntArray,
    constants: Array,
    q: Array,
    work: Array,
    rows: Array,
    first: int,
    pose: LanesVec3,
) -> LanesVec3:
    """The same for the links of a block; axes of the link before the first, and of the last."""
    x, y, z = pose
    large = is_large(tree)
    for k in range(first, min(first + WIDTH * BLOCK, tree.shape[0])):
        if large:
            prefetch_next(tree, constants, rows, k + WIDTH * BLOCK)
        parent, frame = tree[k, layout.PARENT], tree[k, layout.FRAME]
        lever, i = zeros(), k - first
        if frame != layout.SAME:
            if frame in (layout.ATTITUDE, layout.POSE):
                turn_by_quaternion(q, tree[k, layout.FIRST_Q], frame, work, i)
            if parent < 0:
                x, y = unit(0), unit(1)
                z = unit(2)
            else:
                if parent != k - 1:  # else they are in registers still
                    x = load_half(rows, parent, AXES)
                    y = load_half(rows, parent, AXES + 4)
                    z = load_half(rows, parent, AXES + 8)
                lever = combined(work, PLACED, 1, i, (x, y, z))
            a, b = (
                combined(work, TURNED, 3, i, (x, y, z)),
                combined(work, TURNED + 1, 3, i, (x, y, z)),
            )
            z = combined(work, TURNED + 2, 3, i, (x, y, z))
            x, y = a, b
        store_half(rows, k, AXES, x)
        store_half(rows, k, AXES + 4, y)
        store_half(rows, k, AXES + 8, z)
        store_half(rows, k, LEVER, lever)
    return x, y, z


@inlined
def combined(work: Array, row: int, step: int, k: int, axes: LanesVec3) -> Lanes:
    """The vector with these components, numbers of link k, along the axes."""
    along_z = spread1(work, row + 2 * step, k) * axes[2]
    return spread1(work, row, k) * axes[0] + spread1(work, row + step, k) * axes[1] + along_z


@inlined
def turn_by_quaternion(q: Array, first: int, frame: int, work: Array, k: int) -> None:
    """Turn link k of a ball or free joint, in its parent's frame."""
    i = first + (3 if frame == layout.POSE else 0)
    turn = rotation_from_quaternion(q[i], q[i + 1], q[i + 2], q[i + 3])
    put_column9(work, TURNED, k, times(column9(work, TURNED, k), turn))


@inlined
def weigh(constants: Array, rows: Array, eight: int, held: Array) -> None:
    """Own inertias of eight links."""
    a, b = take_block(rows, WIDTH * eight, AXES), take_block(rows, WIDTH * eight, AXES + WIDTH)
    rotation = (a[0], a[4], b[0]), (a[1], a[5], b[1]), (a[2], a[6], b[2])
    none, mass = zeros(), load1(constants, layout.MASS, eight)
    J = sym_rotated(rotation, load_sym3(constants, layout.INERTIA, eight))
    h = rotate(rotation, load3(constants, layout.COM, eight))
    minus = none - h[0], none - h[1], none - h[2]
    first = WIDTH * eight & OWN_ROWS - 1
    put_block(held, first, SECOND, (J[0], J[1], J[2], J[3], J[4], J[5], mass, none))
    put_block(held, first, CENTER, (h[0], h[1], h[2], none, minus[0], minus[1], minus[2], none))


@inlined
def weigh_block(constants: Array, rows: Array, end: int, held: Array) -> int:
    """Own inertias of the links of a block of eights before `end`; its first one is returned."""
    first = max(end - BLOCK, 0)
    for eight in range(first, end):
        weigh(constants, rows, eight, held)
    return first


@inlined
def own_rows(held: Array, k: int) -> Six:
    """Own inertia of link k, of the last block that was weighed."""
    return rigid_rows(load(held, k & OWN_ROWS - 1, SECOND), load(held, k & OWN_ROWS - 1, CENTER))


@inlined
def take_block(rows: Array, k: int, column: int) -> Block:
    """Eight numbers of eight links, from each link's side by side."""
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
def put_block(rows: Array, k: int, column: int, block: Block) -> None:
    """Put them there."""
    a, b, c, d, e, f, g, h = transposed(block)
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


@inlined
def is_large(tree: IntArray) -> bool:
    """Whether a sweep has to ask for memory ahead."""
    return tree.shape[0] > _CACHED


@inlined
def prefetch_next(tree: IntArray, constants: Array, rows: Array, k: int) -> None:
    """Ask for a link's share of what blocks are placed by, and for its row."""
    prefetch_rows(constants, k >> 3, layout.PLACE_R, layout.MASS, k)
    prefetch_rows(constants, k >> 3, TURNING, 2, k)
    prefetch(tree, k, 0)
    prefetch_own(rows, k, AXES)
    prefetch_own(rows, k, AXES + WIDTH)


@inlined
def prefetch_back(tree: IntArray, constants: Array, rows: Array, k: int) -> None:
    """The same of what a sweep to the base takes of it."""
    prefetch_rows(constants, k >> 3, layout.MASS, TURNING - layout.MASS, k)
    prefetch(tree, k, 0)
    prefetch(rows, k, AXES)
    prefetch(rows, k, AXES + WIDTH)


@inlined
def in_world(rows: Array, k: int, offset: Vec3) -> Vec3:
    """A vector in the axes of link k."""
    x, y = vec3(rows, k, AXES), vec3(rows, k, AXES + 4)
    across = plus(scaled(offset[0], x), scaled(offset[1], y))
    return plus_scaled(across, offset[2], vec3(rows, k, AXES + 8))
