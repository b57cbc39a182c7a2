"""The linear problem of one set of statuses.

Where no status changes, rows rho_i of what must not move answer unknowns x_j along gamma_j:

    presses, slides    rho = l_n,  gamma = l_n + g l_e      friction at its limit, along e
    presses, sticks    rho = gamma = l_n, l_1, l_2
    on a side          and rho = gamma = l_f                along the side, whose normal is e

A moment at its limit goes with the normal of its owner as friction does: its g l_e is added there.

With the proximal term, (R G^T + eps w + K) x = -(v + eps w (p - centre) + K p), w the weights of
the contacts and K what resists the unknowns, for most of them nothing. Rows, right sides and
answers are taken sqrt(eps / (eps w + k)) times, so that eps I is all that is added. At most three
unknowns a contact. Where there are more unknowns than degrees of freedom, the same is solved for
dy = G^T x; for piles always, tree by tree.
"""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops._compile.apart import VECTOR, late, types
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.simd import WIDTH
from spatialops.algebra.simd_parts import load_first, store_first
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.blocks.factors import factor_blocks
from spatialops.contact.newton.blocks.substitution import substitute_blocks
from spatialops.contact.newton.dense.factors import (
    factor_dense,
    solves_for_columns,
    substitute_dense,
)
from spatialops.contact.newton.dense.spread_factors import factor_spread
from spatialops.contact.newton.dense.sums import factor_sum
from spatialops.contact.newton.row_products import multiply, multiply_transposed
from spatialops.contact.newton.rows import (
    ROWS,
    SCRATCH,
    ContactRows,
    NewtonScratch,
    contacts_of,
    is_dense,
    is_spread,
    presser_of,
)
from spatialops.contact.newton.statuses import sliding
from spatialops.contact.newton.unknowns import component, list_unknowns, put_change, share_of
from spatialops.contact.rows import START, width_of


@kernel
def put_rows(rows: ContactRows, eps: float, count: int, scratch: NewtonScratch) -> None:
    """Rows rho and gamma of so many unknowns that are listed."""
    for c in range(count):
        i, part = scratch.contacts[c], scratch.parts[c]
        e_x, e_y, g = sliding(scratch.friction, i)
        if part == at.PRESSING:
            g *= rows.friction[i]
            put_pressing(rows, scratch, c, g * e_x, g * e_y)
        elif part == at.ALONG_FIRST:
            put_row(rows, scratch, c, 1.0, 0.0)
        elif part == at.ALONG_SECOND:
            put_row(rows, scratch, c, 0.0, 1.0)
        else:
            put_row(rows, scratch, c, -e_y, e_x)
    for i in range(contacts_of(rows), rows.friction.size):
        put_moment(rows, scratch, i, eps)


@inlined
def put_pressing(rows: ContactRows, scratch: NewtonScratch, c: int, x: float, y: float) -> None:
    """The normal of unknown c, with so much of its tangents where it slides."""
    i, share = scratch.contacts[c], scratch.vectors[at.SHARE, c]
    start = scratch.starts[c]
    width, own = width_of(rows.L.places, i), rows.L.places[i, START]
    entries = rows.L.entries
    for k in range(0, width, WIDTH):
        few = width - k
        normal = load_first(entries, own + k, few)
        side = x * load_first(entries, own + width + k, few)
        side = side + y * load_first(entries, own + 2 * width + k, few)
        store_first(scratch.rho[0], start + k, few, share * normal)
        store_first(scratch.gamma, start + k, few, share * (normal + side))


@inlined
def put_row(rows: ContactRows, scratch: NewtonScratch, c: int, x: float, y: float) -> None:
    """Unknown c, a tangent that is so much of both."""
    i, share = scratch.contacts[c], scratch.vectors[at.SHARE, c]
    start = scratch.starts[c]
    width, own = width_of(rows.L.places, i), rows.L.places[i, START]
    x, y = share * x, share * y
    entries = rows.L.entries
    for k in range(0, width, WIDTH):
        few = width - k
        row = x * load_first(entries, own + width + k, few)
        row = row + y * load_first(entries, own + 2 * width + k, few)
        store_first(scratch.rho[0], start + k, few, row)
        store_first(scratch.gamma, start + k, few, row)


