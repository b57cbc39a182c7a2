"""Unknowns of the linear problem of one set of statuses: which they are, and what they act on.

Of a contact that presses there is its normal, with the friction that goes with it where it slides;
of one that sticks both tangents, and of one on a side the tangent along it.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array
from spatialops._compile.jit import inlined, kernel
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.rows import ContactRows, NewtonScratch, contacts_of, presser_of
from spatialops.contact.newton.statuses import sliding
from spatialops.contact.rows import START, width_of


@kernel
def list_unknowns(rows: ContactRows, eps: float, scratch: NewtonScratch) -> int:
    """Contacts, parts and shares of the unknowns of the present statuses; how many."""
    count = 0
    for i in range(rows.friction.size):
        parts, tangent = scratch.status[i, at.PARTS], scratch.status[i, at.TANGENT]
        if scratch.status[i, at.NORMAL] == at.PRESSES:
            count = put_unknown(rows, scratch, i, at.PRESSING, eps, count)
        if tangent == at.STICKS:
            count = put_unknown(rows, scratch, i, at.ALONG_FIRST, eps, count)
            if parts & at.HAS_SECOND:
                count = put_unknown(rows, scratch, i, at.ALONG_SECOND, eps, count)
        elif tangent == at.AT_SIDE:
            count = put_unknown(rows, scratch, i, at.ALONG_SIDE, eps, count)
    return count


@inlined
def put_unknown(
    rows: ContactRows, scratch: NewtonScratch, i: int, part: int, eps: float, count: int
) -> int:
    """Name an unknown of contact i, its share, and where its rows begin; how many there are."""
    start = rows.L.places[i, START]
    if count > 0 and scratch.contacts[count - 1] == i:
        start = scratch.starts[count - 1] + width_of(rows.L.places, i)
    scratch.contacts[count], scratch.parts[count] = i, part
    scratch.starts[count] = start
    k = scratch.friction[i, at.RESISTANCE] if part != at.PRESSING else 0.0
    scratch.vectors[at.SHARE, count] = share_of(scratch, i, k, eps)
    return count + 1


@inlined
def share_of(scratch: NewtonScratch, i: int, resistance: float, eps: float) -> float:
    """What rows of contact i are taken times, where so much resists."""
    w = scratch.friction[i, at.WEIGHT]
    if resistance == 0.0 and w == 1.0:
        return 1.0
    return math.sqrt(eps / (eps * w + resistance))


@inlined
def acts_along(rows: ContactRows, count: int, scratch: NewtonScratch) -> bool:
    """Whether all unknowns act along what they hold."""
    for c in range(count):
        slides = scratch.friction[scratch.contacts[c], at.SIZE] != 0.0
        if slides and scratch.parts[c] == at.PRESSING:
            return False
    return rows.owners.size == 0


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
