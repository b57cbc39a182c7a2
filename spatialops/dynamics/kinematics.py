"""Poses, velocities and velocity-dependent accelerations of all links, base to tips.

Everything is in world axes about each link's own origin, so that the rigid-body operator phi(parent, k) is the shift by
the lever r = p_k - p_parent and nothing refers to the world's origin. Accelerations are conventional, of the origin.
"""

from __future__ import annotations

from spatialops._arrays import Array, IntArray, Mat3, Vec3
from spatialops._jit import inlined, kernel
from spatialops._layout import (
    ACCEL,
    ALPHA,
    ATTITUDE,
    AXIS,
    FIRST_Q,
    FRAME,
    GROUP,
    LEVER,
    LINEAR,
    MOTION,
    NOT_FINITE,
    OK,
    OMEGA,
    ORIGIN,
    PARENT,
    PITCH,
    PLACE_P,
    PLACE_R,
    POSE,
    ROTARY,
    ROTATION,
    SAME,
    SCREW,
    SIZE_Q,
    SLIDE,
    TURN,
    VELOCITY,
)
from spatialops.algebra.trigonometry import sine_and_cosine
from spatialops.algebra.vectors import (
    ZERO3,
    column_of,
    cross,
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
def place_link(tree: IntArray, links: Array, q: Array, work: Array, k: int) -> None:
    """Rotation, origin and lever of link k from those of its parent."""
    parent, frame, i = tree[k, PARENT], tree[k, FRAME], tree[k, FIRST_Q]
    if frame == SAME:
        return  # written by the first link of its joint
    rotation, lever = mat3(links, k, PLACE_R), vec3(links, k, PLACE_P)
    # First everything in the parent's frame: the processor need not wait for the parent.
    if frame == TURN:
        rotation = turned(rotation, q[i])
    elif frame in (SLIDE, SCREW):
        slide = q[i] if frame == SLIDE else links[k, PITCH] * q[i]
        lever = plus_scaled(lever, slide, (rotation[0][2], rotation[1][2], rotation[2][2]))
        if frame == SCREW:
            rotation = turned(rotation, q[i])
    elif frame == ATTITUDE:
        rotation = times(rotation, rotation_from_quaternion(q[i], q[i + 1], q[i + 2], q[i + 3]))
    elif frame == POSE:
        lever = plus(lever, rotate(rotation, (q[i], q[i + 1], q[i + 2])))
        rotation = times(rotation, rotation_from_quaternion(q[i + 3], q[i + 4], q[i + 5], q[i + 6]))
    origin = lever
    if parent >= 0:
        above = mat3(work, parent, ROTATION)
        rotation, lever = times(above, rotation), rotate(above, lever)
        origin = plus(vec3(work, parent, ORIGIN), lever)
    put_mat3(work, k, ROTATION, rotation)
    put3(work, k, ORIGIN, origin)
    put3(work, k, LEVER, lever)
    for j in range(k + 1, k + tree[k, GROUP]):  # the further axes of a ball or free joint
        put_mat3(work, j, ROTATION, rotation)
        put3(work, j, ORIGIN, origin)
        put3(work, j, LEVER, ZERO3)


@inlined
def axis_of(tree: IntArray, work: Array, k: int) -> Vec3:
    """Unit vector of the axis of motion of link k, in world axes."""
    return column_of(work, k, ROTATION, tree[k, AXIS])


@inlined
def move_link(tree: IntArray, links: Array, v: Array, work: Array, k: int) -> None:
    """Velocity of link k and the part of its acceleration that depends on velocities only (the parent's excluded)."""
    parent, motion = tree[k, PARENT], tree[k, MOTION]
    if tree[k, FRAME] == SAME:
        return  # written by the first link of its joint
    omega, velocity, accel = ZERO3, ZERO3, ZERO3
    if parent >= 0:
        lever = vec3(work, k, LEVER)
        omega = vec3(work, parent, OMEGA)
        swing = cross(omega, lever)
        velocity = plus(vec3(work, parent, VELOCITY), swing)
        accel = cross(omega, swing)
    if tree[k, GROUP] > 1:
        move_group(tree, v, work, k, omega, velocity, accel)
        return
    axis, rate, alpha = axis_of(tree, work, k), v[k], ZERO3
    if motion != ROTARY:  # Coriolis 2 w x s: the axis turns with the parent, and the link slides along it
        speed = rate if motion == LINEAR else links[k, PITCH] * rate
        accel = plus_scaled(accel, 2.0 * speed, cross(omega, axis))
        velocity = plus_scaled(velocity, speed, axis)
    if motion != LINEAR:
        alpha = scaled(rate, cross(omega, axis))
        omega = plus_scaled(omega, rate, axis)
    put_motion(work, k, omega, velocity, alpha, accel)


@inlined
def move_group(tree: IntArray, v: Array, work: Array, k: int, omega: Vec3, velocity: Vec3, accel: Vec3) -> None:
    """The same for a ball or free joint, whose velocities are components along the axes of the moving body.

    With spin s = R v: alpha = alpha_parent + w_parent x s + R dv, because s x s = 0. A free joint hangs on the world,
    so that the acceleration of its origin is R (dv + w x v). Links before the last carry no mass and no acceleration.
    """
    spin, slide, last = ZERO3, ZERO3, k + tree[k, GROUP] - 1
    for j in range(k, last + 1):
        if tree[j, MOTION] == ROTARY:
            spin = plus_scaled(spin, v[j], axis_of(tree, work, j))
        else:
            slide = plus_scaled(slide, v[j], axis_of(tree, work, j))
        put_motion(work, j, omega, velocity, ZERO3, ZERO3)
    put3(work, k, ACCEL, accel)
    alpha = cross(omega, spin)
    omega, velocity = plus(omega, spin), plus(velocity, slide)
    put_motion(work, last, omega, velocity, alpha, cross(omega, slide))


@inlined
def put_motion(work: Array, k: int, omega: Vec3, velocity: Vec3, alpha: Vec3, accel: Vec3) -> None:
    put3(work, k, OMEGA, omega)
    put3(work, k, VELOCITY, velocity)
    put3(work, k, ALPHA, alpha)
    put3(work, k, ACCEL, accel)


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
    return q.size == tree[0, SIZE_Q] and v.size == tree.shape[0]


@inlined
def names_links(tree: IntArray, node_links: IntArray) -> bool:
    """Whether all nodes are on links that there are, or on the world."""
    last = -1
    for i in range(node_links.size):
        last = max(last, node_links[i])
    return last < tree.shape[0]


@inlined
def finite_status(values: Array) -> int:
    """NOT_FINITE if any value is NaN or infinite: x - x is 0 for finite x only."""
    total = 0.0
    for i in range(values.size):
        total += values[i] - values[i]
    return OK if total == 0.0 else NOT_FINITE


@inlined
def shift_velocity(work: Array, k: int, lever: Vec3) -> Vec3:
    """Velocity of the point of link k that lies at `lever` from its origin."""
    return plus(vec3(work, k, VELOCITY), cross(vec3(work, k, OMEGA), lever))
