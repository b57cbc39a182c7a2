"""Poses, velocities and velocity-dependent accelerations of all links, base to tips.

Everything is in world axes about each link's own origin, so that the rigid-body operator
phi(parent, k) is the shift by the lever r = p_k - p_parent and nothing refers to the world's
origin. Accelerations are conventional, of the origin.
"""

from __future__ import annotations

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, Mat3, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.trigonometry import sine_and_cosine
from spatialops.algebra.vectors import (
    ZERO3,
    column_of,
    cross,
    is_finite,
    mat3,
    plus,
    plus_scaled,
    put3,
    put_mat3,
    rotate,
    rotation_from_quaternion,
    scaled,
    times,
    vec3,
)


@inlined
def turned(m: Mat3, angle: float) -> Mat3:
    """M Rz(angle): the columns x and y turn in their plane."""
    s, c = sine_and_cosine(angle)
    return turned_by(m, s, c)


@inlined
def turned_by(m: Mat3, s: float, c: float) -> Mat3:
    """The same for an angle with sine s and cosine c."""
    return (
        (c * m[0][0] + s * m[0][1], c * m[0][1] - s * m[0][0], m[0][2]),
        (c * m[1][0] + s * m[1][1], c * m[1][1] - s * m[1][0], m[1][2]),
        (c * m[2][0] + s * m[2][1], c * m[2][1] - s * m[2][0], m[2][2]),
    )


@inlined
def pose_in_parent(tree: IntArray, links: Array, q: Array, k: int) -> tuple[Mat3, Vec3]:
    """Rotation and origin of the first link of a joint, in its parent's frame."""
    frame = tree[k, layout.FRAME]
    i = tree[k, layout.FIRST_Q]
    rotation, lever = mat3(links, k, layout.PLACE_R), vec3(links, k, layout.PLACE_P)
    if frame == layout.TURN:
        rotation = turned(rotation, q[i])
    elif frame in (layout.SLIDE, layout.SCREW):
        slide = q[i] if frame == layout.SLIDE else links[k, layout.PITCH] * q[i]
        lever = plus_scaled(lever, slide, (rotation[0][2], rotation[1][2], rotation[2][2]))
        if frame == layout.SCREW:
            rotation = turned(rotation, q[i])
    elif frame == layout.ATTITUDE:
        rotation = times(rotation, rotation_from_quaternion(q[i], q[i + 1], q[i + 2], q[i + 3]))
    elif frame == layout.POSE:
        lever = plus(lever, rotate(rotation, (q[i], q[i + 1], q[i + 2])))
        rotation = times(rotation, rotation_from_quaternion(q[i + 3], q[i + 4], q[i + 5], q[i + 6]))
    return rotation, lever


@inlined
def place_link(tree: IntArray, links: Array, q: Array, work: Array, k: int) -> None:
    """Rotation, origin and lever of link k from those of its parent."""
    parent = tree[k, layout.PARENT]
    if tree[k, layout.FRAME] == layout.SAME:
        return  # written by the first link of its joint
    # First everything in the parent's frame: the processor need not wait for the parent.
    rotation, lever = pose_in_parent(tree, links, q, k)
    origin = lever
    if parent >= 0:
        above = mat3(work, parent, layout.ROTATION)
        rotation, lever = times(above, rotation), rotate(above, lever)
        origin = plus(vec3(work, parent, layout.ORIGIN), lever)
    put_mat3(work, k, layout.ROTATION, rotation)
    put3(work, k, layout.ORIGIN, origin)
    put3(work, k, layout.LEVER, lever)
    for j in range(k + 1, k + tree[k, layout.GROUP]):  # the further axes of a ball or free joint
        put_mat3(work, j, layout.ROTATION, rotation)
        put3(work, j, layout.ORIGIN, origin)
        put3(work, j, layout.LEVER, ZERO3)


@inlined
def axis_of(tree: IntArray, work: Array, k: int) -> Vec3:
    """Unit vector of the axis of motion of link k, in world axes."""
    return column_of(work, k, layout.ROTATION, tree[k, layout.AXIS])


