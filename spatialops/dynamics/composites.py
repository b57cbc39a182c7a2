"""Axes of motion and composite momenta of all links, eight links at a time, about one point near the mechanism.

About a common point inertias and momenta are plain sums: nothing is shifted from link to link, and an entry of the
mass matrix is a product of six numbers, M(i, k) = S(i)* F(k) with F(k) = I(k) S(k) and I(k) the inertia of all that k
carries (Featherstone 2008, section 6.2). Only poses and those sums go from link to link; all else is done by `lanes`.
"""

from __future__ import annotations

import math
from typing import Any

from spatialops._arrays import Array, IntArray
from spatialops._jit import inlined
from spatialops._layout import (
    ATTITUDE,
    COM,
    FIRST_Q,
    FRAME,
    INERTIA,
    MASS,
    PARENT,
    PLACE_P,
    PLACE_R,
    POSE,
    SAME,
)
from spatialops.algebra.lanes import WIDTH, load, load3, load_mat3, load_sym3, store, store3
from spatialops.algebra.trigonometry import FAR, near_sine_and_cosine
from spatialops.algebra.vectors import (
    cross,
    dot,
    plus,
    plus_scaled,
    rotate,
    rotation_from_quaternion,
    scaled,
    sym_rotated,
    sym_times,
    times,
)
from spatialops.dynamics.kinematics import turned_by
from spatialops.dynamics.upsilon import sym_minus_mixed
from spatialops.tree.branches import ALONG, ANGULAR, DIRECTION, SLIDING, TURNING

# Rows of the workspace; a column per link. World axes, about the common point.
TURNED = 0  # 9: rotation, first in the parent's frame
PLACED = 9  # 3: position, first in the parent's frame
MOVES = 12  # 6: S, the spatial velocity (angular, linear) at unit rate
WEIGHT = 18  # mass,
CENTER = 19  # 3: first moment
SECOND = 22  # 6: and rotational inertia of the link, then of all that it carries
CARRIES = 28  # 6: F, the momentum (angular, linear) of that at unit rate
SCALE = 34  # the sum of what S* F is the difference of: how large its rounding is
Q, ANGLE = 35, 36
COMPOSITE_ROWS = 37

Mat3 = tuple[tuple[Any, Any, Any], tuple[Any, Any, Any], tuple[Any, Any, Any]]


@inlined
def column3(table: Array, row: int, column: int) -> tuple[float, float, float]:
    """Vector of one link, whose components are rows of a table."""
    return table[row, column], table[row + 1, column], table[row + 2, column]


@inlined
def column9(table: Array, row: int, column: int) -> Mat3:
    """Matrix of one link, row-major from row to row."""
    return column3(table, row, column), column3(table, row + 3, column), column3(table, row + 6, column)


@inlined
def put_column3(table: Array, row: int, column: int, a: tuple[float, float, float]) -> None:
    table[row, column], table[row + 1, column], table[row + 2, column] = a


@inlined
def put_column9(table: Array, row: int, column: int, m: Mat3) -> None:
    put_column3(table, row, column, m[0])
    put_column3(table, row + 3, column, m[1])
    put_column3(table, row + 6, column, m[2])


@inlined
def gather_coordinates(tree: IntArray, q: Array, work: Array) -> None:
    """What turns or slides each link; angles too large for `near_sine_and_cosine` in one turn."""
    n = tree.shape[0]
    for k in range(n):
        x = q[tree[k, FIRST_Q]]
        work[Q, k] = x
        work[ANGLE, k] = x if abs(x) < FAR else math.atan2(math.sin(x), math.cos(x))
    for k in range(n, work.shape[1]):
        work[Q, k] = work[ANGLE, k] = 0.0


@inlined
def place_in_parents(constants: Array, work: Array) -> None:
    """Poses of joints of one axis in the frames of their parents."""
    for k in range(0, work.shape[1], WIDTH):
        frame = load_mat3(constants, PLACE_R, k)
        slide = load(constants, SLIDING, k) * load(work, Q, k)
        store3(
            work, PLACED, k, plus_scaled(load3(constants, PLACE_P, k), slide, (frame[0][2], frame[1][2], frame[2][2]))
        )
        s, c = near_sine_and_cosine(load(constants, TURNING, k) * load(work, ANGLE, k))
        m = turned_by(frame, s, c)
        store3(work, TURNED, k, m[0])
        store3(work, TURNED + 3, k, m[1])
        store3(work, TURNED + 6, k, m[2])


