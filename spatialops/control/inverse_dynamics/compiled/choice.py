"""Of impulses that do the same the chosen ones, compiled: those of `force_distribution`.

Where the choice loses accuracy, or does not end, the law's own impulses stay.
"""

from __future__ import annotations

import math
from typing import TypeAlias

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.memory import matrix
from spatialops.control.inverse_dynamics.compiled import layout as io
from spatialops.control.inverse_dynamics.compiled.cone_law import largest
from spatialops.control.inverse_dynamics.compiled.least_torque import put_forces, put_least
from spatialops.control.inverse_dynamics.compiled.pivoting import pivot_from
from spatialops.control.inverse_dynamics.compiled.room import (
    Allowed,
    put_allowed,
    put_null_space,
)
from spatialops.control.inverse_dynamics.compiled.tables import Call, Robot
from spatialops.control.inverse_dynamics.compiled.workspace import Workspace
from spatialops.control.inverse_dynamics.force_distribution import (
    CHOSEN,
    NO_ROW,
    PIVOTS,
    SAME,
)

Bounds: TypeAlias = tuple[Array, IntArray]  # rows (n, 3), each of one contact, and which


@kernel
def choose_forces(robot: Robot, call: Call, work: Workspace) -> bool:
    """Impulses of the round become the chosen ones of those that do the same; whether they did."""
    at = work.round
    posture = work.posture
    kind = call.options[io.KIND]
    k = at.p.size
    sides = robot.middles.shape[0]
    scratch = work.scratch
    basis = matrix(scratch, 0, k, k)
    begin = k * k
    rows = matrix(scratch, begin, at.slip.size * (sides + 1), 3)
    begin += at.slip.size * (sides + 1) * 3
    null = matrix(scratch, begin, k, k)
    begin += k * k
    best = scratch[begin : begin + k]
    begin += k
    other = scratch[begin : begin + k]
    begin += k
    rest = scratch[begin:]
    contacts = work.ints[: rows.shape[0]]
    ints = work.ints[rows.shape[0] :]
    allowed = Allowed(basis, rows, contacts)
    kept = call.numbers[io.KEPT]
    used, count = put_allowed(posture, at, kind, kept, robot.middles, allowed)
    if used == 0:
        return False
    free = put_null_space(posture.reach, basis, used, null, rest)
    if free == 0:
        return False
    if call.options[io.CHOICE] == io.LEAST_TORQUE:
        torques = call.vectors[io.MOVED]
        put_forces(work, robot.given, call.vectors, call.numbers[io.HORIZON], torques)
        horizon = call.numbers[io.HORIZON]
        put_least(posture.G, robot.given, torques, horizon, at.p, null[:free], best, rest)
    else:
        memory = call.numbers[io.MEMORY]
        for a in range(free):
            total = 0.0
            for r in range(k):
                total += null[a, r] * (memory * at.last[r] - at.p[r])
            best[a] = total
    bounds = (rows[:count], contacts[:count])
    if not put_closest(at.p, null[:free], bounds, best, other, call.active, rest, ints):
        return False
    if not does_the_same(posture.reach, at.p, other, bounds):
        return False
    for r in range(k):
        at.p[r] = other[r]
    return True


@inlined
def put_closest(
    p: Array,
    null: Array,
    bounds: Bounds,
    best: Array,
    other: Array,
    active: IntArray,
    scratch: Array,
    ints: IntArray,
) -> bool:
    """`other` = p + null^T y, y nearest to `best`, with rows (p + null^T y) >= 0 or no more below.

    False where pivoting finds none.
    """
    rows, contacts = bounds
    count = contacts.size
    free, k = null.shape
    given = matrix(scratch, 0, count, free)
    begin = count * free
    slack = scratch[begin : begin + count]
    lengths = scratch[begin + count : begin + 2 * count]
    push = scratch[begin + 2 * count : begin + 3 * count]
    begin += 3 * count
    longest = 0.0
    for i in range(count):
        square = 0.0
        total = 0.0
        at = 3 * contacts[i]
        for r in range(3):
            total += rows[i, r] * p[at + r]
        ahead = 0.0
        for a in range(free):
            entry = 0.0
            for r in range(3):
                entry += rows[i, r] * null[a, at + r]
            given[i, a] = entry
            square += entry * entry
            ahead += entry * best[a]
            longest = max(longest, abs(entry))
        slack[i] = total + ahead - min(total, 0.0)
        lengths[i] = math.sqrt(square)
    for i in range(count):
        lengths[i] = max(lengths[i], NO_ROW * longest)
        push[i] = 0.0
    size = largest(p)
    for r in range(k):
        total = 0.0
        for a in range(free):
            total += null[a, r] * best[a]
        other[r] = total
        size = max(size, abs(total))
    if longest > 0.0:
        active[1] = active[1] if active[0] == count else 0
        active[0] = count
        rest = scratch[begin:]
        sizes = (lengths, size, CHOSEN)
        if pivot_from(given, slack, sizes, PIVOTS, active[1:], push, rest, ints) < 0:
            return False
    for a in range(free):
        for i in range(count):
            best[a] += given[i, a] * push[i]
    for r in range(k):
        total = p[r]
        for a in range(free):
            total += null[a, r] * best[a]
        other[r] = total
    return True


@inlined
def does_the_same(reach: Array, p: Array, other: Array, bounds: Bounds) -> bool:
    """Whether other impulses move what the first do, and stay within what is allowed."""
    moved = 0.0
    size = 0.0
    for j in range(reach.shape[1]):
        difference = 0.0
        total = 0.0
        for r in range(p.size):
            difference += reach[r, j] * (other[r] - p[r])
            total += reach[r, j] * p[r]
        moved = max(moved, abs(difference))
        size = max(size, abs(total))
    outside = 0.0
    rows, contacts = bounds
    for i in range(contacts.size):
        total = 0.0
        for r in range(3):
            total += rows[i, r] * other[3 * contacts[i] + r]
        outside = max(outside, -total)
    return moved <= SAME * size and outside <= SAME * largest(other)
