"""The default: Moreau's midpoint rule with Coriolis forces at the mean velocity.

    q_m = q + h/2 v,    M(q_m) dv = h [tau - b(q_m, v + (dv + dv_c) / 2)],
    v+ = v + dv + dv_c,    q+ = q_m + h/2 v+

with v transported to q_m and dv_c what contacts do. The rule is its own inverse in time, of second
order, and its energy stays bounded; without Coriolis forces it is Moreau's, exact for constant
acceleration, so that a bouncing ball keeps its height at any h. Poses and factors are those of
q_m, once. dv follows by a fixed point, which begins where the last steps lead to and
gains a factor of the order of h |w| a round: a step in which this is small needs no second round,
and a second one has the factors of the first.
Closures hold in every round. Damping has the old velocity: the armature fitted to it has the rest
(`joint_forces`).

dv_c is foreseen too. Where the contact problem answers otherwise by what would matter, smooth part
and problem are stated once more (`again`). Impulses of what arrives together are no forces that go
on, and nothing is foreseen beside them (`sudden_changes`).
"""

from __future__ import annotations

import math

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel, merged
from spatialops._compile.stage import stage
from spatialops._layout import OK
from spatialops.algebra.vectors import copy_into, dot, vec3
from spatialops.collision.pair_runs import count_pairs
from spatialops.dynamics.kinematics import poses_kernel, velocities_kernel
from spatialops.dynamics.response import accelerations_again
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.constraints.arrivals import arrive_together
from spatialops.simulation.stepping.constraints.loop_constraints import (
    has_loops,
    hold_in_middle,
)
from spatialops.simulation.stepping.integrators.accelerations import (
    add_convection,
    placed_accelerations,
)
from spatialops.simulation.stepping.integrators.floating_trees import (
    expect_momenta,
    has_floating,
    take_momenta,
)
from spatialops.simulation.stepping.integrators.joint_forces import (
    external_of,
    put_joint_forces,
    put_wrenches,
)
from spatialops.simulation.stepping.integrators.lone_bodies import (
    aim_lone,
    carry,
    place_lone,
    put_lone,
    turn_lone,
)
from spatialops.simulation.stepping.integrators.past import foresee
from spatialops.simulation.stepping.integrators.sudden_changes import sudden_turns, way_share
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.state import integrate_kernel

# What dv may be off, of the velocities in the metric of the links' articulated inertias: a share of
# what the rule itself is off, within bounds.
SHARE = 0.01  # of h |a1 - 2 a2 + a3|, of which the rule's error is a 24th: order 2 stays
# It is SETTLED where that is less, and where joint forces act: controllers count on the step. Where
# it is more, at most
LOOSEST = 10.0  # times SETTLED: energy shall have no trend in long runs either
# Where contacts push, what is foreseen of them is off by more than motion is, and takes a problem
# each time that it is stated once more: it may be off by as much as the rule is. Energy has losses
# there, and no trend to be seen; and impacts and what begins to slide or stick within a step leave
# a hundred times as much. Limp robots are no nearer to steps of a 64th with a quarter of these.
SHARE_IN_CONTACT = 0.04
LOOSEST_IN_CONTACT = 1e4
SHARE_OF_SQUARE = 1.0  # of (h |w|)^2, where nothing tells the rule's error yet: order 2, too
MOST_CORRECTIONS = 8  # enough up to h |w| of 0.3; above, a shorter piece costs less
_MOST_REPEATS = 4
TELLING = 3  # pieces whose accelerations tell the rule's error
_EASY = 3  # corrections after which the next piece may be longer again
_SHORTEST = 1.0 / 64.0  # of the step
_UNSETTLED = -1


