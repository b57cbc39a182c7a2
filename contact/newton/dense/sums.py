"""The linear problem for columns as a sum over contacts, of which statuses change few terms.

    G^T R = sum of rho_j gamma_j^T over the unknowns j of all contacts

From one set of statuses to the next most contacts keep theirs. What each has in the sum is a
handful of coefficients of its rows: where these change, old terms are taken out and new ones put
in; where most do, as of a problem that begins, all are summed anew.

A change leaves roundings of the sum's largest entries, as every term does. What they are in an
answer the residual tells, and refining takes them away.
"""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.simd import WIDTH, load, store, zeros
from spatialops.algebra.simd_parts import load_first, store_first
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.dense.factors import add_product, factor
from spatialops.contact.newton.dense.lines import begin_spans, extend
from spatialops.contact.newton.rows import (
    BATCH,
    ContactRows,
    DenseScratch,
    NewtonScratch,
    is_moment,
    presser_of,
    whole_registers,
)
from spatialops.contact.newton.statuses import sliding
from spatialops.contact.newton.unknowns import acts_along, share_of
from spatialops.contact.rows import COUNT_A, FIRST_A, START, width_of

_MOST_LINES = 3  # of a contact
_Parts = tuple[float, float, float]  # along normal, first and second tangent


@kernel
def factor_sum(rows: ContactRows, eps: float, count: int, scratch: NewtonScratch) -> None:
    """Factors of eps I + G^T R, of so many unknowns of the present statuses."""
    dense, n = scratch.dense, scratch.y.size
    changed = put_terms(rows, eps, scratch)
    if scratch.factored[at.SUMMED] == 0.0 or changed > count:
        forget_sum(dense, rows.friction.size, n)
        scratch.factored[at.SUMMED] = 1.0
    change_sum(rows, scratch, n)
    for i in range(whole_registers(n)):
        for j in range(0, n, WIDTH):
            store(dense.M, i, j, load(dense.sums, i, j))
    for i in range(n):
        dense.M[i, i] += eps
    factor(dense, n, not acts_along(rows, count, scratch))


@inlined
def forget_sum(dense: DenseScratch, m: int, n: int) -> None:
    """No contact has anything in the sum."""
    for i in range(whole_registers(n)):
        for j in range(dense.sums.shape[1]):
            dense.sums[i, j] = 0.0
    for i in range(m):
        for k in range(at.TERMS):
            dense.summed[i, k] = 0.0


@kernel
def put_terms(rows: ContactRows, eps: float, scratch: NewtonScratch) -> int:
    """What contacts have in the sum of the present statuses; how many lines come and go."""
    dense = scratch.dense
    changed = 0
    for i in range(rows.friction.size):
        put_term(rows, scratch, i, eps)
        if differs(dense, i):
            changed += lines_of(dense.summed, i) + lines_of(dense.terms, i)
    return changed


@inlined
def put_term(rows: ContactRows, scratch: NewtonScratch, i: int, eps: float) -> None:
    """What contact i has: coefficients of its rows, with the shares that unknowns are taken times.

    A moment at its limit has what it adds to gamma of the normal that presses it.
    """
    terms, tangent = scratch.dense.terms, scratch.status[i, at.TANGENT]
    for k in range(at.TERMS):
        terms[i, k] = 0.0
    e_x, e_y, g = sliding(scratch.friction, i)
    owner = presser_of(rows, i)
    if scratch.status[owner, at.NORMAL] == at.PRESSES:
        share = share_of(scratch, owner, 0.0, eps)
        g *= share * rows.friction[i]
        terms[i, at.OF_NORMAL] = share if owner == i or g != 0.0 else 0.0
        terms[i, at.LIMIT_X], terms[i, at.LIMIT_Y] = g * e_x, g * e_y
    if tangent != at.STICKS and tangent != at.AT_SIDE:
        return
    share = share_of(scratch, i, scratch.friction[i, at.RESISTANCE], eps)
    if tangent == at.AT_SIDE:
        terms[i, at.SIDE_X], terms[i, at.SIDE_Y] = -share * e_y, share * e_x
        return
    terms[i, at.OF_FIRST] = share
    terms[i, at.OF_SECOND] = share if scratch.status[i, at.PARTS] & at.HAS_SECOND else 0.0


