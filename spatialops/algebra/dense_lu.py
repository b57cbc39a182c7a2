"""LU factors of a small square matrix with pivoting, and solutions either way.

P A Q = L U with the largest entry that is left as the next pivot, so that the factors tell the
rank: what is left below `tolerance` of the first pivot is zero (Golub and Van Loan, section 3.4).
Unknowns without a pivot are zero in solutions. Where the rank is full rows alone need be exchanged,
in a fifth of the time. Pivots are kept as their inverses.

Right-hand sides are solved for in blocks of 64 columns, which stay in registers, then of 32: eight
sums at once, where each must wait for itself. What is left over goes number by number, so that
blocks should be filled with zeros. Rows of factors are worked on by
eights; in matrices with seven columns more than are meant all of them are. Products pass over zeros
of their first matrix: lines of contacts know of one leg, and of the base. So do solutions: contacts
of bodies that nothing joins have factors of their own.
"""

from __future__ import annotations

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.simd import WIDTH, Lanes, load, store

ROW = 0  # rows of the table of exchanges
COLUMN = 1
EXCHANGES = 2

BLOCK = 4 * WIDTH
Block = tuple[Lanes, Lanes, Lanes, Lanes]
_TWO = 2 * BLOCK
_WIDE = 8 * _TWO  # columns for which it is looked up once where a row begins and ends


@inlined
def exchange_rows(X: Array, i: int, j: int, columns: int) -> None:
    if i != j:
        for c in range(columns):
            X[i, c], X[j, c] = X[j, c], X[i, c]


@inlined
def subtract_row(X: Array, i: int, factor: float, j: int, first: int, columns: int) -> None:
    """X[i] -= factor X[j] in columns from `first` on; what is behind them in whole eights too."""
    room = X.shape[1] - WIDTH
    c = first
    while c < columns and c <= room:
        store(X, i, c, load(X, i, c) - factor * load(X, j, c))
        c += WIDTH
    for d in range(c, columns):
        X[i, d] -= factor * X[j, d]


@inlined
def put_pivot(A: Array, k: int, n: int, exchanges: IntArray) -> float:
    """Bring the largest entry from row and column k on to A[k, k]; its size."""
    row = column = k
    largest = 0.0
    for i in range(k, n):
        for j in range(k, n):
            if abs(A[i, j]) > largest:
                largest = abs(A[i, j])
                row = i
                column = j
    exchanges[ROW, k] = row
    exchanges[COLUMN, k] = column
    exchange_rows(A, k, row, n)
    if column != k:
        for i in range(n):
            A[i, k], A[i, column] = A[i, column], A[i, k]
    return largest


@inlined
def put_pivot_of_column(A: Array, k: int, n: int, exchanges: IntArray) -> float:
    """The same of column k alone."""
    row = k
    largest = abs(A[k, k])
    for i in range(k + 1, n):
        if abs(A[i, k]) > largest:
            largest = abs(A[i, k])
            row = i
    exchanges[ROW, k] = row
    exchanges[COLUMN, k] = k
    exchange_rows(A, k, row, n)
    return largest


@inlined
def eliminate(A: Array, k: int, n: int) -> None:
    """Take row k, whose pivot is in place, from those below."""
    inverse = 1.0 / A[k, k]
    A[k, k] = inverse
    for i in range(k + 1, n):
        factor = A[i, k] * inverse
        A[i, k] = factor
        subtract_row(A, i, factor, k, k + 1, n)


@kernel
def factor_lu(A: Array, n: int, tolerance: float, exchanges: IntArray) -> int:
    """Factor the leading n rows and columns of A in place; returns the rank."""
    least = 0.0
    for k in range(n):
        largest = put_pivot(A, k, n, exchanges)
        if k == 0:
            least = tolerance * largest
        if not largest > least:
            return k
        eliminate(A, k, n)
    return n


@kernel
def factor_by_rows(A: Array, n: int, tolerance: float, exchanges: IntArray) -> int:
    """The same with rows exchanged alone: the rank only where that is n.

    Less says that a pivot was below `tolerance` of one before it: how many there are, `factor_lu`
    tells.
    """
    most = 0.0
    for k in range(n):
        largest = put_pivot_of_column(A, k, n, exchanges)
        most = max(most, largest)
        if not largest > tolerance * most:
            return k
        eliminate(A, k, n)
    return n


@inlined
def filled(columns: int) -> int:
    """So many columns, in whole blocks."""
    return (columns + BLOCK - 1) // BLOCK * BLOCK


@inlined
def load_block(X: Array, i: int, c: int) -> Block:
    return (
        load(X, i, c),
        load(X, i, c + WIDTH),
        load(X, i, c + 2 * WIDTH),
        load(X, i, c + 3 * WIDTH),
    )


@inlined
def store_block(X: Array, i: int, c: int, a: Block) -> None:
    for k in range(4):
        store(X, i, c + k * WIDTH, a[k])


@inlined
def less_row(a: Block, factor: float, X: Array, i: int, c: int) -> Block:
    """A block less a factor times row i of X."""
    b = load_block(X, i, c)
    return a[0] - factor * b[0], a[1] - factor * b[1], a[2] - factor * b[2], a[3] - factor * b[3]


