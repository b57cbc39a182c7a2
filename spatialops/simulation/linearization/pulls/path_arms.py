"""How moment arms of a path through space change with coordinates.

A line from x on link a to y on link b, with the direction e and the length l, has the arms
w e . (u_b(i) - u_a(i)), u(i) what joint i moves a point of its link by. With coordinate j

    de = (1 - e e*) (dy - dx) / l,    du(i) = w(j) x u(i) + w(i) x (dx - u(j)),

where j carries the joint i, or is of it; else w(i) x dx. Here dx is the motion of the point, which
is that of the link's material u(j) but where it is a tangent point of a geom (`tangent_change`).
"""

from __future__ import annotations

import math

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import (
    ZERO3,
    cross,
    dot,
    minus,
    plus,
    plus_scaled,
    scaled,
    vec3,
)
from spatialops.derivatives.carried import axis_motion
from spatialops.forces import _layout as el
from spatialops.forces.path_length import Placed, path_point, point_of, turned_with
from spatialops.forces.path_wraps import sphere_axis, wrapped
from spatialops.simulation.linearization.pulls.tangent_points import tangent_change

_NO_LINE = 1e-15  # m, as where lengths are found
_STRAIGHT = 0  # the line goes from node to node
_FIRST = 1  # from a node to a geom
_SECOND = 2  # from there to the next node


@inlined
def carries(tree: IntArray, j: int, link: int) -> bool:
    """Whether link j carries another, or is it."""
    while link > j:
        link = tree[link, layout.PARENT]
    return link == j


@inlined
def moved_by(placed: Placed, j: int, link: int, point: Vec3) -> Vec3:
    """What coordinate j moves a point of a link by."""
    if link < 0 or not carries(placed.tree, j, link):
        return ZERO3
    S = axis_motion(placed.tree, placed.links, placed.work, j)
    return plus(S[1], cross(S[0], minus(point, vec3(placed.work, j, layout.ORIGIN))))


@inlined
def spin_by(placed: Placed, j: int, link: int) -> Vec3:
    """What coordinate j turns a link by."""
    if link < 0 or not carries(placed.tree, j, link):
        return ZERO3
    return axis_motion(placed.tree, placed.links, placed.work, j)[0]


@inlined
def is_outer(tree: IntArray, j: int, i: int) -> bool:
    """Whether coordinate j moves the axis of joint i: it is above it, or of the same joint."""
    if j <= i:
        return True
    while tree[j, layout.FRAME] == layout.SAME and j > i:
        j = tree[j, layout.PARENT]
    return j <= i


@kernel
def put_path_changes(
    ints: IntArray, joints: IntArray, numbers: Array, e: int, placed: Placed, H: Array
) -> None:
    """Changes (nv, nv) of the arms of element e, a path, row i those of joint i."""
    n = placed.tree.shape[0]
    for i in range(n):
        for j in range(n):
            H[i, j] = 0.0
    row = ints[e, el.POINT]
    last = row + ints[e, el.POINTS] - 1
    while row < last:
        weight = numbers[joints[row, el.COORDINATE] + 3]
        straight = joints[row + 1, el.KIND] == el.NODE
        if weight != 0.0 and (straight or not touches(joints, numbers, row, placed)):
            add_line_change(joints, numbers, row, placed, weight, _STRAIGHT, H)
        elif weight != 0.0:
            add_line_change(joints, numbers, row, placed, weight, _FIRST, H)
            add_line_change(joints, numbers, row, placed, weight, _SECOND, H)
        row += 1 if straight else 2


@inlined
def around(
    joints: IntArray, numbers: Array, row: int, placed: Placed
) -> tuple[Vec3, Vec3, Vec3, Vec3, Vec3]:
    """Both ends of a line and its side as seen from the geom of the next row, its axis, middle."""
    work, at = placed.work, joints[row + 1, el.COORDINATE]
    middle = path_point(joints, numbers, row + 1, work)
    p0 = minus(path_point(joints, numbers, row, work), middle)
    p1 = minus(path_point(joints, numbers, row + 2, work), middle)
    axis = sphere_axis(p0, p1)
    if joints[row + 1, el.KIND] != el.SPHERE:
        own = numbers[at + el.AXIS], numbers[at + el.AXIS + 1], numbers[at + el.AXIS + 2]
        axis = turned_with(work, joints[row + 1, el.LINK], own)
    side = ZERO3
    if numbers[at + el.HAS_SIDE] != 0.0:
        place = numbers[at + el.SIDE], numbers[at + el.SIDE + 1], numbers[at + el.SIDE + 2]
        side = minus(point_of(work, int(numbers[at + el.SIDE_LINK]), place), middle)
    return p0, p1, side, axis, middle


