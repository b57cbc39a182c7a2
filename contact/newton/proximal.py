"""Proximal steps, each solved by Newton's method on statuses.

With a centre c the problem of W + eps I, about c, has one answer near c, and statuses settle in a
few steps. When they repeat, that answer is exact; it is the next centre, and the answers approach
one of the problem itself: from c = 0 the shortest impulses, as a slightly compliant body spreads
them; from the impulses of the step before the nearest to those.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array
from spatialops._compile.apart import VECTOR, late, types
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import copy_into
from spatialops.collision._layout import INFINITE
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.active_rows import (
    factor_statuses,
    solve_rows,
)
from spatialops.contact.newton.independent import are_apart, factor_independent
from spatialops.contact.newton.known_statuses import begin_statuses, go_round
from spatialops.contact.newton.ray import FAR, ray_length
from spatialops.contact.newton.refinement import refined
from spatialops.contact.newton.residual import FOUND, residual_at, rounding, speed_scale
from spatialops.contact.newton.row_products import multiply, multiply_transposed, put_velocities
from spatialops.contact.newton.rows import (
    PROBLEM,
    ROWS,
    SCRATCH,
    ContactRows,
    NewtonScratch,
    Problem,
    is_dense,
    is_one_tree,
    turns_on,
)
from spatialops.contact.newton.statuses import find_statuses, put_on_pieces
from spatialops.contact.rows import squares_of

_LIMITS = types.Tuple((types.int64, types.int64, types.boolean))

_LEAST = 1e-10  # proximal term, relative to s: below, rounding takes part along null directions
_SHRINKS = 0.1  # of the proximal term, where a centre settled
_SHARP = 1e-12  # residual above which statuses are looked at again, also where it is accepted
_STALLED = 0.5  # of the residual, which further centres leave where it is
_SAME = 0.01  # change of the residual, relative, with which a centre of round friction settles
_TOWARDS = 0.3  # cosine: along a direction that lowers velocities they fall by at least so much
_SETTLED = 2  # centres after which what is left is along null directions, or the term too large
# Change of impulses, relative to the largest, and residual of those given, relative to that found,
# with which they are as good an answer.
_NEAR, _AS_GOOD = 1e-6, 2.0


@late(
    PROBLEM,
    types.float64,
    types.float64,
    _LIMITS,
    types.boolean,
    types.float64,
    VECTOR,
    SCRATCH,
)
def proximal_steps(
    problem: Problem,
    term: float,
    share: float,
    limits: tuple[int, int, bool],
    warm: bool,
    tolerance: float,
    p: Array,
    scratch: NewtonScratch,
) -> tuple[int, float]:
    """Solve from p with a proximal term (of s); returns iterations and the least residual, at p.

    What solves already is left as it is; if it is `warm`, the forces of a step before, to FOUND.
    `limits`: iterations in all, those about one centre, and whether statuses must repeat: what
    solves on the way there need not be near the centre, and counts only where nothing else does.
    """
    rows = problem.rows
    best, centre = scratch.vectors[at.BEST], scratch.vectors[at.CENTRE]
    eps = term * problem.s
    copy_into(centre, p)
    copy_into(best, p)
    residual = least = residual_at(problem, p, scratch)
    if least <= (FOUND if warm else 1.0) * rounding(p.size, scratch.y.size):
        return 0, least
    count = 0
    since = 0
    settled = 0
    factored = 0.0
    least_term = _LEAST * problem.s
    before = held = INFINITE
    apart = limits[2] and are_apart(rows, scratch)
    for iteration in range(limits[0]):
        if iteration > 0 and residual <= tolerance and not limits[2]:
            residual = refined(problem, eps, count, residual, p, scratch)
            if residual <= _SHARP:
                return iteration, residual
        if iteration == 0 and warm and limits[2]:
            begin_statuses(rows, eps, share, p, scratch)
            news = at.CHANGED
        else:
            news = find_statuses(rows, eps, share, p, scratch)
        if iteration > 0 and residual <= tolerance and news == at.CHANGED and not limits[2]:
            return iteration, residual
        if iteration > 0 and news == at.REPEATED:
            rough = residual
            residual = refined(problem, eps, count, residual, p, scratch)
            sharp = residual <= _SHARP or settled >= _SETTLED or residual > _STALLED * rough
            if residual <= tolerance and sharp:
                return iteration, residual
            if residual < least:
                least = residual
                copy_into(best, p)
            if residual > _STALLED * held and not is_dense(rows):
                follow_ray(rows, p, scratch)
            held = residual
            copy_into(centre, p)
            news = find_statuses(rows, eps, share, p, scratch)
        if iteration > 0 and (news == at.REPEATED or stays(rows, before, residual)):
            settled, since = settled + 1, 0
            if news != at.REPEATED:
                copy_into(centre, p)
                news = find_statuses(rows, eps, share, p, scratch)
            if settled > _SETTLED:
                eps = max(_SHRINKS * eps, least_term)
        since += 1
        if since > limits[1]:
            if limits[2] or eps <= least_term or eps >= term * problem.s:
                break
            # The term was made too small: back to the last centre, and not below the one before.
            eps = least_term = eps / _SHRINKS
            copy_into(p, centre)
            put_velocities(rows, p, scratch.vectors[at.VELOCITY], scratch)
            news = find_statuses(rows, eps, share, p, scratch)
            since = 0
        looks_back = limits[2] and is_one_tree(rows)
        if looks_back and news == at.CHANGED and go_round(scratch, since):
            break
        if news != at.REPEATED or eps != factored:
            if apart:
                eps = factor_independent(rows, problem.s, term * problem.s, scratch)
                apart = eps < term * problem.s
            else:
                factor_statuses(rows, eps, scratch)
            count = int(scratch.factored[at.UNKNOWNS])
            factored = eps
        before = residual
        residual = newton_step(problem, eps, count, p, scratch)
        if residual < least or least != least:
            least = residual
            copy_into(best, p)
    copy_into(p, best)
    return iteration, least


@late(ROWS, types.float64, VECTOR, SCRATCH)
def solved_again(rows: ContactRows, fastest: float, p: Array, scratch: NewtonScratch) -> float:
    """Residual of p, from that of nearly the same problem by its statuses and factors.

    Impulses stay as they were where these lead to no answer.
    """
    start = scratch.vectors[at.START]
    copy_into(start, p)
    s = 0.0
    for i in range(rows.dry.size):
        s = max(s, max(squares_of(rows.L, i, rows.dry[i] > 0.0)))
    problem = Problem(rows, s, max(speed_scale(rows, s), fastest))
    put_on_pieces(rows, p, scratch)
    residual = residual_at(problem, p, scratch)
    count = int(scratch.factored[at.UNKNOWNS])
    residual = refined(problem, scratch.factored[at.TERM], count, residual, p, scratch)
    if not residual <= _SHARP:
        copy_into(p, start)
        return INFINITE
    return residual


@kernel
def kept_if_as_good(
    problem: Problem, tolerance: float, residual: float, p: Array, scratch: NewtonScratch
) -> float:
    """The residual, of impulses p or of those given, which take their place where these do as well.

    Rows that imply one another disagree by roundings of where points are, by r: no impulses take
    that away, and proximal steps move them by r / term where no velocity tells of it, for ever.
    """
    start = scratch.vectors[at.START]
    if residual <= FOUND * rounding(p.size, scratch.y.size):
        return residual
    moved = largest = 0.0
    for i in range(p.size):
        moved = max(moved, abs(p[i] - start[i]))
        largest = max(largest, abs(p[i]))
    if not moved <= _NEAR * largest:
        return residual
    given = residual_at(problem, start, scratch)
    if not given <= min(_AS_GOOD * residual, tolerance):
        return residual
    copy_into(p, start)
    return given


@inlined
def newton_step(
    problem: Problem, eps: float, count: int, p: Array, scratch: NewtonScratch
) -> float:
    """From the pieces of the statuses, with their factors; the residual.

    Velocities of p must be in the scratch.
    """
    rows = problem.rows
    if put_on_pieces(rows, p, scratch):
        put_velocities(rows, p, scratch.vectors[at.VELOCITY], scratch)
    solve_rows(rows, eps, count, p, scratch.vectors[at.CENTRE], scratch)
    return residual_at(problem, p, scratch)


@inlined
def stays(rows: ContactRows, before: float, residual: float) -> bool:
    """Whether directions of sliding turn by less than matters: the centre's answer is found."""
    return turns_on(rows) and abs(residual - before) <= _SAME * residual


