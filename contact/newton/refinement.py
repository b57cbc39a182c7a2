"""An answer refined by the factors of its statuses, to rounding.

Each step solves for what the conditions of the statuses miss, with the proximal term about the
answer before: what is off along a direction that W yields w in is eps / (eps + w) of it after a
step. Where contacts all but imply one another a few such w are of the size of eps or less. How p
changed in the steps before tells where they lead: changes d are linear in p, so that those known
about several p leave least for a sum of these (D. G. Anderson, J. ACM 12, 1965), and after as
many steps as there are such directions, nothing.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array
from spatialops._compile.apart import VECTOR, late, types
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import copy_into
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.active_rows import solve_rows
from spatialops.contact.newton.residual import FOUND, residual_at, rounding
from spatialops.contact.newton.row_products import put_velocities
from spatialops.contact.newton.rows import (
    PROBLEM,
    SCRATCH,
    ContactRows,
    NewtonScratch,
    Problem,
    turns_on,
)

_STEPS = at.MOST_LEADS + 1  # at most, each of which must make the residual
_SMALLER = 0.1  # times as large
# But for the first ones, which tell where they lead: of robots that lie on themselves with 30
# contacts a fourth fewer linear problems.
_TELLING = 3
_ROUNDED = 1e-16  # of a square: what is left is rounding, and tells nothing
# Residual that is enough where friction slides on a circle: steps keep its directions, and end at
# what these leave, of a box that slides and turns at 7e-14 after four.
_ENOUGH_WHERE_TURNED = 1e-12


@late(PROBLEM, types.float64, types.int64, types.float64, VECTOR, SCRATCH)
def refined(
    problem: Problem,
    eps: float,
    count: int,
    residual: float,
    p: Array,
    scratch: NewtonScratch,
) -> float:
    """Refine p with the factors at hand, of so many unknowns; the residual.

    Statuses stay as they are: of velocities that are rounding, any status would be one.
    """
    before = scratch.vectors[at.BEFORE]
    enough = FOUND * rounding(p.size, scratch.y.size)
    if slides_on_circle(problem.rows, scratch):
        enough = _ENOUGH_WHERE_TURNED
    for steps in range(_STEPS):
        if residual <= enough:
            break
        copy_into(before, p)
        solve_rows(problem.rows, eps, count, p, p, scratch)
        go_farther(p, steps, scratch)
        found = residual_at(problem, p, scratch)
        if not found < (_SMALLER if steps >= _TELLING else 1.0) * residual:
            copy_into(p, before)
            put_velocities(problem.rows, p, scratch.vectors[at.VELOCITY], scratch)
            break
        residual = found
    return residual


@inlined
def slides_on_circle(rows: ContactRows, scratch: NewtonScratch) -> bool:
    """Whether any friction is at its limit in a direction that the answer turns."""
    slides = False
    for i in range(scratch.status.shape[0] if turns_on(rows) else 0):
        slides = slides or scratch.status[i, at.TANGENT] == at.AT_SIDE
    return slides


@kernel
def go_farther(p: Array, steps: int, scratch: NewtonScratch) -> None:
    """Move p, which the factors have led from BEFORE, to where so many `steps` lead with it."""
    before, change = scratch.vectors[at.BEFORE], scratch.vectors[at.CHANGE]
    moved, led = scratch.vectors[at.MOVED], scratch.vectors[at.LED]
    if steps > 0:
        keep_lead(p.size, steps - 1, scratch)
    copy_into(led, change)
    for i in range(p.size):
        moved[i] = 0.0
    take_leads_off(p.size, steps, change, moved, scratch)
    for i in range(p.size):
        moved[i] += change[i]
        p[i] = before[i] + moved[i]


@inlined
def keep_lead(size: int, last: int, scratch: NewtonScratch) -> None:
    """How the last move of p changed the next one, less what those before it tell, of length 1."""
    lead, move = scratch.vectors[at.LEADS + last], scratch.vectors[at.MOVES + last]
    for i in range(size):
        lead[i] = scratch.vectors[at.CHANGE, i] - scratch.vectors[at.LED, i]
        move[i] = scratch.vectors[at.MOVED, i]
    least = _ROUNDED * inner(size, lead, lead)
    take_leads_off(size, last, lead, move, scratch)
    square = inner(size, lead, lead)
    scale = 1.0 / math.sqrt(square) if square > least else 0.0
    for i in range(size):
        lead[i] *= scale
        move[i] *= scale


@inlined
def take_leads_off(
    size: int, count: int, change: Array, move: Array, scratch: NewtonScratch
) -> None:
    """Take off a change what so many leads tell of it, and their moves off its move."""
    for j in range(count):
        share = inner(size, change, scratch.vectors[at.LEADS + j])
        for i in range(size):
            change[i] -= share * scratch.vectors[at.LEADS + j, i]
            move[i] -= share * scratch.vectors[at.MOVES + j, i]


@inlined
def inner(size: int, a: Array, b: Array) -> float:
    """Product of two vectors."""
    total = 0.0
    for i in range(size):
        total += a[i] * b[i]
    return total
