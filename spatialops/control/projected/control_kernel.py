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
        total = given.bias[i]
        for j in range(n):
            total += given.M[i, j] * table.outside[j]
        table.load[i] = total


@kernel
def half_kernel(M: Array, N: Array, half: Array, MN: Array, squares: Array) -> bool:
    """Rows L^-1 N^T with N^T M N = L L^T, of as many columns of N as rows of `half`.

    `MN` is as large as N, `squares` (2 k, k) scratch. False where M is not positive definite there.
    """
    k, n = half.shape
    A = squares[:k]
    factor = squares[k:]
    put_product(M, N, k, MN)
    for a in range(k):
        for b in range(k):
            A[a, b] = 0.0
    for i in range(n):
        for a in range(k):
            for b in range(a + 1):
                A[a, b] += N[i, a] * MN[i, b]
    if not inverse_factor_kernel(A, k, factor):
        return False
    for a in range(k):
        for i in range(n):
            total = 0.0
            for b in range(a + 1):
                total += factor[a, b] * N[i, b]
            half[a, i] = total
    return True


@inlined
def put_motions(given: Mechanism, found: Projected, motors: IntArray, table: Controls) -> None:
    """What motors, loads and tasks are along admissible motions."""
    half = table.half
    k, n = half.shape
    for a in range(k):
        for j in range(motors.size):
            table.drive[a, j] = half[a, motors[j]]
        total = 0.0
        for i in range(n):
            total += half[a, i] * table.load[i]
        table.xi[a] = total
    for r in range(given.right.size):
        total = given.right[r]
        for i in range(n):
            total -= given.J[r, i] * table.outside[i]
        for a in range(k):
            table.task_map[r, a] = 0.0
            table.along[r, a] = 0.0
            for i in range(n):
                table.task_map[r, a] += given.J[r, i] * half[a, i]
                table.along[r, a] += given.J[r, i] * found.basis[i, a]
            total += table.task_map[r, a] * table.xi[a]
        table.t[r] = total
    put_product(table.task_map, table.drive, motors.size, table.T)


@inlined
def put_multipliers(
    given: Mechanism, found: Projected, motors: IntArray, table: Controls, MH: Array, W: Array
) -> None:
    """F u + f: -(A^+)^T S (u - load), S = 1 - M half^T half."""
    half = table.half
    k, n = half.shape
    for i in range(n):
        for a in range(k):
            MH[i, a] = 0.0
        for j in range(n):
            factor = given.M[i, j]
            if factor != 0.0:
                for a in range(k):
                    MH[i, a] += factor * half[a, j]
    for r in range(given.drift.size):
        for a in range(k):
            W[r, a] = 0.0
        total = 0.0
        for i in range(n):
            factor = found.pinv[i, r]
            total += factor * table.load[i]
            for a in range(k):
                W[r, a] += factor * MH[i, a]
        for j in range(motors.size):
            table.F[r, j] = -found.pinv[motors[j], r]
        for a in range(k):
            total -= W[r, a] * table.xi[a]
            for j in range(motors.size):
                table.F[r, j] += W[r, a] * table.drive[a, j]
        table.f[r] = total


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
    put_motions(given, found, motors, table)
    at = n * wide + 2 * n * n
    put_multipliers(given, found, motors, table, MN, matrix(rest, at, m, k))
    return rank
