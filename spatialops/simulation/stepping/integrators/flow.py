"""The smooth part of a step by the integrator that was chosen.

Semi-implicit Euler evaluates the dynamics at q, then q moves with the new velocity: order 1,
symplectic without Coriolis forces, impulses count in full. `midpoint` and `runge_kutta` are in
files of their own.
"""

from __future__ import annotations

from spatialops._compile.jit import merged
from spatialops._compile.stage import stage
from spatialops.algebra.vectors import copy_into
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.constraints.loop_constraints import (
    close_end,
    constrain,
    has_loops,
    since_start,
)
from spatialops.simulation.stepping.integrators.accelerations import (
    add_convection,
    placed_accelerations,
)
from spatialops.simulation.stepping.integrators.joint_forces import (
    external_of,
    put_joint_forces,
    put_wrenches,
)
from spatialops.simulation.stepping.integrators.midpoint import (
    drift_midpoint,
    fastest_spin,
    midpoint,
)
from spatialops.simulation.stepping.integrators.runge_kutta import (
    drift_runge_kutta,
    runge_kutta_step,
)
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.state import integrate_kernel, transport


@stage
def smooth_step(t: Tables) -> int:
    """Evaluate the smooth dynamics of a piece.

    Evaluation state Q_E, V_E and velocity change DV without contacts.

    Poses and velocities of the present state must be in `work`; those at Q_E, V_E are left there,
    with factors."""
    begin_smooth(t)
    if t.control[at.SCHEME] == at.MOREAU:
        return midpoint(t)
    copy_into(t.vectors[at.Q_E, : t.q.size], t.q)
    copy_into(t.vectors[at.V_E, : t.v.size], t.v)
    fastest_spin(t)
    return runge_kutta_step(t) if t.control[at.SCHEME] == at.RK4 else euler_step(t)


@merged
def begin_smooth(t: Tables) -> None:
    """Contacts have done nothing yet."""
    t.vectors[at.DVC, : t.v.size] = 0.0
    t.control[at.REPEATS] = 0


@stage
def euler_step(t: Tables) -> int:
    """Velocity change of semi-implicit Euler at the present state."""
    nv = t.v.size
    s = t.monitor[at.PIECE]
    dv, forces = t.vectors[at.DV, :nv], t.vectors[at.TAU, :nv]
    put_joint_forces(t)
    put_wrenches(t, t.work)
    driven, external = t.vectors[at.DRIVEN, :nv], external_of(t)
    status = placed_accelerations(t.tree, t.damped, t.v, driven, external, t.work, forces, dv)
    if has_loops(t):
        constrain(t, t.work, since_start(t, 0.0), dv, at.FORCES)
    add_convection(t.tree, t.v, dv, 1.0)
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
    if t.control[at.SCHEME] == at.MOREAU:
        drift_midpoint(t, x)
    elif t.control[at.SCHEME] == at.RK4:
        drift_runge_kutta(t, x)
    else:
        drift_euler(t, x)


@stage
def drift_euler(t: Tables, x: float) -> None:
    """Positions go with the velocity at the end: x (v + x dv)."""
    nq, nv = t.q.size, t.v.size
    s = t.monitor[at.PIECE]
    q_x, v_x = t.vectors[at.Q_X, :nq], t.vectors[at.V_X, :nv]
    for k in range(nv):
        v_x[k] = t.v[k] + x * (t.vectors[at.DV, k] + t.vectors[at.DVC, k])
    integrate_kernel(t.tree, t.q, v_x, x * s, q_x)
    transport(t.tree, t.q, q_x, v_x)
