"""From a controller's tables to the programs that it tries, compiled: `Assembly` says which."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

from spatialops._arrays import NOTHING, Array, IntArray
from spatialops._compile.held import held
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.column_reflections import (
    Decided,
    Reflections,
    decide,
    make_triangular,
    put_free,
    put_point,
    whole_eights,
)
from spatialops.algebra.memory import matrix
from spatialops.control.friction_cone.optimality import Rows, are_finite
from spatialops.control.projected.control_kernel import Controls, controls_of, own_numbers
from spatialops.control.projected.projection_kernel import projected_of

# Programs, in the order in which they are tried.
STRICT = 0
SOFT_POSTURE = 1
TRADE_OFF = 2

NOT_FINITE = -1

# Singular values that count as zero.
_RANK = 1e-8  # of tasks, relative to the largest
_POSTURE_RANK = 1e-6  # of what tasks leave free, relative to the motors' whole effect
_TRADED_RANK = 1e-4  # of tasks that are costs
_SWEEPS = 30  # of rotations, more than enough
_SMALL_ANGLE = 1e-30  # square of a part of the diagonal that is rounding


class Tables(NamedTuple):
    """What a program is made of."""

    T: Array  # (l, p) T u = t: tasks
    t: Array  # (l,)
    drive: Array  # (k, p) admissible motions G u - xi
    along: Array  # (l, k) tasks along an orthonormal basis of admissible motions
    posture: Array  # (k,) G u wanted; (0,): nothing is
    F: Array  # (m, p) forces F u + f + I y
    f: Array  # (m,)
    internal: Array  # (m, n - p) I
    bounded: Array  # (b, m of contacts) rows of bounds of forces
    offsets: Array  # (b,)
    mu: Array  # (c,)
    pressed: Array  # (s,) forces that are given
    goals: Array  # (3 c,) or (0,); NaN where free
    weights: Array  # (p,) of losses
    limits: Array  # (p,) of motors
    scale: Weights


class Weights(NamedTuple):
    """Numbers of a program."""

    load: float  # usual one of a contact, N
    tasks: float  # where they are costs
    posture: float


class Counts(NamedTuple):
    """How many there are of what a program is made of."""

    contacts: int
    tasks: int
    rows: int  # that hold


class Places(NamedTuple):
    """Which rows of forces are what."""

    strong: IntArray  # motors with a limit
    forces: IntArray  # (3 c,)
    pressed: IntArray  # (s,)


@inlined
def put_bounds(given: Tables, at: Places, rows: Rows) -> None:
    """Limits of motors, bounds of forces, cones, and their scales."""
    p = given.limits.size
    n = rows.g.size
    ends = 2 * at.strong.size
    for j in range(rows.d.size):
        for a in range(n):
            rows.D[j, a] = 0.0
    for k in range(at.strong.size):
        motor = at.strong[k]
        rows.D[k, motor] = -1.0
        rows.D[at.strong.size + k, motor] = 1.0
        for j in (k, at.strong.size + k):
            rows.d[j] = given.limits[motor]
            rows.scales[j] = given.limits[motor]
    for b in range(given.offsets.size):
        rows.d[ends + b] = given.offsets[b]
        for r in range(given.bounded.shape[1]):
            factor = given.bounded[b, r]
            if factor != 0.0:
                rows.d[ends + b] += factor * given.f[r]
                for a in range(n):
                    rows.D[ends + b, a] += factor * force_entry(given, r, a, p)
    for j in range(ends, rows.scales.size):
        rows.scales[j] = given.scale.load
    for j in range(rows.k.size):
        put_force(given, at.forces[j], rows.K[j], p)
        rows.k[j] = given.f[at.forces[j]]
    for i in range(rows.mu.size):
        rows.mu[i] = given.mu[i]


@inlined
def force_entry(given: Tables, r: int, a: int, p: int) -> float:
    return given.F[r, a] if a < p else given.internal[r, a - p]


@inlined
def put_force(given: Tables, r: int, row: Array, p: int) -> None:
    """Row r of forces on (u, y)."""
    for a in range(row.size):
        row[a] = force_entry(given, r, a, p)


@inlined
def put_force_goals(given: Tables, at: Places, rows: Rows, count: int) -> int:
    """Equalities of forces, from row `count` on; where they end."""
    p = given.limits.size
    for s in range(given.pressed.size):
        put_force(given, at.pressed[s], rows.E[count], p)
        rows.e[count] = given.pressed[s] - given.f[at.pressed[s]]
        count += 1
    for j in range(given.goals.size):
        if math.isfinite(given.goals[j]):
            put_force(given, at.forces[j], rows.E[count], p)
            rows.e[count] = given.goals[j] - given.f[at.forces[j]]
            count += 1
    return count


@inlined
def put_losses(given: Tables, rows: Rows) -> None:
    """H and g of the losses u.W u."""
    n = rows.g.size
    for a in range(n):
        rows.g[a] = 0.0
        for b in range(n):
            rows.H[a, b] = 0.0
    for a in range(given.weights.size):
        rows.H[a, a] = 2.0 * given.weights[a]


@inlined
def put_tasks(given: Tables, rows: Rows) -> int:
    """Tasks as equalities."""
    p = given.limits.size
    for j in range(given.t.size):
        rows.e[j] = given.t[j]
        for a in range(rows.g.size):
            rows.E[j, a] = given.T[j, a] if a < p else 0.0
    return given.t.size


@inlined
def add_squares(rows: Rows, weight: float, A: Array, a: Array) -> None:
    """Add weight |A u - a|^2 to the cost."""
    p = A.shape[1]
    for j in range(a.size):
        for c in range(p):
            factor = 2.0 * weight * A[j, c]
            rows.g[c] -= factor * a[j]
            if factor != 0.0:
                for b in range(p):
                    rows.H[c, b] += factor * A[j, b]


@inlined
def longest_column(X: Array, columns: int) -> float:
    longest = 0.0
    for c in range(columns):
        square = 0.0
        for i in range(X.shape[0]):
            square += X[i, c] * X[i, c]
        longest = max(longest, square)
    return math.sqrt(longest)


@kernel
def put_posture(given: Tables, rows: Rows, count: int, floats: Array, ints: IntArray) -> int:
    """V^T Z^T u = s: the least |G u - wanted| among all u that meet the tasks, as equalities.

    With G Z P = Q R the rows are R P^T Z^T, and s = Q^T (wanted - G u) of one such u.
    """
    k, p = given.drive.shape
    tasks = given.t.size
    group = whole_eights(tasks)
    wide = whole_eights(p)
    V = matrix(floats, 0, p, p)
    at = p * p
    X = matrix(floats, at, p, group)
    at += p * group
    Z = matrix(floats, at, p, wide)
    at += p * wide
    U = matrix(floats, at, k, k)
    at += k * k
    moves = matrix(floats, at, k, wide)
    at += k * wide
    u = floats[at : at + p]
    y = floats[at + p : at + 2 * p]
    left = floats[at + 2 * p : at + 2 * p + k]
    at += 2 * p + k
    right = floats[at : at + tasks]
    squares = floats[at + tasks : at + tasks + max(group, wide)]
    for j in range(group):
        for a in range(p):
            X[a, j] = given.T[j, a] if j < tasks else 0.0
    for j in range(tasks):
        right[j] = given.t[j]
    decided = Decided(Reflections(V, squares, ints), y)
    rank, _ = decide(X, right, tasks, 0, _RANK * longest_column(X, tasks), decided)
    put_point(decided, rank, u)
    put_free(V, rank, rank, Z)
    size = 0.0
    for i in range(k):
        left[i] = given.posture[i]
        for c in range(wide):
            moves[i, c] = 0.0
        for a in range(p):
            factor = given.drive[i, a]
            size += factor * factor
            left[i] -= factor * u[a]
            for c in range(p - rank):
                moves[i, c] += factor * Z[a, c]
    reflections = Reflections(U, squares, ints)
    found = make_triangular(moves, p - rank, 0, _POSTURE_RANK * math.sqrt(size), reflections)
    for c in range(found):
        part = 0.0
        for i in range(c, k):
            part += U[c, i] * left[i]
        for i in range(c, k):
            left[i] -= part * U[c, i]
    for i in range(found):
        rows.e[count] = left[i]
        for a in range(rows.g.size):
            rows.E[count, a] = 0.0
        for j in range(i, p - rank):
            factor = moves[i, j]
            for a in range(p):
                rows.E[count, a] += factor * Z[a, ints[j]]
        count += 1
    return count


@inlined
def rotate(S: Array, vectors: Array, a: int, b: int) -> None:
    """Bring S[a, b] to zero by a rotation (Jacobi)."""
    theta = 0.5 * (S[b, b] - S[a, a]) / S[a, b]
    t = 1.0 / (abs(theta) + math.sqrt(theta * theta + 1.0))
    if theta < 0.0:
        t = -t
    cosine = 1.0 / math.sqrt(t * t + 1.0)
    sine = t * cosine
    for k in range(S.shape[0]):
        x, y = S[k, a], S[k, b]
        S[k, a] = cosine * x - sine * y
        S[k, b] = sine * x + cosine * y
    for k in range(S.shape[0]):
        x, y = S[a, k], S[b, k]
        S[a, k] = cosine * x - sine * y
        S[b, k] = sine * x + cosine * y
        x, y = vectors[a, k], vectors[b, k]
        vectors[a, k] = cosine * x - sine * y
        vectors[b, k] = sine * x + cosine * y


@kernel
def diagonalize(S: Array, vectors: Array) -> None:
    """Eigenvalues of a symmetric matrix on its diagonal, eigenvectors as rows."""
    n = S.shape[0]
    for a in range(n):
        for b in range(n):
            vectors[a, b] = 1.0 if a == b else 0.0
    for _ in range(_SWEEPS):
        turned = False
        for a in range(n):
            for b in range(a + 1, n):
                if S[a, b] * S[a, b] > _SMALL_ANGLE * abs(S[a, a] * S[b, b]):
                    rotate(S, vectors, a, b)
                    turned = True
        if not turned:
            break


@kernel
def put_trade_off(given: Tables, rows: Rows, floats: Array) -> None:
    """What tasks miss as a cost: weight |d|^2 with d = Lambda^+ (t - T u) ([A] 31-33).

    Lambda = J P, and |Lambda^+ z|^2 is z.(Lambda Lambda^T)^+ z.
    """
    tasks, k = given.along.shape
    p = given.limits.size
    S = matrix(floats, 0, tasks, tasks)
    vectors = matrix(floats, tasks * tasks, tasks, tasks)
    A = matrix(floats, 2 * tasks * tasks, tasks, p)
    a = floats[2 * tasks * tasks + tasks * p : 2 * tasks * tasks + tasks * p + tasks]
    for i in range(tasks):
        for j in range(tasks):
            S[i, j] = 0.0
            for c in range(k):
                S[i, j] += given.along[i, c] * given.along[j, c]
    diagonalize(S, vectors)
    largest = NOTHING
    for i in range(tasks):
        largest = max(largest, S[i, i])
    for i in range(tasks):
        share = 0.0
        if S[i, i] > _TRADED_RANK * _TRADED_RANK * largest:
            share = 1.0 / math.sqrt(S[i, i])
        a[i] = 0.0
        for c in range(p):
            A[i, c] = 0.0
        for j in range(tasks):
            factor = share * vectors[i, j]
            a[i] += factor * given.t[j]
            for c in range(p):
                A[i, c] += factor * given.T[j, c]
    add_squares(rows, given.scale.tasks, A, a)


@kernel
def put_program(
    which: int, given: Tables, at: Places, rows: Rows, floats: Array, ints: IntArray
) -> int:
    """Fill the program's tables; the number of its equalities."""
    put_bounds(given, at, rows)
    put_losses(given, rows)
    count = 0
    if which != TRADE_OFF:
        count = put_tasks(given, rows)
    if which == STRICT and given.posture.size > 0:
        count = put_posture(given, rows, count, floats, ints)
    if which == TRADE_OFF:
        put_trade_off(given, rows, floats)
    if which != STRICT and given.posture.size > 0:
        add_squares(rows, given.scale.posture, given.drive, given.posture)
    return put_force_goals(given, at, rows, count)


