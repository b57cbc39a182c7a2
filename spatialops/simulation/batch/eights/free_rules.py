"""The integrators' rules for eight environments that meet nothing."""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.lane_arrays import LaneArray, lanes_of
from spatialops.algebra.lane_logic import less, where
from spatialops.algebra.simd import Lanes
from spatialops.collision.pair_runs import count_pairs
from spatialops.dynamics.kinematics import poses_kernel, velocities_kernel
from spatialops.dynamics.response import accelerations_again
from spatialops.simulation import _layout as at
from spatialops.simulation.batch.eights import eight as of
from spatialops.simulation.batch.eights.clearance import keep_clear, keep_slow
from spatialops.simulation.batch.eights.eight import Eight
from spatialops.simulation.batch.eights.floating import (
    expect_momenta_eight,
    put_right_eight,
    take_momenta_eight,
)
from spatialops.simulation.batch.eights.free_step import (
    begin_free_step,
    end_free_step,
    keep_finite,
    keep_near,
    keep_off_stops,
    note_spin,
    resist_eight,
)
from spatialops.simulation.batch.eights.joints import advance_joints
from spatialops.simulation.stepping.integrators.accelerations import (
    add_convection,
    placed_accelerations,
)
from spatialops.simulation.stepping.integrators.midpoint import (
    LOOSEST,
    LOOSEST_IN_CONTACT,
    MOST_CORRECTIONS,
    SHARE,
    SHARE_IN_CONTACT,
    SHARE_OF_SQUARE,
    TELLING,
    moved_by_round,
)
from spatialops.simulation.stepping.integrators.past import renew_differences, turn_linear
from spatialops.tree.state import transport


@kernel
def try_free_step(e: Eight, fastest: float) -> None:
    """One step of those inside, to Q_X and V_X; FREE says whose it is.

    The others have not moved, and must leave. `fastest` is the spin that is allowed.
    """
    dt = e.settings[at.DT]
    begin_free_step(e)
    if e.control[at.SCHEME] == at.MOREAU:
        midpoint_eight(e, dt)
    else:
        euler_eight(e, dt)
    keep_finite(e, fastest)
    keep_off_stops(e, e.vectors[of.Q_X], e.vectors[of.V_X], 0.0)
    if count_pairs(e.pair_runs) > 0 or has_momenta(e):
        work = lanes_of(e.work)
        poses_kernel(e.tree, e.links, coordinates(e, of.Q_X), work)
        velocities_kernel(e.tree, e.links, row(e, of.V_X), work)
    if count_pairs(e.pair_runs) > 0:
        keep_clear(e, 0.0)
        keep_slow(e)


@kernel
def take_free_step(e: Eight) -> None:
    """Make it the state of those that are free, and their past."""
    dt = e.settings[at.DT]
    if e.control[at.SCHEME] == at.MOREAU:
        remember_eight(e, dt)
    if has_momenta(e):
        put_right_eight(e, row(e, of.V_X))
    end_free_step(e, dt)


@inlined
def has_momenta(e: Eight) -> bool:
    """Whether trees float whose momentum is kept."""
    return e.roots.size > 0 and e.control[at.SCHEME] == at.MOREAU


@kernel
def euler_eight(e: Eight, s: float) -> None:
    """As `flow.euler_step` and `drift_euler`."""
    q_e = coordinates(e, of.Q_E)
    q_x = coordinates(e, of.Q_X)
    v_x = row(e, of.V_X)
    q = lanes_of(e.q)
    v = lanes_of(e.v)
    work = lanes_of(e.work)
    dv = row(e, of.DV)
    for i in range(e.q.shape[0]):
        q_e[i] = q[i]
    keep_near(e, of.Q_E)
    keep_off_stops(e, e.vectors[of.Q_E], e.v, s)
    poses_kernel(e.tree, e.links, q_e, work)
    velocities_kernel(e.tree, e.links, v, work)
    note_spin(e, lanes_of(e.monitor)[of.FREE])
    if count_pairs(e.pair_runs) > 0:
        keep_clear(e, s)
    if e.control[at.DAMPED] != 0:
        resist_eight(e, s)
    damped = lanes_of(e.damped)
    tau, forces = lanes_of(e.tau), row(e, of.FORCES)
    placed_accelerations(e.tree, damped, v, tau, e.external, work, forces, dv)
    add_convection(e.tree, v, dv, 1.0)
    for k in range(e.v.shape[0]):
        dv[k] *= s
        v_x[k] = v[k] + dv[k]
    advance_joints(e, q, v_x, s, q_x)
    transport(e.tree, q, q_x, v_x)


