"""Factors A = U L of matrices whose zeros stay if the last unknowns are eliminated first.

Mass matrices of trees are such: joints of different branches do not know of each other, and tips
have higher numbers than what carries them (Featherstone 2005). What is zero in a factor is passed
over, a register of eight columns at a time, and where rows of L begin and those of U end is noted
once: zeros of many small trees outnumber what they know of each other, and looking for it anew in
every block of columns was half of the work. U has ones on its diagonal; pivots of L are kept as
their inverses.

Nothing is exchanged, which is sound where A is symmetric and positive definite, or nearly so. With
the pivots p the computed factors are those of a matrix that differs in entry (i, j) by no more than
a few roundings of (Golub and Van Loan, section 3.3)

    |U| |L| <= (D(i) E(j))^1/2,    D(i) = sum U(i, k)^2 p(k),    E(j) = sum L(k, j)^2 / p(k),

where D(i) = E(i) = A(i, i) if A is symmetric and positive definite. Where D or E is much more than
that, or a pivot is not positive, there are no factors, and those with exchanges are to be taken.

References
----------
R. Featherstone, Efficient factorization of the joint-space inertia matrix for branched kinematic
trees, 2005. G. Golub and C. Van Loan, Matrix Computations, 4th edition, 2013.
"""

from __future__ import annotations

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.dense_lu import BLOCK, less_row, load_block, store_block
from spatialops.algebra.simd import WIDTH, load, store

BEGIN = 0  # rows of the table of spans: first column of L that is not zero
END = 1  # and behind the last one of U
_TWO = 2 * BLOCK
_GROWTH = 16.0  # of D and E over A(i, i), which costs two digits at most


@kernel
def factor_backward(A: Array, n: int, L: Array, U: Array, sums: Array, spans: IntArray) -> bool:
    """Factors of the leading n rows and columns of A, if they are sound, and spans (2, n) of rows.

    L must have room for whole eights of columns; sums (2, n) is scratch.
    """
    for i in range(n):
        sums[0, i] = sums[1, i] = 0.0
        for j in range(n):
            L[i, j] = A[i, j]
    for k in range(n - 1, -1, -1):
        pivot, most = L[k, k], _GROWTH * A[k, k]
        if not (pivot > 0.0 and sums[0, k] + pivot <= most and sums[1, k] + pivot <= most):
            return False
        inverse = 1.0 / pivot
        for i in range(k):
            right, below = L[k, i], L[i, k]
            factor = below * inverse
            U[i, k] = factor
            if factor == 0.0 and right == 0.0:
                continue
            sums[0, i] += factor * below
            sums[1, i] += right * right * inverse
            for j in range(0, k, WIDTH):  # what comes to stand behind column k is not read
                store(L, i, j, load(L, i, j) - factor * load(L, k, j))
        L[k, k] = inverse  # eights that have just been loaded would wait for it
    put_spans(L, U, n, spans)
    return True


@inlined
def put_spans(L: Array, U: Array, n: int, spans: IntArray) -> None:
    for i in range(n):
        begin, end = 0, n
        while begin < i and L[i, begin] == 0.0:
            begin += 1
        while end > i + 1 and U[i, end - 1] == 0.0:
            end -= 1
        spans[BEGIN, i] = begin
        spans[END, i] = end


@inlined
def substitute_block(L: Array, U: Array, n: int, spans: IntArray, X: Array, c: int) -> None:
    """U^-1 and L^-1 for a block of columns from c on."""
    for i in range(n - 2, -1, -1):
        a = load_block(X, i, c)
        for k in range(spans[END, i] - 1, i, -1):  # row i + 1 is ready last
            if U[i, k] != 0.0:
                a = less_row(a, U[i, k], X, k, c)
        store_block(X, i, c, a)
    for i in range(n):
        a = load_block(X, i, c)
        for k in range(spans[BEGIN, i], i):
            if L[i, k] != 0.0:
                a = less_row(a, L[i, k], X, k, c)
        d = L[i, i]
        store_block(X, i, c, (d * a[0], d * a[1], d * a[2], d * a[3]))


@inlined
def substitute_two(L: Array, U: Array, n: int, spans: IntArray, X: Array, c: int) -> None:
    """The same of two blocks."""
    for i in range(n - 2, -1, -1):
        a, b = load_block(X, i, c), load_block(X, i, c + BLOCK)
        for k in range(spans[END, i] - 1, i, -1):
            if U[i, k] != 0.0:
                a, b = less_row(a, U[i, k], X, k, c), less_row(b, U[i, k], X, k, c + BLOCK)
        store_block(X, i, c, a)
        store_block(X, i, c + BLOCK, b)
    for i in range(n):
        a, b = load_block(X, i, c), load_block(X, i, c + BLOCK)
        for k in range(spans[BEGIN, i], i):
            if L[i, k] != 0.0:
                a, b = less_row(a, L[i, k], X, k, c), less_row(b, L[i, k], X, k, c + BLOCK)
        d = L[i, i]
        store_block(X, i, c, (d * a[0], d * a[1], d * a[2], d * a[3]))
        store_block(X, i, c + BLOCK, (d * b[0], d * b[1], d * b[2], d * b[3]))


@inlined
def substitute_rest(L: Array, U: Array, n: int, X: Array, first: int, columns: int) -> None:
    """The same of fewer columns."""
    for i in range(n - 2, -1, -1):
        for k in range(i + 1, n):
            for c in range(first, columns):
                X[i, c] -= U[i, k] * X[k, c]
    for i in range(n):
        for k in range(i):
            for c in range(first, columns):
                X[i, c] -= L[i, k] * X[k, c]
        for c in range(first, columns):
            X[i, c] *= L[i, i]


@kernel
def solve_backward(L: Array, U: Array, n: int, spans: IntArray, X: Array, columns: int) -> None:
    """X <- A^-1 X of n rows, for so many columns at once."""
    blocks, pairs = columns // BLOCK * BLOCK, columns // _TWO * _TWO
    for c in range(0, pairs, _TWO):
        substitute_two(L, U, n, spans, X, c)
    for c in range(pairs, blocks, BLOCK):
        substitute_block(L, U, n, spans, X, c)
    if blocks < columns:
        substitute_rest(L, U, n, X, blocks, columns)


@kernel
def solve_transposed_backward(L: Array, U: Array, n: int, x: Array) -> None:
    """X <- A^-T x of one vector: U^-T L^-T."""
    for k in range(n - 1, -1, -1):
        x[k] *= L[k, k]
        for j in range(k):
            x[j] -= L[k, j] * x[k]
    for k in range(n):
        for j in range(k + 1, n):
            x[j] -= U[k, j] * x[k]
