"""The condensed dictionary of pivoting methods: basic variables by the others; their exchange.

x_i = D[i, n+1] + sum_j D[i, j] x_j, where column n belongs to an artificial variable or a
parameter; w_i is named i, z_i n + i, the artificial variable 2 n.
"""

from __future__ import annotations

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel

_PIVOT = 1e-11  # entries of the free rows, relative to the largest, that are no pivots but rounding


@kernel
def exchange(D: Array, row: int, column: int) -> None:
    """Swap the basic variable of `row` with the non-basic one of `column`."""
    n, width = D.shape
    inverse = 1.0 / D[row, column]
    for j in range(width):
        D[row, j] *= -inverse
    D[row, column] = inverse
    for i in range(n):
        f = D[i, column]
        if i == row or f == 0.0:
            continue
        D[i, column] = 0.0
        for j in range(width):
            D[i, j] += f * D[row, j]


@kernel
def swap_names(basic: IntArray, others: IntArray, row: int, column: int) -> None:
    basic[row], others[column] = others[column], basic[row]


@kernel
def column_of(others: IntArray, name: int) -> int:
    """Column of a non-basic variable."""
    for j in range(others.size):
        if others[j] == name:
            return j
    return -1


@kernel
def complement_of(name: int, n: int) -> int:
    return name - n if name >= n else name + n


@inlined
def mark_basic(basic: IntArray, n: int, active: IntArray) -> None:
    """Mark in active[:n] which z_i are basic."""
    for i in range(n):
        active[i] = 0
    for i in range(n):
        if n <= basic[i] < 2 * n:
            active[basic[i] - n] = 1


@kernel
def eliminate_free(D: Array, n_free: int, basic: IntArray, others: IntArray) -> int:
    """Pivot the free z into the basis by full pivoting; returns how many equalities are left over.

    Where the rest of the block is singular, an equality and a free variable that are left go
    together through a complementary index. An equality still left depends on the others, or
    contradicts them: the residual will tell.
    """
    n = D.shape[0]
    largest = 0.0
    left = n_free
    for i in range(n_free):
        for j in range(n):
            largest = max(largest, abs(D[i, j]))
    while left > 0:
        row = -1
        column = -1
        best = _PIVOT * largest
        for i in range(n_free):
            for j in range(n):
                if basic[i] < n_free and n <= others[j] < n + n_free and abs(D[i, j]) > best:
                    row = i
                    column = j
                    best = abs(D[i, j])
        if row >= 0:
            exchange(D, row, column)
            swap_names(basic, others, row, column)
        elif not eliminate_through_complement(D, n_free, _PIVOT * largest, basic, others):
            return left
        left -= 1
    return left


@kernel
def eliminate_through_complement(
    D: Array, n_free: int, least: float, basic: IntArray, others: IntArray
) -> bool:
    """Pivot an equality i and a free variable j through the pair k of largest |D_ik D_kj|.

    False if there is none. The 2 x 2 block [[0, D_ik], [D_kj, D_kk]] is exchanged, a principal
    transformation of pair k: its two variables have changed roles afterwards. Rows are swapped so
    that the free variable stands among the first ones.
    """
    n = D.shape[0]
    equality = -1
    pair = -1
    free = -1
    best = 0.0
    for k in range(n_free, n):
        column = column_of(others, complement_of(basic[k], n))
        for i in range(n_free):
            if basic[i] >= n_free or abs(D[i, column]) <= least:
                continue
            for j in range(n):
                if (
                    n <= others[j] < n + n_free
                    and abs(D[k, j]) > least
                    and abs(D[i, column] * D[k, j]) > best
                ):
                    equality = i
                    pair = k
                    free = j
                    best = abs(D[i, column] * D[k, j])
    if equality < 0:
        return False
    column = column_of(others, complement_of(basic[pair], n))
    exchange(D, equality, column)
    swap_names(basic, others, equality, column)
    exchange(D, pair, free)
    swap_names(basic, others, pair, free)
    for j in range(D.shape[1]):
        D[equality, j], D[pair, j] = D[pair, j], D[equality, j]
    basic[equality], basic[pair] = basic[pair], basic[equality]
    return True


@inlined
def largest_of(b: Array) -> float:
    """Largest |b|, or 1 where b is zero."""
    largest = 0.0
    for i in range(b.size):
        largest = max(largest, abs(b[i]))
    return largest if largest > 0.0 else 1.0


@kernel
def dictionary_point(D: Array, b: Array, basic: IntArray, n_free: int, z: Array) -> None:
    """z as the dictionary has it."""
    n, unit = z.size, largest_of(b)
    for i in range(n):
        z[i] = 0.0
    for i in range(n):
        if n <= basic[i] < 2 * n:
            j = basic[i] - n
            z[j] = unit * (D[i, n + 1] if j < n_free else max(D[i, n + 1], 0.0))


@kernel
def begin(
    A: Array, b: Array, n_free: int, cover: Array, D: Array, basic: IntArray, others: IntArray
) -> None:
    """The first dictionary: w by z, free z pivoted in, `cover` in column n, b of size one."""
    n, unit = b.size, 1.0 / largest_of(b)  # ties are measured against max |b| = 1
    for i in range(n):
        for j in range(n):
            D[i, j] = A[i, j]
        D[i, n], D[i, n + 1] = 0.0, unit * b[i]
        basic[i], others[i] = i, n + i
    others[n] = 2 * n
    if n_free > 0:
        eliminate_free(D, n_free, basic, others)
    for i in range(n_free, n):
        D[i, n] = cover[i]
