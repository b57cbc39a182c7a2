"""Products with L and its transpose: what contacts move, y = L^T p, and how fast, v = u + L y.

Rows of a pile are short, and kept as they are. Those of a small problem are spread out over all
columns once, L and L^T as tables: sums of their lines are in registers of eight numbers, whereas in
the product of a short row with y every sum waits for the one before.
"""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops._compile.apart import VECTOR, late
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.simd import WIDTH, load, store, zeros
from spatialops.contact.newton.rows import (
    ROWS,
    SCRATCH,
    ContactRows,
    NewtonScratch,
    is_spread,
    whole_registers,
)
from spatialops.contact.rows import (
    COUNT_A,
    FIRST_A,
    START,
    add_impulses,
    velocities_of,
    width_of,
)

_AT_ONCE = 4  # registers


@kernel
def spread_out(rows: ContactRows, scratch: NewtonScratch) -> None:
    """The tables L and L^T of a problem that is small enough."""
    if not is_spread(rows):
        return
    L, L_T = scratch.spread.L, scratch.spread.L_T
    n, columns = 3 * rows.friction.size, scratch.y.size
    for i in range(n):
        for k in range(whole_registers(columns)):
            L[i, k] = 0.0
    for k in range(columns):
        for i in range(whole_registers(n)):
            L_T[k, i] = 0.0
    places = rows.L.places
    for i in range(n):
        start = places[i // 3, START] + i % 3 * width_of(places, i // 3)
        for side in range(2):
            first, count = places[i // 3, FIRST_A + 2 * side], places[i // 3, COUNT_A + 2 * side]
            for k in range(count):
                L[i, first + k] = L_T[first + k, i] = rows.L.entries[start + k]
            start += count


@inlined
def multiply_transposed(rows: ContactRows, p: Array, y: Array, scratch: NewtonScratch) -> None:
    """y = L^T p."""
    if not is_spread(rows):
        add_impulses(rows.L, p, y)
        return
    add_lines(scratch.spread.L, p, scratch.spread.sums, y)


@inlined
def multiply(rows: ContactRows, y: Array, v: Array, scratch: NewtonScratch) -> None:
    """v = L y."""
    if not is_spread(rows):
        velocities_of(rows.L, y, v)
        return
    add_lines(scratch.spread.L_T, y, scratch.spread.sums, v)


@kernel
def add_lines(table: Array, x: Array, sums: Array, out: Array) -> None:
    """Sums over i of x_i table[i], as many as `out` has; `sums` has whole registers."""
    n, at_once = out.size, _AT_ONCE * WIDTH
    whole = n - n % at_once
    for j in range(0, whole, at_once):
        a = zeros()
        b = zeros()
        c = zeros()
        d = zeros()
        for i in range(x.size):
            a = a + x[i] * load(table, i, j)
            b = b + x[i] * load(table, i, j + WIDTH)
            c = c + x[i] * load(table, i, j + 2 * WIDTH)
            d = d + x[i] * load(table, i, j + 3 * WIDTH)
        store(sums, 0, j, a)
        store(sums, 0, j + WIDTH, b)
        store(sums, 0, j + 2 * WIDTH, c)
        store(sums, 0, j + 3 * WIDTH, d)
    for j in range(whole, n, WIDTH):
        a = zeros()
        for i in range(x.size):
            a = a + x[i] * load(table, i, j)
        store(sums, 0, j, a)
    for j in range(n):
        out[j] = sums[0, j]


@late(ROWS, VECTOR, VECTOR, SCRATCH)
def put_velocities(rows: ContactRows, p: Array, v: Array, scratch: NewtonScratch) -> None:
    """Velocities u + L L^T p of the rows; y = L^T p stays in the scratch."""
    multiply_transposed(rows, p, scratch.y, scratch)
    multiply(rows, scratch.y, v, scratch)
    for i in range(p.size):
        v[i] += rows.u[i]
