"""Rows of L of contacts, several carried to the base at a time.

What a joint takes of a wrench, and what it passes on, is the same arithmetic for all that come by:
they lie in lanes, the three directions of one or two contacts, or stops and dry friction of the
joints of one limb. They go the same way from where the deepest of them is, and one after the other
joins where the way comes by its link. Lanes of those that have not joined yet are zeros, and carry
nothing. At a free root the wrenches are left in the place of its entries, for `root_rows`: there
all limbs meet.
"""

from __future__ import annotations

import math

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.simd import WIDTH, Lanes, LanesVec3, zeros
from spatialops.algebra.simd_blocks import transposed
from spatialops.algebra.simd_parts import lane, load_first, store_first, with_lane
from spatialops.algebra.vectors import cross, dot, minus, plus, scaled, vec3
from spatialops.collision import _layout as col
from spatialops.contact.rows import (
    COUNT_A,
    FIRST_A,
    FIRST_B,
    START,
    TREE_B,
    SparseRows,
    width_of,
)
from spatialops.dynamics.kinematics import axis_of
from spatialops.dynamics.response import carried

# What rows a contact has.
OF_JOINT = 0
OF_MOMENT = 1
WITHIN = 2
OF_SIDES = 3
_PAIR = 2  # contacts that have their three directions in lanes
ROOT = 6  # links of a free root
LAST = ROOT - 1


@inlined
def is_free_root(tree: IntArray, k: int) -> bool:
    """Whether link k is the last one of a free joint that hangs on the world: its body."""
    first = k - LAST
    return first >= 0 and tree[first, layout.GROUP] == ROOT and tree[first, layout.PARENT] < 0


@inlined
def kind_of(ints: IntArray, rows: SparseRows, i: int) -> int:
    """Whether contact i is of a joint, a moment, within one tree, or of single links of trees."""
    if ints[i, col.CONTACT_FEATURE_A] < 0:
        return OF_JOINT
    if ints[i, col.CONTACT_PAIR] < 0:
        return OF_MOMENT
    both = ints[i, col.CONTACT_A] >= 0 and ints[i, col.CONTACT_B] >= 0
    return WITHIN if both and rows.places[i, TREE_B] < 0 else OF_SIDES


@inlined
def link_of(ints: IntArray, rows: SparseRows, i: int, second: bool) -> int:
    """The link that contact i pushes at its first or second side alone; -1: none."""
    if kind_of(ints, rows, i) != OF_SIDES:
        return -1
    a, b = ints[i, col.CONTACT_A], ints[i, col.CONTACT_B]
    if second:
        return b if rows.places[i, TREE_B] >= 0 else -1
    return a if a >= 0 else b


@inlined
def place_of(rows: SparseRows, i: int, second: bool) -> int:
    """Where the entry of column 0 of contact i would be, at its first or second side."""
    start = rows.places[i, START]
    if second:
        return start + rows.places[i, COUNT_A] - rows.places[i, FIRST_B]
    return start - rows.places[i, FIRST_A]


@inlined
def joined(
    m: LanesVec3, f: LanesVec3, c: int, moment: Vec3, force: Vec3
) -> tuple[LanesVec3, LanesVec3]:
    """Eight wrenches with this one in the place of one of them."""
    m = with_lane(m[0], c, moment[0]), with_lane(m[1], c, moment[1]), with_lane(m[2], c, moment[2])
    f = with_lane(f[0], c, force[0]), with_lane(f[1], c, force[1]), with_lane(f[2], c, force[2])
    return m, f


@inlined
def forces_of(floats: Array, j: int, sign: float, later: bool) -> LanesVec3:
    """Unit forces along the frame of contact j in the first three lanes, or in the next three."""
    none = zeros()
    n = sign * load_first(floats[j], col.NORMAL, 3)
    t = sign * load_first(floats[j], col.TANGENT, 3)
    s = sign * load_first(floats[j], col.SECOND, 3)
    if later:
        x, y, z, _, _, _, _, _ = transposed((none, none, none, n, t, s, none, none))
    else:
        x, y, z, _, _, _, _, _ = transposed((n, t, s, none, none, none, none, none))
    return x, y, z


@inlined
def arm_of(floats: Array, work: Array, j: int, k: int) -> Vec3:
    """Point of contact j as seen from the origin of link k."""
    return minus(vec3(floats, j, col.POINT), vec3(work, k, layout.ORIGIN))


@kernel
def put_sides(
    tree: IntArray,
    links: Array,
    work: Array,
    ints: IntArray,
    floats: Array,
    i: int,
    second: bool,
    rows: SparseRows,
) -> int:
    """Rows of contact i, and of one more before it that its way comes by; how many.

    1 where it pushes nothing at that side.
    """
    none = zeros()
    m = f = (none, none, none)
    count = 0
    k = link_of(ints, rows, i, second)
    if k < 0:
        return 1
    while k >= 0:
        while count < min(_PAIR, i + 1) and link_of(ints, rows, i - count, second) == k:
            j = i - count
            sign = -1.0 if second or ints[j, col.CONTACT_A] < 0 else 1.0
            force = forces_of(floats, j, sign, count > 0)
            f = plus(f, force)
            m = plus(m, cross(arm_of(floats, work, j, k), force))
            count += 1
        if is_free_root(tree, k):
            leave_at_root(rows, i, count, second, k, m, f)
            return count
        e, m, f = carried(tree, links, work, k, m, f)
        put_entries(rows, i, count, second, k, e)
        k = tree[k, layout.PARENT]
    return count