@inlined
def move_link(tree: IntArray, links: Array, v: Array, work: Array, k: int) -> None:
    """Velocity of link k, and the velocity-dependent part of its acceleration less the parent's."""
    parent, motion = tree[k, layout.PARENT], tree[k, layout.MOTION]
    if tree[k, layout.FRAME] == layout.SAME:
        return  # written by the first link of its joint
    omega = ZERO3
    velocity = ZERO3
    accel = ZERO3
    if parent >= 0:
        lever = vec3(work, k, layout.LEVER)
        omega = vec3(work, parent, layout.OMEGA)
        swing = cross(omega, lever)
        velocity = plus(vec3(work, parent, layout.VELOCITY), swing)
        accel = cross(omega, swing)
    if tree[k, layout.GROUP] > 1:
        move_group(tree, v, work, k, omega, velocity, accel)
        return
    axis = axis_of(tree, work, k)
    rate = v[k]
    alpha = ZERO3
    if (
        motion != layout.ROTARY
    ):  # Coriolis 2 w x s: the axis turns with the parent, and the link slides along it
        speed = rate if motion == layout.LINEAR else links[k, layout.PITCH] * rate
        accel = plus_scaled(accel, 2.0 * speed, cross(omega, axis))
        velocity = plus_scaled(velocity, speed, axis)
    if motion != layout.LINEAR:
        alpha = scaled(rate, cross(omega, axis))
        omega = plus_scaled(omega, rate, axis)
    put_motion(work, k, omega, velocity, alpha, accel)


@inlined
def move_group(
    tree: IntArray, v: Array, work: Array, k: int, omega: Vec3, velocity: Vec3, accel: Vec3
) -> None:
    """The same for a ball or free joint, whose velocities are components in body axes.

    With spin s = R v: alpha = alpha_parent + w_parent x s + R dv, because s x s = 0. A free joint
    hangs on the world, so that the acceleration of its origin is R (dv + w x v). Links before the
    last carry no mass and no acceleration."""
    spin = ZERO3
    slide = ZERO3
    last = k + tree[k, layout.GROUP] - 1
    for j in range(k, last + 1):
        if tree[j, layout.MOTION] == layout.ROTARY:
            spin = plus_scaled(spin, v[j], axis_of(tree, work, j))
        else:
            slide = plus_scaled(slide, v[j], axis_of(tree, work, j))
        put_motion(work, j, omega, velocity, ZERO3, ZERO3)
    put3(work, k, layout.ACCEL, accel)
    alpha = cross(omega, spin)
    omega, velocity = plus(omega, spin), plus(velocity, slide)
    put_motion(work, last, omega, velocity, alpha, cross(omega, slide))


@inlined
def put_motion(work: Array, k: int, omega: Vec3, velocity: Vec3, alpha: Vec3, accel: Vec3) -> None:
    put3(work, k, layout.OMEGA, omega)
    put3(work, k, layout.VELOCITY, velocity)
    put3(work, k, layout.ALPHA, alpha)
    put3(work, k, layout.ACCEL, accel)


@inlined
def place_links(tree: IntArray, links: Array, q: Array, work: Array) -> int:
    """Poses of all links into `work`."""
    for k in range(tree.shape[0]):
        place_link(tree, links, q, work, k)
    return finite_status(q)


@kernel
def poses_kernel(tree: IntArray, links: Array, q: Array, work: Array) -> int:
    """`place_links`, called by its own."""
    return place_links(tree, links, q, work)


@kernel
def velocities_kernel(tree: IntArray, links: Array, v: Array, work: Array) -> None:
    """Velocities and velocity-dependent accelerations of all links; poses must be in `work`."""
    for k in range(tree.shape[0]):
        move_link(tree, links, v, work, k)


@inlined
def fits(tree: IntArray, q: Array, v: Array) -> bool:
    """Whether coordinates and velocities have the model's sizes."""
    return q.size == tree[0, layout.SIZE_Q] and v.size == tree.shape[0]


@inlined
def names_links(tree: IntArray, node_links: IntArray) -> bool:
    """Whether all nodes are on links that there are, or on the world."""
    last = -1
    for i in range(node_links.size):
        last = max(last, node_links[i])
    return last < tree.shape[0]


@inlined
def finite_status(values: Array) -> int:
    """NOT_FINITE if any value is NaN or infinite."""
    return layout.OK if is_finite(values) else layout.NOT_FINITE


@inlined
def shift_velocity(work: Array, k: int, lever: Vec3) -> Vec3:
    """Velocity of the point of link k that lies at `lever` from its origin."""
    return plus(vec3(work, k, layout.VELOCITY), cross(vec3(work, k, layout.OMEGA), lever))
