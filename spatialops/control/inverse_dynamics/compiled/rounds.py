"""A whole command of plain contacts: rounds until Coriolis forces settle, then a choice of forces.

What is not plain (stops and dry friction of joints, impacts at the step's start, tables that are
full, a law that Newton's method does not answer to the last digits) is left to the rounds in
Python, which ask the law itself: `OUTSIDE`.
"""

from __future__ import annotations

import math

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops._compile.held import held
from spatialops._compile.jit import inlined, merged
from spatialops.algebra.vectors import copy_into, dot, vec3
from spatialops.collision import _layout as col
from spatialops.contact.newton import _layout as law
from spatialops.control.inverse_dynamics.compiled import layout as io
from spatialops.control.inverse_dynamics.compiled import workspace as of
from spatialops.control.inverse_dynamics.compiled.alignment import (
    SETTLED,
    TURNED,
    missed,
    turn_along,
)
from spatialops.control.inverse_dynamics.compiled.answer import put_answer, put_forces
from spatialops.control.inverse_dynamics.compiled.central_law import solve_central
from spatialops.control.inverse_dynamics.compiled.cone_law import UNSOLVED, solve_cone
from spatialops.control.inverse_dynamics.compiled.consistent import change_demand, put_tying
from spatialops.control.inverse_dynamics.compiled.no_slip_law import solve_no_slip
from spatialops.control.inverse_dynamics.compiled.posture import (
    count_resting,
    put_factors,
    put_following,
    put_poses,
    put_rows,
    put_speeds,
)
from spatialops.control.inverse_dynamics.compiled.tables import Call, Robot
from spatialops.control.inverse_dynamics.compiled.workspace import (
    Posture,
    Round,
    Sizes,
    Workspace,
    workspace,
)
from spatialops.control.inverse_dynamics.consistent_demand import THROWN
from spatialops.control.inverse_dynamics.replay import COUNTED
from spatialops.dynamics.composite_body import composite_body_kernel
from spatialops.dynamics.kinematics import velocities_kernel
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.held.looking_ahead import look
from spatialops.simulation.stepping.tables import Tables

ANSWERED = 0
OUTSIDE = 1
_MOST = 5  # rounds: times that Coriolis forces are found with the motion that follows from them


@held
def command_held(t: Tables, robot: Robot, call: Call) -> int:
    """The command; what comes out is in the tables of the call."""
    numbers = call.numbers
    vectors = call.vectors
    gain = vectors[io.GAIN]
    m = -1
    call.counts[io.OTHERS] = 0
    call.report[io.MISS] = 0.0
    for turn in range(_MOST):
        if not meets(t, call, look_again(t, call, io.BASE)):
            return OUTSIDE
        met = t.control[at.ACTING] if t.control[at.STAGE] == at.CONTACT else 0
        if m < 0 or not is_there(t, call, met):
            rows = m
            m = state_posture(t, robot, call, met)
            if m < 0:
                return OUTSIDE
            if m != rows or call.options[io.ALIGNED] == 0:
                begin_frames(m, robot, call)
        work = workspace(Sizes(m, gain.size, robot.given.size), call.floats, call.ints)
        put_velocities(t, call, work.posture)
        if not demanded(robot, call, work):
            return OUTSIDE
        if not predicted(robot, call, work):
            return OUTSIDE
        if call.options[io.ALIGNED] > 0 and m > 0 and not align(t, robot, call, work):
            return OUTSIDE
        call.counts[io.ROUNDS] = turn + 1
        if call.report[io.MISS] > 0.0 or settles(
            call, work.round, numbers[io.STEP] / numbers[io.HORIZON]
        ):
            break
    put_answer(robot, call, work)
    return ANSWERED


@merged
def look_again(t: Tables, call: Call, push: int) -> int:
    """The coming step under joint forces, with what Coriolis forces count on."""
    v = call.vectors
    time = call.numbers[io.TIME]
    return look(t, time, call.q, v[io.Q_DOT], call.activation, v[push], v[io.GAIN])


