"""Joints of eight environments move on their manifold."""

from __future__ import annotations

import math

from spatialops import _layout as layout
from spatialops._compile.jit import kernel
from spatialops.algebra.lane_arrays import LaneArray
from spatialops.algebra.lane_logic import less, root, where
from spatialops.algebra.simd import Lanes
from spatialops.algebra.vectors import rotate, rotation_from_quaternion
from spatialops.simulation.batch.eights.eight import Eight
from spatialops.tree.state import _SERIES


@kernel
def advance_joints(e: Eight, q: LaneArray, v: LaneArray, step: float, out: LaneArray) -> None:
    """As `integrate_kernel`."""
    for i in range(e.q.shape[0]):
        out[i] = q[i]
    for k in range(e.tree.shape[0]):
        frame, i = e.tree[k, layout.FRAME], e.tree[k, layout.FIRST_Q]
        if frame == layout.POSE:
            rotation = rotation_from_quaternion(q[i + 3], q[i + 4], q[i + 5], q[i + 6])
            x, y, z = rotate(rotation, (v[k + 3], v[k + 4], v[k + 5]))
            out[i] = q[i] + step * x
            out[i + 1] = q[i + 1] + step * y
            out[i + 2] = q[i + 2] + step * z
            i += 3
        if frame == layout.POSE or frame == layout.ATTITUDE:
            turn_quaternions(out, i, step * v[k], step * v[k + 1], step * v[k + 2])
        elif frame != layout.SAME:
            out[i] = q[i] + step * v[k]


@kernel
def turn_quaternions(q: LaneArray, i: int, x: Lanes, y: Lanes, z: Lanes) -> None:
    """As `turn_quaternion`."""
    square = x * x + y * y + z * z
    half = 0.5 * root(square)
    s = where(less(square, _SERIES), 0.5 - square / 48.0, math.sin(half) / (2.0 * half))
    c = math.cos(half)
    x = s * x
    y = s * y
    z = s * z
    a = q[i]
    b = q[i + 1]
    d = q[i + 2]
    w = q[i + 3]
    nx = w * x + a * c + b * z - d * y
    ny = w * y + b * c + d * x - a * z
    nz = w * z + d * c + a * y - b * x
    nw = w * c - a * x - b * y - d * z
    length = 1.0 / root(nx * nx + ny * ny + nz * nz + nw * nw)
    q[i] = nx * length
    q[i + 1] = ny * length
    q[i + 2] = nz * length
    q[i + 3] = nw * length