@kernel
def midpoint_eight(e: Eight, s: float) -> None:
    """As `midpoint.midpoint` and `drift_midpoint`."""
    q_e = coordinates(e, of.Q_E)
    q_x = coordinates(e, of.Q_X)
    v_x = row(e, of.V_X)
    q = lanes_of(e.q)
    v = lanes_of(e.v)
    v_e, dv = row(e, of.V_E), row(e, of.DV)
    move = row(e, of.ACC)
    if has_momenta(e):
        take_momenta_eight(e)
    for k in range(e.v.shape[0]):
        move[k] = 0.5 * s * v[k]
    advance_joints(e, q, move, 1.0, q_e)
    for k in range(e.v.shape[0]):
        v_e[k] = v[k]
    transport(e.tree, q, q_e, v_e)
    keep_near(e, of.Q_E)
    keep_off_stops(e, e.q, e.v, 0.0)
    keep_off_stops(e, e.vectors[of.Q_E], e.v, 0.5 * s)
    foresee_eight(e, s)
    poses_kernel(e.tree, e.links, q_e, lanes_of(e.work))
    if e.control[at.DAMPED] != 0:
        resist_eight(e, s)
    settle_eight(e, s)
    if has_momenta(e):
        expect_momenta_eight(e, s)
    if count_pairs(e.pair_runs) > 0:
        velocities_kernel(e.tree, e.links, v_e, lanes_of(e.work))
        keep_clear(e, 0.5 * s)
    early, half = s * 0.5, 0.5 * s
    for k in range(e.v.shape[0]):
        v_x[k] = v_e[k] + dv[k]
        move[k] = early * v_e[k]
    for k in range(e.v.shape[0]):
        move[k] += half * dv[k]
    advance_joints(e, q_e, move, 1.0, q_x)
    transport(e.tree, q_e, q_x, v_x)


@kernel
def foresee_eight(e: Eight, s: float) -> None:
    """As `past.foresee`, for pasts of steps of one length or of none."""
    order = lanes_of(e.monitor)[of.SMOOTH_ORDER]
    past = lanes_of(e.past)
    dv = row(e, of.DV)
    for k in range(e.v.shape[0]):
        dv[k] = 0.0
    for j in range(at.REMEMBERED):
        if order < j + 0.5:
            break
        counts = less(float(j), order)
        for k in range(e.v.shape[0]):
            dv[k] = where(counts, dv[k] + past[j, k], dv[k])
    for k in range(e.v.shape[0]):
        dv[k] = s * dv[k]
    turn_linear(e.tree, coordinates(e, of.Q_E), dv, False)


@kernel
def settle_eight(e: Eight, s: float) -> None:
    """As `midpoint.settle`; not free is what does not come to rest."""
    monitor = lanes_of(e.monitor)
    v = row(e, of.V_E)
    dv = row(e, of.DV)
    v_m, new = row(e, of.V_M), row(e, of.NEXT)
    guess = row(e, of.GUESS)
    moves = monitor[of.FREE]
    for rounds in range(MOST_CORRECTIONS + 1):
        for k in range(e.v.shape[0]):
            v_m[k] = v[k] + 0.5 * (dv[k] + guess[k])
        monitor[of.ROUNDS] = where(moves, float(rounds), monitor[of.ROUNDS])
        evaluate_eight(e, s, rounds == 0)
        for k in range(e.v.shape[0]):
            v_m[k] = dv[k]
            dv[k] = where(moves, new[k], dv[k])
        moves = where(strays_eight(e, s, moves), moves, 0.0)
        if moves == 0.0:
            return
    monitor[of.FREE] = where(moves, 0.0, monitor[of.FREE])


