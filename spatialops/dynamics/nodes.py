"""What is asked of nodes, points fixed to links: their places, rows of their Jacobian, motion.

Of a tree only the links that carry nodes, and those above them, are placed.
"""

from __future__ import annotations

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, Vec3
from spatialops._compile.fast_call import Arguments, FastCall, enter
from spatialops._compile.jit import entry_point, inlined, kernel
from spatialops.algebra.vectors import (
    ZERO3,
    cross,
    mat3,
    minus,
    plus,
    plus_scaled,
    put3,
    rotate,
    vec3,
)
from spatialops.dynamics.kinematics import (
    axis_of,
    finite_status,
    fits,
    move_link,
    names_links,
    place_link,
    shift_velocity,
)
from spatialops.dynamics.newton_euler import accelerate_link

_CARRIES = layout.RESIDUAL  # column of the workspace: 1 where a link carries nodes


@inlined
def place_carriers(
    tree: IntArray,
    links: Array,
    q: Array,
    node_links: IntArray,
    offsets: Array,
    work: Array,
) -> int:
    """Poses of the links that carry nodes, and of those above; the others are not marked."""
    n = tree.shape[0]
    if q.size != tree[0, layout.SIZE_Q] or work.shape[0] != n or not names_links(tree, node_links):
        return layout.MISFIT
    if offsets.shape[0] != node_links.size or offsets.shape[1] != 3:
        return layout.MISFIT
    if finite_status(q) != layout.OK:
        return layout.NOT_FINITE
    for k in range(n):
        work[k, _CARRIES] = 0.0
    for i in range(node_links.size):
        k = node_links[i]
        while k >= 0 and work[k, _CARRIES] == 0.0:
            work[k, _CARRIES] = 1.0
            k = tree[k, layout.PARENT]
    for k in range(n):
        if work[k, _CARRIES] != 0.0:
            place_link(tree, links, q, work, k)
    return layout.OK


@inlined
def node_point(work: Array, k: int, offset: Vec3) -> Vec3:
    """World position of a node of link k (-1: the world)."""
    if k < 0:
        return offset
    return plus(vec3(work, k, layout.ORIGIN), rotate(mat3(work, k, layout.ROTATION), offset))


@kernel
def node_points(node_links: IntArray, offsets: Array, work: Array, points: Array) -> None:
    """World positions of nodes from their offsets in link axes (the world's nodes: world axes)."""
    for i in range(node_links.size):
        put3(points, i, 0, node_point(work, node_links[i], vec3(offsets, i, 0)))


@inlined
def joint_motion(
    tree: IntArray, links: Array, point: Vec3, work: Array, k: int
) -> tuple[Vec3, Vec3]:
    """Angular and linear velocity of a world point that the joint of link k moves, at rate one."""
    motion = tree[k, layout.MOTION]
    axis = axis_of(tree, work, k)
    angular = ZERO3
    linear = ZERO3
    if motion != layout.LINEAR:
        angular = axis
        linear = cross(axis, minus(point, vec3(work, k, layout.ORIGIN)))
    if motion != layout.ROTARY:
        pitch = 1.0 if motion == layout.LINEAR else links[k, layout.PITCH]
        linear = plus_scaled(linear, pitch, axis)
    return angular, linear


@inlined
def put_node_rows(
    tree: IntArray, links: Array, work: Array, k: int, point: Vec3, row: int, out: Array
) -> None:
    """Six rows of the Jacobian, of a node of link k at a world point."""
    while k >= 0:
        angular, linear = joint_motion(tree, links, point, work, k)
        for j in range(3):
            out[row + j, k] = angular[j]
            out[row + 3 + j, k] = linear[j]
        k = tree[k, layout.PARENT]


@kernel
def node_jacobian_kernel(
    tree: IntArray,
    links: Array,
    q: Array,
    node_links: IntArray,
    offsets: Array,
    work: Array,
    out: Array,
) -> int:
    """Jacobian rows of nodes, from coordinates."""
    if out.shape[0] != 6 * node_links.size or out.shape[1] != tree.shape[0]:
        return layout.MISFIT
    status = place_carriers(tree, links, q, node_links, offsets, work)
    if status != layout.OK:
        return status
    out[:] = 0.0
    for i in range(node_links.size):
        point = node_point(work, node_links[i], vec3(offsets, i, 0))
        put_node_rows(tree, links, work, node_links[i], point, 6 * i, out)
    return layout.OK