@inlined
def subtract_terms(
    C: Array, A: Array, B: Array, places: tuple[int, int, int, int], f: float
) -> None:
    """Terms from `begin` to `end` of row i, in two blocks of columns from c on."""
    i, begin, end, c = places
    if begin == end:
        return
    a, b = load_block(C, i, c), load_block(C, i, c + BLOCK)
    for k in range(begin, end):
        if A[i, k] != 0.0:
            factor = f * A[i, k]
            a, b = less_row(a, factor, B, k, c), less_row(b, factor, B, k, c + BLOCK)
    store_block(C, i, c, a)
    store_block(C, i, c + BLOCK, b)


@kernel
def subtract_product(C: Array, A: Array, B: Array, sizes: tuple[int, int, int], f: float) -> None:
    """C -= f A B, of sizes (rows, terms, columns)."""
    rows, terms, columns = sizes
    blocks, pairs = columns // BLOCK * BLOCK, columns // _TWO * _TWO
    for first in range(0, pairs, _WIDE):
        for i in range(rows):
            begin, end = 0, terms
            while begin < terms and A[i, begin] == 0.0:
                begin += 1
            while end > begin and A[i, end - 1] == 0.0:
                end -= 1
            for c in range(first, min(first + _WIDE, pairs), _TWO):
                subtract_terms(C, A, B, (i, begin, end, c), f)
    for c in range(pairs, blocks, BLOCK):
        for i in range(rows):
            a = load_block(C, i, c)
            for k in range(terms):
                if A[i, k] != 0.0:
                    a = less_row(a, f * A[i, k], B, k, c)
            store_block(C, i, c, a)
    for i in range(rows):
        for k in range(terms):
            for c in range(blocks, columns):
                C[i, c] -= f * A[i, k] * B[k, c]


@inlined
def substitute_block(A: Array, rank: int, X: Array, c: int) -> None:
    """Forth and back for the columns from c on."""
    for i in range(1, rank):
        a = load_block(X, i, c)
        for k in range(i):
            if A[i, k] != 0.0:
                a = less_row(a, A[i, k], X, k, c)
        store_block(X, i, c, a)
    for i in range(rank - 1, -1, -1):
        a = load_block(X, i, c)
        for k in range(i + 1, rank):
            if A[i, k] != 0.0:
                a = less_row(a, A[i, k], X, k, c)
        d = A[i, i]
        store_block(X, i, c, (d * a[0], d * a[1], d * a[2], d * a[3]))


@inlined
def substitute_two(A: Array, rank: int, X: Array, c: int) -> None:
    """The same of two blocks."""
    for i in range(1, rank):
        a, b = load_block(X, i, c), load_block(X, i, c + BLOCK)
        for k in range(i):
            if A[i, k] != 0.0:
                a, b = less_row(a, A[i, k], X, k, c), less_row(b, A[i, k], X, k, c + BLOCK)
        store_block(X, i, c, a)
        store_block(X, i, c + BLOCK, b)
    for i in range(rank - 1, -1, -1):
        a, b = load_block(X, i, c), load_block(X, i, c + BLOCK)
        for k in range(i + 1, rank):
            if A[i, k] != 0.0:
                a, b = less_row(a, A[i, k], X, k, c), less_row(b, A[i, k], X, k, c + BLOCK)
        d = A[i, i]
        store_block(X, i, c, (d * a[0], d * a[1], d * a[2], d * a[3]))
        store_block(X, i, c + BLOCK, (d * b[0], d * b[1], d * b[2], d * b[3]))


@inlined
def substitute_rest(A: Array, rank: int, X: Array, first: int, columns: int) -> None:
    """The same of fewer columns."""
    for i in range(1, rank):
        for k in range(i):
            for c in range(first, columns):
                X[i, c] -= A[i, k] * X[k, c]
    for i in range(rank - 1, -1, -1):
        for k in range(i + 1, rank):
            for c in range(first, columns):
                X[i, c] -= A[i, k] * X[k, c]
        for c in range(first, columns):
            X[i, c] *= A[i, i]


@kernel
def solve_lu(A: Array, n: int, rank: int, exchanges: IntArray, X: Array, columns: int) -> None:
    """X <- A^-1 X of n rows, for so many columns at once."""
    for k in range(rank):
        exchange_rows(X, k, exchanges[ROW, k], columns)
    blocks, pairs = columns // BLOCK * BLOCK, columns // _TWO * _TWO
    for c in range(0, pairs, _TWO):
        substitute_two(A, rank, X, c)
    for c in range(pairs, blocks, BLOCK):
        substitute_block(A, rank, X, c)
    substitute_rest(A, rank, X, blocks, columns)
    for k in range(rank, n):
        for c in range(columns):
            X[k, c] = 0.0
    for k in range(rank - 1, -1, -1):
        exchange_rows(X, k, exchanges[COLUMN, k], columns)


@kernel
def solve_transposed_lu(A: Array, n: int, rank: int, exchanges: IntArray, x: Array) -> None:
    """X <- A^-T x of one vector: Q U* L* P."""
    for k in range(rank):
        j = exchanges[COLUMN, k]
        x[k], x[j] = x[j], x[k]
    for k in range(rank):
        x[k] *= A[k, k]
        for j in range(k + 1, rank):
            x[j] -= A[k, j] * x[k]
    for k in range(rank, n):
        x[k] = 0.0
    for k in range(rank - 1, -1, -1):
        total = x[k]
        for i in range(k + 1, rank):
            total -= A[i, k] * x[i]
        x[k] = total
    for k in range(rank - 1, -1, -1):
        i = exchanges[ROW, k]
        x[k], x[i] = x[i], x[k]