@late(ROWS, VECTOR, SCRATCH)
def follow_ray(rows: ContactRows, p: Array, scratch: NewtonScratch) -> None:
    """Go on along p - centre to where velocities are least, or a status changes before.

    What velocities do along a null direction is rounding, which leads nowhere.
    """
    v, w = scratch.vectors[at.VELOCITY], scratch.vectors[at.ANSWER]
    d, centre = scratch.vectors[at.CHANGE], scratch.vectors[at.CENTRE]
    for i in range(p.size):
        d[i] = p[i] - centre[i]
    multiply_transposed(rows, d, scratch.y, scratch)
    multiply(rows, scratch.y, w, scratch)
    falls = curves = speeds = 0.0
    for i in range(rows.friction.size):
        for j in range(3):
            acts = scratch.status[i, at.NORMAL] == at.PRESSES if j == 0 else False
            if acts or (j > 0 and scratch.status[i, at.TANGENT] == at.STICKS):
                k = scratch.friction[i, at.RESISTANCE] if j > 0 else 0.0
                rate = w[3 * i + j] + k * d[3 * i + j]
                speed = v[3 * i + j] + k * p[3 * i + j]
                falls -= speed * rate
                curves += rate * rate
                speeds += speed * speed
    farthest = ray_length(rows, p, scratch)
    # Along null directions velocities never rise again.
    wanted = FAR
    if falls > _TOWARDS * math.sqrt(curves * speeds) > 0.0:
        wanted = falls / curves
    t = min(wanted, farthest)
    t = t if t < FAR else 0.0
    for i in range(p.size):
        p[i] += t * d[i]
        v[i] += t * w[i]
