"""What motors can do at a state, compiled: the tables that `ControlState` names."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel, merged
from spatialops.algebra.column_reflections import whole_eights
from spatialops.algebra.memory import matrix
from spatialops.algebra.products import put_product
from spatialops.algebra.pseudo_inverse import inverse_factor_kernel
from spatialops.algebra.simd import WIDTH, load, zeros
from spatialops.algebra.simd_parts import load_first, store_first
from spatialops.control.projected.projection_kernel import (
    Projected,
    factoring_of,
    ints_of,
    numbers_of,
    project,
    projected_of,
)

SINGULAR = -1


class Mechanism(NamedTuple):
    """A mechanism and its tasks at a state."""

    M: Array  # (n, n)
    bias: Array  # (n,) forces at zero acceleration
    A: Array  # (m, n) rows that hold
    drift: Array  # (m,) their Adot v
    J: Array  # (l, n) of tasks
    right: Array  # (l,) goal less drift


class Controls(NamedTuple):
    """Tables of k = n - rank admissible motions, p motors, l tasks and m multipliers."""

    half: Array  # (k, n)
    outside: Array  # (n,)
    load: Array  # (n,) the force that `outside` alone asks for
    drive: Array  # (k, p)
    xi: Array  # (k,) load of admissible motions
    task_map: Array  # (l, k)
    along: Array  # (l, k) the same of an orthonormal basis
    T: Array  # (l, p)
    t: Array  # (l,)
    F: Array  # (m, p)
    f: Array  # (m,)


@merged
def own_numbers(m: int, n: int, p: int, tasks: int) -> int:
    """Numbers of `controls_of`, with those of any rank."""
    return n * n + 2 * n + n * p + n + tasks * (2 * n + p + 1) + m * (p + 1)


@lru_cache
def room_for(m: int, n: int, p: int, tasks: int) -> tuple[int, int]:
    """Numbers and integers that `control_kernel` works in."""
    wide = int(whole_eights(n))
    own = int(own_numbers(m, n, p, tasks))
    return own + numbers_of(m, n) + 2 * n * wide + 2 * n * n + m * n, ints_of(m, n)


@inlined
def controls_of(k: int, m: int, n: int, p: int, tasks: int, floats: Array) -> Controls:
    """Name the tables, at the start of the memory."""
    half = matrix(floats, 0, k, n)
    at = k * n
    vectors = matrix(floats, at, 2, n)
    at += 2 * n
    drive = matrix(floats, at, k, p)
    at += k * p
    xi = floats[at : at + k]
    at += k
    task_map = matrix(floats, at, tasks, k)
    at += tasks * k
    along = matrix(floats, at, tasks, k)
    at += tasks * k
    T = matrix(floats, at, tasks, p)
    at += tasks * p
    t = floats[at : at + tasks]
    at += tasks
    F = matrix(floats, at, m, p)
    at += m * p
    f = floats[at : at + m]
    return Controls(half, vectors[0], vectors[1], drive, xi, task_map, along, T, t, F, f)


@inlined
def put_outside(given: Mechanism, found: Projected, table: Controls) -> None:
    """-A^+ Adot v, and the force h + M times it."""
    n = given.bias.size
    for i in range(n):
        total = 0.0
        for j in range(given.drift.size):
            total -= found.pinv[i, j] * given.drift[j]
        table.outside[i] = total
    for i in range(n):
        table.load[i] = given.bias[i]
    for j in range(n):  # M is symmetric: its rows are its columns
        for i in range(n):
            table.load[i] += given.M[j, i] * table.outside[j]


@kernel
def half_kernel(M: Array, N: Array, half: Array, MN: Array, squares: Array) -> bool:
    """Rows L^-1 N^T with N^T M N = L L^T, of as many columns of N as rows of `half`.

    `MN` (n, k in whole eights) and `squares` (2 k, k) are scratch; the second half of that is L^-1.
    False where M is not positive definite there.
    """
    k, n = half.shape
    A = squares[:k]
    factor = squares[k:]
    put_product(M, N, k, MN)
    for a in range(k):
        for b in range(0, a + 1, WIDTH):
            row = zeros()
            for i in range(n):
                row = row + N[i, a] * load(MN, i, b)
            store_first(A[a], b, k - b, row)
    if not inverse_factor_kernel(A, k, factor):
        return False
    for a in range(k):
        for i in range(n):
            half[a, i] = N[i, a]
    for a in range(k - 1, -1, -1):
        for i in range(0, n, WIDTH):
            row = zeros()
            for b in range(a + 1):
                row = row + factor[a, b] * load_first(half[b], i, n - i)
            store_first(half[a], i, n - i, row)
    return True


@inlined
def put_factored(factor: Array, k: int, x: Array, out: Array) -> None:
    """L^-1 x of k numbers; `out` may be x."""
    for a in range(k - 1, -1, -1):
        total = 0.0
        for b in range(a + 1):
            total += factor[a, b] * x[b]
        out[a] = total


@inlined
def put_motions(
    given: Mechanism, found: Projected, motors: IntArray, table: Controls, factor: Array
) -> None:
    """What motors, loads and tasks are along admissible motions, half = L^-1 N^T."""
    half = table.half
    k, n = half.shape
    for a in range(k):
        for j in range(motors.size):
            table.drive[a, j] = half[a, motors[j]]
    put_along(found.basis, table.load, table.xi)
    put_factored(factor, k, table.xi, table.xi)
    for r in range(given.right.size):
        total = given.right[r]
        for i in range(n):
            total -= given.J[r, i] * table.outside[i]
        put_along(found.basis, given.J[r], table.along[r])
        put_factored(factor, k, table.along[r], table.task_map[r])
        for a in range(k):
            total += table.task_map[r, a] * table.xi[a]
        table.t[r] = total
    put_product(table.task_map, table.drive, motors.size, table.T)


@inlined
def put_along(N: Array, x: Array, out: Array) -> None:
    """N^T x of as many columns of N, whose lines are of whole registers, as `out` has numbers."""
    for a in range(0, out.size, WIDTH):
        row = zeros()
        for i in range(x.size):
            row = row + x[i] * load(N, i, a)
        store_first(out, a, out.size - a, row)


@inlined
def put_multipliers(
    found: Projected, motors: IntArray, table: Controls, MN: Array, W: Array, factor: Array
) -> None:
    """F u + f: -(A^+)^T S (u - load), S = 1 - M half^T half; W (m, k) is (A^+)^T M half^T."""
    k, n = table.half.shape
    p = motors.size
    for r in range(table.f.size):
        for a in range(0, k, WIDTH):
            row = zeros()
            for i in range(n):
                row = row + found.pinv[i, r] * load(MN, i, a)
            store_first(W[r], a, k - a, row)
        put_factored(factor, k, W[r], W[r])
        total = 0.0
        for i in range(n):
            total += found.pinv[i, r] * table.load[i]
        for a in range(k):
            total -= W[r, a] * table.xi[a]
        table.f[r] = total
        for j in range(p):
            table.F[r, j] = -found.pinv[motors[j], r]
        for j in range(0, p, WIDTH):
            row = load_first(table.F[r], j, p - j)
            for a in range(k):
                row = row + W[r, a] * load_first(table.drive[a], j, p - j)
            store_first(table.F[r], j, p - j, row)


@kernel
def control_kernel(
    mechanism: tuple[Array, ...], motors: IntArray, share: float, floats: Array, ints: IntArray
) -> int:
    """Tables of `controls_of` for the rank that is returned, then those of `projected_of`.

    SINGULAR where the mass matrix is not positive definite on admissible motions.
    """
    given = Mechanism(*mechanism)
    m, n = given.A.shape
    p = motors.size
    tasks = given.right.size
    own = own_numbers(m, n, p, tasks)
    found = projected_of(m, n, floats[own:])
    rank = project(given.A, share, found, factoring_of(m, n, floats[own:], ints))
    k = n - rank
    table = controls_of(k, m, n, p, tasks, floats)
    rest = floats[floats.size - (2 * n * whole_eights(n) + 2 * n * n + m * n) :]
    wide = whole_eights(n)
    MN = matrix(rest, 0, n, wide)
    squares = matrix(rest, n * wide, 2 * k, k)
    put_outside(given, found, table)
    if not half_kernel(given.M, found.basis, table.half, MN, squares):
        return SINGULAR
    factor = squares[k:]
    put_motions(given, found, motors, table, factor)
    at = n * wide + 2 * n * n
    put_multipliers(found, motors, table, MN, matrix(rest, at, m, k), factor)
    return rank
