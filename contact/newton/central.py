"""The central answer to a contact problem: sticking where it can, forces spread evenly.

With friction the motion need not be unique, and of rigid bodies that touch at many points the
forces are not. From zero, proximal steps end at the shortest impulses, from those of the step
before at the nearest to them: both follow the data continuously and do not depend on the order of
contacts. A pivoting method ends at a corner of what is possible, and rounding decides at which.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numba
import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._compile.apart import VECTOR, late, types
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import copy_into
from spatialops.collision._layout import INFINITE
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.blocks.structure import analyse
from spatialops.contact.newton.gauss_seidel import sweep_contacts
from spatialops.contact.newton.inside.from_inside import from_inside
from spatialops.contact.newton.inside.from_polygon import from_polygon, has_polygon
from spatialops.contact.newton.inside.interior_point import can_stand, has_inside
from spatialops.contact.newton.inside.standing import kept_standing
from spatialops.contact.newton.path_following import (
    CHANGES,
    LAST_CHANGES,
    can_be_followed,
    from_path,
)
from spatialops.contact.newton.proximal import (
    kept_if_as_good,
    proximal_steps,
    solved_again,
)
from spatialops.contact.newton.residual import residual_at, speed_scale
from spatialops.contact.newton.row_products import spread_out
from spatialops.contact.newton.rows import (
    ROWS,
    SCRATCH,
    ContactRows,
    NewtonScratch,
    Problem,
    is_dense,
    is_one_tree,
    turns_on,
)
from spatialops.contact.newton.statuses import find_parts

# Attempts, one after the other: proximal term relative to s, iterations in all and about one
# centre, sweeps of Gauss and Seidel's method before. A small term ends at the central answer at
# once; where statuses cycle, as of contacts that hold one another and slide, larger ones part them.
# Of 600 random bodies that slide at 1 m/s on up to eight contacts, mu to 1, from zero, the first
# solves 97 %, and all leave one.
_TERMS = np.array([1e-5, 1e-3, 3e-2, 0.3, 1e-3])
_IN_ALL = np.array([20, 30, 60, 60, 100])
_ABOUT_ONE = np.array([8, 12, 20, 25, 25])
_SWEEPS = np.array([0, 30, 20, 50, 200])
# Of mechanisms the first is smaller: centres settle sooner along what hardly yields. Limp robots
# take 0.85 to 0.95 of the time, with 1e-7 as long; more problems of walls stay unsolved with it.
_FIRST_OF_MECHANISMS = 1e-6
# Shares of one tree may be so many times as large: a tenth fewer linear problems of robots. Small
# islands of walls gain nothing.
_SHARE_OF_MECHANISMS = 10.0
ALL_ATTEMPTS = len(_TERMS)
FIRST_ATTEMPT = 1
_PATHS_AFTER = 1  # the second: what it leaves of most problems is near an answer
# Of 93 problems of two robots that settle, which the first does not solve, the second solves 80,
# those behind it 9 more in up to 250 iterations; from the inside 89 are solved, in 20 to 80.
BEFORE_INSIDE = 2
# With moments, whose limits are narrow, the first cycles: of 20 problems of 14 balls it solves
# none, the second all, in 5 iterations each. Of piles of 140 neither does, and both are cut short.
_OF_MOMENTS = 1
# All of them times the square root of the trees: what holds up a wall is found course by course,
# from the floor to the top. A wall of 100 bricks takes 40 iterations in the first attempt. On the
# exact cone, and of rolling friction, directions turn as well.
_OF_CONES = 3.0
# From the impulses of a step before piles do not, where the interior-point method comes next.
_OF_PILES = 1.0
# Residual of the impulses of a step before above which a pile's statuses are others: of 250 such
# problems of a heap of boxes Newton's method solves two, of 98 of a wall that falls 26, half of
# them next to this; of what is nearer three in four of the wall.
_FAR = 0.01
_AT_REST = 1e-6  # velocity relative to that which forces of a step give


class Aim(NamedTuple):
    """What is asked of a solution."""

    warm: bool  # whether it begins with the impulses given, else with none
    tolerance: float  # residual
    attempts: int  # from one start at most
    again: bool  # whether the problem before was this one, but for small changes
    more: bool  # or but for some contacts more
    stands: bool = False  # whether what does not move before goes on standing, if it can


AIM = numba.typeof(Aim(True, 1.0, 1, False, False))
"""Numba's type of it."""


