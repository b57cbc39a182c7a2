"""Normal impulses while tangents are held, compiled: `laws.no_slip.hold_tangents`.

Tangents that nearly depend on others may be left out: two feet on one body have such, and what
holds those is rounding.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.memory import matrix
from spatialops.contact.laws.elimination import (
    LOCKED,
    choose_rows,
    forward,
    holding_impulses,
    reduce_rows,
)
from spatialops.contact.laws.pivoting import MET, MOST
from spatialops.control.inverse_dynamics.compiled.cone_law import largest
from spatialops.control.inverse_dynamics.compiled.pivoting import pivot_from
from spatialops.control.inverse_dynamics.compiled.workspace import Posture, Round

HELD = 1  # row of the table of what contacts are: 1, does not slip


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


@kernel
def hold(
    posture: Posture,
    at: Round,
    kinds: IntArray,
    active: IntArray,
    least: float,
    scratch: Array,
    ints: IntArray,
) -> int:
    """Impulses with the tangents held of those that are; pivots, -1 where they find no end."""
    m = at.slip.size
    u = posture.reach.shape[1]
    k = 0
    for i in range(m):
        k += 2 * kinds[HELD, i]
    room = holding(k, m, u, scratch)
    chosen = ints[: max(min(k, u), 1)]
    rank = put_tangents(posture, at, kinds, least, room, chosen) if k > 0 else 0
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
        if kinds[HELD, i] == 1:
            at.p[3 * i + 1] = room.others[r]
            at.p[3 * i + 2] = room.others[r + 1]
            r += 2
    return taken


@inlined
def put_tangents(
    posture: Posture,
    at: Round,
    kinds: IntArray,
    least: float,
    room: Holding,
    chosen: IntArray,
) -> int:
    """Tangents of what is held, the independent ones among them, and what holds those; the rank."""
    r = 0
    for i in range(at.slip.size):
        if kinds[HELD, i] == 0:
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
    while rank > 0 and not room.Z[rank - 1, rank - 1] > least:
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