@inlined
def begin_frames(m: int, robot: Robot, call: Call) -> None:
    """The round begins in the frames of rows."""
    work = workspace(Sizes(m, call.vectors.shape[1], robot.given.size), call.floats, call.ints)
    for i in range(m):
        for c in range(9):
            work.posture.place[i, of.NOW + c] = work.posture.place[i, of.FRAME + c]


@merged
def meets(t: Tables, call: Call, code: int) -> bool:
    """Whether the step's contacts are plain; velocities before it, and without contacts, are put.

    A step that is done has met none.
    """
    vectors = call.vectors
    nv = vectors.shape[1]
    if code == at.DONE:
        for k in range(nv):
            vectors[io.BEFORE, k] = t.vectors[at.V_E, k]
            vectors[io.WORK, k] = t.vectors[at.V_E, k] + t.vectors[at.DV, k]
        return True
    if code != at.SOLVE or t.control[at.STAGE] != at.CONTACT or t.control[at.MOMENTS] > 0:
        return False
    for k in range(nv):
        vectors[io.BEFORE, k] = t.vectors[at.V_E, k]
        vectors[io.WORK, k] = t.vectors[at.V_X, k]
    for i in range(t.control[at.ACTING]):
        of_joint = t.ints[i, col.CONTACT_FEATURE_A] == col.STOP
        of_joint = of_joint or t.ints[i, col.CONTACT_FEATURE_A] == col.DRY
        if of_joint or t.prior[i] != 0.0 or not t.floats[i, col.MU] < math.inf:
            return False
    return True


@merged
def is_there(t: Tables, call: Call, met: int) -> bool:
    """Whether the step meets the contacts that posture and rows are stated for."""
    if met != call.counts[io.MET]:
        return False
    for i in range(met):
        for c in range(3):
            if call.seen[i, c] != t.floats[i, col.POINT + c]:
                return False
        if (
            call.met[i, 0] != t.ints[i, col.CONTACT_PAIR]
            or call.met[i, 1] != t.ints[i, col.CONTACT_FEATURE_A]
            or call.met[i, 2] != t.ints[i, col.CONTACT_FEATURE_B]
        ):
            return False
    same = True
    for k in range(call.q.size):
        same = same and call.q_met[k] == t.vectors[at.Q_E, k]
    return same


@merged
def state_posture(t: Tables, robot: Robot, call: Call, met: int) -> int:
    """Rows and factors of the contacts that do not land; how many, -1 where it does not work."""
    vectors = call.vectors
    nv = vectors.shape[1]
    times = call.numbers[io.TIMES]
    if met > call.kept.size:
        return -1
    for i in range(met):
        for c in range(3):
            call.seen[i, c] = t.floats[i, col.POINT + c]
        call.met[i, 0] = t.ints[i, col.CONTACT_PAIR]
        call.met[i, 1] = t.ints[i, col.CONTACT_FEATURE_A]
        call.met[i, 2] = t.ints[i, col.CONTACT_FEATURE_B]
    for k in range(call.q.size):
        call.q_met[k] = t.vectors[at.Q_E, k]
    call.counts[io.MET] = met
    if not put_poses(t.tree, t.links, call.q_met, robot.work):
        return -1
    velocities_kernel(t.tree, t.links, vectors[io.BEFORE], robot.work)
    m = count_resting(t.ints, t.floats, met, robot.work, times, call.kept)
    call.counts[io.LANDING] = met - m
    call.counts[io.CONTACTS] = m
    work = workspace(Sizes(m, nv, robot.given.size), call.floats, call.ints)
    posture = work.posture
    put_rows(t.tree, t.links, t.ints, t.floats, call.kept, times, robot.work, posture)
    if composite_body_kernel(
        robot.tree, robot.constants, call.q_met, robot.lanes, robot.ordered, posture.mass
    ):
        return -1
    if t.control[at.DAMPED] != 0:
        for k in range(nv):
            posture.mass[k, k] += t.damped[k, layout.ARMATURE] - t.links[k, layout.ARMATURE]
    for i in range(m):
        work.tying.stands[i] = -1
    wholly = call.options[io.STANDING] == 1 or call.options[io.ALIGNED] > 0
    return m if put_factors(robot.given, robot.others, posture, wholly, work.scratch) else -1