@inlined
def differs(dense: DenseScratch, i: int) -> bool:
    """Whether contact i has something else in the sum than it shall have."""
    other = False
    for k in range(at.TERMS):
        other = other or dense.terms[i, k] != dense.summed[i, k]
    return other


@inlined
def lines_of(terms: Array, i: int) -> int:
    """Lines of contact i."""
    count = 1 if terms[i, at.OF_NORMAL] != 0.0 else 0
    count += 1 if terms[i, at.OF_FIRST] != 0.0 else 0
    count += 1 if terms[i, at.OF_SECOND] != 0.0 else 0
    side = terms[i, at.SIDE_X] != 0.0 or terms[i, at.SIDE_Y] != 0.0
    return count + (1 if side else 0)


@kernel
def change_sum(rows: ContactRows, scratch: NewtonScratch, n: int) -> None:
    """Take out what contacts had, where it differs, and put in what they have."""
    dense = scratch.dense
    count = 0
    begin_spans(dense, BATCH)
    for i in range(rows.friction.size):
        if not differs(dense, i):
            continue
        if count + 2 * _MOST_LINES > BATCH:
            add_product(dense, dense.sums, dense.right, n, False)
            begin_spans(dense, BATCH)
            count = 0
        count = put_contact(rows, scratch, i, dense.summed, -1.0, count)
        count = put_contact(rows, scratch, i, dense.terms, 1.0, count)
        for k in range(at.TERMS):
            dense.summed[i, k] = dense.terms[i, k]
    if count > 0:
        add_product(dense, dense.sums, dense.right, n, False)


@inlined
def put_contact(
    rows: ContactRows, scratch: NewtonScratch, i: int, terms: Array, sign: float, count: int
) -> int:
    """Lines of the terms of contact i, behind so many: rho, of this sign, and gamma."""
    dense, share = scratch.dense, terms[i, at.OF_NORMAL]
    if share != 0.0:
        own = 0.0 if is_moment(rows, i) else share
        gamma = (own, terms[i, at.LIMIT_X], terms[i, at.LIMIT_Y])
        count = put_line(rows, dense, i, (sign * share, 0.0, 0.0), gamma, count)
    share = terms[i, at.OF_FIRST]
    if share != 0.0:
        count = put_line(rows, dense, i, (0.0, sign * share, 0.0), (0.0, share, 0.0), count)
    share = terms[i, at.OF_SECOND]
    if share != 0.0:
        count = put_line(rows, dense, i, (0.0, 0.0, sign * share), (0.0, 0.0, share), count)
    x, y = terms[i, at.SIDE_X], terms[i, at.SIDE_Y]
    if x != 0.0 or y != 0.0:
        count = put_line(rows, dense, i, (0.0, sign * x, sign * y), (0.0, x, y), count)
    return count


@inlined
def put_line(
    rows: ContactRows, dense: DenseScratch, i: int, rho: _Parts, gamma: _Parts, place: int
) -> int:
    """Sums of the rows of contact i, of its presser's normal in rho; the place behind them."""
    places, entries = rows.L.places, rows.L.entries
    left, right = dense.left[place], dense.right[place]
    width = width_of(places, i)
    start, pressing = places[i, START], places[presser_of(rows, i), START]
    for k in range(0, rows.trees[rows.trees.size - 1], WIDTH):
        store(dense.left, place, k, zeros())
        store(dense.right, place, k, zeros())
    for side in range(2):
        first, size = places[i, FIRST_A + 2 * side], places[i, COUNT_A + 2 * side]
        for k in range(0, size, WIDTH):
            few = size - k
            along = load_first(entries, start + width + k, few)
            across = load_first(entries, start + 2 * width + k, few)
            sideways = rho[1] * along + rho[2] * across
            normal = rho[0] * load_first(entries, pressing + k, few)
            store_first(left, first + k, few, normal + sideways)
            normal = gamma[0] * load_first(entries, start + k, few)
            sideways = gamma[1] * along + gamma[2] * across
            store_first(right, first + k, few, normal + sideways)
        start += size
        pressing += size
        for b in range(first // WIDTH, whole_registers(first + size) // WIDTH if size > 0 else 0):
            extend(dense, b, place, place + 1)
    return place + 1