@merged
def evaluate(t: Tables, v_m: Array, first: bool, row: int) -> int:
    """Velocity change of the smooth part at q_m with the middle velocity v_m, into that row.

    The `first` one of a piece makes factors and places closures, whose rows stay.
    """
    nv = t.v.size
    s = t.monitor[at.PIECE]
    v_e, out = t.vectors[at.V_E, :nv], t.vectors[row, :nv]
    forces, driven = t.vectors[at.TAU, :nv], t.vectors[at.DRIVEN, :nv]
    external = external_of(t)
    velocities_kernel(t.tree, t.links, v_m, t.work)
    if first or has_loops(t):
        status = placed_accelerations(t.tree, t.damped, v_e, driven, external, t.work, forces, out)
    else:
        status = accelerations_again(t.tree, t.damped, forces, external, t.work, out)
    if has_loops(t):
        hold_in_middle(t, row, first)
    add_convection(t.tree, v_m, out, 1.0)
    for k in range(nv):
        out[k] *= s
    put_lone(t, t.vectors[at.SPUN, :nv], out)
    return status


@kernel
def fastest_spin(t: Tables) -> float:
    """How fast the fastest link turns with the velocities in `work`; it is remembered."""
    most, link = -1.0, 0
    for k in range(t.v.size):
        omega = vec3(t.work, k, layout.OMEGA)
        square = dot(omega, omega)
        if square > most:
            most, link = square, k
    spin = math.sqrt(max(most, 0.0))
    t.monitor[at.SPIN] = spin
    if spin > t.monitor[at.FASTEST]:
        t.monitor[at.FASTEST], t.control[at.SPINNING] = spin, link
    return spin


@kernel
def strays(t: Tables, new: Array, old: Array) -> bool:
    """Whether a round that took `old` for `new` leaves dv off by more than is allowed.

    The next round would move it by some 2 h |w| / 2 of their difference. Both are measured with
    the articulated inertias D of the links; in w counts how far the round itself has moved it.
    """
    nv = t.v.size
    v_e, dv = t.vectors[at.V_E, :nv], t.vectors[at.DV, :nv]
    moved, size, turned = moved_by_round(t.tree, t.work, v_e, dv, new, old)
    t.monitor[at.MOVED] = moved
    gain = t.monitor[at.PIECE] * (fastest_spin(t) + turned)
    return gain * gain * moved > allowed(t, size, gain)


@inlined
def moved_by_round(
    tree: IntArray, work: Array, v_e: Array, dv: Array, new: Array, old: Array
) -> tuple[float, float, float]:
    """Squares of how far a round has moved dv, and of the velocities, and what it adds to |w|."""
    moved = 0.0
    size = 0.0
    turned = 0.0
    for k in range(v_e.size):
        d = 1.0 / work[k, layout.D_INVERSE]
        change = new[k] - old[k]
        end = v_e[k] + dv[k]
        moved += d * change * change
        size += d * (v_e[k] * v_e[k] + end * end)
        if tree[k, layout.MOTION] != layout.LINEAR:
            turned += abs(change)
    return moved, size, turned


@merged
def allowed(t: Tables, size: float, gain: float) -> float:
    """Square of what dv may be off, beside `size`, that of the velocities.

    A round makes what is off `gain` times as large.
    """
    least = t.settings[at.SETTLED] * t.settings[at.SETTLED] * size
    pushed = t.control[at.PUSHES] > 0 or t.control[at.ACTING] > 0
    if is_commanded(t, pushed):
        return least
    share = (SHARE_IN_CONTACT if pushed else SHARE) * t.monitor[at.PIECE]
    error = share * share * t.monitor[at.CURVATURE]
    most = LOOSEST * LOOSEST * least
    if pushed:
        most = LOOSEST_IN_CONTACT * LOOSEST_IN_CONTACT * least
        if t.control[at.PAST] < TELLING:
            square = SHARE_OF_SQUARE * gain * gain
            error = square * square * size
    return max(min(error, most), least)


@merged
def is_commanded(t: Tables, pushed: bool) -> bool:
    """Whether joint forces act that a controller may count on.

    Where contacts push, those that are held since the step before have been counted on then.
    """
    for k in range(t.v.size):
        expected = t.vectors[at.TAU_BEFORE, k] if pushed else 0.0
        if t.tau[k] != expected:
            return True
    return False


