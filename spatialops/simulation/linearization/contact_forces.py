"""Forces of contacts: as wrenches on links, and how they change with arms and normals.

Tangents t turn with the normal, dt = -N (t . dN), beside turning about it (`slip_turning`): the
impulse p_n N + p_t of a contact that slides, or is dragged, changes by p_n dN - N (p_t . dN).
"""

from __future__ import annotations

from spatialops import _layout as layout
from spatialops._arrays import Array, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import add3, cross, dot, plus_scaled, scaled, vec3
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.friction.spin_friction import is_moment
from spatialops.simulation.linearization.joints.joint_rows import is_of_joint
from spatialops.simulation.linearization.made_step import Made, Room
from spatialops.simulation.linearization.rows.changes import add_row
from spatialops.simulation.linearization.touch_both import get


@kernel
def put_wrenches(made: Made, room: Room) -> int:
    """Wrenches on bodies, with those of contacts; how many rows: none where nothing pushes."""
    rows = made.external.shape[0]
    if rows == 0 and room.results[of.COUNT] == 0:
        return 0
    for b in range(room.wrenches.shape[0]):
        for j in range(6):
            room.wrenches[b, j] = made.external[b, j] if rows > 0 else 0.0
    for k in range(room.results[of.COUNT]):
        force = scaled(1.0 / made.s, vec3(room.points, k, of.IMPULSE))
        link, other = room.point_ints[k, of.LINK], room.point_ints[k, of.OTHER]
        if is_moment(room, k):
            put_couple(made, room, link, force)
            put_couple(made, room, other, scaled(-1.0, force))
            continue
        if is_of_joint(room, k):
            continue
        if link >= 0:
            put_wrench(made, room, link, vec3(room.arms[of.LATE], k, of.ARM), force)
        if other >= 0:
            arm = vec3(room.arms[of.LATE], k, of.OTHER_ARM)
            put_wrench(made, room, other, arm, scaled(-1.0, force))
    return room.wrenches.shape[0]


@inlined
def put_wrench(made: Made, room: Room, link: int, arm: Vec3, force: Vec3) -> None:
    """Add a force at an arm from a link's origin."""
    b = made.tree[link, layout.BODY]
    add3(room.wrenches, b, 0, cross(arm, force))
    add3(room.wrenches, b, 3, force)


@inlined
def put_couple(made: Made, room: Room, link: int, moment: Vec3) -> None:
    """Add a moment alone."""
    if link >= 0:
        add3(room.wrenches, made.tree[link, layout.BODY], 0, moment)


@kernel
def put_levers(made: Made, room: Room) -> None:
    """What arms of contacts' forces change by, beyond those of wrenches fixed to the links."""
    for k in range(room.results[of.COUNT]):
        if room.point_ints[k, of.STATUS] == of.OPEN or is_of_joint(room, k):
            continue
        if is_moment(room, k):
            if room.point_ints[k, of.KIND] != of.STILL:
                turn_push(room, k)
            continue
        push, found = vec3(room.points, k, of.IMPULSE), room.found[of.LATE, k]
        link, other = room.point_ints[k, of.LINK], room.point_ints[k, of.OTHER]
        add_lever(made, room.side, found, link, push, of.TURN_BY_Q)
        if other >= 0:
            add_lever(made, room.side, found, other, scaled(-1.0, push), of.OTHER_TURN)
        if room.point_ints[k, of.KIND] != of.STILL and not spans_all(room, k):
            turn_push(room, k)


@kernel
def add_lever(made: Made, side: Array, found: Array, link: int, push: Vec3, turn: int) -> None:
    """What the arm of one link changes by; it stands after the rows of its turns."""
    i = link
    while i >= 0:
        lever = cross(push, get(found, turn, i))  # w . (dr x p) = dr . (p x w)
        add_row(side, i, 0, lever, found, turn + 3)
        i = made.tree[i, layout.PARENT]


@inlined
def spans_all(room: Room, k: int) -> bool:
    """Whether lines of point k push in all directions, along which its impulse is free.

    Where moments are limited by what presses, the first must be of the normal as it turns.
    """
    ints = room.point_ints
    free = ints[k, of.STATUS] == of.STICKING and ints[k, of.PRESSES] == 1
    for j in range(k + 1, room.results[of.COUNT]):
        free = free and ints[j, of.OWNER] != k
    return free


@kernel
def turn_push(room: Room, k: int) -> None:
    """Add to `side` how the impulse of point k turns with its normal.

    Lines along tangents are then for what it changes by along tangents that have turned.
    """
    found = room.found[of.LATE, k]
    n = found.shape[1]
    normal, push = vec3(room.points, k, of.NORMAL), vec3(room.points, k, of.IMPULSE)
    pressed = dot(normal, push)
    friction = plus_scaled(push, -pressed, normal)
    for j in range(n):
        turned = get(found, of.NORMAL_BY_Q, j)
        change = plus_scaled(scaled(pressed, turned), -dot(friction, turned), normal)
        for i in range(n):
            for c in range(3):
                room.side[i, j] += found[of.VELOCITY_BY_V + c, i] * change[c]