@kernel
def node_positions_kernel(
    tree: IntArray,
    links: Array,
    q: Array,
    node_links: IntArray,
    offsets: Array,
    work: Array,
    out: Array,
) -> int:
    """World positions of nodes, from coordinates."""
    if out.shape[0] != node_links.size or out.shape[1] != 3:
        return layout.MISFIT
    status = place_carriers(tree, links, q, node_links, offsets, work)
    if status == layout.OK:
        node_points(node_links, offsets, work, out)
    return status


@inlined
def put_node_velocity(work: Array, k: int, offset: Vec3, velocity: Array, i: int) -> Vec3:
    """Velocity of a node of link k into row i; where it is from the link's origin."""
    lever = rotate(mat3(work, k, layout.ROTATION), offset)
    put3(velocity, i, 0, vec3(work, k, layout.OMEGA))
    put3(velocity, i, 3, shift_velocity(work, k, lever))
    return lever


@inlined
def put_node_acceleration(work: Array, k: int, lever: Vec3, acceleration: Array, i: int) -> None:
    """Acceleration of the point of link k at `lever` from its origin, into row i."""
    omega = vec3(work, k, layout.OMEGA)
    alpha = vec3(work, k, layout.ALPHA)
    put3(acceleration, i, 0, alpha)
    swing = plus(cross(alpha, lever), cross(omega, cross(omega, lever)))
    put3(acceleration, i, 3, plus(vec3(work, k, layout.ACCEL), swing))


@kernel
def node_motion_kernel(
    tree: IntArray,
    links: Array,
    q: Array,
    v: Array,
    a: Array,
    node_links: IntArray,
    offsets: Array,
    work: Array,
    out: Array,
) -> int:
    """Velocities, out[0], and accelerations, out[1], of nodes, from coordinates and their rates."""
    if not fits(tree, q, v) or a.size != v.size:
        return layout.MISFIT
    if out.shape[0] != 2 or out.shape[1] != node_links.size or out.shape[2] != 6:
        return layout.MISFIT
    status = place_carriers(tree, links, q, node_links, offsets, work)
    if status != layout.OK:
        return status
    if finite_status(v) != layout.OK or finite_status(a) != layout.OK:
        return layout.NOT_FINITE
    for k in range(tree.shape[0]):
        if work[k, _CARRIES] != 0.0:
            move_link(tree, links, v, work, k)
            accelerate_link(tree, links, ZERO3, a, work, k)
    for i in range(node_links.size):
        k = node_links[i]
        if k < 0:
            out[0, i] = out[1, i] = 0.0
            continue
        lever = put_node_velocity(work, k, vec3(offsets, i, 0), out[0], i)
        put_node_acceleration(work, k, lever, out[1], i)
    return layout.OK


@kernel
def node_velocities_kernel(
    tree: IntArray,
    links: Array,
    q: Array,
    v: Array,
    node_links: IntArray,
    offsets: Array,
    work: Array,
    out: Array,
) -> int:
    """Velocities of nodes, from coordinates and their rates."""
    if not fits(tree, q, v) or out.shape[0] != node_links.size or out.shape[1] != 6:
        return layout.MISFIT
    status = place_carriers(tree, links, q, node_links, offsets, work)
    if status != layout.OK:
        return status
    if finite_status(v) != layout.OK:
        return layout.NOT_FINITE
    for k in range(tree.shape[0]):
        if work[k, _CARRIES] != 0.0:
            move_link(tree, links, v, work, k)
    for i in range(node_links.size):
        k = node_links[i]
        if k < 0:
            out[i] = 0.0
        else:
            put_node_velocity(work, k, vec3(offsets, i, 0), out, i)
    return layout.OK


@entry_point
def _jacobian_entry(arguments: Arguments) -> int:
    return enter(node_jacobian_kernel, arguments)


@entry_point
def _positions_entry(arguments: Arguments) -> int:
    return enter(node_positions_kernel, arguments)


@entry_point
def _velocities_entry(arguments: Arguments) -> int:
    return enter(node_velocities_kernel, arguments)


@entry_point
def _motion_entry(arguments: Arguments) -> int:
    return enter(node_motion_kernel, arguments)


NODE_JACOBIAN = FastCall(node_jacobian_kernel, _jacobian_entry)
NODE_POSITIONS = FastCall(node_positions_kernel, _positions_entry)
NODE_VELOCITIES = FastCall(node_velocities_kernel, _velocities_entry)
NODE_MOTION = FastCall(node_motion_kernel, _motion_entry)
