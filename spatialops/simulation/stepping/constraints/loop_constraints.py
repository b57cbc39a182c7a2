"""Closures within a step.

Their reaction in the accelerations, and the end of a piece brought back onto them.

Accelerations are corrected where the smooth dynamics are evaluated, so that G a + Gdot v = dU/dt
([J] 31). What the integrator leaves open at the end of a piece is projected out in the metric of M:
positions until the errors are rounding, then velocities onto G v = U.

Redundant rows are told from others at closed configurations only. Between (at a midpoint, say) they
look independent by as much as the loops are open there, and would lock the mechanism; so no more
rows are taken there than were independent where it was closed last.
"""

from __future__ import annotations

import math

from spatialops import _layout as layout
from spatialops._arrays import Array, Mat3, Vec3
from spatialops._compile.jit import inlined, kernel, merged
from spatialops._compile.stage import stage
from spatialops.algebra.vectors import (
    copy_into,
    dot,
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
from spatialops.dynamics.articulated_body import factor_kernel
from spatialops.dynamics.kinematics import poses_kernel, velocities_kernel
from spatialops.dynamics.loops.elimination import TOLERANCE
from spatialops.dynamics.loops.rows import closure_accelerations, closure_velocities
from spatialops.dynamics.loops.terms import closure_errors
from spatialops.dynamics.newton_euler import lifted
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.constraints.closed_mechanisms import (
    agree_with_taken,
    answer,
    factor_loops,
)
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.state import integrate_kernel, transport

_CLOSED = 1e-13  # m or rad: errors of rounding
_ROUNDING = 1e-11  # of the fastest contact: velocities of closures that are none
# Velocities that a reaction gives at most, of those of free accelerations and of those there are.
_OF_FREE, _OF_SPEED = 2.0, 0.2


@merged
def has_loops(t: Tables) -> bool:
    """Whether there are closures at all."""
    return t.loop_ints.shape[0] > 0


@merged
def is_driven(t: Tables) -> bool:
    """Whether a closure has a prescribed rate: its forces do work, also in impacts."""
    driven = False
    for i in range(t.loop_ints.shape[0]):
        driven = driven or t.loop_ints[i, layout.LOOP_DRIVEN] != 0
    return driven


@merged
def since_start(t: Tables, ahead: float) -> float:
    """Time since the start of the step of what is `ahead` of the start of the piece."""
    return t.settings[at.DT] - t.monitor[at.REMAINING] + ahead


@inlined
def turn_by(rotation: Vec3) -> Mat3:
    """Rotation matrix of a rotation vector."""
    angle = math.sqrt(dot(rotation, rotation))
    s = math.sin(0.5 * angle) / angle if angle > 1e-8 else 0.5
    return rotation_from_quaternion(
        s * rotation[0], s * rotation[1], s * rotation[2], math.cos(0.5 * angle)
    )


@kernel
def drive(t: Tables, s: float) -> None:
    """Frames of driven closures `s` after the start of the step.

    U goes linearly from one end of it to the other.
    """
    start, change = t.closure_vectors[at.RATE_START], t.closure_vectors[at.RATE_END]
    share = s / t.settings[at.DT]
    for i in range(t.loop_ints.shape[0]):
        if t.loop_ints[i, layout.LOOP_DRIVEN] == 0:
            continue
        kind = t.loop_ints[i, layout.LOOP_KIND]
        row = t.loop_ints[i, layout.LOOP_ROW]
        rows = t.loop_ints[i, layout.LOOP_TERMS]
        if kind in (layout.CLOSE_COUPLER, layout.CLOSE_DISTANCE):
            mean = start[row] + 0.5 * share * (change[row] - start[row])
            t.loops[i, layout.LOOP_TARGET] = t.loops_start[i, layout.LOOP_TARGET] + s * mean
            continue
        slides = 2 if kind == layout.CLOSE_PRISMATIC else 3
        slide = (0.0, 0.0, 0.0)
        turn = (0.0, 0.0, 0.0)
        spin = (0.0, 0.0, 0.0)
        for j in range(rows):
            step = change[row + j] - start[row + j]
            mean, now = s * (start[row + j] + 0.5 * share * step), start[row + j] + share * step
            k = j if j < slides else j - slides
            unit = (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)
            if j < slides:
                slide = plus_scaled(slide, mean, unit)
            else:
                turn, spin = plus_scaled(turn, mean, unit), plus_scaled(spin, now, unit)
        axes, point = (
            mat3(t.loops_start, i, layout.LOOP_AXES_B),
            vec3(t.loops_start, i, layout.LOOP_POINT_B),
        )
        put3(
            t.loops,
            i,
            layout.LOOP_POINT_B,
            plus(point, rotate(times(axes, turn_by(scaled(0.5, turn))), slide)),
        )
        put_mat3(t.loops, i, layout.LOOP_AXES_B, times(axes, turn_by(turn)))
        put3(t.loops, i, layout.LOOP_SPIN, spin)


@merged
def keep_frames(t: Tables) -> None:
    """The end of a step is the start of the next."""
    for i in range(t.loops.shape[0]):
        copy_into(t.loops_start[i], t.loops[i])


@kernel
def constrain(t: Tables, work: Array, s: float, a: Array, forces: int) -> None:
    """Add the closures' reaction to accelerations `a` of the tree, evaluated in `work` at `s`."""
    place_loops(t, work, s)
    hold_loops(t, work, a, forces)


@kernel
def place_loops(t: Tables, work: Array, s: float) -> None:
    """Rows of the closures where the tree stands in `work`, `s` after the start of the step."""
    drive(t, s)
    factor_loops(t, work, False, TOLERANCE)


@stage
def hold_in_middle(t: Tables, row: int, first: bool) -> None:
    """Add the reaction to the accelerations of the tree in a row of vectors, at the piece's middle.

    The `first` time in a piece the closures are placed there.
    """
    if first:
        place_loops(t, t.work, middle_of_piece(t))
    hold_loops(t, t.work, t.vectors[row, : t.v.size], at.FORCES)


@kernel
def hold_loops(t: Tables, work: Array, a: Array, forces: int) -> None:
    """The reaction by the rows of `place_loops`, with the velocities in `work`.

    Where it leaps there is none: the end of the piece is brought back onto the closures.
    """
    u, dv = t.closure_vectors[at.RATES], t.vectors[at.CLOSE_DV, : a.size]
    closure_accelerations(t.loop_ints, t.loops, t.term_ints, t.terms, lifted(t.links), work, u)
    for i in range(u.size):
        u[i] = (
            t.closure_vectors[at.RATE_END, i] - t.closure_vectors[at.RATE_START, i]
        ) / t.settings[at.DT] - u[i]
    answer(t, work, at.RATES, dv, forces)
    for g in range(t.mechanisms.shape[0]):
        if leaps(t, work, a, g):
            leave_open(t, g, forces)
    for k in range(a.size):
        a[k] += dv[k]


@inlined
def leaps(t: Tables, work: Array, a: Array, g: int) -> bool:
    """Whether the reaction to accelerations `a` moves mechanism g more than what it answers does.

    G a = 0 asks for no more than a, and Gdot v for some h |w| |v|, in the metric of M; measured
    with the articulated inertias of links. At a dead centre rows of G that are all but redundant
    ask for any motion.
    """
    if t.mechanisms[g, at.CLOSED_DRIVEN] != 0:
        return False
    s, column = t.monitor[at.PIECE], t.mechanisms[g, at.CLOSED_COLUMN]
    reaction = free = speed = 0.0
    for k in range(column, column + t.mechanisms[g, at.CLOSED_COLUMNS]):
        d = 1.0 / work[k, layout.D_INVERSE]
        reaction += d * t.vectors[at.CLOSE_DV, k] ** 2
        free += d * a[k] ** 2
        speed += d * t.v[k] ** 2
    return s * math.sqrt(reaction) > _OF_FREE * s * math.sqrt(free) + _OF_SPEED * math.sqrt(speed)


@inlined
def leave_open(t: Tables, g: int, forces: int) -> None:
    """No reaction of mechanism g."""
    row, column = t.mechanisms[g, at.CLOSED_ROW], t.mechanisms[g, at.CLOSED_COLUMN]
    for i in range(row, row + t.mechanisms[g, at.CLOSED_ROWS]):
        t.closure_vectors[forces, i] = 0.0
    for k in range(column, column + t.mechanisms[g, at.CLOSED_COLUMNS]):
        t.vectors[at.CLOSE_DV, k] = 0.0


@stage
def close_end(t: Tables, s: float) -> None:
    """Bring the state Q_X, V_X, `s` after the start of the step, back onto the closures.

    Positions, then velocities.
    """
    nq = t.q.size
    nv = t.v.size
    q_x = t.vectors[at.Q_X, :nq]
    v_x = t.vectors[at.V_X, :nv]
    dv = t.vectors[at.CLOSE_DV, :nv]
    drive(t, s)
    worst = close_positions(t, q_x, v_x)
    count_independent(t)
    velocities_kernel(t.tree, t.links, v_x, t.work)
    put_missing_rates(t, s)
    answer(t, t.work, at.RATES, dv, at.OTHER_FORCES)
    for k in range(nv):
        v_x[k] += dv[k]
    t.monitor[at.OPENING] = max(t.monitor[at.OPENING], worst)


@kernel
def count_independent(t: Tables) -> None:
    """Factors of the tree and of its closures, which are closed, and how many rows count here."""
    factor_kernel(t.tree, t.links, t.work)
    factor_loops(t, t.work, True, TOLERANCE)
    copy_into(t.closure_vectors[at.INDEPENDENT], t.closure_vectors[at.RANKS])


@kernel
def close_positions(t: Tables, q: Array, v: Array) -> float:
    """Newton's method on the errors, each step the least motion in the metric of M.

    Returns the largest error left.

    It ends where errors are rounding, or no longer halve. The poses of `q` are left in `work`.
    """
    dv, ahead = t.vectors[at.CLOSE_DV, : v.size], t.vectors[at.CLOSE_Q, : q.size]
    errors, before = t.closure_vectors[at.ERRORS], 1e300
    while True:
        poses_kernel(t.tree, t.links, q, t.work)
        closure_errors(t.tree, t.loop_ints, t.loops, t.ratios, t.term_ints, q, t.work, errors)
        worst = 0.0
        for i in range(errors.size):
            worst = max(worst, abs(errors[i]))
            errors[i] = -errors[i]
        if worst <= _CLOSED or not worst < 0.5 * before:
            return worst
        before = worst
        factor_kernel(t.tree, t.links, t.work)
        factor_loops(t, t.work, True, max(TOLERANCE, 10.0 * worst))
        answer(t, t.work, at.ERRORS, dv, at.OTHER_FORCES)
        integrate_kernel(t.tree, q, dv, 1.0, ahead)
        transport(t.tree, q, ahead, v)
        copy_into(q, ahead)


@kernel
def put_missing_rates(t: Tables, s: float) -> float:
    """What velocities in `work` lack of the closures', `s` after the start of the step, into RATES.

    The largest of them.
    """
    rates = t.closure_vectors[at.RATES]
    closure_velocities(t.term_ints, t.terms, t.work, rates)
    share = s / t.settings[at.DT]
    largest = 0.0
    for i in range(rates.size):
        start, end = t.closure_vectors[at.RATE_START, i], t.closure_vectors[at.RATE_END, i]
        rates[i] = start + share * (end - start) - rates[i]
        largest = max(largest, abs(rates[i]))
    return largest


@inlined
def middle_of_piece(t: Tables) -> float:
    """Time since the start of the step of the middle of the piece."""
    return since_start(t, 0.5 * t.monitor[at.PIECE])


@stage
def opens_in_middle(t: Tables) -> bool:
    """Whether closures open as contacts' problem is stated, by more than rounding of its speeds."""
    fastest = 0.0
    for i in range(3 * t.control[at.ACTING]):
        fastest = max(fastest, abs(t.u[i]))
    return put_missing_rates(t, middle_of_piece(t)) > _ROUNDING * fastest


@stage
def close_middle(t: Tables) -> None:
    """Make DV, with V_E in `work` after it, such that closures hold in the middle of the piece.

    They open there by half of what motion alone does to them, which contacts may not allow.
    """
    dv, forces = t.vectors[at.CLOSE_DV, : t.v.size], t.closure_vectors[at.OTHER_FORCES]
    put_missing_rates(t, middle_of_piece(t))
    agree_with_taken(t, at.RATES)
    answer(t, t.work, at.RATES, dv, at.OTHER_FORCES)
    for k in range(dv.size):
        t.vectors[at.DV, k] += dv[k]
    for i in range(forces.size):
        t.closure_vectors[at.FORCES, i] += forces[i] / t.monitor[at.PIECE]
