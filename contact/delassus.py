"""How contacts answer impulses.

Their compliance W = G M^-1 G^T along the contact frames, and M^-1 G^T p, in O(N).

Rows of L = G psi* H* D^-1/2 by carrying unit forces at each contact to the base ([J] 62-64, three
columns a contact instead of six a node); then W = L L^T, W p = L (L^T p), and joint velocities
follow from y = L^T p by one sweep base to tips.
"""

from __future__ import annotations

from spatialops._arrays import Array, IntArray, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops._layout import LINEAR, MOTION
from spatialops.algebra.vectors import ZERO3, dot, scaled, vec3
from spatialops.collision import _layout as col
from spatialops.contact.rows import (
    COUNT_A,
    FIRST_A,
    FIRST_B,
    START,
    TREE_B,
    SparseRows,
    add_impulses,
    width_of,
)
from spatialops.dynamics.response import add_three_rows, add_wrench_row, velocities_from


@kernel
def contact_rows(
    tree: IntArray,
    links: Array,
    work: Array,
    ints: IntArray,
    floats: Array,
    count: int,
    rows: SparseRows,
) -> None:
    """Rows of all contacts along normal and tangents; factors must be in `work`, places there."""
    for i in range(count):
        clear_rows(rows, i)
        a, b = ints[i, col.CONTACT_A], ints[i, col.CONTACT_B]
        if ints[i, col.CONTACT_FEATURE_A] < 0:
            put_joint_row(tree, links, work, ints, floats, i, rows)
        elif ints[i, col.CONTACT_PAIR] < 0:
            put_moment_rows(tree, links, work, (a, b), floats, i, rows)
        elif b < 0:
            put_side(tree, links, work, a, floats, i, rows, False, 1.0)
        elif a < 0:
            put_side(tree, links, work, b, floats, i, rows, False, -1.0)
        elif rows.places[i, TREE_B] >= 0:
            put_side(tree, links, work, a, floats, i, rows, False, 1.0)
            put_side(tree, links, work, b, floats, i, rows, True, -1.0)
        else:
            put_within(tree, links, work, a, b, floats, i, rows)


@inlined
def clear_rows(rows: SparseRows, i: int) -> None:
    start = rows.places[i, START]
    for k in range(start, start + 3 * width_of(rows.places, i)):
        rows.entries[k] = 0.0


@inlined
def put_joint_row(
    tree: IntArray,
    links: Array,
    work: Array,
    ints: IntArray,
    floats: Array,
    i: int,
    rows: SparseRows,
) -> None:
    """Of a joint: its rate along the normal or the tangent, nothing else."""
    a, b = ints[i, col.CONTACT_A], ints[i, col.CONTACT_B]
    j = 0 if ints[i, col.CONTACT_FEATURE_A] == col.STOP else 1
    axis = vec3(floats, i, col.NORMAL + 3 * j)
    moment, force = (ZERO3, axis) if tree[a, MOTION] == LINEAR else (axis, ZERO3)
    origin = rows.places[i, START] + j * width_of(rows.places, i) - rows.places[i, FIRST_A]
    point = vec3(floats, i, col.POINT)
    add_wrench_row(tree, links, work, (a, b), point, moment, force, rows.entries, origin)


@inlined
def put_moment_rows(
    tree: IntArray,
    links: Array,
    work: Array,
    between: tuple[int, int],
    floats: Array,
    i: int,
    rows: SparseRows,
) -> None:
    """Of torsional and rolling friction: spins about the axes that stand for tangents."""
    places, point = rows.places, vec3(floats, i, col.POINT)
    a, b = between
    for j in range(1, 3):
        axis = vec3(floats, i, col.NORMAL + 3 * j)
        if dot(axis, axis) == 0.0:
            continue
        start = places[i, START] + j * width_of(places, i)
        origin = start - places[i, FIRST_A]
        if places[i, TREE_B] < 0:
            add_wrench_row(tree, links, work, between, point, axis, ZERO3, rows.entries, origin)
            continue
        add_wrench_row(tree, links, work, (a, -1), point, axis, ZERO3, rows.entries, origin)
        origin = start + places[i, COUNT_A] - places[i, FIRST_B]
        add_wrench_row(tree, links, work, (-1, b), point, axis, ZERO3, rows.entries, origin)


@inlined
def put_side(
    tree: IntArray,
    links: Array,
    work: Array,
    k: int,
    floats: Array,
    i: int,
    rows: SparseRows,
    second: bool,
    sign: float,
) -> None:
    """What contact i does to the tree of link k, its first or second, and not by the other."""
    places = rows.places
    forces = (
        scaled(sign, vec3(floats, i, col.NORMAL)),
        scaled(sign, vec3(floats, i, col.TANGENT)),
        scaled(sign, vec3(floats, i, col.SECOND)),
    )
    origin = places[i, START]
    origin += places[i, COUNT_A] - places[i, FIRST_B] if second else -places[i, FIRST_A]
    point = vec3(floats, i, col.POINT)
    add_three_rows(tree, links, work, k, point, forces, rows.entries, origin, width_of(places, i))


@inlined
def put_within(
    tree: IntArray,
    links: Array,
    work: Array,
    a: int,
    b: int,
    floats: Array,
    i: int,
    rows: SparseRows,
) -> None:
    """Of two links of one tree: their paths merge."""
    point: Vec3 = vec3(floats, i, col.POINT)
    for j in range(3):
        direction = vec3(floats, i, col.NORMAL + 3 * j)
        origin = rows.places[i, START] + j * width_of(rows.places, i) - rows.places[i, FIRST_A]
        add_wrench_row(tree, links, work, (a, b), point, ZERO3, direction, rows.entries, origin)


@kernel
def velocity_change(
    tree: IntArray, links: Array, work: Array, rows: SparseRows, impulses: Array, dv: Array
) -> None:
    """dv = M^-1 G^T p: y = L^T p, then one sweep base to tips.

    Uses the acceleration columns of `work`.
    """
    add_impulses(rows, impulses, dv)
    velocities_from(tree, links, work, dv)