@inlined
def place_in_world(tree: IntArray, q: Array, work: Array) -> None:
    """Poses from those in the parents' frames, base to tips; balls and free joints take their quaternions."""
    for k in range(tree.shape[0]):
        parent, frame, i = tree[k, PARENT], tree[k, FRAME], tree[k, FIRST_Q]
        if frame == SAME:
            put_column9(work, TURNED, k, column9(work, TURNED, parent))
            put_column3(work, PLACED, k, column3(work, PLACED, parent))
            continue
        rotation = column9(work, TURNED, k)
        if frame == POSE:
            i += 3
        if frame in (ATTITUDE, POSE):
            rotation = times(rotation, rotation_from_quaternion(q[i], q[i + 1], q[i + 2], q[i + 3]))
        if parent >= 0:
            above, lever = column9(work, TURNED, parent), column3(work, PLACED, k)
            rotation = times(above, rotation)
            put_column3(work, PLACED, k, plus(column3(work, PLACED, parent), rotate(above, lever)))
        put_column9(work, TURNED, k, rotation)


@inlined
def weigh_and_direct(constants: Array, work: Array) -> None:
    """Inertias of the links alone, and their axes.

    With h = m R c and p the link's position: first moment h + m p, and the rotational inertia about the common point
    R I R^T + 2 (p.g) 1 - p g^T - g p^T with g = h + m p / 2.
    """
    for k in range(0, work.shape[1], WIDTH):
        rotation, p, mass = load_mat3(work, TURNED, k), load3(work, PLACED, k), load(constants, MASS, k)
        h = rotate(rotation, load3(constants, COM, k))
        g = plus_scaled(h, 0.5 * mass, p)
        more = 2.0 * dot(p, g)
        inertia = sym_minus_mixed(sym_rotated(rotation, load_sym3(constants, INERTIA, k)), p, g)
        store(work, WEIGHT, k, mass)
        store3(work, CENTER, k, plus_scaled(h, mass, p))
        store3(work, SECOND, k, (inertia[0] + more, inertia[1], inertia[2]))
        store3(work, SECOND + 3, k, (inertia[3] + more, inertia[4], inertia[5] + more))
        axis = rotate(rotation, load3(constants, DIRECTION, k))
        omega = scaled(load(constants, ANGULAR, k), axis)
        store3(work, MOVES, k, omega)
        store3(work, MOVES + 3, k, plus_scaled(cross(p, omega), load(constants, ALONG, k), axis))


@inlined
def add_to_parents(tree: IntArray, work: Array) -> None:
    """Inertias of all that each link carries, tips to base; sums stay in registers along a branch."""
    none = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    total = none
    for k in range(tree.shape[0] - 1, -1, -1):
        a, b, c = column3(work, CENTER, k), column3(work, SECOND, k), column3(work, SECOND + 3, k)
        a, b, c = plus(a, total[:3]), plus(b, total[3:6]), plus(c, total[6:9])
        mass = work[WEIGHT, k] + total[9]
        work[WEIGHT, k] = mass
        put_column3(work, CENTER, k, a)
        put_column3(work, SECOND, k, b)
        put_column3(work, SECOND + 3, k, c)
        total = (a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2], mass)
        parent = tree[k, PARENT]
        if parent == k - 1:
            continue
        if parent >= 0:
            work[WEIGHT, parent] += mass
            for i in range(9):
                work[CENTER + i, parent] += total[i]
        total = none


@inlined
def carried_momenta(work: Array) -> None:
    """F = (I w + h x v, m v + w x h) of S = (w, v), and w.I w + m v.v, which are never negative."""
    for k in range(0, work.shape[1], WIDTH):
        omega, v, h = load3(work, MOVES, k), load3(work, MOVES + 3, k), load3(work, CENTER, k)
        mass, spin = load(work, WEIGHT, k), sym_times(load_sym3(work, SECOND, k), omega)
        store3(work, CARRIES, k, plus(spin, cross(h, v)))
        store3(work, CARRIES + 3, k, plus_scaled(cross(omega, h), mass, v))
        store(work, SCALE, k, dot(omega, spin) + mass * dot(v, v))


@inlined
def composites(tree: IntArray, constants: Array, q: Array, work: Array) -> None:
    """Everything: S and F of all links, and their poses."""
    gather_coordinates(tree, q, work)
    place_in_parents(constants, work)
    place_in_world(tree, q, work)
    weigh_and_direct(constants, work)
    add_to_parents(tree, work)
    carried_momenta(work)
