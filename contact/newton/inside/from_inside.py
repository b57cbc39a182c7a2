"""From the inside of the cone: where statuses are too many to be guessed, or nothing else solves.

The interior-point method ends near an answer, and proximal steps, of mechanisms paths as well, come
to it from there. What is solved but for a little is shaken.
"""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array
from spatialops._compile.apart import VECTOR, late, types
from spatialops.algebra.vectors import copy_into
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.gauss_seidel import sweep_contacts
from spatialops.contact.newton.inside.interior_point import (
    CAREFUL,
    FASTEST,
    STANDING,
    YIELDING,
    can_stand,
    interior_impulses,
)
from spatialops.contact.newton.path_following import CHANGES, can_be_followed, from_path
from spatialops.contact.newton.proximal import proximal_steps
from spatialops.contact.newton.residual import residual_at
from spatialops.contact.newton.rows import (
    PROBLEM,
    SCRATCH,
    NewtonScratch,
    Problem,
    is_dense,
    is_one_tree,
)

# From where the interior-point method ends statuses are right but for a few: a larger term, held on
# to for longer, comes after a small one, and of mechanisms the path from there. Of 68 problems of
# six heaps whose statuses cycle after a short way the small term finds an answer to 52, the larger
# one to 13 more; of 59 of a wall that falls to 47 and 6. What is left is looked for by other ways.
# All of them begin from zero: from the impulses of the step before 20 steps take the place of 22,
# but forces of bodies that hold one another are never forgotten, and twice as many problems are
# hard.
_PILES, _MECHANISMS = 0, 1
_NO_WAY = -1
_WAYS = np.array(
    [
        [FASTEST, FASTEST, STANDING, CAREFUL, YIELDING, _NO_WAY],
        [FASTEST, FASTEST, STANDING, CAREFUL, CAREFUL, YIELDING],
    ]
)
_TERM = np.array([[0, 1, 0, 1, 1, 0], [0, 1, 0, 0, 1, 0]])
_TERMS = np.array([1e-3, 3e-2])
_IN_ALL = np.array([40, 200])
_ABOUT_ONE = np.array([25, 50])

# What could stand still does so in the third, see `interior_point`: a pyramid of 204 balls, of
# which the first two leave a residual of 0.03, in 12 steps.

# Where the first way of a pile ends above this, careful steps lead nowhere, nor do proximal steps
# from where pairs that give way do: of 202 such problems of four walls that fall they answered 6,
# and 2 of 80, for a third of all linear problems.
_LOST = 1e-5  # residual

# What is nearly solved, bodies that all but jam and creep at 1e-8 m/s, is shaken: sweeps move
# forces that no proximal step reaches, proximal steps make them exact. Of three problems of 740
# contacts that nothing else solves, two come below 1e-9 so. Of those whose way was lost hardly any
# do, but for some next to the tolerance: 14 of 47 nearer than twice that, 3 of 107 others.
_NEARLY = 1e-5  # residual
_NEARLY_LOST = 3.0  # times the tolerance
_SHAKES = 2  # of six heaps two more find an answer to one problem
_SHAKING = 300  # sweeps
_SHAKEN_TERMS = np.array([3e-2, 1e-3])
_SHAKEN_IN_ALL, _SHAKEN_ABOUT_ONE = 300, 60


@late(PROBLEM, types.float64, types.float64, VECTOR, SCRATCH)
def shaken(
    problem: Problem, tolerance: float, residual: float, p: Array, scratch: NewtonScratch
) -> tuple[int, float]:
    """Sweeps of Gauss and Seidel's method and proximal steps in turns, from p of this residual."""
    least, total = residual, 0
    best = scratch.vectors[at.START]
    copy_into(best, p)
    for k in range(_SHAKES):
        sweep_contacts(problem.rows, _SHAKING, p, scratch)
        count, residual = proximal_steps(
            problem,
            _SHAKEN_TERMS[k % _SHAKEN_TERMS.size],
            1.0 / p.size,
            (_SHAKEN_IN_ALL, _SHAKEN_ABOUT_ONE, False),
            False,
            tolerance,
            p,
            scratch,
        )
        total += count
        if residual < least:
            least = residual
            copy_into(best, p)
        if least <= tolerance:
            break
    copy_into(p, best)
    return total, least


@late(PROBLEM, types.float64, types.float64, VECTOR, SCRATCH)
def from_inside(
    problem: Problem, tolerance: float, least: float, p: Array, scratch: NewtonScratch
) -> tuple[int, float]:
    """The interior-point method from zero, and proximal steps from where it ends.

    Where it finds no answer p is the best of what it found and of KEPT, whose residual is `least`.
    """
    rows = problem.rows
    start, kept = scratch.vectors[at.START], scratch.vectors[at.KEPT]
    total = 0
    kind = _MECHANISMS if is_dense(rows) else _PILES
    before = -1
    lost = far = False
    for k in range(_WAYS.shape[1]):
        way, term = _WAYS[kind, k], _TERM[kind, k]
        if way == _NO_WAY:
            break
        if (lost and way == CAREFUL) or (way == STANDING and not can_stand(rows)):
            continue
        if way != before:
            before = way
            for i in range(p.size):
                p[i] = 0.0
            total += interior_impulses(rows, problem.s, problem.scale, way, p, scratch)
            copy_into(start, p)
            judged = kind == _PILES or way == STANDING
            far = judged and residual_at(problem, p, scratch) > _LOST
            lost = (far and way != STANDING) or (lost and way != FASTEST)
        if far and way != FASTEST:
            continue
        copy_into(p, start)
        limits = (_IN_ALL[term], _ABOUT_ONE[term], is_one_tree(rows))
        count, residual = proximal_steps(
            problem,
            _TERMS[term],
            1.0,
            limits,
            False,
            tolerance,
            p,
            scratch,
        )
        total += count
        if residual < least:
            least = residual
            copy_into(kept, p)
        if tolerance < residual and kind == _MECHANISMS and term == 0 and can_be_followed(rows):
            count, residual = from_path(problem, tolerance, 1.0, CHANGES, p, scratch)
            total += count
        if residual <= tolerance:
            return total, residual
    copy_into(p, kept)
    if least <= (_NEARLY_LOST * tolerance if lost else _NEARLY):
        count, least = shaken(problem, tolerance, least, p, scratch)
        total += count
    return total, least
