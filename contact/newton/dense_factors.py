"""The linear problem of one set of statuses as one dense matrix, in registers of eight numbers.

R G^T + eps I of the unknowns, or G^T R + eps I of the columns where these are fewer; rows rho and
gamma are spread out, a batch of columns or of unknowns at a time, so that each is one product of
two dense tables. LU with partial pivoting, since sliding is not symmetric. The matrix is kept by
columns: then a column of L, which the elimination takes from all others, and the columns that both
substitutions take from the right side, lie in a row.
"""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.simd import WIDTH, load, spread, store
from spatialops.contact.newton.rows import (
    BATCH,
    ContactRows,
    DenseScratch,
    NewtonScratch,
    whole_registers,
)
from spatialops.contact.rows import COUNT_A, FIRST_A


@inlined
def solves_for_columns(count: int, columns: int) -> bool:
    """Whether there are fewer columns than unknowns, so that dy = G^T x is solved for."""
    return count > columns


@kernel
def factor_dense(rows: ContactRows, eps: float, count: int, scratch: NewtonScratch) -> None:
    """Factors of eps I + R G^T (count, count), or of eps I + G^T R (columns, columns)."""
    dense, columns = scratch.dense, scratch.y.size
    by_columns = solves_for_columns(count, columns)
    n = columns if by_columns else count
    begin(dense, n, eps)
    total = count if by_columns else columns
    for low in range(0, total, BATCH):
        inner = min(BATCH, total - low)
        clear(dense, n, inner)
        for c in range(count):
            if by_columns:
                if low <= c < low + inner:
                    spread_unknown(rows, scratch, c, c - low)
            else:
                spread_columns(rows, scratch, c, (low, low + inner))
        add_product(dense, n, inner)
    factor(dense, n)


@inlined
def begin(dense: DenseScratch, n: int, eps: float) -> None:
    """eps I."""
    for i in range(n):
        for j in range(whole_registers(n)):
            dense.M[i, j] = 0.0
        dense.M[i, i] = eps


@inlined
def clear(dense: DenseScratch, n: int, inner: int) -> None:
    """No entry of this batch yet."""
    for i in range(n):
        for k in range(inner):
            dense.left[i, k] = 0.0
    for k in range(inner):
        for j in range(whole_registers(n)):
            dense.right[k, j] = 0.0


@inlined
def spread_unknown(rows: ContactRows, scratch: NewtonScratch, c: int, place: int) -> None:
    """Rows of unknown c, for (G^T R)^T = R^T G: rho in a column on the left, gamma in a row."""
    places, i = rows.L.places, scratch.contacts[c]
    at = scratch.starts[c]
    for side in range(2):
        first, size = places[i, FIRST_A + 2 * side], places[i, COUNT_A + 2 * side]
        for k in range(size):
            scratch.dense.left[first + k, place] = scratch.rho[0, at + k]
            scratch.dense.right[place, first + k] = scratch.gamma[at + k]
        at += size


@inlined
def spread_columns(
    rows: ContactRows, scratch: NewtonScratch, c: int, batch: tuple[int, int]
) -> None:
    """What rows of unknown c have in some columns, for (R G^T)^T = G R^T."""
    places, i = rows.L.places, scratch.contacts[c]
    at = scratch.starts[c]
    for side in range(2):
        first, size = places[i, FIRST_A + 2 * side], places[i, COUNT_A + 2 * side]
        for k in range(max(first, batch[0]), min(first + size, batch[1])):
            scratch.dense.left[c, k - batch[0]] = scratch.gamma[at + k - first]
            scratch.dense.right[k - batch[0], c] = scratch.rho[0, at + k - first]
        at += size


@kernel
def add_product(dense: DenseScratch, n: int, inner: int) -> None:
    """M += left right, four rows at a time."""
    M = dense.M
    left, right = dense.left, dense.right
    whole = n - n % 4
    for j in range(0, n, WIDTH):
        for i in range(0, whole, 4):
            a = load(M, i, j)
            b = load(M, i + 1, j)
            c = load(M, i + 2, j)
            d = load(M, i + 3, j)
            for k in range(inner):
                row = load(right, k, j)
                a = a + spread(left, i, k) * row
                b = b + spread(left, i + 1, k) * row
                c = c + spread(left, i + 2, k) * row
                d = d + spread(left, i + 3, k) * row
            store(M, i, j, a)
            store(M, i + 1, j, b)
            store(M, i + 2, j, c)
            store(M, i + 3, j, d)
        for i in range(whole, n):
            a = load(M, i, j)
            for k in range(inner):
                a = a + spread(left, i, k) * load(right, k, j)
            store(M, i, j, a)


@kernel
def factor(dense: DenseScratch, n: int) -> None:
    """P M = L U in place; the diagonal is inverted, and zero where nothing is left to divide by.

    `order` has the rows in their new order. Multipliers of a column stand in `line` behind zeros,
    so that what has been eliminated before, in the same register, stays.
    """
    M, line = dense.M, dense.line
    for i in range(n):
        dense.order[i] = i
    for c in range(n):
        put_pivot(dense, n, c)
        pivot = M[c, c]
        inverse = 1.0 / pivot if pivot != 0.0 else 0.0
        low = c - c % WIDTH
        for i in range(low, c + 1):
            line[0, i - low] = 0.0
        for i in range(c + 1, n):
            M[c, i] *= inverse
            line[0, i - low] = M[c, i]
        M[c, c] = inverse
        for i in range(n, whole_registers(n)):
            line[0, i - low] = 0.0
        for j in range(c + 1, n):
            factor_j = spread(M, j, c)
            for i in range(low, n, WIDTH):
                store(M, j, i, load(M, j, i) - factor_j * load(line, 0, i - low))


@inlined
def put_pivot(dense: DenseScratch, n: int, c: int) -> None:
    """Exchange rows, whose entries stand in a column here, so that the largest is the pivot."""
    M, order = dense.M, dense.order
    best = c
    for i in range(c + 1, n):
        if abs(M[c, i]) > abs(M[c, best]):
            best = i
    if best == c:
        return
    order[c], order[best] = order[best], order[c]
    for j in range(n):
        M[j, c], M[j, best] = M[j, best], M[j, c]


@kernel
def substitute_dense(dense: DenseScratch, n: int, right: Array, out: Array) -> None:
    """Solve with the factors; what had no pivot is zero."""
    M, line = dense.M, dense.line
    for i in range(n):
        line[0, i] = right[dense.order[i]]
    for c in range(n):
        take_column(dense, c, c + 1, n)
    for c in range(n - 1, -1, -1):
        line[0, c] *= M[c, c]
        take_column(dense, c, 0, c)
    for i in range(n):
        out[i] = line[0, i]


@inlined
def take_column(dense: DenseScratch, c: int, low: int, high: int) -> None:
    """Take column c of the factors, from one row to another, times x_c from the right side."""
    M, line = dense.M, dense.line
    x = line[0, c]
    whole = min(whole_registers(low), high)
    last = max(high - high % WIDTH, whole)
    for i in range(low, whole):
        line[0, i] -= M[c, i] * x
    for i in range(whole, last, WIDTH):
        store(line, 0, i, load(line, 0, i) - spread(line, 0, c) * load(M, c, i))
    for i in range(last, high):
        line[0, i] -= M[c, i] * x
