"""Products with L and its transpose: what contacts move, y = L^T p, and how fast, v = u + L y.

Rows of a pile are short, and kept as they are. Those of a small problem are spread out over all
columns once, with their zeros, so that both products go through lines of whole registers. Of the
dry friction of a joint only the first tangent moves anything: the lines of its other two rows are
not looked at. A robot's joints may have more of them than its feet have contacts.
"""

from __future__ import annotations

from spatialops._arrays import Array, IntArray
from spatialops._compile.apart import VECTOR, late
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.simd import WIDTH, load, zeros
from spatialops.algebra.simd_parts import load_first, store_first, total
from spatialops.contact.newton.pile_products import add_groups, velocities_of_groups
from spatialops.contact.newton.rows import (
    ROWS,
    SCRATCH,
    ContactRows,
    NewtonScratch,
    is_idle,
    is_spread,
)
from spatialops.contact.rows import (
    COUNT_A,
    COUNT_B,
    FIRST_A,
    FIRST_B,
    START,
    width_of,
)

_AT_ONCE = 2  # registers


@kernel
def spread_out(rows: ContactRows, scratch: NewtonScratch) -> None:
    """The table L of a problem that is small enough."""
    if not is_spread(rows):
        return
    L = scratch.spread.L
    places, entries = rows.L.places, rows.L.entries
    for i in range(3 * rows.friction.size):
        if is_idle(rows.dry, i):
            continue
        for k in range(L.shape[1]):
            L[i, k] = 0.0
        start = places[i // 3, START] + i % 3 * width_of(places, i // 3)
        for side in range(2):
            first, count = places[i // 3, FIRST_A + 2 * side], places[i // 3, COUNT_A + 2 * side]
            for k in range(0, count, WIDTH):
                few = count - k
                store_first(L[i], first + k, few, load_first(entries, start + k, few))
            start += count


@inlined
def multiply_transposed(rows: ContactRows, p: Array, y: Array, scratch: NewtonScratch) -> None:
    """y = L^T p."""
    if not is_spread(rows):
        add_groups(rows.L, p, y)
        return
    add_lines(scratch.spread.L, rows.dry, p, y)


@inlined
def multiply(rows: ContactRows, y: Array, v: Array, scratch: NewtonScratch) -> None:
    """v = L y."""
    if not is_spread(rows):
        velocities_of_groups(rows.L, y, v)
        return
    along_lines(scratch.spread.L, rows.L.places, rows.dry, y, v)


@kernel
def add_lines(L: Array, dry: Array, p: Array, y: Array) -> None:
    """y = L^T p: three lines at a time, whose sums do not wait for each other."""
    for j in range(0, y.size, _AT_ONCE * WIDTH):
        more = j + WIDTH if j + WIDTH < y.size else j
        a = zeros()
        b = zeros()
        c = zeros()
        d = zeros()
        e = zeros()
        f = zeros()
        for i in range(0, p.size, 3):
            b = b + p[i + 1] * load(L, i + 1, j)
            e = e + p[i + 1] * load(L, i + 1, more)
            if dry[i // 3] > 0.0:
                continue
            a = a + p[i] * load(L, i, j)
            c = c + p[i + 2] * load(L, i + 2, j)
            d = d + p[i] * load(L, i, more)
            f = f + p[i + 2] * load(L, i + 2, more)
        store_first(y, j, y.size - j, a + b + c)
        store_first(y, more, y.size - more, d + e + f)


@kernel
def along_lines(L: Array, places: IntArray, dry: Array, y: Array, v: Array) -> None:
    """v = L y, the three lines of a contact side by side, as far as they reach."""
    for i in range(v.size // 3):
        last = places[i, FIRST_A] + places[i, COUNT_A]
        if places[i, COUNT_B] > 0:
            last = max(last, places[i, FIRST_B] + places[i, COUNT_B])
        a = zeros()
        b = zeros()
        c = zeros()
        if dry[i] > 0.0:
            for k in range(0, last, WIDTH):
                b = b + load_first(y, k, y.size - k) * load(L, 3 * i + 1, k)
            v[3 * i] = v[3 * i + 2] = 0.0
            v[3 * i + 1] = total(b)
            continue
        for k in range(0, last, WIDTH):
            moved = load_first(y, k, y.size - k)
            a = a + moved * load(L, 3 * i, k)
            b = b + moved * load(L, 3 * i + 1, k)
            c = c + moved * load(L, 3 * i + 2, k)
        v[3 * i] = total(a)
        v[3 * i + 1] = total(b)
        v[3 * i + 2] = total(c)


@late(ROWS, VECTOR, VECTOR, SCRATCH)
def put_velocities(rows: ContactRows, p: Array, v: Array, scratch: NewtonScratch) -> None:
    """Velocities u + L L^T p of the rows; y = L^T p stays in the scratch."""
    multiply_transposed(rows, p, scratch.y, scratch)
    multiply(rows, scratch.y, v, scratch)
    for i in range(p.size):
        v[i] += rows.u[i]