@merged
def settle(t: Tables, first: bool) -> int:
    """Dv by the fixed point from what stands in it; _UNSETTLED where it does not come to rest.

    The `first` time in a piece makes factors, which serve the others.
    """
    nv = t.v.size
    v_e, v_m = t.vectors[at.V_E, :nv], t.vectors[at.V_M, :nv]
    dv, new = t.vectors[at.DV, :nv], t.vectors[at.NEXT, :nv]
    guess = t.vectors[at.DVC_GUESS, :nv]
    if t.control[at.AIMED]:
        for k in range(nv):
            v_m[k] = v_e[k] + 0.5 * t.vectors[at.AIM, k]
        return evaluate(t, v_m, first, at.DV)
    for rounds in range(MOST_CORRECTIONS + 1):
        for k in range(nv):
            v_m[k] = v_e[k] + way_share(t, k) * (dv[k] + guess[k])
        t.control[at.ROUNDS] = rounds
        status = evaluate(t, v_m, first and rounds == 0, at.NEXT)
        if status != OK:
            return status
        for k in range(nv):
            v_m[k], dv[k] = dv[k], new[k]
        if not strays(t, new, v_m):
            return OK
    return _UNSETTLED


@merged
def place_middle(t: Tables) -> bool:
    """Links at q_m, v there, and what the past foresees; whether lone bodies could be turned."""
    found = aim_middle(t)
    poses_kernel(t.tree, t.links, t.vectors[at.Q_E, : t.q.size], t.work)
    put_lone(t, t.vectors[at.SPUN, : t.v.size], t.vectors[at.DV, : t.v.size])
    return found


@merged
def aim_middle(t: Tables) -> bool:
    """The same before links are placed."""
    nq, nv = t.q.size, t.v.size
    s = t.monitor[at.PIECE]
    q_e, v_e = t.vectors[at.Q_E, :nq], t.vectors[at.V_E, :nv]
    dv, guess = t.vectors[at.DV, :nv], t.vectors[at.DVC_GUESS, :nv]
    lead, spun = t.vectors[at.LEAD, :nv], t.vectors[at.SPUN, :nv]
    move = t.vectors[at.ACC, :nv]
    guess[:] = 0.0
    lead[:] = 0.0
    found = turn_lone(t, guess, lead)
    for k in range(nv):
        move[k] = 0.5 * s * (t.v[k] + 0.5 * lead[k])
    place_lone(t, t.v, 0.5 * s, lead, 0.0, move)
    integrate_kernel(t.tree, t.q, move, 1.0, q_e)
    copy_into(v_e, t.v)
    carry(t, t.q, q_e, v_e)
    foresee(t, at.SMOOTH_BEFORE, t.control[at.SMOOTH_ORDER], 0.0, dv)
    copy_into(spun, lead)
    if t.control[at.PUSHES] > 0 and not arrive_together(t):
        share = t.monitor[at.PUSHED_SHARE]
        foresee(t, at.PUSHED_BEFORE, t.control[at.PUSHED_ORDER], share, guess)
        turn_lone(t, guess, spun)
    if t.control[at.AIMED]:
        aim_lone(t, t.vectors[at.AIM, :nv], spun)
    return found


@kernel
def midpoint(t: Tables) -> int:
    """Q_E, V_E and DV of a piece, which is made shorter where the fixed point asks for it.

    Poses and velocities of the present state must be in `work`.
    """
    if has_floating(t):
        take_momenta(t)
    return find_middle(t)


@stage
def find_middle(t: Tables) -> int:
    """The same where momenta have been taken."""
    while True:
        found = place_middle(t)
        put_joint_forces(t)
        put_wrenches(t, t.work)
        status = settle(t, True)
        if status == OK and found:
            break
        if status > OK:
            return status
        if t.monitor[at.PIECE] <= _SHORTEST * t.settings[at.DT]:
            t.control[at.STRAINED] += 1
            break
        t.monitor[at.PIECE] *= 0.5
        t.monitor[at.LONGEST] = t.monitor[at.PIECE]
    end_middle(t)
    if count_pairs(t.pair_runs) > 0:  # geoms are looked at with the velocities of V_E
        velocities_kernel(t.tree, t.links, t.vectors[at.V_E, : t.v.size], t.work)
    return OK