@inlined
def touches(joints: IntArray, numbers: Array, row: int, placed: Placed) -> bool:
    """Whether the line from the node in a row goes around the geom of the next."""
    p0, p1, side, axis, _ = around(joints, numbers, row, placed)
    return wrapped(p0, p1, axis, numbers[joints[row + 1, el.COORDINATE] + 3], side).touches


@kernel
def add_line_change(
    joints: IntArray,
    numbers: Array,
    row: int,
    placed: Placed,
    weight: float,
    which: int,
    H: Array,
) -> None:
    """Add the changes of the arms of one straight line."""
    work = placed.work
    ahead = row + 1 if joints[row + 1, el.KIND] == el.NODE else row + 2
    a, b = joints[row, el.LINK], joints[ahead, el.LINK]
    here, there = path_point(joints, numbers, row, work), path_point(joints, numbers, ahead, work)
    g = a
    if which != _STRAIGHT:
        p0, p1, side, axis, middle = around(joints, numbers, row, placed)
        g = joints[row + 1, el.LINK]
        wrap = wrapped(p0, p1, axis, numbers[joints[row + 1, el.COORDINATE] + 3], side)
        if which == _FIRST:
            b, there = g, plus(middle, wrap.first)
        else:
            a, here = g, plus(middle, wrap.second)
    line = minus(there, here)
    size = math.sqrt(dot(line, line))
    if size <= _NO_LINE:
        return
    e = scaled(1.0 / size, line)
    for j in range(placed.tree.shape[0]):
        by_a, by_b = moved_by(placed, j, a, here), moved_by(placed, j, b, there)
        if which != _STRAIGHT:
            tangent = tangent_motion(joints, numbers, row, placed, j, which)
            by_a, by_b = (by_a, tangent) if which == _FIRST else (tangent, by_b)
        turned = minus(by_b, by_a)
        turned = scaled(weight / size, plus_scaled(turned, -dot(e, turned), e))
        add_end(placed, b, there, (scaled(weight, e), turned, by_b), j, H)
        add_end(placed, a, here, (scaled(-weight, e), scaled(-1.0, turned), by_a), j, H)


@inlined
def tangent_motion(
    joints: IntArray, numbers: Array, row: int, placed: Placed, j: int, which: int
) -> Vec3:
    """What coordinate j moves a tangent point on the geom by: the first or the second."""
    p0, p1, _, axis, middle = around(joints, numbers, row, placed)
    g = joints[row + 1, el.LINK]
    moves = moved_by(placed, j, g, middle)
    by_0 = minus(moved_by(placed, j, joints[row, el.LINK], plus(middle, p0)), moves)
    by_1 = minus(moved_by(placed, j, joints[row + 2, el.LINK], plus(middle, p1)), moves)
    side = around(joints, numbers, row, placed)[2]
    radius = numbers[joints[row + 1, el.COORDINATE] + 3]
    wrap = wrapped(p0, p1, axis, radius, side)
    sphere = joints[row + 1, el.KIND] == el.SPHERE
    spin = ZERO3 if sphere else spin_by(placed, j, g)
    # In the axes of a cylinder, which turn with it.
    by_0, by_1 = minus(by_0, cross(spin, p0)), minus(by_1, cross(spin, p1))
    point = wrap.first if which == _FIRST else wrap.second
    seen, moved = (p0, p1, axis), (by_0, by_1)
    change = tangent_change(seen, moved, (radius, sphere), wrap.first, which == _FIRST)
    return plus(moves, plus(cross(spin, point), change))


@inlined
def add_end(
    placed: Placed, link: int, point: Vec3, pull: tuple[Vec3, Vec3, Vec3], j: int, H: Array
) -> None:
    """What the arms of one end change by with coordinate j: the pull, its change, the motion."""
    own = moved_by(placed, j, link, point)
    spin = spin_by(placed, j, link)
    i = link
    while i >= 0:
        S = axis_motion(placed.tree, placed.links, placed.work, i)
        u = plus(S[1], cross(S[0], minus(point, vec3(placed.work, i, layout.ORIGIN))))
        change = cross(S[0], pull[2])
        if carries(placed.tree, j, link) and is_outer(placed.tree, j, i):
            change = plus(cross(spin, u), cross(S[0], minus(pull[2], own)))
        H[i, j] += dot(pull[1], u) + dot(pull[0], change)
        i = placed.tree[i, layout.PARENT]
