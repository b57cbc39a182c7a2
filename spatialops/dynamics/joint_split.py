"""What a joint leaves of its child's motion against its parent, and what its hinge holds.

A joint of d degrees of freedom leaves its child the relative twists S qdot, S (6, d) at the child's
origin in world axes:

    V_child - X V_parent = S qdot,   X = [I, 0; -[r]x, I],
    r from the parent's origin to the child's,

so that qdot = S^+ (V_child - X V_parent), and the hinge constrains the combinations C^T with C^T S
= 0. Both together split the relative twist: T = [S^+; C^T], which is the inverse of [S, C].
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import (
    ZERO3,
    column_of,
    cross,
    dot,
    minus,
    plus,
    plus_scaled,
    put3,
    scaled,
    vec3,
)
from spatialops.tree.model import Model

# columns of `joints`
FIRST = 0  # first link, which is also the first velocity index
DOF = 1
PARENT = 2  # body, -1: the world
JOINT_COLUMNS = 3


class JointSplits(NamedTuple):
    """The joints of a placed model, in the order of the bodies that they carry.

    Parameters
    ----------
    joints : (n, 3) int array
        FIRST, DOF and PARENT of each.
    carried : (nv,) int array
        The body of every link; of a link inside a joint, the body that the joint carries.
    motion : (nv, 6) array
        S: the twist that every link's unit rate causes at the origin of the body it carries.
    split : (6 n, 6) array
        Six rows T a joint: its d rates, then what the hinge holds, orthonormal.
    levers : (n, 3) array
        From the parent's origin to the child's; zero where the parent is the world.
    """

    joints: IntArray
    carried: IntArray
    motion: Array
    split: Array
    levers: Array


def joint_splits(model: Model, work: Array) -> JointSplits:
    """Split the relative motion at all joints; poses must be in `work`."""
    n, nv = model.n_bodies, model.nv
    joints, carried = np.empty((n, JOINT_COLUMNS), np.int64), np.empty(nv, np.int64)
    motion, split = np.empty((nv, 6)), np.empty((6 * n, 6))
    levers, triangle = np.empty((n, 3)), np.empty((6, 6))
    list_joints(model.tree, model.body_parents, joints, carried)
    put_motion(model.tree, model.links, work, model.body_links, carried, motion)
    put_levers(work, model.body_links, joints, levers)
    split_joints(joints, motion, split, triangle)
    return JointSplits(joints, carried, motion, split, levers)


@kernel
def list_joints(tree: IntArray, parents: IntArray, joints: IntArray, carried: IntArray) -> None:
    """Links of every joint, from the last link to the first: those inside it come before it."""
    body = -1
    for b in range(joints.shape[0]):
        joints[b, DOF] = 0
        joints[b, PARENT] = parents[b]
    for k in range(tree.shape[0] - 1, -1, -1):
        if tree[k, layout.BODY] >= 0:
            body = tree[k, layout.BODY]
        carried[k] = body
        joints[body, FIRST] = k
        joints[body, DOF] += 1


@kernel
def put_motion(
    tree: IntArray,
    links: Array,
    work: Array,
    body_links: IntArray,
    carried: IntArray,
    motion: Array,
) -> None:
    """Twists of unit rates at the origins of the bodies that the links carry."""
    for k in range(carried.size):
        axis = column_of(work, k, layout.ROTATION, tree[k, layout.AXIS])
        arm = minus(vec3(work, body_links[carried[k]], layout.ORIGIN), vec3(work, k, layout.ORIGIN))
        turning, sliding = axis, cross(axis, arm)
        if tree[k, layout.MOTION] == layout.LINEAR:
            turning, sliding = ZERO3, axis
        elif tree[k, layout.MOTION] != layout.ROTARY:
            sliding = plus_scaled(sliding, links[k, layout.PITCH], axis)
        put3(motion, k, 0, turning)
        put3(motion, k, 3, sliding)


@kernel
def put_levers(work: Array, body_links: IntArray, joints: IntArray, levers: Array) -> None:
    """From the parents' origins to the children's; the world does not move, wherever it is."""
    for b in range(joints.shape[0]):
        lever, parent = ZERO3, joints[b, PARENT]
        if parent >= 0:
            lever = minus(
                vec3(work, body_links[b], layout.ORIGIN),
                vec3(work, body_links[parent], layout.ORIGIN),
            )
        put3(levers, b, 0, lever)


@kernel
def split_joints(joints: IntArray, motion: Array, split: Array, triangle: Array) -> None:
    """T of all joints: S = Q R by Gram-Schmidt, Q completed, then S^+ = R^-1 Q^T in its place."""
    for b in range(joints.shape[0]):
        start, d = 6 * b, joints[b, DOF]
        for j in range(d):
            put3(split, start + j, 0, vec3(motion, joints[b, FIRST] + j, 0))
            put3(split, start + j, 3, vec3(motion, joints[b, FIRST] + j, 3))
            orthonormalise(split, start, j, triangle)
        for j in range(d, 6):
            put_missing_axis(split, start, j)
            orthonormalise(split, start, j, triangle)
        for i in range(d - 1, -1, -1):
            for j in range(i + 1, d):
                add_row(split, start + i, -triangle[i, j], split, start + j)
            scale_row(split, start + i, 1.0 / triangle[i, i])


@kernel
def orthonormalise(rows: Array, start: int, j: int, triangle: Array) -> None:
    """Make row j of a block orthonormal to those before it; column j of R. Twice is enough."""
    for i in range(j):
        triangle[i, j] = 0.0
    for _ in range(2):
        for i in range(j):
            along = dot_rows(rows, start + i, rows, start + j)
            triangle[i, j] += along
            add_row(rows, start + j, -along, rows, start + i)
    triangle[j, j] = math.sqrt(dot_rows(rows, start + j, rows, start + j))
    scale_row(rows, start + j, 1.0 / triangle[j, j])


@kernel
def put_missing_axis(rows: Array, start: int, j: int) -> None:
    """Put into row j the axis of which the rows before it, orthonormal, have least."""
    best = 0
    least = 2.0
    for axis in range(6):
        has = 0.0
        for i in range(j):
            has += rows[start + i, axis] ** 2
        if has < least:
            least = has
            best = axis
    for axis in range(6):
        rows[start + j, axis] = 1.0 if axis == best else 0.0


@kernel
def tree_velocities(
    joints: IntArray, split: Array, levers: Array, velocities: Array, v: Array
) -> None:
    """Joint velocities (nv,) from the bodies' (n, 6): S^+ (V_child - X V_parent)."""
    for b in range(joints.shape[0]):
        parent = joints[b, PARENT]
        turning, sliding = vec3(velocities, b, 0), vec3(velocities, b, 3)
        if parent >= 0:
            turning_p, sliding_p = vec3(velocities, parent, 0), vec3(velocities, parent, 3)
            carried = plus(sliding_p, cross(turning_p, vec3(levers, b, 0)))
            turning = minus(turning, turning_p)
            sliding = minus(sliding, carried)
        for j in range(joints[b, DOF]):
            row = 6 * b + j
            v[joints[b, FIRST] + j] = dot(vec3(split, row, 0), turning) + dot(
                vec3(split, row, 3), sliding
            )


@inlined
def on_parent(levers: Array, b: int, turning: Vec3, sliding: Vec3) -> tuple[Vec3, Vec3]:
    """A combination of the relative twist as one of the parent's: -row X."""
    moment = plus(turning, cross(vec3(levers, b, 0), sliding))
    return scaled(-1.0, moment), scaled(-1.0, sliding)


@inlined
def dot_rows(one: Array, i: int, other: Array, j: int) -> float:
    """Product of two rows of six."""
    return dot(vec3(one, i, 0), vec3(other, j, 0)) + dot(vec3(one, i, 3), vec3(other, j, 3))


@inlined
def add_row(to: Array, i: int, factor: float, rows: Array, j: int) -> None:
    """Add a multiple of one row of six to another."""
    put3(to, i, 0, plus_scaled(vec3(to, i, 0), factor, vec3(rows, j, 0)))
    put3(to, i, 3, plus_scaled(vec3(to, i, 3), factor, vec3(rows, j, 3)))


@inlined
def scale_row(rows: Array, i: int, factor: float) -> None:
    """Multiply a row of six."""
    put3(rows, i, 0, scaled(factor, vec3(rows, i, 0)))
    put3(rows, i, 3, scaled(factor, vec3(rows, i, 3)))
