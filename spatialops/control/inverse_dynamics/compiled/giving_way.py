"""Demands that contacts without slip cannot follow give way to them, compiled ([Z] 4.5).

Where the law has no answer, contacts that press in what comes nearest to one are held, and the
demand becomes the nearest with which they can be, until the law has one.
"""

from __future__ import annotations

from spatialops._arrays import IntArray
from spatialops._compile.jit import inlined, merged
from spatialops.control.inverse_dynamics.compiled import layout as io
from spatialops.control.inverse_dynamics.compiled.cone_law import UNSOLVED
from spatialops.control.inverse_dynamics.compiled.consistent import WITHOUT_PASSIVE, put_tying
from spatialops.control.inverse_dynamics.compiled.no_slip_law import solve_no_slip
from spatialops.control.inverse_dynamics.compiled.posture import put_following, put_speeds
from spatialops.control.inverse_dynamics.compiled.tables import Call, Robot
from spatialops.control.inverse_dynamics.compiled.workspace import Round, Tying, Workspace

CHANGES = 12  # sets of pressing contacts that are tried for a consistent demand


@merged
def solve_giving_way(robot: Robot, call: Call, work: Workspace) -> tuple[int, float]:
    """As `solve_no_slip`, for the demand or the nearest to it that has an answer."""
    posture = work.posture
    round_ = work.round
    taken = 0
    begin = round_.last
    residual = UNSOLVED
    for change in range(CHANGES + 1):
        pivots, residual, goes = solve_no_slip(
            posture, robot.others, round_, begin, work.scratch, work.ints
        )
        taken += pivots
        call.counts[io.GIVES_WAY] = 1 if change > 0 else 0
        call.counts[io.LET_GO] = 1 if goes else 0
        if residual >= 0.0 or change == CHANGES or not presses(round_, work.tying):
            break
        begin = round_.p
        tying = work.tying
        put_tying(posture, robot.given, robot.others, tying, work.scratch, work.ints)
        give_way(tying, round_, call, work.ints)
        put_following(posture, robot.given, robot.others, round_.v, call.wanted, round_.v)
        put_speeds(posture, round_.v, round_.u)
    return taken, residual


@inlined
def presses(at: Round, tying: Tying) -> bool:
    """Name the contacts that press as those that are tied; whether any do."""
    found = False
    for i in range(at.slip.size):
        size = max(abs(at.p[3 * i]), abs(at.p[3 * i + 1]), abs(at.p[3 * i + 2]))
        tying.stands[i] = WITHOUT_PASSIVE if size > 0.0 else 0
        found = found or size > 0.0
    return found


@inlined
def give_way(tying: Tying, at: Round, call: Call, rows: IntArray) -> None:
    """Add the smallest change with which contacts can be held to the demand.

    `rows` are numbers of their rows, as `put_tying` leaves them.
    """
    k = 0
    for i in range(tying.stands.size):
        k += 3 if tying.stands[i] != 0 else 0
    for a in range(call.wanted.size):
        total = 0.0
        for r in range(k):
            total += tying.change[a, r] * at.u[rows[r]]
        call.wanted[a] -= total
