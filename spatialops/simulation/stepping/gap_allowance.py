"""What gaps of a pair leave free: one plane of speeds for the points of one face.

What has a gap g and opens at the rate u_n when the piece begins may close at OPEN = 2 g / h + u_n
(`contact_drift`). Overlap is no gap: nothing pushes it out, and OPEN is zero at least.

A gap of some roundings of where its points are is no gap: else what rests would be asked for speeds
of 1e-13 m/s to close 1e-17 m, and would never rest. Nor is a gap that solvers leave: residuals of
1e-9 of a metre a second leave 1e-12 m in a step of a millisecond. In a wall that is all but jammed
no motion closes it, and forces wedge against one another until one of them is zero, by a thousand
linear problems in place of twenty. That is of free bodies. Links of mechanisms, whose hulls
overlap about joints, keep what gaps they have: a go2 takes half as long again where they do not.

Normal speeds of a rigid face are a plane over its points, so four of them press at once only if
what they may close at is a plane too. It nearly is: points move by second order while a piece goes
on, and where one overlaps by 1e-11 m another has as much of a gap. Off the plane by 1e-8 m/s, a
pressing point must let go, which one the law finds in the same way. Speeds of a face that are near
a plane are therefore put on it (`faces`). Where it goes below zero it is lifted there, less the
higher it is, and not where it is highest: no point may overlap by more than another does already.
Two points of it that are closed but for what solvers leave are an edge that is closed.
"""

from __future__ import annotations

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import ZERO3, dot, minus, scaled, vec3
from spatialops.collision import _layout as col
from spatialops.collision.pair_runs import count_pairs
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.faces import flatten_gaps, is_face
from spatialops.simulation.stepping.tables import Tables

_NO_GAP = 16.0 * float(np.finfo(np.float64).eps)  # of where its points are: not told from none
LEFT = 2e-11  # of the arms of its point on free bodies: what solvers leave of a gap
_FREE = 6  # columns of a free body
_ON_PLANE = 1e-3  # of that, what is none on a plane, which stays one


@kernel
def allow_gaps(t: Tables, begin: int, end: int) -> None:
    """Make OPEN of so many contacts, those of one pair, what they are free to close at."""
    closed = True
    for i in range(begin, end):
        closed = closed and t.floats[i, col.OPEN] <= none_of_gap(t, i)
    flat = False
    if not closed and is_face(t, begin, end):
        near = flatten_gaps(t, begin, end)
        flat = near > 0.0
        if flat:
            give_overlap(t, begin, end, near)
            close_edge(t, begin, end)
    share = _ON_PLANE if flat else 1.0
    for i in range(begin, end):
        if closed or t.floats[i, col.OPEN] <= share * left_of_gap(t, i):
            t.floats[i, col.OPEN] = 0.0


@inlined
def give_overlap(t: Tables, begin: int, end: int, near: float) -> None:
    """Lift OPEN of a plane's points to zero where it is least, if near, not where it is most."""
    least = most = t.floats[begin, col.OPEN]
    for i in range(begin + 1, end):
        least = min(least, t.floats[i, col.OPEN])
        most = max(most, t.floats[i, col.OPEN])
    if -near <= least < 0.0 < most:
        for i in range(begin, end):
            t.floats[i, col.OPEN] = (t.floats[i, col.OPEN] - least) / (most - least) * most


@inlined
def close_edge(t: Tables, begin: int, end: int) -> None:
    """Take off OPEN of a plane's points what is next to none, at the lowest and along an edge."""
    lowest = begin
    for i in range(begin + 1, end):
        lowest = i if t.floats[i, col.OPEN] < t.floats[lowest, col.OPEN] else lowest
    least = t.floats[lowest, col.OPEN]
    if not 0.0 <= least <= none_of_gap(t, lowest):
        return
    point, slope = vec3(t.floats, lowest, col.POINT), ZERO3
    farthest = 0.0
    for i in range(begin, end):
        edge = minus(vec3(t.floats, i, col.POINT), point)
        square = dot(edge, edge)
        if square > farthest and t.floats[i, col.OPEN] <= none_of_gap(t, i):
            farthest = square
            slope = scaled((t.floats[i, col.OPEN] - least) / square, edge)
    for i in range(begin, end):
        arm = minus(vec3(t.floats, i, col.POINT), point)
        t.floats[i, col.OPEN] -= least + dot(slope, arm)


@inlined
def none_of_gap(t: Tables, i: int) -> float:
    """Speed by which a gap that is none, of acting contact i, would be closed within the piece."""
    size = 0.0
    if t.ints[i, col.CONTACT_FEATURE_A] < 0:  # of a joint
        j = t.ints[i, col.CONTACT_PAIR] - count_pairs(t.pair_runs)
        size = abs(t.joint_floats[j, at.JOINT_LIMIT])
    else:
        size = size_of(vec3(t.floats, i, col.POINT))
        for k in (t.ints[i, col.CONTACT_A], t.ints[i, col.CONTACT_B]):
            if k >= 0:
                size += size_of(vec3(t.work, k, layout.ORIGIN))
    return max(_NO_GAP * size / t.monitor[at.PIECE], left_of_gap(t, i))


@inlined
def left_of_gap(t: Tables, i: int) -> float:
    """Speed that would close what solvers leave of a gap of free bodies."""
    if t.ints[i, col.CONTACT_FEATURE_A] < 0:
        return 0.0
    arms = 0.0
    point = vec3(t.floats, i, col.POINT)
    for k in (t.ints[i, col.CONTACT_A], t.ints[i, col.CONTACT_B]):
        tree = t.tree_of[k] if k >= 0 else 0
        if k >= 0 and t.trees[tree + 1] - t.trees[tree] <= _FREE:
            arms += size_of(minus(point, vec3(t.work, k, layout.ORIGIN)))
    return LEFT * arms / t.monitor[at.PIECE]


@inlined
def size_of(x: Vec3) -> float:
    """Sum of the sizes of its coordinates."""
    return abs(x[0]) + abs(x[1]) + abs(x[2])
