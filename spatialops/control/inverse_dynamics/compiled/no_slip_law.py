"""Impulses without slip, as `PressedNoSlip` finds them: tangents eliminated, normals by pivoting.

Tangents of contacts that press are held, those of contacts that leave are let go, and of several
answers it is the one that holds fewest, as `laws.reduction.settle` has it; contacts that hold
without a load are let go.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import copy_into
from spatialops.contact.laws.law import TOLERANCE
from spatialops.contact.laws.reduction import COARSE, HIDDEN, REST
from spatialops.contact.newton._layout import WEDGED
from spatialops.control.inverse_dynamics.compiled import workspace as of
from spatialops.control.inverse_dynamics.compiled.cone_law import (
    UNSOLVED,
    largest,
    largest_compliance,
)
from spatialops.control.inverse_dynamics.compiled.held_tangents import HELD, hold
from spatialops.control.inverse_dynamics.compiled.posture import put_after, put_speeds
from spatialops.control.inverse_dynamics.compiled.workspace import Posture, Round

EXCESS = 10.0  # of the sum of all loads: what a contact that presses with nothing may hold

# Rows of the table of what contacts are, beside HELD.
_ROUGH = 0  # 1: has friction
_KEPT = 2  # 1: for good
_RELEASED = 3  # 1: has been let go
_ROWS = 4

_ATTEMPTS = 3  # all held but for nearly dependent tangents; none; all
_FROM_NONE = 1


@kernel
def solve_no_slip(
    posture: Posture, others: IntArray, at: Round, begin: Array, scratch: Array, ints: IntArray
) -> tuple[int, float, bool]:
    """As `solve_cone`, and whether contacts were let go; `begin` (3 m,) are impulses like these.

    Where the residual is `UNSOLVED`, impulses are those that come nearest.
    """
    m = at.slip.size
    kinds = ints[: _ROWS * m].reshape((_ROWS, m))
    active = ints[_ROWS * m : (_ROWS + 2) * m]
    spare = ints[(_ROWS + 2) * m :]
    best = scratch[: 3 * m]
    count = 0
    for i in range(m):
        kinds[_ROUGH, i] = 1 if posture.place[i, of.MU] > 0.0 else 0
        if begin[3 * i] > 0.0:
            active[1 + count] = i
            count += 1
    active[0] = count
    taken = 0
    goes = False
    while True:
        least = math.inf
        for attempt in range(_ATTEMPTS):
            held = attempt != _FROM_NONE
            rank = COARSE if attempt == 0 else 0.0
            room = scratch[3 * m :]
            pivots = settle(posture, others, at, kinds, active, held, rank, room, spare)
            taken += max(pivots, 0)
            residual = judged(posture, at, kinds) if pivots >= 0 else math.inf
            if residual < least:
                least = residual
                copy_into(best, at.p)
            if least <= TOLERANCE:
                taken += hold_fewest(posture, others, at, kinds, active, rank, scratch, spare)
                break
        if least == math.inf:
            return taken, UNSOLVED, goes
        if not least <= TOLERANCE:
            copy_into(at.p, best)
            put_after(posture, others, at, at.p, at.after)
            put_speeds(posture, at.after, at.then)
        if not lets_go(at, kinds):
            return taken, least if least <= TOLERANCE else UNSOLVED, goes
        goes = True


@inlined
def lets_go(at: Round, kinds: IntArray) -> bool:
    """Let contacts go that hold what no load lets them, as `PressedNoSlip`; whether there are."""
    loads = 0.0
    for i in range(at.slip.size):
        loads += max(at.p[3 * i], 0.0)
    found = False
    for i in range(at.slip.size):
        held = max(abs(at.p[3 * i + 1]), abs(at.p[3 * i + 2]))
        if kinds[_ROUGH, i] == 1 and at.p[3 * i] <= 0.0 and held > EXCESS * loads:
            kinds[_ROUGH, i] = 0
            found = True
    return found


@inlined
def hold_fewest(
    posture: Posture,
    others: IntArray,
    at: Round,
    kinds: IntArray,
    active: IntArray,
    rank: float,
    scratch: Array,
    ints: IntArray,
) -> int:
    """Let wedged contacts go where the law has an answer without, each tried once; pivots."""
    total = 0
    best = scratch[: at.p.size]
    i, depth = most_wedged(posture, at, kinds, math.inf)
    while i >= 0:
        copy_into(best, at.p)
        kinds[HELD, i] = 0
        pivots = hold(posture, at, kinds, active, rank, scratch[at.p.size :], ints)
        total += max(pivots, 0)
        free = False
        if pivots >= 0:
            put_after(posture, others, at, at.p, at.after)
            put_speeds(posture, at.after, at.then)
            free = judged(posture, at, kinds) <= TOLERANCE
        if not free:
            kinds[HELD, i] = 1
            copy_into(at.p, best)
            put_after(posture, others, at, at.p, at.after)
            put_speeds(posture, at.after, at.then)
        i, depth = most_wedged(posture, at, kinds, depth)
    return total


@inlined
def most_wedged(posture: Posture, at: Round, kinds: IntArray, depth: float) -> tuple[int, float]:
    """Of held contacts wedged by less than `depth`, the one most of all, and by how much.

    A contact is wedged at the velocity with which its own impulse draws it together. -1: none is.
    """
    found = -1
    most = 0.0
    for i in range(at.slip.size):
        j = 3 * i
        apart = 0.0
        along = 0.0
        for k in range(posture.reach.shape[1]):
            normal = posture.reach[j, k]
            sideways = posture.reach[j + 1, k] * at.p[j + 1]
            sideways += posture.reach[j + 2, k] * at.p[j + 2]
            apart += normal * (normal * at.p[j] + sideways)
            along += abs(normal * sideways)
        if kinds[HELD, i] == 1 and most < -apart < depth and -apart > WEDGED * along:
            found = i
            most = -apart
    return found, most


@inlined
def settle(
    posture: Posture,
    others: IntArray,
    at: Round,
    kinds: IntArray,
    active: IntArray,
    held: bool,
    rank: float,
    scratch: Array,
    ints: IntArray,
) -> int:
    """Hold contacts that press and slide, let those go that leave; pivots, -1 where they fail.

    It begins with all `held`, or none; of tangents that others leave no more than `rank` of,
    nothing is.
    """
    m = at.slip.size
    for i in range(m):
        kinds[HELD, i] = kinds[_ROUGH, i] if held else 0
        kinds[_KEPT, i] = 0
        kinds[_RELEASED, i] = 0
    total = 0
    for _ in range(3 * m + 1):
        taken = hold(posture, at, kinds, active, rank, scratch, ints)
        if taken < 0:
            return -1
        total += taken
        put_after(posture, others, at, at.p, at.after)
        put_speeds(posture, at.after, at.then)
        if not changes(posture, at, kinds):
            return total
        total += 1
    return -1


@inlined
def changes(posture: Posture, at: Round, kinds: IntArray) -> bool:
    """Which contacts are held from here on; whether that has changed."""
    s = largest_compliance(posture.W)
    limit = max(REST * largest(at.u), HIDDEN * s * largest(at.p))
    found = False
    for i in range(at.slip.size):
        if kinds[_ROUGH, i] == 0:
            continue
        presses = s * at.p[3 * i] > limit
        slip = math.hypot(at.then[3 * i + 1], at.then[3 * i + 2])
        held = kinds[HELD, i] == 1
        if not held and presses and slip > limit:
            kinds[HELD, i] = 1
            if kinds[_RELEASED, i] == 1:
                kinds[_KEPT, i] = 1
            found = True
        elif held and kinds[_KEPT, i] == 0 and not presses and at.then[3 * i] > limit:
            kinds[HELD, i] = 0
            kinds[_RELEASED, i] = 1
            found = True
    return found


@inlined
def judged(posture: Posture, at: Round, kinds: IntArray) -> float:
    """|min(s p_n, u_n)|, and the slip of what presses, as `NoSlip` has it; relative."""
    s = largest_compliance(posture.W)
    worst = 0.0
    for i in range(at.slip.size):
        load = s * at.p[3 * i]
        at.slip[i] = math.hypot(at.then[3 * i + 1], at.then[3 * i + 2])
        sideways = s * math.hypot(at.p[3 * i + 1], at.p[3 * i + 2])
        tangent = sideways
        if kinds[_ROUGH, i] == 1:
            tangent = min(max(load, sideways), at.slip[i])
        one = abs(min(load, at.then[3 * i]))
        if not (one <= math.inf and tangent <= math.inf):
            return math.nan
        worst = max(worst, one, tangent)
    scale = largest(at.u)
    if scale == 0.0:
        scale = s * largest(at.p)
    return worst / scale if scale > 0.0 else worst