@late(ROWS, types.float64, AIM, VECTOR, SCRATCH)
def central_impulses(
    rows: ContactRows,
    fastest: float,
    aim: Aim,
    p: Array,
    scratch: NewtonScratch,
) -> tuple[int, float]:
    """Impulses p (3 m,) from those given, or from zero; iterations and residual.

    Residuals are relative to the scale of these rows, or the `fastest` of others if that is more.
    The iterations are negative where the impulses given were no use, and zero came after them.
    Zero is tried as it is before anything else from there: where contacts need not press (sliding
    contacts may have several motions, Painleve), they do not. Where the first attempt has no answer
    for a pile, its statuses are too many to be guessed, and the answer comes from the inside.

    Of a problem that is stated `again`, statuses and factors are at hand; of one of `more` contacts
    statuses, however far off these few are.

    From zero paths are followed only after the interior point: of impacts with 26 contacts and more
    none of eight ended within as many changes as that took iterations.
    """
    spread_out(rows, scratch)
    if aim.again and is_dense(rows) and scratch.factored[at.UNKNOWNS] > 0.0:
        residual = solved_again(rows, fastest, p, scratch)
        if residual <= aim.tolerance:
            return 1, residual
    scratch.factored[at.SUMMED] = 0.0
    known = is_dense(rows) or analyse(rows.L.places, rows.trees, scratch.blocks, scratch.blocks_of)
    if not known:
        return 0, INFINITE
    s = find_parts(rows, scratch)
    problem = Problem(rows, s, max(speed_scale(rows, s), fastest))
    put_start(scratch.status, p, scratch.vectors[at.START])
    total, residual = found_impulses(problem, aim, p, scratch)
    stands = aim.stands and has_inside(rows) and can_stand(rows) and nothing_moves(rows)
    if stands and aim.attempts > BEFORE_INSIDE:
        warm = aim.warm and total >= 0
        count, residual = kept_standing(problem, warm, aim.tolerance, residual, p, scratch)
        total += count if total >= 0 else -count
    return total, residual


@kernel
def found_impulses(
    problem: Problem, aim: Aim, p: Array, scratch: NewtonScratch
) -> tuple[int, float]:
    """Impulses that Newton's method and those after it find: as `central_impulses`."""
    rows = problem.rows
    inside = aim.attempts > BEFORE_INSIDE and has_inside(rows)
    few = aim.attempts
    if inside:
        few = BEFORE_INSIDE if is_dense(rows) else FIRST_ATTEMPT
    total, residual = 0, INFINITE
    if aim.warm and (aim.more or not (inside and begins_far(problem, scratch))):
        total, residual = attempts(problem, aim, (few, CHANGES, False), p, scratch)
        if residual <= aim.tolerance:
            return total, kept_if_as_good(problem, aim.tolerance, residual, p, scratch)
    if few == aim.attempts or not aim.warm:
        count, residual = attempts(problem, aim, (few, 0 if inside else CHANGES, True), p, scratch)
        total += count
    if inside and not residual <= aim.tolerance:
        kept = scratch.vectors[at.KEPT]
        copy_into(kept, p)
        count, residual = from_inside(problem, aim.tolerance, residual, p, scratch)
        total += count
        copy_into(kept, p)
        least = residual
        for cold in range(2 if is_dense(rows) else 0):
            if not residual <= aim.tolerance:
                which = aim.attempts, LAST_CHANGES, cold == 1
                count, residual = attempts(problem, aim, which, p, scratch)
                total += count
        if not residual < least:
            copy_into(p, kept)
            residual = least
    if not residual <= aim.tolerance and aim.attempts > BEFORE_INSIDE and has_polygon(rows):
        count, residual = from_polygon(problem, aim.tolerance, residual, p, scratch)
        total += count
    return (-total if aim.warm else total), residual


