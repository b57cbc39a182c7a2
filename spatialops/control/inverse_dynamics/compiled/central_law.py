"""Impulses by Newton's method on statuses (`contact.newton`): of soles, and of polygons.

Rows are taken along the frames of the round, in which polygons lie; what comes out is along those
in which rows stand.
"""

from __future__ import annotations

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.memory import matrix
from spatialops.algebra.vectors import dot
from spatialops.contact.laws.law import TOLERANCE
from spatialops.contact.laws.plain_cone import POLISHED, SHARPER, cone_violation
from spatialops.contact.newton import _layout as law
from spatialops.contact.newton.central import ALL_ATTEMPTS, Aim
from spatialops.contact.newton.islands import solve_islands
from spatialops.contact.newton.rows import ContactRows
from spatialops.contact.rows import COUNT_A, COUNT_B, FIRST_A, START, TREE_A, TREE_B, SparseRows
from spatialops.control.inverse_dynamics.compiled import workspace as of
from spatialops.control.inverse_dynamics.compiled.cone_law import (
    UNSOLVED,
    largest,
    largest_compliance,
)
from spatialops.control.inverse_dynamics.compiled.posture import put_after, put_speeds
from spatialops.control.inverse_dynamics.compiled.tables import Newton
from spatialops.control.inverse_dynamics.compiled.turning import turn_back, turned, turning
from spatialops.control.inverse_dynamics.compiled.workspace import Posture, Round


@kernel
def solve_central(
    posture: Posture, others: IntArray, at: Round, which: int, newton: Newton, scratch: Array
) -> tuple[int, float]:
    """As `solve_cone`, of the law of this number in `contact.newton._layout`."""
    m = at.slip.size
    u = others.size
    entries = scratch[: 3 * m * u]
    begin = 3 * m * u
    own = scratch[begin : begin + 3 * m]
    p = scratch[begin + 3 * m : begin + 6 * m]
    friction = scratch[begin + 6 * m : begin + 7 * m]
    nothing = scratch[begin + 7 * m : begin + 8 * m]
    put_turned(posture, at, entries, own, p, friction)
    for i in range(m):
        nothing[i] = 0.0
        put_place(newton.places, i, u)
    newton.trees[1] = u
    rows = ContactRows(
        SparseRows(entries, newton.places[:m]),
        newton.trees,
        own,
        friction,
        nothing,
        nothing,
        newton.corners,
        which,
        newton.trees[:0],
        newton.trees[:0],
        friction[:0],
    )
    sharp = TOLERANCE if which == law.POLYGON else POLISHED
    limit = SHARPER * TOLERANCE if which == law.CONE else TOLERANCE
    aim = Aim(True, sharp, ALL_ATTEMPTS, False, False, False)
    taken, residual = solve_islands(rows, aim, p, newton.buffers)
    for i in range(m):
        turn_back(turning(posture.place, i), p, at.p, 3 * i)
        if which != law.POLYGON:
            at.p[3 * i] = max(at.p[3 * i], 0.0)
    put_after(posture, others, at, at.p, at.after)
    put_speeds(posture, at.after, at.then)
    if which != law.POLYGON:
        residual = judged(posture, at, friction)
    return abs(taken), residual if residual <= limit else UNSOLVED


@inlined
def put_turned(
    posture: Posture, at: Round, entries: Array, own: Array, p: Array, friction: Array
) -> None:
    """Rows, velocities and the last impulses along the frames of the round."""
    u = posture.reach.shape[1]
    for i in range(at.slip.size):
        turn = turning(posture.place, i)
        for j in range(u):
            x = (posture.reach[3 * i, j], posture.reach[3 * i + 1, j], posture.reach[3 * i + 2, j])
            for c in range(3):
                entries[(3 * i + c) * u + j] = dot(turn[c], x)
        turned(turn, at.u, own, 3 * i)
        turned(turn, at.last, p, 3 * i)
        friction[i] = posture.place[i, of.MU]


@inlined
def put_place(places: IntArray, i: int, u: int) -> None:
    """Where rows of a contact are: one after the other, of one tree."""
    places[i, START] = 3 * u * i
    places[i, FIRST_A] = 0
    places[i, COUNT_A] = u
    places[i, COUNT_B] = 0
    places[i, TREE_A] = 0
    places[i, TREE_B] = -1


@inlined
def judged(posture: Posture, at: Round, friction: Array) -> float:
    """The residual of the exact cone, as its law measures it."""
    m = at.slip.size
    s = largest_compliance(posture.W)
    p = matrix(at.p, 0, m, 3)
    worst = cone_violation(s, p, matrix(at.then, 0, m, 3), friction, at.slip)
    scale = largest(at.u)
    if scale == 0.0:
        scale = s * largest(at.p)
    return worst / scale if scale > 0.0 else worst
