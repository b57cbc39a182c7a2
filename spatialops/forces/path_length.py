"""Length of a path through space, and its moment arms.

With points p_0, p_1, .. the length is the sum of w_i |p_i+1 - p_i|, and its moment arms, by what
joints its rate is made of, are dl/dv = sum of w_i u_i^T (J_i+1 - J_i) with u_i the direction of a
line and J the Jacobians of its ends: l' = (dl/dv) v, and a force f along it is tau = (dl/dv)^T f.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import cross, dot, mat3, minus, plus, rotate, scaled, vec3
from spatialops.dynamics.kinematics import axis_of
from spatialops.forces._layout import COORDINATE, COUNT, FIRST, LINK, POINT, POINTS


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
def path_point(joints: IntArray, arms: Array, row: int, work: Array) -> Vec3:
    """Where a point of a path is in the world."""
    k, at = joints[row, LINK], joints[row, COORDINATE]
    place = (arms[at], arms[at + 1], arms[at + 2])
    if k < 0:
        return place
    return plus(vec3(work, k, layout.ORIGIN), rotate(mat3(work, k, layout.ROTATION), place))


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
    tree, links = placed.tree, placed.links
    work, out = placed.work, placed.arms
    for i in range(ints[e, FIRST], ints[e, FIRST] + ints[e, COUNT]):
        out[joints[i, LINK]] = 0.0
    row, total = ints[e, POINT], 0.0
    here = path_point(joints, arms, row, work)
    for i in range(row, row + ints[e, POINTS] - 1):
        weight = arms[joints[i, COORDINATE] + 3]
        there = path_point(joints, arms, i + 1, work)
        line = minus(there, here)
        size = math.sqrt(dot(line, line))
        if weight != 0.0 and size > _NO_LINE:
            total += weight * size
            pull = scaled(weight / size, line)
            add_arms(tree, links, work, joints[i + 1, LINK], there, pull, out)
            add_arms(tree, links, work, joints[i, LINK], here, scaled(-1.0, pull), out)
        here = there
    return total
