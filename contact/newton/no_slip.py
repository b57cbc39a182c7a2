"""No slip of what presses: tangents are held, and let go where a contact leaves.

With all tangents held a ball that falls along a wall would roll down it, since friction without
bound needs nothing that presses. So those are held at first that approach, or pressed before, and
of the others those that turn out to press and slide. One that leaves would be held from sliding
while it flies. It is let go, and the problem solved again. If it presses and slides after that it
is held for good: it closes its gap within the step, and no choice need exist that counts it on one
side. Where not all can be held, since drifts of a body's points are no motion of it or others lock
it, none are at first.

The law may have several answers: a foot on its way to the ground is free, or its tangents hold it
so that it presses. The one that holds fewest is taken: wedged contacts, whose own impulses draw
them together, are let go where the law has an answer without (`laws.wedges`). The cone has such
contacts too where friction is steep (Painleve).
"""

from __future__ import annotations

import math

from spatialops._arrays import Array
from spatialops._compile.apart import VECTOR, late, types
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import copy_into
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.central import AIM, Aim, central_impulses
from spatialops.contact.newton.known_statuses import keep_statuses
from spatialops.contact.newton.rows import ROWS, SCRATCH, ContactRows, NewtonScratch, contacts_of
from spatialops.contact.rows import START, width_of

# What stands for the coefficient of a contact with friction.
_HELD = 1.0
_FOR_GOOD = 2.0  # held after it was let go
_LET_GO = -1.0
_NOT_YET = -2.0

# Velocity that counts as rest, relative to the fastest, and to what impulses hide by rounding.
_REST = 1e-10
_HIDDEN = 1e-15
_FOUND = types.Tuple((types.int64, types.float64))


@kernel
def impulses_of_law(
    rows: ContactRows, fastest: float, aim: Aim, p: Array, scratch: NewtonScratch
) -> tuple[int, float]:
    """`central_impulses` of the law; of no slip with what leaves let go, and without wedges."""
    if rows.law == at.NO_SLIP:
        found = without_slip(rows, fastest, aim, p, scratch)
    else:
        found = central_impulses(rows, fastest, aim, p, scratch)
    prefers = (rows.law == at.NO_SLIP or rows.law == at.CONE) and found[1] <= aim.tolerance
    if prefers and most_wedged(rows, math.inf, p)[0] >= 0:
        found = without_wedges(rows, fastest, aim, found, p, scratch)
    if rows.law == at.NO_SLIP:
        put_states(rows, _HELD)
    if rows.law == at.POLYGON and found[1] <= aim.tolerance:
        keep_statuses(rows, scratch)
    return found


@kernel
def without_slip(
    rows: ContactRows, fastest: float, aim: Aim, p: Array, scratch: NewtonScratch
) -> tuple[int, float]:
    """As `impulses_of_law`; coefficients of friction become states."""
    put_first_states(rows, fastest, aim, p)
    found = central_impulses(rows, fastest, aim, p, scratch)
    total, residual = settled(rows, fastest, aim, found, p, scratch)
    if not residual <= aim.tolerance:
        put_states(rows, _LET_GO)
        for j in range(p.size):
            p[j] = 0.0
        again = Aim(False, aim.tolerance, aim.attempts, False, False, False)
        found = central_impulses(rows, fastest, again, p, scratch)
        more, residual = settled(rows, fastest, aim, found, p, scratch)
        total = -abs(total) - abs(more)
    return total, residual


@inlined
def put_states(rows: ContactRows, state: float) -> None:
    """Of all contacts with friction."""
    for i in range(contacts_of(rows)):
        rows.friction[i] = state if rows.friction[i] != 0.0 else 0.0


@kernel
def put_first_states(rows: ContactRows, fastest: float, aim: Aim, p: Array) -> None:
    """Hold what approaches or presses, as is known from before."""
    limit = _REST * max(fastest, largest(rows.u))
    for i in range(contacts_of(rows)):
        if rows.friction[i] == 0.0:
            continue
        pressed = rows.prior[i] > 0.0 or (aim.warm and p[3 * i] > 0.0)
        rows.friction[i] = _HELD if pressed or rows.u[3 * i] < -limit else _NOT_YET