@inlined
def put_moment(rows: ContactRows, scratch: NewtonScratch, i: int, eps: float) -> None:
    """Add moment i, where it is at its limit, to gamma of the normal that presses it."""
    e_x, e_y, g = sliding(scratch.friction, i)
    owner = presser_of(rows, i)
    if g == 0.0 or scratch.status[owner, at.NORMAL] != at.PRESSES:
        return
    g *= rows.friction[i] * share_of(scratch, owner, 0.0, eps)
    width, own = width_of(rows.L.places, i), rows.L.places[i, START]
    start = rows.L.places[owner, START]
    for k in range(width):
        along = e_x * rows.L.entries[own + width + k] + e_y * rows.L.entries[own + 2 * width + k]
        scratch.gamma[start + k] += g * along


@kernel
def factor_rows(rows: ContactRows, eps: float, count: int, scratch: NewtonScratch) -> None:
    """Factors of R G^T + eps I, or of G^T R + eps I where that is smaller, and for piles."""
    if is_dense(rows):
        factor_dense(rows, eps, count, scratch)
    else:
        factor_blocks(rows, eps, count, scratch)


@inlined
def factor_statuses(rows: ContactRows, eps: float, scratch: NewtonScratch) -> int:
    """The linear problem of the present statuses, put together and factored; how many unknowns."""
    count = list_unknowns(rows, eps, scratch)
    if is_dense(rows) and solves_for_columns(count, scratch.y.size):
        factor_sum(rows, eps, count, scratch)
    elif is_spread(rows):
        factor_spread(rows, eps, count, scratch)
    else:
        put_rows(rows, eps, count, scratch)
        factor_rows(rows, eps, count, scratch)
    scratch.factored[at.TERM] = eps
    scratch.factored[at.UNKNOWNS] = count
    return count


@inlined
def answer_factors(rows: ContactRows, eps: float, count: int, scratch: NewtonScratch) -> None:
    """STEP of unknowns for RIGHT: x, or by (G^T R + eps I) dy = G^T b, x = (b - R dy) / eps."""
    right, step = scratch.vectors[at.RIGHT], scratch.vectors[at.STEP]
    share, y = scratch.vectors[at.SHARE], scratch.y
    dense = is_dense(rows)
    if dense and not solves_for_columns(count, y.size):
        substitute_dense(scratch.dense, count, right, step)
        return
    along, moved = scratch.vectors[at.CHANGE], scratch.vectors[at.ANSWER]
    put_change(rows, scratch, count, right, along)
    multiply_transposed(rows, along, y, scratch)
    if dense:
        substitute_dense(scratch.dense, y.size, y, y)
    else:
        substitute_blocks(rows.trees, scratch.blocks, y)
    multiply(rows, y, moved, scratch)
    for c in range(count):
        own = share[c] * component(scratch, c, moved)
        step[c] = (right[c] - own) / eps


@late(ROWS, types.float64, types.int64, VECTOR, VECTOR, SCRATCH)
def solve_rows(
    rows: ContactRows, eps: float, count: int, p: Array, centre: Array, scratch: NewtonScratch
) -> None:
    """Newton's step on p about a centre, by the factors of the present statuses."""
    right, step = scratch.vectors[at.RIGHT], scratch.vectors[at.STEP]
    v = scratch.vectors[at.VELOCITY]
    share, change = scratch.vectors[at.SHARE], scratch.vectors[at.CHANGE]
    for c in range(count):
        i, part = scratch.contacts[c], scratch.parts[c]
        own = component(scratch, c, p)
        term = eps * scratch.friction[i, at.WEIGHT]
        right[c] = -component(scratch, c, v) - term * (own - component(scratch, c, centre))
        if part != at.PRESSING:
            right[c] -= scratch.friction[i, at.RESISTANCE] * own
        right[c] *= share[c]
    answer_factors(rows, eps, count, scratch)
    put_change(rows, scratch, count, step, change)
    for i in range(p.size):
        p[i] += change[i]
