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
from spatialops.algebra.simd import WIDTH, Lanes, load, spread, store, zeros
from spatialops.algebra.simd_parts import load_first
from spatialops.contact.newton.dense.lines import begin_spans, spread_columns, spread_unknown
from spatialops.contact.newton.rows import (
    BATCH,
    ContactRows,
    DenseScratch,
    NewtonScratch,
    whole_registers,
)

_FOUR = 4  # columns that are substituted at once


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
        begin_spans(dense, inner)
        if by_columns:
            for c in range(low, low + inner):
                spread_unknown(rows, scratch, c, c - low)
        else:
            for c in range(0, count, WIDTH):
                spread_columns(rows, scratch, c, count, (low, low + inner))
        add_product(dense, dense.M, dense.right, n, False)
    factor(dense, n, True)


@inlined
def begin(dense: DenseScratch, n: int, eps: float) -> None:
    """eps I."""
    whole = whole_registers(n)
    for i in range(whole):
        for j in range(0, whole, WIDTH):
            store(dense.M, i, j, zeros())
    for i in range(n):
        dense.M[i, i] = eps


@kernel
def add_product(dense: DenseScratch, M: Array, right: Array, n: int, symmetric: bool) -> None:
    """M += left^T right, eight rows at a time, where both have entries.

    Of what is symmetric only blocks on the diagonal, and those of rows behind their columns.
    """
    left, span = dense.left, dense.span
    for j in range(0, n, WIDTH):
        for i in range(j if symmetric else 0, n, WIDTH):
            a = load(M, i, j)
            b = load(M, i + 1, j)
            c = load(M, i + 2, j)
            d = load(M, i + 3, j)
            e = load(M, i + 4, j)
            f = load(M, i + 5, j)
            g = load(M, i + 6, j)
            h = load(M, i + 7, j)
            low = max(span[0, i // WIDTH], span[0, j // WIDTH])
            for k in range(low, min(span[1, i // WIDTH], span[1, j // WIDTH])):
                row = load(right, k, j)
                a = a + spread(left, k, i) * row
                b = b + spread(left, k, i + 1) * row
                c = c + spread(left, k, i + 2) * row
                d = d + spread(left, k, i + 3) * row
                e = e + spread(left, k, i + 4) * row
                f = f + spread(left, k, i + 5) * row
                g = g + spread(left, k, i + 6) * row
                h = h + spread(left, k, i + 7) * row
            store(M, i, j, a)
            store(M, i + 1, j, b)
            store(M, i + 2, j, c)
            store(M, i + 3, j, d)
            store(M, i + 4, j, e)
            store(M, i + 5, j, f)
            store(M, i + 6, j, g)
            store(M, i + 7, j, h)


@kernel
def factor(dense: DenseScratch, n: int, exchanges: bool) -> None:
    """P M = L U in place; the diagonal is inverted, and zero where nothing is left to divide by.

    `order` has the rows in their new order. Columns are eliminated by twos, from all others in one
    pass. In the register of the diagonal multipliers stand behind zeros, so that what has been
    eliminated before stays. What is symmetric and positive definite needs no rows exchanged.
    """
    M = dense.M
    for i in range(n):
        dense.order[i] = i
    for c in range(0, n, 2):
        low = c - c % WIDTH
        if exchanges:
            put_pivot(dense, n, c)
        inverse = divide_column(M, n, c)
        if c + 1 < n:
            x, multipliers = spread(M, c + 1, c), below(M, c)
            store(M, c + 1, low, load(M, c + 1, low) - x * multipliers)
            for i in range(low + WIDTH, n, WIDTH):
                store(M, c + 1, i, load(M, c + 1, i) - x * load(M, c, i))
            if exchanges:
                put_pivot(dense, n, c + 1)
            second = divide_column(M, n, c + 1)
            take_two(M, n, c)
            M[c + 1, c + 1] = second
        M[c, c] = inverse


@inlined
def divide_column(M: Array, n: int, c: int) -> float:
    """Multipliers of column c; the inverse of its pivot, or zero."""
    inverse = 1.0 / M[c, c] if M[c, c] != 0.0 else 0.0
    low = c - c % WIDTH
    after = below(M, c)
    store(M, c, low, load(M, c, low) - after + inverse * after)
    for i in range(low + WIDTH, n, WIDTH):
        store(M, c, i, inverse * load(M, c, i))
    return inverse


@inlined
def below(M: Array, c: int) -> Lanes:
    """What is below the diagonal in column c, in the register of that; zeros above."""
    low = c - c % WIDTH
    return load(M, c, low) - load_first(M[c], low, c + 1 - low)


@inlined
def take_two(M: Array, n: int, c: int) -> None:
    """Take columns c and c + 1 of L, times what others have in their rows, from all behind them."""
    low = c - c % WIDTH
    one = below(M, c)
    other = below(M, c + 1)
    for j in range(c + 2, n):
        x = spread(M, j, c)
        moved = load(M, j, low) - x * one
        store(M, j, low, moved)
        y = spread(M, j, c + 1)
        store(M, j, low, moved - y * other)
        for i in range(low + WIDTH, n, WIDTH):
            store(M, j, i, load(M, j, i) - x * load(M, c, i) - y * load(M, c + 1, i))


@inlined
def put_pivot(dense: DenseScratch, n: int, c: int) -> None:
    """Exchange rows, whose entries stand in a column here, so that the largest is the pivot."""
    M, order = dense.M, dense.order
    best, most = c, abs(M[c, c])
    for i in range(c + 1, n):
        if abs(M[c, i]) > most:
            best, most = i, abs(M[c, i])
    if best == c:
        return
    order[c], order[best] = order[best], order[c]
    for j in range(n):
        M[j, c], M[j, best] = M[j, best], M[j, c]


@kernel
def substitute_dense(dense: DenseScratch, n: int, right: Array, out: Array) -> None:
    """Solve with the factors; what had no pivot is zero.

    By four columns at a time: a column waits for what the one before leaves of its own row alone.
    """
    line = dense.line
    for i in range(n):
        line[0, i] = right[dense.order[i]]
    for i in range(n, whole_registers(n)):
        line[0, i] = 0.0  # as the columns are that stand for nothing
    for c in range(0, n, _FOUR):
        take_down(dense, n, c)
    for c in range((n - 1) // _FOUR * _FOUR, -1, -_FOUR):
        take_up(dense, c)
    for i in range(n):
        out[i] = line[0, i]


@inlined
def take_down(dense: DenseScratch, n: int, c: int) -> None:
    """Take four columns of L from what is below them on the right side."""
    M, line = dense.M, dense.line
    w = line[0, c]
    x = line[0, c + 1] - M[c, c + 1] * w
    y = line[0, c + 2] - M[c, c + 2] * w - M[c + 1, c + 2] * x
    z = line[0, c + 3] - M[c, c + 3] * w - M[c + 1, c + 3] * x - M[c + 2, c + 3] * y
    low = c - c % WIDTH
    left = load(line, 0, low) - w * below(M, c) - x * below(M, c + 1)
    store(line, 0, low, left - y * below(M, c + 2) - z * below(M, c + 3))
    for i in range(low + WIDTH, n, WIDTH):
        left = load(line, 0, i) - w * load(M, c, i) - x * load(M, c + 1, i)
        store(line, 0, i, left - y * load(M, c + 2, i) - z * load(M, c + 3, i))


@inlined
def take_up(dense: DenseScratch, c: int) -> None:
    """Unknowns of four columns, and these columns of U from what is above them."""
    M, line = dense.M, dense.line
    z = line[0, c + 3] * M[c + 3, c + 3]
    y = (line[0, c + 2] - M[c + 3, c + 2] * z) * M[c + 2, c + 2]
    x = (line[0, c + 1] - M[c + 3, c + 1] * z - M[c + 2, c + 1] * y) * M[c + 1, c + 1]
    w = (line[0, c] - M[c + 3, c] * z - M[c + 2, c] * y - M[c + 1, c] * x) * M[c, c]
    for i in range(0, c, WIDTH):
        few = c - i
        left = load(line, 0, i) - z * load_first(M[c + 3], i, few)
        left = left - y * load_first(M[c + 2], i, few) - x * load_first(M[c + 1], i, few)
        store(line, 0, i, left - w * load_first(M[c], i, few))
    line[0, c] = w
    line[0, c + 1] = x
    line[0, c + 2] = y
    line[0, c + 3] = z