@kernel
def put_within(
    tree: IntArray,
    links: Array,
    work: Array,
    ints: IntArray,
    floats: Array,
    i: int,
    rows: SparseRows,
) -> int:
    """Rows of contact i of two links of one tree, and of one more of theirs before it; how many.

    What pushes one link is carried to where the way of the other meets its own, where both may
    cancel.
    """
    none = zeros()
    m_a = f_a = m_b = f_b = (none, none, none)
    a, b = ints[i, col.CONTACT_A], ints[i, col.CONTACT_B]
    count = 0
    while count < min(_PAIR, i + 1) and kind_of(ints, rows, i - count) == WITHIN:
        j = i - count
        if ints[j, col.CONTACT_A] != a or ints[j, col.CONTACT_B] != b:
            break
        force = forces_of(floats, j, 1.0, count > 0)
        f_a = plus(f_a, force)
        m_a = plus(m_a, cross(arm_of(floats, work, j, a), force))
        force = scaled(-1.0, force)
        f_b = plus(f_b, force)
        m_b = plus(m_b, cross(arm_of(floats, work, j, b), force))
        count += 1
    while a != b:
        if a > b:
            e, m_a, f_a = carried(tree, links, work, a, m_a, f_a)
            put_entries(rows, i, count, False, a, e)
            a = tree[a, layout.PARENT]
        else:
            e, m_b, f_b = carried(tree, links, work, b, m_b, f_b)
            put_entries(rows, i, count, False, b, e)
            b = tree[b, layout.PARENT]
    m_a, f_a = plus(m_a, m_b), plus(f_a, f_b)
    while a >= 0:
        if is_free_root(tree, a):
            leave_at_root(rows, i, count, False, a, m_a, f_a)
            return count
        e, m_a, f_a = carried(tree, links, work, a, m_a, f_a)
        put_entries(rows, i, count, False, a, e)
        a = tree[a, layout.PARENT]
    return count


@inlined
def put_entries(rows: SparseRows, i: int, count: int, second: bool, k: int, e: Lanes) -> None:
    """Entries of column k of contact i and of the one before it, direction by direction."""
    for c in range(count):
        width, place = width_of(rows.places, i - c), place_of(rows, i - c, second) + k
        for d in range(3):
            rows.entries[place + d * width] = lane(e, 3 * c + d)


@inlined
def leave_at_root(
    rows: SparseRows, i: int, count: int, second: bool, k: int, m: LanesVec3, f: LanesVec3
) -> None:
    """Wrenches of contact i and of the one before it where a free root's entries will be."""
    none = zeros()
    a, b, c, d, e, g, _, _ = transposed((m[0], m[1], m[2], f[0], f[1], f[2], none, none))
    width, place = width_of(rows.places, i), place_of(rows, i, second) + k - LAST
    store_first(rows.entries, place, ROOT, a)
    store_first(rows.entries, place + width, ROOT, b)
    store_first(rows.entries, place + 2 * width, ROOT, c)
    if count > 1:
        width, place = width_of(rows.places, i - 1), place_of(rows, i - 1, second) + k - LAST
        store_first(rows.entries, place, ROOT, d)
        store_first(rows.entries, place + width, ROOT, e)
        store_first(rows.entries, place + 2 * width, ROOT, g)


@kernel
def put_joints(
    tree: IntArray,
    links: Array,
    work: Array,
    ints: IntArray,
    floats: Array,
    i: int,
    rows: SparseRows,
) -> int:
    """Rows of joint i, and of those before it that its way to the base comes by; how many.

    Its own joint takes all of a joint's unit force, and passes on what moves with it, -U / D.
    """
    none = zeros()
    m = f = (none, none, none)
    count = 0
    k = ints[i, col.CONTACT_A]
    while k >= 0:
        if count > 0 and is_free_root(tree, k):
            for c in range(count):
                place = joint_place(ints, rows, i - c) + k - LAST
                for j in range(3):
                    rows.entries[place + j] = lane(m[j], c)
                    rows.entries[place + 3 + j] = lane(f[j], c)
            return count
        e, m, f = carried(tree, links, work, k, m, f)
        for c in range(count):
            rows.entries[joint_place(ints, rows, i - c) + k] = lane(e, c)
        while count < min(WIDTH, i + 1) and kind_of(ints, rows, i - count) == OF_JOINT:
            j = i - count
            if ints[j, col.CONTACT_A] != k:
                break
            taken, moment, force = taken_by_joint(tree, work, ints, floats, j)
            rows.entries[joint_place(ints, rows, j) + k] = taken
            m, f = joined(m, f, count, moment, force)
            count += 1
        k = tree[k, layout.PARENT]
    return count


@inlined
def taken_by_joint(
    tree: IntArray, work: Array, ints: IntArray, floats: Array, j: int
) -> tuple[float, Vec3, Vec3]:
    """What its own joint takes of the unit force of joint row j, and the wrench that goes up."""
    k = ints[j, col.CONTACT_A]
    tangent = ints[j, col.CONTACT_FEATURE_A] != col.STOP
    axis = vec3(floats, j, col.TANGENT if tangent else col.NORMAL)
    sign, d_inverse = dot(axis, axis_of(tree, work, k)), work[k, layout.D_INVERSE]
    force = scaled(-sign * d_inverse, vec3(work, k, layout.GAIN_F))
    moment = scaled(-sign * d_inverse, vec3(work, k, layout.GAIN_M))
    moment = plus(moment, cross(vec3(work, k, layout.LEVER), force))
    return sign * math.sqrt(d_inverse), moment, force


@inlined
def joint_place(ints: IntArray, rows: SparseRows, i: int) -> int:
    """Where the entry of column 0 would be of the row that moves: a stop's normal, or a tangent."""
    place = place_of(rows, i, False)
    if ints[i, col.CONTACT_FEATURE_A] != col.STOP:
        place += width_of(rows.places, i)
    return place
