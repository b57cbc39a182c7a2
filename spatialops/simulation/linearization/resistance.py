"""How springs, actuators, damping and the armature fitted to them change with the state.

The step (`integrators/joint_forces.py`) puts d T(x) to the armature of a joint, d = s D, x = d / m,
where m is the inertia that the joint feels with all that it carries free to give way: D(k) of the
articulated bodies. With y the velocities of the carried joints that answer a unit rate of joint k
without force, m = y* M y, and since y makes this a minimum only M changes:

    dm / dq = d (y* M y) / dq with y fixed: twice that of the kinetic energy of y.

An element within its range pulls with f(l, l'), affine, and a spring that the step does not resolve
has damping s K (1 - 1 / x), x = s^2 K / m, which changes with m too.
"""

from __future__ import annotations

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import (
    ZERO3,
    cross,
    dot,
    plus,
    plus_scaled,
    put3,
    vec3,
)
from spatialops.derivatives.carried import (
    Pair,
    axis_motion,
    force_on,
    moved_by,
    power,
    shifted,
    sum_of,
)
from spatialops.dynamics.articulated_body import factor_kernel
from spatialops.dynamics.energy import link_momentum
from spatialops.dynamics.kinematics import poses_kernel
from spatialops.forces import _layout as el
from spatialops.forces.elements import affine, element_motion, path_rate, signal, slope
from spatialops.forces.path_length import Placed, path_length
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.made_step import Made, Pulls, Room
from spatialops.simulation.linearization.pulls.borne_weight import add_borne_weight
from spatialops.simulation.linearization.pulls.path_arms import put_path_changes
from spatialops.simulation.linearization.pulls.turning_arms import Pulling, add_turning_arms
from spatialops.simulation.stepping.integrators.joint_forces import (
    RESOLVED,
    fitted,
    fitted_slope,
    too_stiff,
)


@kernel
def differentiate_resistance(made: Made, pulls: Pulls, room: Room) -> None:
    """FIT, PULL_BY_Q and PULL_BY_V of joints with damping, springs and actuators."""
    n = made.tree.shape[0]
    factors, links = room.factors, made.links
    fit, by_v = room.squares[of.FIT], room.squares[of.PULL_BY_V]
    fit_by_time = room.vectors[of.FIT_BY_TIME]
    poses_kernel(made.tree, links, made.q, factors)
    factor_kernel(made.tree, links, factors)
    for k in range(n):
        for j in range(n):
            fit[k, j] = 0.0
            by_v[k, j] = 0.0
            room.squares[of.PULL_BY_Q, k, j] = 0.0
            room.squares[of.STIFFER, k, j] = 0.0
        by_v[k, k] = -links[k, layout.DAMPING]
        inertia_by_q(made.tree, links, room, k)
    drag, stiff = room.vectors[of.ANSWER], room.vectors[of.BELOW]  # what elements add
    for k in range(n):
        drag[k] = stiff[k] = 0.0
        fit_by_time[k] = 0.0
        room.vectors[of.PULL_BY_TIME, k] = 0.0
    for e in range(pulls.ints.shape[0]):
        differentiate_element(made, pulls, room, e)
    if pulls.compensation.shape[0] > 0:
        add_borne_weight(made, pulls.compensation, room)
    for k in range(n):
        # d (d T(x)), x = d / m: here FIT holds the change of the damping d.
        inverse = factors[k, layout.D_INVERSE]
        damping = made.s * (links[k, layout.DAMPING] + drag[k])
        x = damping * inverse
        share = 0.5 if made.half > 0.0 else 2.0  # twice B
        by_time, fit_by_time[k] = fit_by_time[k], share * made.s * stiff[k]
        if x <= 0.0:
            for j in range(n):
                fit[k, j] = room.squares[of.STIFFER, k, j]
            continue
        by_damping = fitted(x) + x * fitted_slope(x)
        by_inverse = damping * damping * fitted_slope(x)
        fit_by_time[k] += by_damping * (by_time + damping / made.s)
        for j in range(n):
            fit[k, j] *= by_damping
            fit[k, j] += by_inverse * room.squares[of.INVERSE_BY_Q, k, j]
            fit[k, j] += room.squares[of.STIFFER, k, j]