@merged
def put_velocities(t: Tables, call: Call, posture: Posture) -> None:
    """The free velocity at the horizon, drifts, and frames unless they are aligned."""
    vectors = call.vectors
    times = call.numbers[io.TIMES]
    aligned = call.options[io.ALIGNED] > 0
    for k in range(vectors.shape[1]):
        before = vectors[io.BEFORE, k]
        vectors[io.FREE, k] = before + times * (vectors[io.WORK, k] - before)
    for i in range(posture.place.shape[0]):
        row = posture.names[i, of.ROW]
        drift = vec3(t.floats, row, col.DRIFT)
        for c in range(3):
            axis = vec3(posture.place, i, of.FRAME + 3 * c)
            posture.place[i, of.DRIFT + c] = times * dot(axis, drift)
        if not aligned:
            for c in range(9):
                posture.place[i, of.NOW + c] = t.floats[row, col.NORMAL + c]


@inlined
def demanded(robot: Robot, call: Call, work: Workspace) -> bool:
    """Velocities without contacts of the demand, or of the nearest that contacts allow."""
    posture = work.posture
    round_ = work.round
    vectors = call.vectors
    given = robot.given
    horizon = call.numbers[io.HORIZON]
    wanted = call.wanted
    for a in range(given.size):
        wanted[a] = vectors[io.BEFORE, given[a]] + horizon * vectors[io.DEMAND, a]
    put_following(posture, given, robot.others, vectors[io.FREE], wanted, round_.v)
    put_speeds(posture, round_.v, round_.u)
    if call.options[io.STANDING] == 1 and stand(call, work) > 0:
        tie(robot, work)
        before = vectors[io.BEFORE]
        limit = heaviest(posture.mass, robot.others) * THROWN * horizon
        scratch = work.scratch
        change_demand(
            posture, work.tying, round_, before, robot.others, limit, wanted, scratch, work.ints
        )
        put_following(posture, given, robot.others, round_.v, wanted, round_.v)
        put_speeds(posture, round_.v, round_.u)
    total = 0.0
    for k in range(round_.v.size):
        total += round_.v[k]
    return math.isfinite(total)


@inlined
def stand(call: Call, work: Workspace) -> int:
    """Contacts of links that stand, 1 in the spare column; how many.

    A gap that stays open ties nothing.
    """
    posture = work.posture
    count = 0
    for i in range(posture.place.shape[0]):
        names = posture.names[i]
        stands = call.stands[names[of.LINKS]] | call.stands[names[of.LINKS + 1]]
        closes = posture.place[i, of.OPEN] <= 0.0 or work.round.u[3 * i] < 0.0
        names[of.STANDS] = 1 if stands != 0 and closes else 0
        count += names[of.STANDS]
    return count


@inlined
def tie(robot: Robot, work: Workspace) -> None:
    """What those do to demands: made anew where others stand than in the round before."""
    stands = work.tying.stands
    same = True
    for i in range(stands.size):
        same = same and stands[i] == work.posture.names[i, of.STANDS]
        stands[i] = work.posture.names[i, of.STANDS]
    if not same:
        put_tying(work.posture, robot.given, robot.others, work.tying, work.scratch, work.ints)


@inlined
def heaviest(mass: Array, others: IntArray) -> float:
    """Root of the largest inertia among the velocities that follow."""
    found = 0.0
    for j in others:
        found = max(found, mass[j, j])
    return math.sqrt(found)


