"""A whole command of plain contacts: rounds until Coriolis forces settle, then a choice of forces.

What is not plain (stops and dry friction of joints, impacts at the step's start, tables that are
full, a law that Newton's method does not answer to the last digits) is left to the rounds in
Python, which ask the law itself: `OUTSIDE`.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array, IntArray
from spatialops._compile.held import held
from spatialops._compile.jit import inlined, kernel, merged
from spatialops.algebra.vectors import copy_into, dot, vec3
from spatialops.contact.newton import _layout as law
from spatialops.control.inverse_dynamics.compiled import layout as io
from spatialops.control.inverse_dynamics.compiled import workspace as of
from spatialops.control.inverse_dynamics.compiled.alignment import (
    NEARER,
    PATIENCE,
    SETTLED,
    TURNED,
    missed,
    turn_along,
)
from spatialops.control.inverse_dynamics.compiled.answer import choose, put_answer
from spatialops.control.inverse_dynamics.compiled.central_law import solve_central
from spatialops.control.inverse_dynamics.compiled.cone_law import UNSOLVED, solve_cone
from spatialops.control.inverse_dynamics.compiled.consistent import change_demand, put_tying
from spatialops.control.inverse_dynamics.compiled.dissipation_law import solve_dissipation
from spatialops.control.inverse_dynamics.compiled.giving_way import solve_giving_way
from spatialops.control.inverse_dynamics.compiled.least_torque import put_forces
from spatialops.control.inverse_dynamics.compiled.posture import (
    put_following,
    put_speeds,
)
from spatialops.control.inverse_dynamics.compiled.step import (
    is_there,
    look_again,
    meets,
    put_velocities,
    state_posture,
)
from spatialops.control.inverse_dynamics.compiled.tables import Call, Robot
from spatialops.control.inverse_dynamics.compiled.workspace import (
    Round,
    Sizes,
    Workspace,
    workspace,
)
from spatialops.control.inverse_dynamics.consistent_demand import THROWN
from spatialops.control.inverse_dynamics.replay import COUNTED
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.tables import Tables

ANSWERED = 0
OUTSIDE = 1
_SOLES = (
    2  # rows of contacts for each velocity that follows: of more, contacts are corners of soles
)
_MOST = 5  # rounds: times that Coriolis forces are found with the motion that follows from them


@held
def command_held(t: Tables, robot: Robot, call: Call) -> int:
    """The command; what comes out is in the tables of the call."""
    numbers = call.numbers
    vectors = call.vectors
    gain = vectors[io.GAIN]
    m = -1
    call.counts[io.OTHERS] = 0
    call.counts[io.GIVES_WAY] = 0
    call.counts[io.LET_GO] = 0
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


@inlined
def begin_frames(m: int, robot: Robot, call: Call) -> None:
    """The round begins in the frames of rows."""
    work = workspace(Sizes(m, call.vectors.shape[1], robot.given.size), call.floats, call.ints)
    for i in range(m):
        for c in range(9):
            work.posture.place[i, of.NOW + c] = work.posture.place[i, of.FRAME + c]


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
        names[of.LIFTS] = 0 if stands != 0 else 1
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


@kernel
def predicted(robot: Robot, call: Call, work: Workspace) -> bool:
    """Velocities with impulses by the law, which begins with those of the command before."""
    if work.round.slip.size == 0:
        copy_into(work.round.after, work.round.v)
        call.report[io.RESIDUAL] = 0.0
        call.counts[io.ITERATIONS] = 0
        return True
    put_last(call, work)
    taken, residual = by_law(robot, call, work)
    call.counts[io.ITERATIONS] = taken
    call.report[io.RESIDUAL] = residual
    if residual < 0.0:
        return False
    if call.options[io.ALIGNED] > 0 and call.options[io.CHOICE] != io.SOLVER:
        choose(robot, call, work)
    return True


@merged
def by_law(robot: Robot, call: Call, work: Workspace) -> tuple[int, float]:
    """Impulses of the round; iterations and the residual."""
    posture = work.posture
    round_ = work.round
    scratch = work.scratch
    taken = 0
    residual = UNSOLVED
    which = call.options[io.LAW]
    if which == law.NO_SLIP:
        return solve_giving_way(robot, call, work)
    if which == io.DISSIPATION or which == io.RELEASED:
        released = which == io.RELEASED
        corners = robot.newton.corners
        return solve_dissipation(
            posture, robot.others, round_, released, corners, call.edges, scratch, work.ints
        )
    # Of soles, whose rows are many more than what can move, the quick method finds no last digits.
    soles = round_.p.size > _SOLES * robot.others.size
    if which == law.CONE and not soles:
        taken, residual = solve_cone(
            posture, robot.others, round_, robot.starts, scratch, work.ints
        )
    if residual < 0.0 and robot.others.size > 0:
        taken, residual = solve_central(posture, robot.others, round_, which, robot.newton, scratch)
    if residual < 0.0 and which == law.CONE and soles:
        return solve_cone(posture, robot.others, round_, robot.starts, scratch, work.ints)
    return taken, residual


@inlined
def put_last(call: Call, work: Workspace) -> None:
    """The last impulses along the frames of rows; 0 of new ones."""
    posture = work.posture
    for i in range(posture.place.shape[0]):
        names = posture.names[i]
        for c in range(3):
            work.round.last[3 * i + c] = 0.0
        for k in range(call.options[io.KNOWN]):
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
    least = math.inf
    vain = 0
    for _ in range(call.options[io.ALIGNED]):
        put_forces(work, robot.given, vectors, horizon, vectors[io.PUSH])
        for k in range(vectors.shape[1]):
            push = vectors[io.PUSH, k] + vectors[io.BASE, k]
            vectors[io.PUSH, k] = max(min(push, robot.limits[k]), -robot.limits[k])
        far = turn_along(t, look_again(t, call, io.PUSH), robot, call, work)
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
        if miss <= NEARER * least:
            least = miss
            vain = 0
        else:
            vain += 1
        if vain == PATIENCE:
            break
    call.report[io.MISS] = miss
    return True