@kernel
def inertia_by_q(tree: IntArray, links: Array, room: Room, k: int) -> None:
    """Row k of INVERSE_BY_Q, changes of 1 / D(k); factors must be there."""
    n = tree.shape[0]
    factors, below = room.factors, room.vectors[of.BELOW]
    by_q = room.squares[of.INVERSE_BY_Q, k]
    for j in range(n):
        below[j] = 0.0
        by_q[j] = 0.0
    below[k] = 1.0
    for j in range(k, n):
        parent = tree[j, layout.PARENT]
        if j == k or (parent >= 0 and below[parent] != 0.0):
            below[j] = 1.0
            put_answer(tree, links, factors, j, j == k)
    twice = -2.0 * factors[k, layout.D_INVERSE] ** 2
    V = (ZERO3, ZERO3)
    for j in range(n - 1, k, -1):
        if below[j] == 0.0:
            continue
        V = velocity_of_parent(tree, factors, below, j)
        h = force_on(factors, j)
        by_q[j] = twice * power(h, moved_by(V, axis_motion(tree, links, factors, j)))
        parent = tree[j, layout.PARENT]
        h = sum_of(force_on(factors, parent), shifted(vec3(factors, j, layout.LEVER), h))
        put3(factors, parent, layout.MOMENT, h[0])
        put3(factors, parent, layout.FORCE, h[1])


@inlined
def put_answer(tree: IntArray, links: Array, factors: Array, j: int, driven: bool) -> None:
    """Velocity of link j that answers, and its momentum; the driven one has rate 1."""
    V = (ZERO3, ZERO3)
    rate = 1.0
    if not driven:
        parent, lever = tree[j, layout.PARENT], vec3(factors, j, layout.LEVER)
        omega = vec3(factors, parent, layout.OMEGA)
        V = omega, plus(vec3(factors, parent, layout.VELOCITY), cross(omega, lever))
        gain = vec3(factors, j, layout.GAIN_M), vec3(factors, j, layout.GAIN_F)
        rate = -factors[j, layout.D_INVERSE] * (dot(gain[0], V[0]) + dot(gain[1], V[1]))
    S = axis_motion(tree, links, factors, j)
    put3(factors, j, layout.OMEGA, plus_scaled(V[0], rate, S[0]))
    put3(factors, j, layout.VELOCITY, plus_scaled(V[1], rate, S[1]))
    moment, force = link_momentum(links, factors, j)
    put3(factors, j, layout.MOMENT, moment)
    put3(factors, j, layout.FORCE, force)


@inlined
def velocity_of_parent(tree: IntArray, factors: Array, below: Array, j: int) -> Pair:
    """Velocity of the parent of link j's joint, at j's origin."""
    while tree[j, layout.FRAME] == layout.SAME:
        j = tree[j, layout.PARENT]
    parent = tree[j, layout.PARENT]
    if parent < 0 or below[parent] == 0.0:
        return ZERO3, ZERO3
    omega = vec3(factors, parent, layout.OMEGA)
    lever = vec3(factors, j, layout.LEVER)
    return omega, plus(vec3(factors, parent, layout.VELOCITY), cross(omega, lever))


@inlined
def motion_of(made: Made, pulls: Pulls, room: Room, e: int) -> tuple[float, float]:
    """Length of element e and its rate; the arms of a path and their changes into the room."""
    ints, joints = pulls.ints, pulls.joints
    v = made.v
    if ints[e, el.POINTS] == 0:
        return element_motion(ints, joints, pulls.arms, e, made.q, v)
    arms = room.vectors[of.ARMS]
    placed = Placed(made.tree, made.links, made.q, room.factors, arms)
    length = path_length(ints, joints, pulls.arms, e, placed)
    put_path_changes(ints, joints, pulls.arms, e, placed, room.squares[of.PATH_ARMS])
    return length, path_rate(ints, joints, e, arms, v)


