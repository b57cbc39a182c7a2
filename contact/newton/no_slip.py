"""No slip of what presses: tangents are held, and let go where a contact leaves.

With all tangents held a contact that leaves would be held from sliding while it flies. It is let
go, and the problem solved again. One that presses and slides after that is held for good: it closes
its gap within the step, and no choice need exist that counts it on one side. Where not all can be
held, since drifts of a body's points are no motion of it or others lock it, none are at first.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array
from spatialops._compile.apart import VECTOR, late, types
from spatialops._compile.jit import inlined, kernel
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.central import AIM, Aim, central_impulses
from spatialops.contact.newton.rows import ROWS, SCRATCH, ContactRows, NewtonScratch, contacts_of

# Velocity that counts as rest, relative to the fastest, and to what impulses hide by rounding.
_REST = 1e-10
_HIDDEN = 1e-15
_FOUND = types.Tuple((types.int64, types.float64))


@kernel
def impulses_of_law(
    rows: ContactRows, fastest: float, aim: Aim, p: Array, scratch: NewtonScratch
) -> tuple[int, float]:
    """`central_impulses` of the law; of no slip with what leaves let go."""
    total, residual = central_impulses(rows, fastest, aim, p, scratch)
    if rows.law != at.NO_SLIP:
        return total, residual
    total, residual = settled(rows, fastest, aim, (total, residual), p, scratch)
    if not residual <= aim.tolerance:
        for i in range(contacts_of(rows)):
            rows.friction[i] = -1.0 if rows.friction[i] != 0.0 else 0.0
        for j in range(p.size):
            p[j] = 0.0
        again = Aim(False, aim.tolerance, aim.attempts, False)
        count, residual = central_impulses(rows, fastest, again, p, scratch)
        more, residual = settled(rows, fastest, aim, (count, residual), p, scratch)
        total = -abs(total) - abs(more)
    for i in range(contacts_of(rows)):
        rows.friction[i] = 1.0 if rows.friction[i] != 0.0 else 0.0
    return total, residual


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
    again = Aim(True, aim.tolerance, aim.attempts, False)
    for _ in range(3 * rows.friction.size):
        if not residual <= aim.tolerance or not hold_and_let_go(rows, fastest, p, scratch):
            break
        count, residual = central_impulses(rows, fastest, again, p, scratch)
        total = abs(total) + abs(count)
    return total, residual


@kernel
def hold_and_let_go(rows: ContactRows, fastest: float, p: Array, scratch: NewtonScratch) -> bool:
    """Let go what leaves, and hold again what presses and slides; whether there is any.

    A coefficient of -1 stands for a contact that was let go, of 2 for one held for good.
    """
    v, s = scratch.vectors[at.VELOCITY], largest(scratch.vectors[at.SQUARES])
    limit = max(_REST * max(fastest, largest(rows.u)), _HIDDEN * s * largest(p))
    changed = False
    for i in range(contacts_of(rows)):
        j = 3 * i
        presses = s * (p[j] + rows.prior[i]) > limit
        slip = math.sqrt(v[j + 1] * v[j + 1] + v[j + 2] * v[j + 2])
        if rows.friction[i] < 0.0 and presses and slip > limit:
            rows.friction[i] = 2.0
            changed = True
        elif rows.friction[i] == 1.0 and not presses and v[j] > limit:
            rows.friction[i] = -1.0
            changed = True
    return changed


@inlined
def largest(values: Array) -> float:
    """Largest absolute value."""
    found = 0.0
    for i in range(values.size):
        found = max(found, abs(values[i]))
    return found