@inlined
def nothing_moves(rows: ContactRows) -> bool:
    """Whether it is known that nothing moves before, by what velocities become without impulses."""
    fastest = moves = 0.0
    for i in range(rows.u.size):
        fastest = max(fastest, abs(rows.u[i]))
    for k in range(rows.moves.size):
        moves = max(moves, rows.moves[k])
    return rows.moves.size > 0 and moves <= _AT_REST * fastest


@inlined
def begins_far(problem: Problem, scratch: NewtonScratch) -> bool:
    """Whether impulses that a pile begins with are too far off for its statuses to be theirs."""
    if is_dense(problem.rows):
        return False
    return residual_at(problem, scratch.vectors[at.START], scratch) > _FAR


@kernel
def attempts(
    problem: Problem,
    aim: Aim,
    which: tuple[int, int, bool],
    p: Array,
    scratch: NewtonScratch,
) -> tuple[int, float]:
    """So many attempts, with paths of so many changes (0: none), from START or from zero."""
    rows = problem.rows
    last, changes, cold = which
    total, residual = 0, INFINITE
    longer = math.sqrt(rows.trees.size - 1)
    if (last == FIRST_ATTEMPT and not cold) or rows.owners.size > 0:
        longer = min(longer, _OF_PILES)
    longer *= _OF_CONES if turns_on(rows) else 1.0
    # r = share / W_ii of statuses. Eigenvalues of W are up to 3 m times its diagonal: with more
    # than 1 / (3 m) contacts that share a load go beyond sticking to sliding the other way.
    # From zero only the ratio of pressing and sliding counts.
    wide = _SHARE_OF_MECHANISMS if is_one_tree(rows) else 1.0
    share = 1.0 if cold else min(wide / p.size, 1.0)
    first = _OF_MOMENTS if rows.owners.size > 0 else 0
    for k in range(first, min(first + last, _TERMS.size)):
        for i in range(p.size):
            p[i] = 0.0 if cold else scratch.vectors[at.START, i]
        if _SWEEPS[k] > 0:
            sweep_contacts(rows, _SWEEPS[k], p, scratch)
        limits = (int(longer * _IN_ALL[k]), int(longer * _ABOUT_ONE[k]), k == 0)
        count, residual = proximal_steps(
            problem,
            _FIRST_OF_MECHANISMS if k == 0 and is_dense(rows) else _TERMS[k],
            share,
            limits,
            not cold,
            aim.tolerance,
            p,
            scratch,
        )
        total += count
        followable = changes > 0 and can_be_followed(rows)
        if k == _PATHS_AFTER and aim.tolerance < residual and followable:
            count, residual = followed(
                problem, aim.tolerance, (cold, share, changes), residual, p, scratch
            )
            total += count
        if residual <= aim.tolerance:
            break
    return total, residual


@kernel
def followed(
    problem: Problem,
    tolerance: float,
    begun: tuple[bool, float, int],
    least: float,
    p: Array,
    scratch: NewtonScratch,
) -> tuple[int, float]:
    """Paths from p, of this residual, and from where the attempt began.

    From zero these alone: the best of statuses that cycle may hold contacts against one another by
    forces that a path keeps, of a robot that lands 14 times the shortest. Where none ends at an
    answer p stays what it is.
    """
    cold, share, changes = begun
    best = scratch.vectors[at.KEPT_PATH]
    copy_into(best, p)
    total = 0
    for anew in range(1 if cold else 0, 2):
        for i in range(p.size if anew == 1 else 0):
            p[i] = 0.0 if cold else scratch.vectors[at.START, i]
        count, residual = from_path(problem, tolerance, share, changes, p, scratch)
        total += count
        if residual <= tolerance:
            return total, residual
    copy_into(p, best)
    return total, least


@kernel
def put_start(status: IntArray, p: Array, start: Array) -> None:
    """The parts that contacts have of impulses p; normals push."""
    for i in range(status.shape[0]):
        parts, j = status[i, at.PARTS], 3 * i
        start[j] = max(p[j], 0.0) if parts & at.HAS_NORMAL else 0.0
        start[j + 1] = p[j + 1] if parts & at.HAS_FIRST else 0.0
        start[j + 2] = p[j + 2] if parts & at.HAS_SECOND else 0.0