@inlined
def predicted(robot: Robot, call: Call, work: Workspace) -> bool:
    """Velocities with impulses by the law, which begins with those of the command before."""
    if work.round.slip.size == 0:
        copy_into(work.round.after, work.round.v)
        call.report[io.RESIDUAL] = 0.0
        call.counts[io.ITERATIONS] = 0
        return True
    put_last(call, work)
    posture = work.posture
    taken = 0
    residual = UNSOLVED
    which = call.options[io.LAW]
    if which == law.NO_SLIP:
        taken, residual = solve_no_slip(posture, robot.others, work.round, work.scratch, work.ints)
    elif which == law.CONE:
        taken, residual = solve_cone(
            posture, robot.others, work.round, robot.starts, work.scratch, work.ints
        )
    if residual < 0.0 and which != law.NO_SLIP and robot.others.size > 0:
        taken, residual = solve_central(
            posture, robot.others, work.round, which, robot.newton, work.scratch
        )
    call.counts[io.ITERATIONS] = taken
    call.report[io.RESIDUAL] = residual
    return residual >= 0.0


@inlined
def put_last(call: Call, work: Workspace) -> None:
    """The last impulses along the frames of rows; 0 of new ones."""
    posture = work.posture
    for i in range(posture.place.shape[0]):
        names = posture.names[i]
        for c in range(3):
            work.round.last[3 * i + c] = 0.0
        for k in range(call.names.shape[0]):
            if (
                call.names[k, 0] == names[of.NAME]
                and call.names[k, 1] == names[of.NAME + 1]
                and call.names[k, 2] == names[of.NAME + 2]
            ):
                world = vec3(call.world, k, 0)
                for c in range(3):
                    axis = vec3(posture.place, i, of.FRAME + 3 * c)
                    work.round.last[3 * i + c] = dot(axis, world)


@inlined
def settles(call: Call, at_round: Round, share: float) -> bool:
    """Whether Coriolis forces at what was counted on are those at the gain that was found."""
    gain = call.vectors[io.GAIN]
    change = 0.0
    fastest = 0.0
    largest = 0.0
    for k in range(gain.size):
        found = share * (at_round.after[k] - call.vectors[io.BEFORE, k])
        change = max(change, abs(found - gain[k]))
        largest = max(largest, abs(found))
        fastest = max(fastest, abs(call.vectors[io.Q_DOT, k]))
        gain[k] = found
    if call.options[io.COUNTS_GAIN] == 0:
        return True
    return call.numbers[io.STEP] * (fastest + largest) * change <= COUNTED


@merged
def align(t: Tables, robot: Robot, call: Call, work: Workspace) -> bool:
    """Find frames and impulses again under the command, until they settle."""
    round_ = work.round
    vectors = call.vectors
    horizon = call.numbers[io.HORIZON]
    call.report[io.MISS] = 0.0
    miss = 0.0
    for _ in range(call.options[io.ALIGNED]):
        put_forces(work, robot.given, vectors, horizon, vectors[io.PUSH])
        for k in range(vectors.shape[1]):
            push = vectors[io.PUSH, k] + vectors[io.BASE, k]
            vectors[io.PUSH, k] = max(min(push, robot.limits[k]), -robot.limits[k])
        far = turn_along(t, look_again(t, call, io.PUSH), call, work.posture)
        if far < 0.0:  # the command throws feet to where there were none
            call.counts[io.OTHERS] = 1
            return True
        if far < TURNED:
            return True
        copy_into(call.before, round_.p)
        if not predicted(robot, call, work):
            return False
        for r in range(round_.p.size):
            call.before[r] = round_.p[r] - call.before[r]
        change = call.before[: round_.p.size]
        miss = missed(work.posture, robot.given, change, horizon, vectors[io.MOVED])
        if miss <= SETTLED:
            return True
    call.report[io.MISS] = miss
    return True