@inlined
def own_arm(pulls: Pulls, room: Room, e: int, i: int) -> float:
    """Arm of element e in row i of its joints."""
    path = pulls.ints[e, el.POINTS] > 0
    return room.vectors[of.ARMS, pulls.joints[i, el.LINK]] if path else pulls.arms[i]


@kernel
def differentiate_element(made: Made, pulls: Pulls, room: Room, e: int) -> None:
    """Add what element e pulls with to the tables of pulls, and its damping to FIT and ANSWER.

    As `joint_forces.put_element`, which says whether it is within its range.
    """
    s = made.s
    midpoint = made.half > 0.0
    ints, floats = pulls.ints, pulls.floats
    length, rate = motion_of(made, pulls, room, e)
    ahead = 0.0 if midpoint else s
    u = signal(ints, floats, e, pulls.ctrl, pulls.activation, pulls.time)
    by_length = floats[e, el.GAIN + 1] * u + floats[e, el.BIAS + 1]
    by_rate = floats[e, el.GAIN + 2] * u + floats[e, el.BIAS + 2] + ahead * by_length
    force = affine(floats, e, el.GAIN, length + ahead * rate, rate) * u
    force += affine(floats, e, el.BIAS, length + ahead * rate, rate)
    stiffness, damping = slope(floats, e, u, 1), slope(floats, e, u, 2)
    first, last = ints[e, el.FIRST], ints[e, el.FIRST] + ints[e, el.COUNT]
    total = inverse = 0.0
    for i in range(first, last):
        arm, k = own_arm(pulls, room, e, i), pulls.joints[i, el.LINK]
        total += abs(arm)
        inverse += arm * arm * room.factors[k, layout.D_INVERSE]
    x, added_by_inverse = s * s * stiffness * inverse, 0.0
    added_by_time, by_time = 0.0, (floats[e, el.GAIN + 1] * u + floats[e, el.BIAS + 1]) * rate
    if midpoint:
        added = s * stiffness * too_stiff(x)
        damping += added
        by_rate -= added
        force -= added * rate
        by_time = 0.0
        if x > RESOLVED:
            added_by_time = stiffness * (1.0 + 1.0 / x)
            by_time = -added_by_time * rate
            added_by_inverse = s * s * s * stiffness * stiffness / (x * x)
    share = 0.25 if midpoint else 1.0
    resists = s * damping * fitted(s * damping * inverse) + share * s * s * stiffness
    alone = force / (1.0 + resists * inverse)
    if alone < floats[e, el.FORCE_LOW] or alone > floats[e, el.FORCE_HIGH]:
        return
    if ints[e, el.POINTS] > 0:
        own = Pulling(force, rate, by_rate, stiffness, damping, added_by_inverse, share, total)
        add_turning_arms(made, pulls, room, e, own)
    for i in range(first, last):
        k, pull = pulls.joints[i, el.LINK], own_arm(pulls, room, e, i)
        room.vectors[of.ANSWER, k] += abs(pull) * total * damping
        room.vectors[of.BELOW, k] += abs(pull) * total * stiffness
        room.vectors[of.FIT_BY_TIME, k] += s * abs(pull) * total * added_by_time
        room.vectors[of.PULL_BY_TIME, k] += pull * by_time
        for c in range(first, last):
            j, arm = pulls.joints[c, el.LINK], own_arm(pulls, room, e, c)
            room.squares[of.PULL_BY_Q, k, j] += pull * arm * by_length
            room.squares[of.PULL_BY_V, k, j] += pull * arm * by_rate
            if added_by_inverse == 0.0:
                continue
            for m in range(made.tree.shape[0]):
                change = added_by_inverse * arm * arm * room.squares[of.INVERSE_BY_Q, j, m]
                room.squares[of.PULL_BY_Q, k, m] -= pull * rate * change
                room.squares[of.FIT, k, m] += s * abs(pull) * total * change
