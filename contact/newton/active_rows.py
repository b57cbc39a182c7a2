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
from spatialops.contact.newton.dense.sums import factor_sum
from spatialops.contact.newton.row_products import multiply, multiply_transposed
from spatialops.contact.newton.rows import (
    ROWS,
    SCRATCH,
    ContactRows,
    NewtonScratch,
    contacts_of,
    is_dense,
    presser_of,
)
from spatialops.contact.newton.statuses import share_of, sliding
from spatialops.contact.rows import START, width_of


@kernel
def count_unknowns(rows: ContactRows, scratch: NewtonScratch) -> int:
    """How many unknowns the present statuses have."""
    count = 0
    for i in range(rows.friction.size):
        tangent = scratch.status[i, at.TANGENT]
        both = tangent == at.STICKS and scratch.status[i, at.PARTS] & at.HAS_SECOND
        count += 1 if scratch.status[i, at.NORMAL] == at.PRESSES else 0
        count += 1 if tangent == at.STICKS or tangent == at.AT_SIDE else 0
        count += 1 if both else 0
    return count


@kernel
def name_unknowns(rows: ContactRows, eps: float, scratch: NewtonScratch) -> None:
    """The unknowns of the present statuses, without their rows."""
    count = 0
    for i in range(rows.friction.size):
        parts, tangent = scratch.status[i, at.PARTS], scratch.status[i, at.TANGENT]
        if scratch.status[i, at.NORMAL] == at.PRESSES:
            put_unknown(rows, scratch, i, at.PRESSING, eps, count)
            count += 1
        if tangent == at.STICKS:
            put_unknown(rows, scratch, i, at.ALONG_FIRST, eps, count)
            count += 1
            if parts & at.HAS_SECOND:
                put_unknown(rows, scratch, i, at.ALONG_SECOND, eps, count)
                count += 1
        elif tangent == at.AT_SIDE:
            put_unknown(rows, scratch, i, at.ALONG_SIDE, eps, count)
            count += 1


@kernel
def gather_rows(rows: ContactRows, eps: float, scratch: NewtonScratch) -> int:
    """The unknowns of the present statuses, with their rows rho and gamma; how many."""
    count = 0
    for i in range(rows.friction.size):
        parts, tangent = scratch.status[i, at.PARTS], scratch.status[i, at.TANGENT]
        if scratch.status[i, at.NORMAL] == at.PRESSES:
            count = put_pressing(rows, scratch, i, eps, count)
        if tangent == at.STICKS:
            count = put_row(rows, scratch, i, at.ALONG_FIRST, (1.0, 0.0), eps, count)
            if parts & at.HAS_SECOND:
                count = put_row(rows, scratch, i, at.ALONG_SECOND, (0.0, 1.0), eps, count)
        elif tangent == at.AT_SIDE:
            e_x, e_y, _ = sliding(scratch.friction, i)
            count = put_row(rows, scratch, i, at.ALONG_SIDE, (-e_y, e_x), eps, count)
    for i in range(contacts_of(rows), rows.friction.size):
        put_moment(rows, scratch, i, eps)
    return count


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


@inlined
def put_pressing(rows: ContactRows, scratch: NewtonScratch, i: int, eps: float, count: int) -> int:
    """The normal of contact i, with the friction that goes with it where it slides."""
    width, start = put_unknown(rows, scratch, i, at.PRESSING, eps, count)
    share = scratch.vectors[at.SHARE, count]
    e_x, e_y, g = sliding(scratch.friction, i)
    g *= rows.friction[i]
    own = rows.L.places[i, START]
    entries = rows.L.entries
    for k in range(0, width, WIDTH):
        few = width - k
        normal = load_first(entries, own + k, few)
        side = e_x * load_first(entries, own + width + k, few)
        side = side + e_y * load_first(entries, own + 2 * width + k, few)
        store_first(scratch.rho[0], start + k, few, share * normal)
        store_first(scratch.gamma, start + k, few, share * (normal + g * side))
    return count + 1


@inlined
def put_row(
    rows: ContactRows,
    scratch: NewtonScratch,
    i: int,
    part: int,
    along: tuple[float, float],
    eps: float,
    count: int,
) -> int:
    """A tangent of contact i."""
    width, start = put_unknown(rows, scratch, i, part, eps, count)
    share = scratch.vectors[at.SHARE, count]
    x, y = share * along[0], share * along[1]
    own = rows.L.places[i, START]
    entries = rows.L.entries
    for k in range(0, width, WIDTH):
        few = width - k
        row = x * load_first(entries, own + width + k, few)
        row = row + y * load_first(entries, own + 2 * width + k, few)
        store_first(scratch.rho[0], start + k, few, row)
        store_first(scratch.gamma, start + k, few, row)
    return count + 1


@inlined
def put_unknown(
    rows: ContactRows, scratch: NewtonScratch, i: int, part: int, eps: float, count: int
) -> tuple[int, int]:
    """Name an unknown of contact i, and its share; entries of its rows, and where they begin."""
    width, start = width_of(rows.L.places, i), rows.L.places[i, START]
    if count > 0 and scratch.contacts[count - 1] == i:
        start = scratch.starts[count - 1] + width
    scratch.contacts[count], scratch.parts[count] = i, part
    scratch.starts[count] = start
    k = scratch.friction[i, at.RESISTANCE] if part != at.PRESSING else 0.0
    scratch.vectors[at.SHARE, count] = share_of(scratch, i, k, eps)
    return width, start


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
    count = count_unknowns(rows, scratch)
    if is_dense(rows) and solves_for_columns(count, scratch.y.size):
        name_unknowns(rows, eps, scratch)
        factor_sum(rows, eps, count, scratch)
    else:
        gather_rows(rows, eps, scratch)
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


@inlined
def put_change(
    rows: ContactRows, scratch: NewtonScratch, count: int, x: Array, change: Array
) -> None:
    """The change of impulses that so many unknowns x are, with moments that go with normals."""
    share = scratch.vectors[at.SHARE]
    for i in range(change.size):
        change[i] = 0.0
    for c in range(count):
        add_unknown(rows, scratch, c, x[c] * share[c], change)
    for i in range(contacts_of(rows), rows.friction.size):
        e_x, e_y, g = sliding(scratch.friction, i)
        g *= rows.friction[i] * change[3 * presser_of(rows, i)]
        change[3 * i + 1] += g * e_x
        change[3 * i + 2] += g * e_y


@inlined
def add_unknown(rows: ContactRows, scratch: NewtonScratch, c: int, x: float, p: Array) -> None:
    """Add x of unknown c to impulses p: along gamma, before shares."""
    i, part = scratch.contacts[c], scratch.parts[c]
    j = 3 * i
    e_x, e_y, g = sliding(scratch.friction, i)
    if part == at.PRESSING:
        g *= rows.friction[i]
        p[j] += x
        p[j + 1] += g * e_x * x
        p[j + 2] += g * e_y * x
    elif part == at.ALONG_SIDE:
        p[j + 1] -= e_y * x
        p[j + 2] += e_x * x
    else:
        p[j + part] += x


@inlined
def component(scratch: NewtonScratch, c: int, vector: Array) -> float:
    """Component of a vector over the contacts' rows that unknown c is."""
    i, part = scratch.contacts[c], scratch.parts[c]
    if part != at.ALONG_SIDE:
        return vector[3 * i + part]
    e_x, e_y, _ = sliding(scratch.friction, i)
    return e_x * vector[3 * i + 2] - e_y * vector[3 * i + 1]


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
