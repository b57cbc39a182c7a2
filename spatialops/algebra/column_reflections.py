"""Equations in order, J x = r group after group, by reflections (Householder 1958), compiled.

x = Q y with Q a product of reflections. The first group decides the first entries of y, as many as
its rank says, the second further ones, and so on; entries that no group has decided are free. Rows
of a group are columns of a table here, with room to whole eights of them: one reflection works on
eight at a time.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.reflections import reflector
from spatialops.algebra.simd import WIDTH, Lanes, load, store, zeros

_BLOCK = 4 * WIDTH


class Reflections(NamedTuple):
    """A product Q of reflections."""

    V: Array  # (n, n) one a row, of length sqrt(2)
    squares: Array  # (columns,) scratch
    order: IntArray  # (columns,) of the last columns


class Decided(NamedTuple):
    """What groups have decided so far."""

    reflections: Reflections
    y: Array  # (n,)


@inlined
def whole_eights(columns: int) -> int:
    """So many columns, in whole eights."""
    return (columns + WIDTH - 1) // WIDTH * WIDTH


@inlined
def reflected(X: Array, i: int, c: int, share: float, part: Lanes) -> None:
    """Take a share of `part` off eight columns of row i."""
    store(X, i, c, load(X, i, c) - share * part)


@kernel
def reflect_columns(v: Array, first: int, X: Array, columns: int) -> None:
    """X <- (1 - v v^T) X of so many columns, in whole eights; v begins at `first`."""
    n = v.size
    c = 0
    while c + _BLOCK <= columns:
        a, b = zeros(), zeros()
        d, e = zeros(), zeros()
        for i in range(first, n):
            s = v[i]
            a += s * load(X, i, c)
            b += s * load(X, i, c + WIDTH)
            d += s * load(X, i, c + 2 * WIDTH)
            e += s * load(X, i, c + 3 * WIDTH)
        for i in range(first, n):
            s = v[i]
            reflected(X, i, c, s, a)
            reflected(X, i, c + WIDTH, s, b)
            reflected(X, i, c + 2 * WIDTH, s, d)
            reflected(X, i, c + 3 * WIDTH, s, e)
        c += _BLOCK
    while c < columns:
        a = zeros()
        for i in range(first, n):
            a += v[i] * load(X, i, c)
        for i in range(first, n):
            reflected(X, i, c, v[i], a)
        c += WIDTH


@inlined
def put_squares(X: Array, first: int, columns: int, squares: Array) -> None:
    """Squared lengths of columns from row `first` on."""
    for c in range(columns):
        squares[c] = 0.0
    for i in range(first, X.shape[0]):
        for c in range(columns):
            squares[c] += X[i, c] * X[i, c]


@inlined
def exchange_columns(X: Array, order: IntArray, a: int, b: int) -> None:
    if a != b:
        order[a], order[b] = order[b], order[a]
        for i in range(X.shape[0]):
            X[i, a], X[i, b] = X[i, b], X[i, a]


@inlined
def put_reflection(X: Array, column: int, first: int, v: Array) -> bool:
    """The reflection of a column from `first` on; whether there is one."""
    square = 0.0
    for i in range(v.size):
        v[i] = 0.0 if i < first else X[i, column]
        square += v[i] * v[i]
    size = math.sqrt(square)
    if size > 0.0:
        reflector(v, first, size)
    return size > 0.0


@kernel
def make_triangular(X: Array, k: int, first: int, least: float, reflections: Reflections) -> int:
    """Reflect k columns from row `first` on, the longest first, until none is above `least`.

    The number of reflections, with the `first` that there are; `order` says which column is where.
    """
    V = reflections.V
    squares = reflections.squares
    order = reflections.order
    n = X.shape[0]
    columns = whole_eights(k)
    rank = first
    for j in range(k):
        order[j] = j
    for j in range(k):
        if rank == n:
            break
        put_squares(X, rank, k, squares)
        longest = j
        for i in range(j + 1, k):
            if squares[i] > squares[longest]:
                longest = i
        if not math.sqrt(squares[longest]) > least:
            break
        exchange_columns(X, order, j, longest)
        if not put_reflection(X, j, rank, V[rank]):
            break
        reflect_columns(V[rank], rank, X, columns)
        rank += 1
    return rank


@kernel
def decide(
    X: Array, right: Array, k: int, rank: int, least: float, decided: Decided
) -> tuple[int, float]:
    """Add the group whose k rows are columns of X; the rank with it, and by how much it is missed.

    `right` (k,) are its right-hand sides, of which what is decided before is taken off. Rows of
    which others leave no more than `least` decide nothing: by how much the largest of them is
    missed is returned, relative to 1 and the largest right-hand side. X becomes the rows along Q,
    in the order that `order` says.
    """
    y = decided.y
    first = rank
    columns = whole_eights(k)
    for c in range(rank):
        reflect_columns(decided.reflections.V[c], c, X, columns)
    size = 0.0
    for j in range(k):
        for c in range(rank):
            right[j] -= X[c, j] * y[c]
        if not abs(right[j]) <= size:
            size = abs(right[j])
    rank = make_triangular(X, k, first, least, decided.reflections)
    order = decided.reflections.order
    missed = 0.0
    for j in range(k):
        total = right[order[j]]
        for c in range(first, min(rank, first + j)):
            total -= X[c, j] * y[c]
        if first + j < rank:
            y[first + j] = total / X[first + j, j]
        elif not abs(total) <= missed:
            missed = abs(total)
    return rank, missed / (1.0 + size)


@kernel
def put_point(decided: Decided, rank: int, x: Array) -> None:
    """The shortest x that meets what is decided: free entries are zero."""
    y = decided.y
    for i in range(x.size):
        x[i] = y[i] if i < rank else 0.0
    turn_out(decided.reflections.V, rank, x)


@inlined
def turn_out(V: Array, rank: int, x: Array) -> None:
    """X <- Q x of one vector."""
    for c in range(rank - 1, -1, -1):
        part = 0.0
        for i in range(c, x.size):
            part += V[c, i] * x[i]
        for i in range(c, x.size):
            x[i] -= part * V[c, i]


@kernel
def put_free(V: Array, rank: int, last: int, Z: Array) -> None:
    """Columns (n, n - rank) of Q that are free after `rank`, of `last` reflections.

    Z has room for whole eights of columns, and is zero behind them.
    """
    n = Z.shape[0]
    for i in range(n):
        for c in range(Z.shape[1]):
            Z[i, c] = 0.0
    for c in range(n - rank):
        Z[rank + c, c] = 1.0
    reflect_back(V, last, Z)


@inlined
def reflect_back(V: Array, last: int, X: Array) -> None:
    """X <- Q X of so many reflections, of whole eights of columns."""
    for c in range(last - 1, -1, -1):
        reflect_columns(V[c], c, X, X.shape[1])
