"""Rows of points that are held on one another, and their drift, compiled."""

from __future__ import annotations

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, Vec3, not_finite, vector
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import (
    ZERO3,
    cross,
    dot,
    mat3,
    plus,
    rotate,
    vec3,
)
from spatialops.dynamics.kinematics import finite_status, poses_kernel, velocities_kernel
from spatialops.dynamics.newton_euler import carried_acceleration, put_acceleration
from spatialops.dynamics.nodes import joint_motion
from spatialops.tree.model import Model


def rows_of_points(
    model: Model, q: Array, v: Array, links: IntArray, offsets: Array, frames: Array
) -> tuple[Array, Array]:
    """The rows A of points, and their drift where A v = 0.

    Parameters
    ----------
    model : Model
        The mechanism.
    q, v : (nq,), (nv,) arrays
        Coordinates and velocities.
    links : (m, 2) int array
        Kernel links A and B, -1 for the world.
    offsets : (m, 6) array
        The points in axes of A, then of B, m.
    frames : (m, 3, 3) array
        Rows normal (to A), tangent, tangent, world axes.

    Returns
    -------
    A : (3 m, nv) array
        Rows of all points.
    drift : (3 m,) array
        Adot v, m/s^2.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN or infinity.
    """
    q, v = vector(q, model.nq, "q"), vector(v, model.nv, "v")
    count = 3 * len(links)
    A, drift = np.empty((count, model.nv)), np.empty(count)
    work = model.workspace()
    status = point_rows(model.tree, model.links, q, v, links, offsets, frames, work, A, drift)
    if status != layout.OK:
        raise not_finite(q=q, v=v)
    model.spare.append(work)
    return A, drift


@kernel
def point_rows(
    tree: IntArray,
    links: Array,
    q: Array,
    v: Array,
    sides: IntArray,
    offsets: Array,
    frames: Array,
    work: Array,
    A: Array,
    drift: Array,
) -> int:
    """Rows A (3 m, nv) of points held on one another, and Adot v (3 m,)."""
    status = max(poses_kernel(tree, links, q, work), finite_status(v))
    put_drifts(tree, links, v, work)
    A[:] = 0.0
    drift[:] = 0.0
    for i in range(sides.shape[0]):
        for side in range(2):
            k = sides[i, side]
            sign = 1.0 - 2.0 * side
            if k >= 0:
                lever = rotate(mat3(work, k, layout.ROTATION), vec3(offsets, i, 3 * side))
                add_drift(frames[i], sign, lever, work, k, drift[3 * i : 3 * i + 3])
                point = plus(vec3(work, k, layout.ORIGIN), lever)
                add_path(tree, links, frames[i], sign, point, work, k, A[3 * i : 3 * i + 3])
    return status


@inlined
def add_drift(frame: Array, sign: float, lever: Vec3, work: Array, k: int, drift: Array) -> None:
    """Acceleration along a frame (3, 3) of the point of link k at a lever from its origin."""
    alpha, omega = vec3(work, k, layout.ALPHA), vec3(work, k, layout.OMEGA)
    swing = plus(cross(alpha, lever), cross(omega, cross(omega, lever)))
    accel = plus(vec3(work, k, layout.ACCEL), swing)
    for c in range(3):
        drift[c] += sign * dot(vec3(frame, c, 0), accel)


@inlined
def add_path(
    tree: IntArray,
    links: Array,
    frame: Array,
    sign: float,
    point: Vec3,
    work: Array,
    k: int,
    rows: Array,
) -> None:
    """Velocities along a frame (3, 3) of a world point of link k, by the joints that move it."""
    while k >= 0:
        _, linear = joint_motion(tree, links, point, work, k)
        for c in range(3):
            rows[c, k] += sign * dot(vec3(frame, c, 0), linear)
        k = tree[k, layout.PARENT]


@kernel
def put_drifts(tree: IntArray, links: Array, v: Array, work: Array) -> None:
    """Velocities of all links, and what accelerations they cause; poses must be in `work`."""
    velocities_kernel(tree, links, v, work)
    for k in range(tree.shape[0]):
        alpha, accel = carried_acceleration(tree, ZERO3, work, k)
        put_acceleration(tree, links, work, k, alpha, accel, 0.0)
