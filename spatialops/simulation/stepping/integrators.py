"""The smooth part of a step: from (q, v) over a time s, and to any fraction x of it.

Semi-implicit Euler: dv at q, then q moves with the new velocity (order 1, symplectic, impulses
count in full). Moreau's midpoint rule: q goes half a step with the old velocity, dv there, half a
step with the new one: one evaluation too, exact for constant acceleration, so that a bouncing ball
keeps its height at any dt. RK4: the classical rule on (q, v); impulses enter with half a step as in
Moreau's.

A free body's linear velocity has components along its turning axes. It is kept fixed in the world
while the body turns (`transport`), and its acceleration is taken without the -w x v that those axes
add: spinning bodies fly straight.
"""

from __future__ import annotations

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import kernel, merged
from spatialops._compile.stage import stage
from spatialops.algebra.vectors import copy_into, cross, rotate, rotation_from_quaternion
from spatialops.dynamics.articulated_body import body_inertia_and_bias, sweep_kernel
from spatialops.dynamics.kinematics import poses_kernel, velocities_kernel
from spatialops.forces.passive import add_passive_forces
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.constraints.joint_limits_and_friction import (
    is_damped,
    put_damping,
)
from spatialops.simulation.stepping.constraints.loop_constraints import (
    close_end,
    constrain,
    has_loops,
    since_start,
)
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.state import integrate_kernel, transport


@kernel
def add_convection(tree: IntArray, v: Array, a: Array, sign: float) -> None:
    """Add sign * (w x v) to the linear accelerations of free bodies."""
    for k in range(tree.shape[0]):
        if tree[k, layout.FRAME] == layout.POSE:
            x, y, z = cross((v[k], v[k + 1], v[k + 2]), (v[k + 3], v[k + 4], v[k + 5]))
            a[k + 3] += sign * x
            a[k + 4] += sign * y
            a[k + 5] += sign * z


@kernel
def accelerations(
    tree: IntArray,
    links: Array,
    q: Array,
    v: Array,
    tau: Array,
    external: Array,
    work: Array,
    forces: Array,
    a: Array,
) -> int:
    """Accelerations under `tau` and the joints' damping.

    Leaves poses, velocities and factors in `work`.
    """
    poses_kernel(tree, links, q, work)
    velocities_kernel(tree, links, v, work)
    return placed_accelerations(tree, links, v, tau, external, work, forces, a)


@kernel
def placed_accelerations(
    tree: IntArray,
    links: Array,
    v: Array,
    tau: Array,
    external: Array,
    work: Array,
    forces: Array,
    a: Array,
) -> int:
    """The same where poses and velocities are in `work`."""
    add_passive_forces(links, v, tau, forces)
    body_inertia_and_bias(links, work)
    return sweep_kernel(tree, links, forces, external, work, a)


@kernel
def rates(tree: IntArray, q: Array, v: Array, out: Array) -> None:
    """Time derivative of q as plain numbers, quaternions included."""
    for k in range(tree.shape[0]):
        frame, i = tree[k, layout.FRAME], tree[k, layout.FIRST_Q]
        if frame < 3:  # TURN, SLIDE, SCREW
            out[i] = v[k]
        elif frame < 5:  # ATTITUDE, POSE
            if frame == layout.POSE:
                rotation = rotation_from_quaternion(q[i + 3], q[i + 4], q[i + 5], q[i + 6])
                out[i], out[i + 1], out[i + 2] = rotate(rotation, (v[k + 3], v[k + 4], v[k + 5]))
                i += 3
            x = 0.5 * v[k]
            y = 0.5 * v[k + 1]
            z = 0.5 * v[k + 2]
            a = q[i]
            b = q[i + 1]
            c = q[i + 2]
            w = q[i + 3]
            out[i] = w * x + b * z - c * y
            out[i + 1] = w * y + c * x - a * z
            out[i + 2] = w * z + a * y - b * x
            out[i + 3] = -a * x - b * y - c * z


@kernel
def runge_kutta(t: Tables, s: float, q_end: Array, v_end: Array) -> None:
    """Classical fourth-order step from the present state, without contacts."""
    nq, nv = t.q.size, t.v.size
    k_q, k_v = t.vectors[at.K_Q, :nq], t.vectors[at.K_V, :nv]
    s_q, s_v = t.vectors[at.S_Q, :nq], t.vectors[at.S_V, :nv]
    copy_into(q_end, t.q)
    copy_into(v_end, t.v)
    copy_into(s_q, t.q)
    copy_into(s_v, t.v)
    for sample in range(4):
        accelerations(
            t.tree, t.links, s_q, s_v, t.tau, t.external, t.spare, t.vectors[at.TAU, :nv], k_v
        )
        if has_loops(t):
            passed = since_start(t, 0.0 if sample == 0 else s if sample == 3 else 0.5 * s)
            constrain(t, t.spare, passed, k_v, t.closure_vectors[at.OTHER_FORCES])
        rates(t.tree, s_q, s_v, k_q)
        weight = s / 6.0 if sample == 0 or sample == 3 else s / 3.0
        ahead = s if sample == 2 else 0.5 * s
        for i in range(nq):
            q_end[i] += weight * k_q[i]
            s_q[i] = t.q[i] + ahead * k_q[i]
        for i in range(nv):
            v_end[i] += weight * k_v[i]
            s_v[i] = t.v[i] + ahead * k_v[i]
    for i in range(nv):
        s_v[i] = 0.0
    integrate_kernel(t.tree, q_end, s_v, 0.0, s_q)  # brings quaternions to unit length
    copy_into(q_end, s_q)