@lru_cache
def scratch_of(tasks: int, k: int, p: int, n: int) -> int:
    """Numbers that `assembly_kernel` works in."""
    group, wide = int(whole_eights(tasks)), int(whole_eights(p))
    posture = p * (p + group + wide) + k * (k + wide) + 2 * p + k + tasks + group + wide
    return posture + 2 * tasks * tasks + tasks * p + tasks + k + n


@lru_cache
def places_of(tasks: int, p: int) -> int:
    """Integers that it works in."""
    return max(int(whole_eights(tasks)), int(whole_eights(p)))


class Given(NamedTuple):
    """What does not follow from the tables of a state."""

    mass: Array  # (n, n)
    posture: Array  # (n,) accelerations that are wanted; (0,): none are
    bounded: Array  # as in `Tables`
    offsets: Array
    mu: Array
    pressed: Array
    goals: Array
    weights: Array
    limits: Array


@inlined
def tables_of(
    given: Given, controls: Controls, internal: Array, posture: Array, scale: Weights
) -> Tables:
    """The tables of a program, of which those of the posture are not filled yet."""
    return Tables(
        controls.T,
        controls.t,
        controls.drive,
        controls.along,
        posture,
        controls.F,
        controls.f,
        internal,
        given.bounded,
        given.offsets,
        given.mu,
        given.pressed,
        given.goals,
        given.weights,
        given.limits,
        scale,
    )