@kernel
def evaluate_eight(e: Eight, s: float, first: bool) -> None:
    """As `midpoint.evaluate`, into NEXT."""
    v_m = row(e, of.V_M)
    new = row(e, of.NEXT)
    work = lanes_of(e.work)
    forces = row(e, of.FORCES)
    damped = lanes_of(e.damped)
    velocities_kernel(e.tree, e.links, v_m, work)
    if first:
        v, tau = row(e, of.V_E), lanes_of(e.tau)
        placed_accelerations(e.tree, damped, v, tau, e.external, work, forces, new)
    else:
        accelerations_again(e.tree, damped, forces, e.external, work, new)
    add_convection(e.tree, v_m, new, 1.0)
    for k in range(e.v.shape[0]):
        new[k] *= s


@inlined
def strays_eight(e: Eight, s: float, moves: Lanes) -> Lanes:
    """As `midpoint.strays`, of each lane."""
    v = row(e, of.V_E)
    dv = row(e, of.DV)
    new = row(e, of.NEXT)
    old = row(e, of.V_M)
    moved, size, turned = moved_by_round(e.tree, lanes_of(e.work), v, dv, new, old)
    gain = s * (note_spin(e, moves) + turned)
    return less(allowed_eight(e, s, size, gain), gain * gain * moved)


@inlined
def allowed_eight(e: Eight, s: float, size: Lanes, gain: Lanes) -> Lanes:
    """As `midpoint.allowed`."""
    monitor = lanes_of(e.monitor)
    pushed = monitor[of.PUSHED]
    share = s * where(pushed, SHARE_IN_CONTACT, SHARE)
    error = share * share * monitor[of.CURVATURE]
    least = e.settings[at.SETTLED] * e.settings[at.SETTLED] * size
    most = LOOSEST * LOOSEST * least
    most = where(pushed, LOOSEST_IN_CONTACT * LOOSEST_IN_CONTACT * least, most)
    square = SHARE_OF_SQUARE * gain * gain
    young = where(pushed, less(monitor[of.PAST], float(TELLING)), 0.0)
    error = where(young, square * square * size, error)
    within = where(less(most, error), most, error)
    within = where(less(within, least), least, within)
    return where(monitor[of.COMMANDED], least, within)


@kernel
def remember_eight(e: Eight, s: float) -> None:
    """As `past.remember`.

    All differences are renewed, also those that are not known yet: nothing follows from them.
    """
    monitor, dv = lanes_of(e.monitor), row(e, of.DV)
    fresh = row(e, of.ACC)
    rate = 1.0 / s
    for k in range(e.v.shape[0]):
        fresh[k] = rate * dv[k]
    turn_linear(e.tree, coordinates(e, of.Q_E), fresh, True)
    squares = lanes_of(e.squares)
    renew_differences(lanes_of(e.past), fresh, lanes_of(e.work), squares)
    known = monitor[of.PAST] + 1.0
    known = where(less(float(at.REMEMBERED), known), float(at.REMEMBERED), known)
    order = 1.0
    best = squares[1]
    for j in range(2, at.REMEMBERED):
        better = where(less(float(j), known), less(squares[j], best), 0.0)
        order = where(better, float(j), order)
        best = where(better, squares[j], best)
    monitor[of.SMOOTH_ORDER] = where(less(2.0, known), order, known)
    monitor[of.CURVATURE] = where(less(2.0, known), squares[2], 0.0)
    monitor[of.PAST] = known
    monitor[of.LENGTHS_BEFORE + 1] = monitor[of.LENGTHS_BEFORE]
    monitor[of.LENGTHS_BEFORE] = s


@inlined
def row(e: Eight, i: int) -> LaneArray:
    """A vector of each environment, of velocities."""
    vectors: Array = e.vectors[i]
    return lanes_of(vectors[: e.v.shape[0]])


@inlined
def coordinates(e: Eight, i: int) -> LaneArray:
    """The same of coordinates."""
    vectors: Array = e.vectors[i]
    return lanes_of(vectors[: e.q.shape[0]])
