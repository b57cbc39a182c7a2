"""Impulses without slip, as `NoSlip` finds them: tangents eliminated, normals by pivoting.

Tangents of contacts that press are held, those of contacts that leave are let go, as
`laws.reduction.settle` has it. Tangents that nearly depend on others are left out from the start:
two feet on one body have such, and what holds those is rounding. Where that is no answer, or
contacts have to be let go that hold without a load, the law is asked itself.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.contact.laws.elimination import (
    LOCKED,
    choose_rows,
    forward,
    holding_impulses,
    reduce_rows,
)
from spatialops.contact.laws.law import TOLERANCE
from spatialops.contact.laws.pivoting import MET, MOST
from spatialops.contact.laws.reduction import COARSE, HIDDEN, REST
from spatialops.control.inverse_dynamics.compiled import workspace as of
from spatialops.control.inverse_dynamics.compiled.cone_law import (
    UNSOLVED,
    largest,
    largest_compliance,
)
from spatialops.control.inverse_dynamics.compiled.pivoting import pivot_from
from spatialops.control.inverse_dynamics.compiled.posture import put_after, put_speeds
from spatialops.control.inverse_dynamics.compiled.workspace import Posture, Round, matrix

EXCESS = 10.0  # of the sum of all loads: what a contact that presses with nothing may hold

# Rows of the table of what contacts are.
_ROUGH = 0  # 1: has friction
_HELD = 1  # 1: does not slip
_KEPT = 2  # 1: for good
_RELEASED = 3  # 1: has been let go
_ROWS = 4


class Holding(NamedTuple):
    """What one attempt works in: k tangents, m normals, u velocities that follow."""

    tangents: Array  # (k, u)
    left: Array  # (k, u)
    lengths: Array  # (2, k)
    Q: Array  # (k, u)
    Z: Array  # (k, k)
    normals: Array  # (m, u)
    speeds: Array  # (k,) of tangents
    y: Array  # (k,)
    sizes: Array  # (m,) lengths of normals
    u: Array  # (m,) their velocities
    p: Array  # (m,) their impulses
    others: Array  # (k,) those of tangents
    x: Array  # (u,)
    spare: Array


@kernel
def solve_no_slip(
    posture: Posture, others: IntArray, at: Round, scratch: Array, ints: IntArray
) -> tuple[int, float]:
    """As `solve_cone`."""
    m = at.slip.size
    kinds = ints[: _ROWS * m].reshape((_ROWS, m))
    active = ints[_ROWS * m : (_ROWS + 2) * m]
    count = 0
    for i in range(m):
        kinds[_ROUGH, i] = 1 if posture.place[i, of.MU] > 0.0 else 0
        if at.last[3 * i] > 0.0:
            active[1 + count] = i
            count += 1
    active[0] = count
    taken = settle(posture, others, at, kinds, active, scratch, ints[(_ROWS + 2) * m :])
    if taken < 0 or holds_without_load(at, kinds):
        return taken, UNSOLVED
    residual = judged(posture, at, kinds)
    return taken, residual if residual <= TOLERANCE else UNSOLVED


@inlined
def holds_without_load(at: Round, kinds: IntArray) -> bool:
    """Whether a contact holds what no load lets it: `PressedNoSlip` lets it go."""
    loads = 0.0
    for i in range(at.slip.size):
        loads += max(at.p[3 * i], 0.0)
    for i in range(at.slip.size):
        held = max(abs(at.p[3 * i + 1]), abs(at.p[3 * i + 2]))
        if kinds[_ROUGH, i] == 1 and at.p[3 * i] <= 0.0 and held > EXCESS * loads:
            return True
    return False


@inlined
def settle(
    posture: Posture,
    others: IntArray,
    at: Round,
    kinds: IntArray,
    active: IntArray,
    scratch: Array,
    ints: IntArray,
) -> int:
    """Hold contacts that press and slide, let those go that leave; pivots, -1 where they fail."""
    m = at.slip.size
    for i in range(m):
        kinds[_HELD, i] = kinds[_ROUGH, i]
        kinds[_KEPT, i] = 0
        kinds[_RELEASED, i] = 0
    total = 0
    for _ in range(3 * m + 1):
        taken = hold(posture, at, kinds, active, scratch, ints)
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
        held = kinds[_HELD, i] == 1
        if not held and presses and slip > limit:
            kinds[_HELD, i] = 1
            if kinds[_RELEASED, i] == 1:
                kinds[_KEPT, i] = 1
            found = True
        elif held and kinds[_KEPT, i] == 0 and not presses and at.then[3 * i] > limit:
            kinds[_HELD, i] = 0
            kinds[_RELEASED, i] = 1
            found = True
    return found


@inlined
def holding(k: int, m: int, u: int, floats: Array) -> Holding:
    """Name the parts of a buffer."""
    most = max(min(k, u), 1)
    squares = matrix(floats, 0, 2 * k, u)
    at = 2 * k * u
    lengths = matrix(floats, at, 2, k)
    at += 2 * k
    Q = matrix(floats, at, most, u)
    at += most * u
    Z = matrix(floats, at, most, most)
    at += most * most
    normals = matrix(floats, at, m, u)
    at += m * u
    of_tangents = matrix(floats, at, 3, k)
    at += 3 * k
    of_normals = matrix(floats, at, 3, m)
    at += 3 * m
    return Holding(
        squares[:k],
        squares[k:],
        lengths,
        Q,
        Z,
        normals,
        of_tangents[0],
        of_tangents[1],
        of_normals[0],
        of_normals[1],
        of_normals[2],
        of_tangents[2],
        floats[at : at + u],
        floats[at + u :],
    )


@inlined
def hold(
    posture: Posture,
    at: Round,
    kinds: IntArray,
    active: IntArray,
    scratch: Array,
    ints: IntArray,
) -> int:
    """Impulses with the tangents held of those that are; pivots, -1 where they find no end."""
    m = at.slip.size
    u = posture.reach.shape[1]
    k = 0
    for i in range(m):
        k += 2 * kinds[_HELD, i]
    room = holding(k, m, u, scratch)
    chosen = ints[: max(min(k, u), 1)]
    rank = put_tangents(posture, at, kinds, room, chosen) if k > 0 else 0
    Z = matrix(room.spare, 0, rank, rank)
    for a in range(rank):
        for b in range(rank):
            Z[a, b] = room.Z[a, b]
    y = room.y[:rank]
    forward(Z, y)
    own = matrix(room.spare, rank * rank, rank, u)
    speeds = matrix(room.spare, rank * rank + rank * u, 2, rank)
    for a in range(rank):
        length = room.lengths[0, chosen[a]]
        speeds[0, a] = room.speeds[chosen[a]] / length
        speeds[1, a] = length
        for j in range(u):
            own[a, j] = room.tangents[chosen[a], j] / length
    spare = room.spare[rank * rank + rank * u + 2 * rank :]
    put_normals(posture, at, room, room.Q[:rank], y)
    sizes = (room.sizes, largest(at.u), MET)
    normals = room.normals
    taken = pivot_from(normals, room.u, sizes, MOST, active, room.p, spare, ints[k + 1 :])
    if taken < 0:
        return -1
    put_reach(posture, room.p, room.x)
    for r in range(k):
        room.others[r] = 0.0
    if rank > 0:
        three = matrix(spare, 0, 3, u)
        holding_impulses(
            room.Q[:rank],
            Z,
            own,
            speeds[0],
            y,
            speeds[1],
            room.x,
            chosen[:rank],
            three,
            room.others,
        )
    r = 0
    for i in range(m):
        at.p[3 * i] = room.p[i]
        at.p[3 * i + 1] = 0.0
        at.p[3 * i + 2] = 0.0
        if kinds[_HELD, i] == 1:
            at.p[3 * i + 1] = room.others[r]
            at.p[3 * i + 2] = room.others[r + 1]
            r += 2
    return taken


@inlined
def put_tangents(
    posture: Posture,
    at: Round,
    kinds: IntArray,
    room: Holding,
    chosen: IntArray,
) -> int:
    """Tangents of what is held, the independent ones among them, and what holds those; the rank."""
    r = 0
    for i in range(at.slip.size):
        if kinds[_HELD, i] == 0:
            continue
        for c in range(1, 3):
            room.speeds[r] = at.u[3 * i + c]
            for j in range(room.tangents.shape[1]):
                room.tangents[r, j] = posture.reach[3 * i + c, j]
            r += 1
    for a in range(room.Z.shape[0]):
        for b in range(room.Z.shape[0]):
            room.Z[a, b] = 0.0
    rank = choose_rows(room.tangents, room.left, room.lengths, room.Q, room.Z, chosen)
    while rank > 0 and not room.Z[rank - 1, rank - 1] > COARSE:
        rank -= 1  # the remainders fall from row to row
    for a in range(rank):
        room.y[a] = room.speeds[chosen[a]] / room.lengths[0, chosen[a]]
    return rank


@inlined
def put_normals(posture: Posture, at: Round, room: Holding, Q: Array, y: Array) -> None:
    """Normals and their velocities while the chosen tangents are held."""
    longest = 0.0
    for i in range(at.slip.size):
        square = 0.0
        for j in range(room.normals.shape[1]):
            entry = posture.reach[3 * i, j]
            room.normals[i, j] = entry
            square += entry * entry
            longest = max(longest, abs(entry))
        room.sizes[i] = math.sqrt(square)
        room.u[i] = at.u[3 * i]
    size = max(largest(room.u), largest(y) * longest)
    reduce_rows(Q, y, LOCKED * size, room.normals, room.u)


@inlined
def put_reach(posture: Posture, p: Array, x: Array) -> None:
    """What normal impulses make of the velocities that follow."""
    for j in range(x.size):
        x[j] = 0.0
        for i in range(p.size):
            x[j] += posture.reach[3 * i, j] * p[i]


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
