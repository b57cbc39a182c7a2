"""Statuses that a problem begins with: those that the answer of the step before had.

Impulses of a step before have not answered the new velocities yet, so that statuses of p - r v are
those of all that joint forces and weight ask for: of 24 contacts on which a chain crawls 66 rows
seem to be held where 51 are, and what that leads to is off by a hundred times. What presses, sticks
or slides seldom changes from step to step. Directions of sliding are those of the impulses, since
tangents turn.
"""

from __future__ import annotations

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.residual import along
from spatialops.contact.newton.rows import ContactRows, NewtonScratch
from spatialops.contact.newton.statuses import (
    find_status,
    put_limit,
    put_status,
    side_facing,
)

_NUMBERS = 2**48  # fewer than a float tells apart


@kernel
def begin_statuses(
    rows: ContactRows, eps: float, share: float, p: Array, scratch: NewtonScratch
) -> None:
    """Known statuses of impulses p of the step before; others as `find_statuses` finds them."""
    known = rows.statuses.size > 0 and rows.law == at.POLYGON
    for i in range(rows.friction.size):
        if not known or not put_known(rows, i, p, scratch):
            find_status(rows, eps, share, i, p, scratch)


@inlined
def put_known(rows: ContactRows, i: int, p: Array, scratch: NewtonScratch) -> bool:
    """The known statuses of contact i; whether there are any."""
    sides = rows.corners.shape[0]
    known, parts = rows.statuses[i], scratch.status[i, at.PARTS]
    j = 3 * i
    tangent = known >> 1 & 3
    line = not parts & at.HAS_SECOND
    slides = tangent == at.AT_CORNER or tangent == at.AT_SIDE
    still = slides and p[j + 1] == 0.0 and p[j + 2] == 0.0
    if known < 0 or still or (line and tangent == at.AT_SIDE):
        return False
    normal = known & 1 if parts & at.HAS_NORMAL else at.OPEN
    side = 0
    if not parts & at.HAS_FIRST:
        tangent = at.FREE
    elif slides and line:
        side = 0 if p[j + 1] > 0.0 else sides // 2
    elif slides:
        side = facing(rows.corners, tangent, p[j + 1], p[j + 2])
    put_status(scratch.status, i, normal, tangent, side)
    put_limit(rows, scratch, i, tangent, side)
    return True


@inlined
def facing(corners: Array, tangent: int, x: float, y: float) -> int:
    """The corner, or side, that (x, y) points to."""
    if tangent == at.AT_SIDE:
        return side_facing(corners, x, y)[0]
    best, most = 0, 0.0
    for k in range(corners.shape[0]):
        toward = along(corners, k, x, y)
        if toward > most:
            best, most = k, toward
    return best


@kernel
def keep_statuses(rows: ContactRows, scratch: NewtonScratch) -> None:
    """Statuses of the answer, for the next step; those given where they did not need to be found.

    Normals are the first bit, and tangents the two behind it.
    """
    for i in range(rows.statuses.size):
        tangent = scratch.status[i, at.TANGENT]
        if tangent != at.UNKNOWN:
            rows.statuses[i] = scratch.status[i, at.NORMAL] + 2 * tangent


@inlined
def go_round(scratch: NewtonScratch, step: int) -> bool:
    """Whether statuses are those of an earlier step about the same centre, and come for ever.

    Kept are those of the first, second, fourth and eighth step (R. P. Brent, *An improved Monte
    Carlo factorization algorithm*, BIT 20 (1980)).
    """
    number = number_of(scratch.status)
    if step > 1 and scratch.factored[at.STATUSES] == number:
        return True
    if step & (step - 1) == 0:
        scratch.factored[at.STATUSES] = number
    return False


@kernel
def number_of(status: IntArray) -> float:
    """A number of all statuses: others have all but surely another."""
    number = 0
    for i in range(status.shape[0]):
        own = status[i, at.NORMAL] + 2 * status[i, at.TANGENT] + 8 * status[i, at.SIDE]
        number = (31 * number + own) % _NUMBERS
    return float(number)
