"""Whether the forces of the step before still hold, seen without a single row of L.

At rest they do, and all that a step asks of its contacts is that: the impulses act on the links as
wrenches, one sweep in and one out give M^-1 G^T p ([J] 62-64), and the contacts' velocities after
it are compared with the law. O(N + m) in place of rows, products and factors.
"""

from __future__ import annotations

from spatialops import _layout as layout
from spatialops._arrays import Array, Vec3
from spatialops._compile.jit import inlined, kernel, merged
from spatialops._compile.stage import stage
from spatialops.algebra.vectors import ZERO3, add3, cross, dot, minus, plus, put3, scaled, vec3
from spatialops.collision import _layout as col
from spatialops.collision.pair_runs import count_pairs
from spatialops.contact.newton.residual import FOUND, HELD, residual_of, rounding, speed_scale
from spatialops.dynamics.response import answer_wrenches
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.constraints.joint_limits_and_friction import (
    along_joint,
    joint_rates,
    of_joint,
)
from spatialops.simulation.stepping.constraints.loop_constraints import has_loops
from spatialops.simulation.stepping.constraints.torsional_rolling import relative_spin, spin_unit
from spatialops.simulation.stepping.tables import Tables, rows_of
from spatialops.simulation.stepping.warm.impulse_memory import load_impulses

_AS_LEFT = 1.5  # times what no impulses make less, as of this sweep's roundings and of rows'


@merged
def may_hold(t: Tables) -> bool:
    """Whether it is worth looking: the last problem was solved by the forces before it."""
    if t.control[at.EXTERNAL] == 1 or t.control[at.QUIET] == 0 or has_loops(t):
        return False
    return t.monitor[at.MOST_COMPLIANT] > 0.0  # else nothing to measure impulses by


@stage
def still_holds(t: Tables) -> bool:
    """Impulses of the forces of the step before, and DVC that they make, where these are right.

    All contacts must have some. (One that was left out because nothing can move it has none.)
    """
    m, nv = t.control[at.ACTING], t.v.size
    if not may_hold(t) or load_impulses(t) < m:
        return False
    p, v = t.impulses[: 3 * m], t.newton_floats[: 3 * m]
    dv = t.vectors[at.DVC, :nv]
    push_links(t, t.work, t.vectors[at.NEXT, :nv])
    answer_wrenches(t.tree, t.links, t.vectors[at.NEXT, :nv], t.work, dv)
    for i in range(m):
        put_speeds_after(t, i, dv, v)
    rows, s = rows_of(t, m), t.monitor[at.MOST_COMPLIANT]
    scale = speed_scale(rows, s)
    residual = residual_of(rows, s, scale, p, v)
    multiple = HELD if t.control[at.QUIET] == 2 else FOUND
    limit = max(multiple * rounding(3 * m, nv), _AS_LEFT * t.monitor[at.KEPT_RESIDUAL])
    if not residual <= min(t.settings[at.TOLERANCE], limit):
        return False
    t.control[at.QUIET] = 2
    t.monitor[at.HELD_RESIDUAL] = residual
    t.monitor[at.RESIDUAL] = max(t.monitor[at.RESIDUAL], residual)
    return True


@kernel
def push_links(t: Tables, work: Array, tau: Array) -> None:
    """Impulses of the acting contacts as wrenches on links, and along joints, with their signs.

    What a link resists is taken from it: MOMENT and FORCE are minus what contacts do.
    """
    for k in range(tau.size):
        tau[k] = 0.0
        put3(work, k, layout.MOMENT, ZERO3)
        put3(work, k, layout.FORCE, ZERO3)
    for i in range(t.control[at.ACTING]):
        if of_joint(t, t.ints[i, col.CONTACT_PAIR]):
            j = t.ints[i, col.CONTACT_PAIR] - count_pairs(t.pair_runs)
            p = along_joint(t, j, t.impulses[3 * i], t.impulses[3 * i + 1])
            tau[t.ints[i, col.CONTACT_A]] += p
            continue
        force = scaled(t.impulses[3 * i], vec3(t.floats, i, col.NORMAL))
        force = plus(force, scaled(t.impulses[3 * i + 1], vec3(t.floats, i, col.TANGENT)))
        force = plus(force, scaled(t.impulses[3 * i + 2], vec3(t.floats, i, col.SECOND)))
        if t.ints[i, col.CONTACT_PAIR] < 0:
            turn(work, t.ints[i, col.CONTACT_A], scaled(-spin_unit(t), force))
            turn(work, t.ints[i, col.CONTACT_B], scaled(spin_unit(t), force))
            continue
        point = vec3(t.floats, i, col.POINT)
        push(work, t.ints[i, col.CONTACT_A], point, scaled(-1.0, force))
        push(work, t.ints[i, col.CONTACT_B], point, force)


@inlined
def push(work: Array, k: int, point: Vec3, force: Vec3) -> None:
    """Add a force at a point to what acts on a link."""
    if k >= 0:
        arm = minus(point, vec3(work, k, layout.ORIGIN))
        add3(work, k, layout.MOMENT, cross(arm, force))
        add3(work, k, layout.FORCE, force)


@inlined
def turn(work: Array, k: int, moment: Vec3) -> None:
    """Add a moment to what acts on a link."""
    if k >= 0:
        add3(work, k, layout.MOMENT, moment)


@inlined
def put_speeds_after(t: Tables, i: int, dv: Array, v: Array) -> None:
    """Velocities of acting contact i after the impulses, along its frame."""
    if of_joint(t, t.ints[i, col.CONTACT_PAIR]):
        rates = joint_rates(t, t.ints[i, col.CONTACT_PAIR] - count_pairs(t.pair_runs), dv)
        v[3 * i], v[3 * i + 1] = t.u[3 * i] + rates[0], t.u[3 * i + 1] + rates[1]
        v[3 * i + 2] = t.u[3 * i + 2]
        return
    a, b = t.ints[i, col.CONTACT_A], t.ints[i, col.CONTACT_B]
    if t.ints[i, col.CONTACT_PAIR] < 0:
        change = scaled(spin_unit(t), relative_spin(t.work, a, b, layout.ALPHA))
    else:
        point = vec3(t.floats, i, col.POINT)
        change = minus(change_at(t.work, a, point), change_at(t.work, b, point))
    for j in range(3):
        v[3 * i + j] = t.u[3 * i + j] + dot(change, vec3(t.floats, i, col.NORMAL + 3 * j))


@inlined
def change_at(work: Array, k: int, point: Vec3) -> Vec3:
    """How `answer_wrenches` changes the velocity of a link's point."""
    if k < 0:
        return ZERO3
    arm = minus(point, vec3(work, k, layout.ORIGIN))
    return plus(vec3(work, k, layout.ACCEL), cross(vec3(work, k, layout.ALPHA), arm))
