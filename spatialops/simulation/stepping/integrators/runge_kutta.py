"""The classical fourth-order rule on (q, v), with four evaluations a step.

Contacts act at the present state, whose accelerations are the first stage; their impulses enter
positions with half a step. The end of the whole piece is kept: only where an impact is sought
within it are the later stages evaluated anew.
"""

from __future__ import annotations

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import kernel, merged
from spatialops._compile.stage import stage
from spatialops.algebra.vectors import copy_into, rotate, rotation_from_quaternion
from spatialops.dynamics.kinematics import poses_kernel
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.constraints.loop_constraints import (
    constrain,
    has_loops,
    place_loops,
    since_start,
)
from spatialops.simulation.stepping.integrators.accelerations import (
    accelerations,
    placed_accelerations,
)
from spatialops.simulation.stepping.integrators.joint_forces import (
    drive,
    external_of,
    is_wrenched,
    put_wrenches,
)
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.state import integrate_kernel, transport


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
    """Step of length s from the present state, without contacts; the first stage is in `K_V1`."""
    nq, nv = t.q.size, t.v.size
    k_q, k_v = t.vectors[at.K_Q, :nq], t.vectors[at.K_V, :nv]
    s_q, s_v = t.vectors[at.S_Q, :nq], t.vectors[at.S_V, :nv]
    copy_into(q_end, t.q)
    copy_into(v_end, t.v)
    copy_into(s_q, t.q)
    copy_into(s_v, t.v)
    copy_into(k_v, t.vectors[at.K_V1, :nv])
    for sample in range(4):
        if sample > 0:
            drive(t, s_q, s_v)
            place_wrenches(t, s_q)
            driven, forces = t.vectors[at.DRIVEN, :nv], t.vectors[at.TAU, :nv]
            external = external_of(t)
            accelerations(t.tree, t.links, s_q, s_v, driven, external, t.spare, forces, k_v)
        if has_loops(t) and sample > 0:
            passed = since_start(t, s if sample == 3 else 0.5 * s)
            constrain(t, t.spare, passed, k_v, at.OTHER_FORCES)
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


@merged
def place_wrenches(t: Tables, q: Array) -> None:
    """Wrenches on bodies at another state, where there are any."""
    if is_wrenched(t):
        poses_kernel(t.tree, t.links, q, t.spare)
        put_wrenches(t, t.spare)


@stage
def runge_kutta_step(t: Tables) -> int:
    """Velocity change over a piece, V_E at its start, and where it ends without contacts.

    Poses and velocities of the present state must be in `work`, and are left there with factors:
    its closures are placed last, since contacts act there.
    """
    nq, nv = t.q.size, t.v.size
    q_end, v_end = t.vectors[at.Q_END, :nq], t.vectors[at.V_END, :nv]
    first, dv = t.vectors[at.K_V1, :nv], t.vectors[at.DV, :nv]
    forces = t.vectors[at.TAU, :nv]
    drive(t, t.q, t.v)
    put_wrenches(t, t.work)
    driven, external = t.vectors[at.DRIVEN, :nv], external_of(t)
    status = placed_accelerations(t.tree, t.links, t.v, driven, external, t.work, forces, first)
    if has_loops(t):
        constrain(t, t.work, since_start(t, 0.0), first, at.FORCES)
    runge_kutta(t, t.monitor[at.PIECE], q_end, v_end)
    if has_loops(t):
        place_loops(t, t.work, since_start(t, 0.0))
    copy_into(dv, v_end)
    transport(t.tree, q_end, t.q, dv)
    for k in range(nv):
        dv[k] -= t.v[k]
    return status


@stage
def drift_runge_kutta(t: Tables, x: float) -> None:
    """State Q_X, V_X at the fraction x of the piece."""
    nq, nv = t.q.size, t.v.size
    s = t.monitor[at.PIECE]
    q_x, v_x = t.vectors[at.Q_X, :nq], t.vectors[at.V_X, :nv]
    s_q, move = t.vectors[at.K_Q, :nq], t.vectors[at.ACC, :nv]
    if x == 1.0:
        copy_into(q_x, t.vectors[at.Q_END, :nq])
        copy_into(v_x, t.vectors[at.V_END, :nv])
    else:
        runge_kutta(t, x * s, q_x, v_x)
    transport(t.tree, q_x, t.q, v_x)
    copy_into(s_q, q_x)
    for k in range(nv):
        dvc = t.vectors[at.DVC, k]
        v_x[k] += x * dvc
        move[k] = 0.5 * x * x * s * dvc
    integrate_kernel(t.tree, s_q, move, 1.0, q_x)
    transport(t.tree, t.q, q_x, v_x)
