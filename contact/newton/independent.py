"""Unknowns that are independent: what they are needs no proximal term, and no refining.

The term is there for rows that imply one another, of which impulses are not unique. A robot that
stands on its feet has none, and one refinement of the answer takes a third of what it is found in.
"""

from __future__ import annotations

from spatialops._compile.jit import inlined, kernel
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.active_rows import factor_statuses
from spatialops.contact.newton.rows import ContactRows, DenseScratch, NewtonScratch, is_spread
from spatialops.contact.rows import COUNT_A, COUNT_B, FIRST_A, FIRST_B

_ROUNDING = 2.0**-52  # of s, in the term's place: resistances and weights are measured by it
# Pivot, of s. With a term of 1e-6 what is smaller is hardly found by refining either.
_DEPENDENT = 1e-5


@kernel
def are_apart(rows: ContactRows, scratch: NewtonScratch) -> bool:
    """Whether unknowns may be independent: each contact is at the end of a limb of its own.

    Then its last column is nobody else's. Two points of a link hold the line between them twice,
    and so do a joint's stop and its dry friction the joint, and contacts all along a chain the
    chain where it is straight. Resistances of the exact cone and of drags need the term.
    """
    places, m = rows.L.places, rows.friction.size
    if rows.law != at.POLYGON or not is_spread(rows) or 3 * m > scratch.y.size:
        return False
    for i in range(m):
        end = max(places[i, FIRST_A] + places[i, COUNT_A], places[i, FIRST_B] + places[i, COUNT_B])
        for j in range(m):
            if end == 0 or (j != i and has_entry(rows, scratch, j, end - 1)):
                return False
    return True


@inlined
def has_entry(rows: ContactRows, scratch: NewtonScratch, i: int, column: int) -> bool:
    """Whether contact i moves that column."""
    L = scratch.spread.L
    if rows.dry[i] > 0.0:
        return bool(L[3 * i + 1, column] != 0.0)
    sides = L[3 * i + 1, column] != 0.0 or L[3 * i + 2, column] != 0.0
    return bool(L[3 * i, column] != 0.0 or sides)


@kernel
def factor_independent(rows: ContactRows, s: float, eps: float, scratch: NewtonScratch) -> float:
    """As `factor_statuses`, without a term but for rounding, if unknowns are independent.

    Returns the term that the factors have: eps where they are not.
    """
    count = factor_statuses(rows, _ROUNDING * s, scratch)
    if has_small_pivot(scratch.dense, count, s):
        factor_statuses(rows, eps, scratch)
    return scratch.factored[at.TERM]


@inlined
def has_small_pivot(dense: DenseScratch, count: int, s: float) -> bool:
    """Whether an unknown is all but a sum of others, or exactly one."""
    most = 1.0 / (_DEPENDENT * s)
    for c in range(count):
        inverse = abs(dense.M[c, c])
        if not 0.0 < inverse < most:
            return True
    return False