@stage
def smooth_step(t: Tables) -> int:
    """Evaluate the smooth dynamics of a piece.

    Evaluation state Q_E, V_E and velocity change DV without contacts.

    Poses and velocities of the present state must be in `work`; those at Q_E, V_E are left there,
    with factors."""
    nq = t.q.size
    nv = t.v.size
    s = t.monitor[at.PIECE]
    q_e = t.vectors[at.Q_E, :nq]
    v_e = t.vectors[at.V_E, :nv]
    dv = t.vectors[at.DV, :nv]
    q_x, v_x = t.vectors[at.Q_X, :nq], t.vectors[at.V_X, :nv]
    integrate_kernel(t.tree, t.q, t.v, 0.5 * s if t.control[at.SCHEME] == at.MOREAU else 0.0, q_e)
    copy_into(v_e, t.v)
    t.vectors[at.DVC, :nv] = 0.0
    if t.control[at.SCHEME] == at.MOREAU:
        transport(t.tree, t.q, q_e, v_e)
    if t.control[at.SCHEME] == at.MOREAU:
        poses_kernel(t.tree, t.links, q_e, t.work)
        velocities_kernel(t.tree, t.links, v_e, t.work)
    if is_damped(t):
        put_damping(t)
    status = placed_accelerations(
        t.tree, t.damped, v_e, t.tau, t.external, t.work, t.vectors[at.TAU, :nv], dv
    )
    if t.control[at.SCHEME] == at.RK4:
        runge_kutta(t, s, q_x, v_x)
        transport(t.tree, q_x, t.q, v_x)
    if has_loops(t):  # after the stages of RK4, whose contacts act at the present state
        ahead = 0.5 * s if t.control[at.SCHEME] == at.MOREAU else 0.0
        constrain(t, t.work, since_start(t, ahead), dv, t.closure_vectors[at.FORCES])
    if t.control[at.SCHEME] == at.RK4:
        for k in range(nv):
            dv[k] = v_x[k] - v_e[k]
    else:
        add_convection(t.tree, v_e, dv, 1.0)
        for k in range(nv):
            dv[k] *= s
    return status


@stage
def flow_to(t: Tables, x: float) -> None:
    """State Q_X, V_X at the fraction x of the piece, loops closed.

    Clobbers `work` where there are any.
    """
    drift_to(t, x)
    if has_loops(t):
        close_end(t, since_start(t, x * t.monitor[at.PIECE]))


@merged
def drift_to(t: Tables, x: float) -> None:
    """The same as the integrator leaves it, contacts' impulses (DVC) spread over the piece."""
    nq = t.q.size
    nv = t.v.size
    s = t.monitor[at.PIECE]
    q_e = t.vectors[at.Q_E, :nq]
    v_e = t.vectors[at.V_E, :nv]
    q_x = t.vectors[at.Q_X, :nq]
    v_x = t.vectors[at.V_X, :nv]
    dv = t.vectors[at.DV, :nv]
    dvc = t.vectors[at.DVC, :nv]
    move = t.vectors[at.ACC, :nv]
    if t.control[at.SCHEME] == at.RK4:
        s_q = t.vectors[at.K_Q, :nq]
        runge_kutta(t, x * s, q_x, v_x)
        transport(t.tree, q_x, t.q, v_x)
        copy_into(s_q, q_x)
        for k in range(nv):
            v_x[k] += x * dvc[k]
            move[k] = 0.5 * x * x * s * dvc[k]
        integrate_kernel(t.tree, s_q, move, 1.0, q_x)
        transport(t.tree, t.q, q_x, v_x)
        return
    gamma = 0.5 if t.control[at.SCHEME] == at.MOREAU else 0.0
    for k in range(nv):
        total = dv[k] + dvc[k]
        move[k] = s * ((x - gamma) * v_e[k] + (1.0 - gamma) * x * x * total)
        v_x[k] = v_e[k] + x * total
    integrate_kernel(t.tree, q_e, move, 1.0, q_x)
    transport(t.tree, q_e, q_x, v_x)
