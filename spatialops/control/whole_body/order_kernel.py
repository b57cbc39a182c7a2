"""Least squares in strict order under hard constraints, compiled: what `hierarchy` says, in arrays.

Everything that is decided are first entries of y in x = Q y (`algebra.column_reflections`); of what
is free a small program is left, of which `dual_active_set` finds the point.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from spatialops._arrays import NOTHING, Array, IntArray
from spatialops._compile.jit import inlined, kernel, merged
from spatialops.algebra.column_reflections import (
    Decided,
    Reflections,
    decide,
    put_free,
    put_point,
    turn_out,
    whole_eights,
)
from spatialops.algebra.dual_active_set import POINT, Active, dual_active_set
from spatialops.algebra.memory import matrix
from spatialops.algebra.products import put_product
from spatialops.algebra.pseudo_inverse import inverse_factor_kernel

NO_POINT = 0
NEAREST = 1
MET = 2

_RANK = 1e-10  # what is left of equalities, relative, that count as zero
_TASK_RANK = 1e-8  # the same of tasks among the motions that are left
_EQUAL = 1e-8  # of the scale of the equalities: missed by more, they contradict each other
_STILL = 1e-9  # weight of unknowns that a level leaves free, relative to its own
_FLAT = 1e-12  # of a row's largest entry: what is left of it where nothing moves it


class Problem(NamedTuple):
    """Constraints, levels one after the other, and the cost; see `hierarchy`."""

    E: Array  # (k, n)
    e: Array
    C: Array  # (i, n)
    low: Array
    high: Array
    J: Array  # (l, n) rows of all levels
    r: Array
    H: Array  # (n, n)
    f: Array


class Room(NamedTuple):
    """What the method works in, for n unknowns, i inequalities, and groups of at most g rows."""

    decided: Decided
    X: Array  # (n, g in eights) a group
    right: Array  # (g,)
    bounds: Array  # (2, i) low, high: widened where a level has ended
    held: Array  # (2, i) the same of one program, in its scales
    Z: Array  # (n, n in eights) free motions
    HZ: Array  # (n, n in eights)
    CZ: Array  # (i, n in eights)
    x0: Array  # (n,)
    found: Array  # (n,)
    scratch: Array
    ints: IntArray  # steps, then scratch


def numbers_of(n: int, i: int, g: int) -> int:
    """Numbers that `room_of` takes."""
    wide = whole_eights(n)
    rows = whole_eights(i)
    own = n * n + 3 * n + (n + 2) * whole_eights(g) + 4 * i + (2 * n + i) * wide
    return own + n * rows + rows + 3 * n * n + 9 * n + 1 + n * wide


def ints_of(n: int, i: int, g: int) -> int:
    """Integers that it takes, the number of steps first."""
    return 1 + whole_eights(g) + 2 * n + i


@inlined
def room_of(n: int, i: int, g: int, floats: Array, ints: IntArray) -> Room:
    """Name the parts of `numbers_of` numbers and `ints_of` integers."""
    wide = whole_eights(n)
    group = whole_eights(g)
    V = matrix(floats, 0, n, n)
    at = n * n
    vectors = matrix(floats, at, 3, n)
    at += 3 * n
    squares = floats[at : at + group]
    at += group
    X = matrix(floats, at, n, group)
    at += n * group
    right = floats[at : at + group]
    at += group
    bounds = matrix(floats, at, 2, i)
    at += 2 * i
    held = matrix(floats, at, 2, i)
    at += 2 * i
    Z = matrix(floats, at, n, wide)
    at += n * wide
    HZ = matrix(floats, at, n, wide)
    at += n * wide
    CZ = matrix(floats, at, i, wide)
    at += i * wide
    decided = Decided(Reflections(V, squares, ints[:group]), vectors[0])
    return Room(
        decided,
        X,
        right,
        bounds,
        held,
        Z,
        HZ,
        CZ,
        vectors[1],
        vectors[2],
        floats[at:],
        ints[group:],
    )


@kernel
def in_order(problem: Problem, starts: IntArray, x: Array, room: Room) -> int:
    """The point x; whether there is one, and all levels are met. Steps come in room.ints[0].

    Level k has the rows from starts[k] to starts[k + 1].
    """
    room.ints[0] = 0
    status = pass_through(problem, starts, x, room, True)
    if status == NO_POINT:
        status = pass_through(problem, starts, x, room, False)
    return status


@kernel
def pass_through(problem: Problem, starts: IntArray, x: Array, room: Room, exactly: bool) -> int:
    """Level after level, then the cost.

    `exactly`: levels that equalities allow to be met are met without a program of their own; there
    is no point where inequalities do not let them.
    """
    for i in range(problem.low.size):
        room.bounds[0, i] = problem.low[i]
        room.bounds[1, i] = problem.high[i]
    least = put_group(problem.E, problem.e, 0, problem.e.size, room)
    rank, missed = decide(room.X, room.right, problem.e.size, 0, _RANK * least, room.decided)
    if not missed <= _EQUAL:
        return NO_POINT
    status = MET if exactly else NEAREST
    reached = False
    for level in range(starts.size - 1):
        first = starts[level]
        k = starts[level + 1] - first
        size = put_group(problem.J, problem.r, first, k, room)
        if exactly:
            new, missed = decide(room.X, room.right, k, rank, _RANK * size, room.decided)
            if missed <= _EQUAL:
                rank = new
                continue
            put_group(problem.J, problem.r, first, k, room)
        status = NEAREST
        new, missed = decide(room.X, room.right, k, rank, _TASK_RANK * size, room.decided)
        if not nearest(problem, room, rank, new, k, size):
            return NEAREST if reached and not exactly else NO_POINT
        rank = new
        reached = True
        admit(problem.C, room)
        for j in range(x.size):
            x[j] = room.found[j]
    if not best(problem, room, rank):
        return NEAREST if reached and not exactly else NO_POINT
    for j in range(x.size):
        x[j] = room.found[j]
    return status


@inlined
def put_group(J: Array, r: Array, first: int, k: int, room: Room) -> float:
    """Rows become columns; the largest entry."""
    size = NOTHING
    X = room.X
    columns = whole_eights(k)
    for j in range(k):
        room.right[j] = r[first + j]
        for c in range(X.shape[0]):
            X[c, j] = J[first + j, c]
            size = max(size, abs(J[first + j, c]))
    for j in range(k, columns):
        for c in range(X.shape[0]):
            X[c, j] = 0.0
    return size


@inlined
def admit(C: Array, room: Room) -> None:
    """Inequalities that a point which was found satisfies exactly: rounding must not lose it."""
    for i in range(C.shape[0]):
        value = times(C, i, room.found)
        room.bounds[0, i] = min(room.bounds[0, i], value)
        room.bounds[1, i] = max(room.bounds[1, i], value)


@inlined
def times(C: Array, i: int, x: Array) -> float:
    total = 0.0
    for c in range(x.size):
        total += C[i, c] * x[c]
    return total


@merged
def active_of(n: int, m: int, floats: Array, ints: IntArray) -> Active:
    """Name what a program works in."""
    rows = whole_eights(m)
    vectors = matrix(floats, n * n, 8, n)
    at = n * n + 8 * n
    values = matrix(floats, at, 1, rows)
    at += rows
    u = floats[at : at + n + 1]
    return Active(
        matrix(floats, 0, n, n),
        vectors[0],
        vectors[1],
        vectors[2],
        u,
        vectors[3],
        values,
        ints[:n],
        ints[n : 2 * n],
        ints[2 * n : 2 * n + m],
    )


@kernel
def put_program(C: Array, free: int, room: Room, G: Array) -> bool:
    """Constraints on free motions, of unit length, as columns of G; False where none is left.

    A row that nothing moves holds as it is, or does not.
    """
    held = room.held
    put_product(C, room.Z, whole_eights(free), room.CZ)
    for k in range(G.shape[0]):
        for i in range(C.shape[0], G.shape[1]):
            G[k, i] = 0.0
    for i in range(C.shape[0]):
        at = times(C, i, room.x0)
        square = 0.0
        largest = 0.0
        for k in range(free):
            square += room.CZ[i, k] * room.CZ[i, k]
        for c in range(C.shape[1]):
            largest = max(largest, abs(C[i, c]))
        low = room.bounds[0, i] - at
        high = room.bounds[1, i] - at
        scale = 0.0
        if math.sqrt(square) > _FLAT * largest:
            scale = 1.0 / math.sqrt(square)
            held[0, i] = scale * low
            held[1, i] = scale * high
        else:
            slack = _EQUAL * (1.0 + abs(at))
            if not (low <= slack and high >= -slack):
                return False
            held[0, i] = -math.inf
            held[1, i] = math.inf
        for k in range(free):
            G[k, i] = scale * room.CZ[i, k]
    return True


@inlined
def solve_program(problem: Problem, room: Room, J: Array, c: Array, floats: Array) -> bool:
    """The free entries of y into decided.y[- free:] from the factor J and the slope c."""
    free = c.size
    m = problem.C.shape[0]
    rows = whole_eights(m)
    G = matrix(floats, 0, free, rows)
    if not put_program(problem.C, free, room, G):
        return False
    active = active_of(free, m, floats[free * rows :], room.ints[1:])
    y = room.decided.y
    status, steps = dual_active_set(J, c, G, room.held, y[y.size - free :], active)
    room.ints[0] += steps
    total = 0.0
    for k in range(free):
        total += y[y.size - free + k]
    return status == POINT and math.isfinite(total)


@kernel
def nearest(problem: Problem, room: Room, rank: int, new: int, k: int, size: float) -> bool:
    """The motion that misses k rows by least, into `found`; what they see of it stays decided."""
    n = room.found.size
    free = n - rank
    seen = new - rank
    X = room.X
    J = matrix(room.scratch, 0, free, free)
    A = matrix(room.scratch, free * free, seen, seen)
    c = room.scratch[2 * free * free : 2 * free * free + free]
    still = 2.0 * _STILL * size * size
    for a in range(seen):
        for b in range(seen):
            total = still if a == b else 0.0
            for j in range(k):
                total += 2.0 * X[rank + a, j] * X[rank + b, j]
            A[a, b] = total
    for a in range(free):
        c[a] = 0.0
        for b in range(free):
            J[a, b] = 0.0
        J[a, a] = 1.0 / math.sqrt(still)
    for a in range(seen):
        for j in range(k):
            c[a] -= 2.0 * X[rank + a, j] * room.right[room.decided.reflections.order[j]]
    if not inverse_factor_kernel(A, seen, J):
        return False
    put_point(room.decided, rank, room.x0)
    put_free(room.decided.reflections.V, rank, new, room.Z)
    rest = room.scratch[2 * free * free + free :]
    if not solve_program(problem, room, J, c, rest):
        return False
    for j in range(n):
        room.found[j] = room.decided.y[j]
    turn_out(room.decided.reflections.V, new, room.found)
    return True


@kernel
def best(problem: Problem, room: Room, rank: int) -> bool:
    """The motion of least cost, into `found`."""
    n = room.found.size
    free = n - rank
    put_point(room.decided, rank, room.x0)
    for j in range(n):
        room.found[j] = room.x0[j]
    if free == 0:
        return inside(problem.C, room)
    put_free(room.decided.reflections.V, rank, rank, room.Z)
    put_product(problem.H, room.Z, whole_eights(free), room.HZ)
    A = matrix(room.scratch, free * free, free, free)
    J = matrix(room.scratch, 0, free, free)
    c = room.scratch[2 * free * free : 2 * free * free + free]
    for a in range(free):
        c[a] = 0.0
        for b in range(free):
            A[a, b] = 0.0
    for j in range(n):
        slope = problem.f[j]
        for a in range(free):
            c[a] += room.Z[j, a] * slope + room.HZ[j, a] * room.x0[j]
            factor = room.Z[j, a]
            for b in range(a + 1):
                A[a, b] += factor * room.HZ[j, b]
    if not inverse_factor_kernel(A, free, J):
        return False
    rest = room.scratch[2 * free * free + free :]
    if not solve_program(problem, room, J, c, rest):
        return False
    for j in range(n):
        room.found[j] = room.decided.y[j]
    turn_out(room.decided.reflections.V, rank, room.found)
    return True


@inlined
def inside(C: Array, room: Room) -> bool:
    """Whether a single point satisfies the inequalities."""
    for i in range(C.shape[0]):
        value = times(C, i, room.x0)
        slack = _EQUAL * (1.0 + abs(value))
        low = value >= room.bounds[0, i] - slack
        if not (low and value <= room.bounds[1, i] + slack):
            return False
    return True