@merged
def end_middle(t: Tables) -> None:
    """What follows from how the middle velocity of a piece was found."""
    if t.control[at.ROUNDS] <= _EASY:
        longer = min(2.0 * t.monitor[at.PIECE], t.settings[at.DT])
        t.monitor[at.LONGEST] = max(t.monitor[at.LONGEST], longer)
    if has_floating(t):
        expect_momenta(t)


@merged
def again(t: Tables) -> bool:
    """Whether contacts answered otherwise than foreseen by what matters: dv is found once more."""
    if t.control[at.SCHEME] != at.MOREAU or t.control[at.REPEATS] == _MOST_REPEATS:
        return False
    if arrive_together(t) and not settles_sudden(t):
        return False
    if t.control[at.PUSHES] <= 0 and t.control[at.ACTING] == 0:
        return False
    return settle_again(t)


@kernel
def settles_sudden(t: Tables) -> bool:
    """Whether dv is found once more where arrivals are met together; LONGEST, if shorter does.

    It is of order 1 whatever the middle velocity is, but energy shall not grow.
    """
    at_once, unforeseen = sudden_turns(t)
    if at_once and t.monitor[at.PIECE] > _SHORTEST * t.settings[at.DT]:
        t.monitor[at.LONGEST] = 0.5 * t.monitor[at.PIECE]
        return False
    return unforeseen


@stage
def settle_again(t: Tables) -> bool:
    """The same where contacts act or are foreseen.

    Near a dead centre forces answer the middle velocity by so much that rounds lead farther away
    than the first one did: a shorter piece is LONGEST then. Where it is short already the answer to
    what was foreseen stands.
    """
    nv = t.v.size
    guess, dvc = t.vectors[at.DVC_GUESS, :nv], t.vectors[at.DVC, :nv]
    first = t.vectors[at.GUESS_FIRST, :nv]
    if not strays(t, dvc, guess):
        return False
    if t.control[at.REPEATS] == 0:
        copy_into(first, guess)
        t.monitor[at.MOVED_FIRST] = t.monitor[at.MOVED]
    elif t.monitor[at.MOVED] > t.monitor[at.MOVED_FIRST]:
        if t.monitor[at.PIECE] > _SHORTEST * t.settings[at.DT]:
            t.monitor[at.LONGEST] = 0.5 * t.monitor[at.PIECE]
            return False
        copy_into(dvc, first)
        t.control[at.REPEATS] = _MOST_REPEATS - 1
    t.control[at.REPEATS] += 1
    copy_into(guess, dvc)
    turn_lone(t, guess, t.vectors[at.SPUN, :nv])
    settle(t, False)
    return True


@kernel
def drift_midpoint(t: Tables, x: float) -> None:
    """State Q_X, V_X at the fraction x of the piece; contacts' impulses are spread over it."""
    nq, nv = t.q.size, t.v.size
    s = t.monitor[at.PIECE]
    q_e, v_e = t.vectors[at.Q_E, :nq], t.vectors[at.V_E, :nv]
    q_x, v_x = t.vectors[at.Q_X, :nq], t.vectors[at.V_X, :nv]
    total, move = t.vectors[at.NEXT, :nv], t.vectors[at.ACC, :nv]
    early, half = s * (x - 0.5), 0.5 * s * x * x
    for k in range(nv):
        lead = t.vectors[at.LEAD, k]
        total[k] = t.vectors[at.DV, k] + t.vectors[at.DVC, k]
        v_x[k] = v_e[k] + x * total[k]
        if arrive_together(t) and t.vectors[at.LATE, k] > 0.0:
            total[k] *= t.vectors[at.LATE, k]
        move[k] = early * (v_e[k] + 0.5 * lead)
    for k in range(nv):  # two products in one sum would leave open which of them is rounded
        move[k] += half * (total[k] - t.vectors[at.LEAD, k])
    place_lone(t, v_e, early, total, half, move)
    integrate_kernel(t.tree, q_e, move, 1.0, q_x)
    carry(t, q_e, q_x, v_x)
