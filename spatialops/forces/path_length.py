"""Length of a path through space, and its moment arms.

With points p_0, p_1, .. the length is the sum of w_i |p_i+1 - p_i|, and its moment arms, by what
joints its rate is made of, are dl/dv = sum of w_i u_i^T (J_i+1 - J_i) with u_i the direction of a
line and J the Jacobians of its ends (around a geom: `path_wraps`): l' = (dl/dv) v, and a force f
along it is tau = (dl/dv)^T f.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import (
    ZERO3,
    cross,
    dot,
    mat3,
    minus,
    plus,
    rotate,
    scaled,
    vec3,
)
from spatialops.dynamics.kinematics import axis_of
from spatialops.forces._layout import (
    AXIS,
    COORDINATE,
    COUNT,
    FIRST,
    HAS_SIDE,
    KIND,
    LINK,
    NODE,
    POINT,
    POINTS,
    SIDE,
    SIDE_LINK,
    SPHERE,
)
from spatialops.forces.path_wraps import sphere_axis, wrapped


class Placed(NamedTuple):
    """A mechanism where it stands.

    Attributes
    ----------
    tree, links : arrays
        Of the model.
    q : (nq,) array
        Coordinates.
    work : array
        Poses of its links; read only where there are paths.
    arms : (nv,) array
        Room for the moment arms of one path.
    """

    tree: IntArray
    links: Array
    q: Array
    work: Array
    arms: Array


_NO_LINE = 1e-15  # m, below which a line has no direction


@inlined
def turned_with(work: Array, k: int, direction: Vec3) -> Vec3:
    """A direction of link k, or of the world (-1), in world axes."""
    return rotate(mat3(work, k, layout.ROTATION), direction) if k >= 0 else direction


@inlined
def point_of(work: Array, k: int, place: Vec3) -> Vec3:
    """A point of link k, or of the world (-1), in the world."""
    if k < 0:
        return place
    return plus(vec3(work, k, layout.ORIGIN), rotate(mat3(work, k, layout.ROTATION), place))


@inlined
def path_point(joints: IntArray, arms: Array, row: int, work: Array) -> Vec3:
    """Where a point of a path is in the world."""
    at = joints[row, COORDINATE]
    return point_of(work, joints[row, LINK], (arms[at], arms[at + 1], arms[at + 2]))


@kernel
def add_arms(
    tree: IntArray, links: Array, work: Array, k: int, point: Vec3, force: Vec3, out: Array
) -> None:
    """Add what a force at a point of link k is on the joints below it: J^T f."""
    while k >= 0:
        axis, motion = axis_of(tree, work, k), tree[k, layout.MOTION]
        if motion != layout.LINEAR:
            lever = minus(point, vec3(work, k, layout.ORIGIN))
            out[k] += dot(axis, cross(lever, force))
        if motion == layout.LINEAR:
            out[k] += dot(axis, force)
        elif motion != layout.ROTARY:
            out[k] += links[k, layout.PITCH] * dot(axis, force)
        k = tree[k, layout.PARENT]


@kernel
def add_line(placed: Placed, a: int, here: Vec3, b: int, there: Vec3, weight: float) -> float:
    """Weighted length of the line from a point of link a to one of link b; arms are added."""
    line = minus(there, here)
    size = math.sqrt(dot(line, line))
    if size <= _NO_LINE:
        return 0.0
    pull = scaled(weight / size, line)
    tree, links = placed.tree, placed.links
    add_arms(tree, links, placed.work, b, there, pull, placed.arms)
    add_arms(tree, links, placed.work, a, here, scaled(-1.0, pull), placed.arms)
    return weight * size


@kernel
def add_wrap(joints: IntArray, arms: Array, row: int, placed: Placed, weight: float) -> float:
    """The same from the node in a row, around the geom of the next, to the node after it."""
    work = placed.work
    a, b = joints[row, LINK], joints[row + 2, LINK]
    g = joints[row + 1, LINK]
    here, there = path_point(joints, arms, row, work), path_point(joints, arms, row + 2, work)
    middle, at = path_point(joints, arms, row + 1, work), joints[row + 1, COORDINATE]
    p0, p1 = minus(here, middle), minus(there, middle)
    if joints[row + 1, KIND] == SPHERE:
        axis = sphere_axis(p0, p1)
    else:
        axis = turned_with(work, g, (arms[at + AXIS], arms[at + AXIS + 1], arms[at + AXIS + 2]))
    side = ZERO3
    if arms[at + HAS_SIDE] != 0.0:
        place = (arms[at + SIDE], arms[at + SIDE + 1], arms[at + SIDE + 2])
        side = minus(point_of(work, int(arms[at + SIDE_LINK]), place), middle)
    wrap = wrapped(p0, p1, axis, arms[at + 3], side)
    if not wrap.touches:
        return add_line(placed, a, here, b, there, weight)
    total = weight * wrap.arc
    total += add_line(placed, a, here, g, plus(middle, wrap.first), weight)
    return total + add_line(placed, g, plus(middle, wrap.second), b, there, weight)


@kernel
def path_length(
    ints: IntArray,
    joints: IntArray,
    arms: Array,
    e: int,
    placed: Placed,
) -> float:
    """Length of element e, a path; its moment arms dl/dv into `placed`, those of its links alone.

    A line without a length has no arms.
    """
    for i in range(ints[e, FIRST], ints[e, FIRST] + ints[e, COUNT]):
        placed.arms[joints[i, LINK]] = 0.0
    row, total = ints[e, POINT], 0.0
    last = row + ints[e, POINTS] - 1
    while row < last:
        weight = arms[joints[row, COORDINATE] + 3]
        ahead = row + 1 if joints[row + 1, KIND] == NODE else row + 2
        if weight != 0.0:
            if ahead == row + 1:
                here = path_point(joints, arms, row, placed.work)
                there = path_point(joints, arms, ahead, placed.work)
                a, b = joints[row, LINK], joints[ahead, LINK]
                total += add_line(placed, a, here, b, there, weight)
            else:
                total += add_wrap(joints, arms, row, placed, weight)
        row = ahead
    return total