@late(ROWS, types.float64, AIM, _FOUND, VECTOR, SCRATCH)
def settled(
    rows: ContactRows,
    fastest: float,
    aim: Aim,
    found: tuple[int, float],
    p: Array,
    scratch: NewtonScratch,
) -> tuple[int, float]:
    """Solve again until none is let go or held anew, from what was found: as `impulses_of_law`."""
    total, residual = found
    again = Aim(True, aim.tolerance, aim.attempts, False, False, False)
    for _ in range(3 * rows.friction.size):
        if not residual <= aim.tolerance or not hold_and_let_go(rows, fastest, p, scratch):
            break
        count, residual = central_impulses(rows, fastest, again, p, scratch)
        total = abs(total) + abs(count)
    return total, residual


@late(ROWS, types.float64, AIM, _FOUND, VECTOR, SCRATCH)
def without_wedges(
    rows: ContactRows,
    fastest: float,
    aim: Aim,
    found: tuple[int, float],
    p: Array,
    scratch: NewtonScratch,
) -> tuple[int, float]:
    """Let wedged contacts go where the law has an answer without, each tried once."""
    total, residual = found
    again = Aim(True, aim.tolerance, aim.attempts, False, False, False)
    no_slip = rows.law == at.NO_SLIP
    kept = scratch.vectors[at.KEPT_WEDGED]
    states = scratch.vectors[at.KEPT_STATES][: rows.friction.size]
    i, depth = most_wedged(rows, math.inf, p)
    while i >= 0:
        copy_into(kept, p)
        copy_into(states, rows.friction)
        rows.friction[i] = _LET_GO if no_slip else 0.0
        other = central_impulses(rows, fastest, again, p, scratch)
        if no_slip:
            other = settled(rows, fastest, aim, other, p, scratch)
        total += -abs(other[0]) if total < 0 else abs(other[0])
        stays = rows.friction[i] > 0.0 if no_slip else p[3 * i] > 0.0
        free = other[1] <= aim.tolerance and not stays
        if free:
            residual = other[1]
        else:
            copy_into(p, kept)
        if not (free and no_slip):
            copy_into(rows.friction, states)
        i, depth = most_wedged(rows, depth, p)
    scratch.factored[at.UNKNOWNS] = 0.0  # what is at hand may be of an attempt
    return total, residual


@kernel
def most_wedged(rows: ContactRows, depth: float, p: Array) -> tuple[int, float]:
    """Of contacts wedged by less than `depth`, the one most of all, and by how much; -1: none.

    A contact is wedged at the velocity with which its own impulse draws it together. Of the cone
    those with steep friction are looked at.
    """
    found = -1
    most = 0.0
    steep = 0.0 if rows.law == at.NO_SLIP else at.STEEP
    for i in range(contacts_of(rows)):
        j = 3 * i
        idle = p[j + 1] == 0.0 and p[j + 2] == 0.0
        if idle or not (p[j] > 0.0 and rows.friction[i] > steep) or rows.dry[i] > 0.0:
            continue
        width = width_of(rows.L.places, i)
        start = rows.L.places[i, START]
        apart = 0.0
        along = 0.0
        for k in range(start, start + width):
            normal = rows.L.entries[k]
            sideways = rows.L.entries[k + width] * p[j + 1]
            sideways += rows.L.entries[k + 2 * width] * p[j + 2]
            apart += normal * (normal * p[j] + sideways)
            along += abs(normal * sideways)
        if most < -apart < depth and -apart > at.WEDGED * along:
            found = i
            most = -apart
    return found, most


@kernel
def hold_and_let_go(rows: ContactRows, fastest: float, p: Array, scratch: NewtonScratch) -> bool:
    """Let go what leaves, and hold again what presses and slides; whether there is any."""
    v, s = scratch.vectors[at.VELOCITY], largest(scratch.vectors[at.SQUARES])
    limit = max(_REST * max(fastest, largest(rows.u)), _HIDDEN * s * largest(p))
    changed = False
    for i in range(contacts_of(rows)):
        j = 3 * i
        presses = s * (p[j] + rows.prior[i]) > limit
        slip = math.sqrt(v[j + 1] * v[j + 1] + v[j + 2] * v[j + 2])
        if rows.friction[i] < 0.0 and presses and slip > limit:
            rows.friction[i] = _HELD if rows.friction[i] == _NOT_YET else _FOR_GOOD
            changed = True
        elif rows.friction[i] == _HELD and not presses and v[j] > limit:
            rows.friction[i] = _LET_GO
            changed = True
    return changed


@inlined
def largest(values: Array) -> float:
    """Largest absolute value."""
    found = 0.0
    for i in range(values.size):
        found = max(found, abs(values[i]))
    return found