@inlined
def put_wanted(given: Given, controls: Controls, push: Array, wanted: Array) -> None:
    """G u that posture wants: N_M^T M a + xi."""
    for i in range(push.size):
        push[i] = 0.0
        for j in range(push.size):
            push[i] += given.mass[i, j] * given.posture[j]
    for a in range(wanted.size):
        total = controls.xi[a]
        for i in range(push.size):
            total += controls.half[a, i] * push[i]
        wanted[a] = total


@inlined
def with_load(scale: Weights, contacts: int, f: Array) -> Weights:
    """With the usual load of a contact in the place of that of all."""
    pushed = scale.load
    for r in range(f.size):
        pushed = max(pushed, abs(f[r]))
    return Weights(pushed / max(contacts, 1), scale.tasks, scale.posture)


@held
def assembly_kernel(
    rows: Rows,
    which: int,
    rank: int,
    known: Array,
    given: Given,
    places: Places,
    scale: Weights,
    counts: Counts,
    floats: Array,
    ints: IntArray,
) -> int:
    """`put_program` of a state whose tables, see `controls_of`, are in `known`; or `NOT_FINITE`.

    The load in `scale` is that of all contacts.
    """
    n = given.mass.shape[0]
    m = counts.rows
    p = given.limits.size
    controls = controls_of(n - rank, m, n, p, counts.tasks, known)
    internal = projected_of(m, n, known[own_numbers(m, n, p, counts.tasks) :]).internal
    wants = min(given.posture.size, 1) * (n - rank)
    posture = floats[n : n + wants]
    if wants > 0:
        put_wanted(given, controls, floats[:n], posture)
    usual = with_load(scale, counts.contacts, controls.f)
    tables = tables_of(given, controls, internal, posture, usual)
    count = put_program(which, tables, places, rows, floats[n + wants :], ints)
    E = rows.E[:count]
    e = rows.e[:count]
    found = rows.H, rows.g, E, e, rows.D, rows.d, rows.K, rows.k, rows.mu, rows.scales
    return count if are_finite(found) else NOT_FINITE
