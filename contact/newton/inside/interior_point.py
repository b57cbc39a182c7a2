"""An interior-point method: a start for Newton's method where statuses are too many to be guessed.

Coulomb's law with a polygon of corners d_k, [J] 53, is a list of pairs, of which one side is zero:

    p_n >= 0     w_n = v_n                                   >= 0
    beta_k >= 0  w_k = d_k . v_t + sigma                     >= 0,    p_t = sum d_k beta_k
    sigma >= 0   w_s = mu (p_n + theta) + f - sum beta_k     >= 0

The method keeps both sides positive and lets their products fall together, by Mehrotra's predictor
and corrector (S. Mehrotra, 1992). It needs no guess of who sticks: from any start some 25 steps,
each one factorisation, lead so near to an answer that Newton's method ends there. Pairs of one
contact are eliminated at once, dp = c - D dv, so that what is left is (I + L^T D L) dy = L^T c: the
linear problem of three unknowns a contact. D is not symmetric, since sigma belongs to the motion.

With w_n = v_n - mu sigma, contacts that open as they slide, friction has a potential: the problem
is convex, its path never bends back, and D is symmetric. Motions are others then, but for one: if
any impulses hold all contacts still, so do those found, and sigma is zero (G. De Saxce, Z.-Q. Feng,
Math. Comput. Modelling 28 (1998); V. Acary et al., ZAMM 91 (2011)). What can stand is so found to
stand, however many contacts it has.

Each pair gives way a little, w + rho (x - x_now), as a slightly compliant body would: impulses that
hold one another, which W does not see, then stay as they are. Numbers are relative to the scale of
velocities, and impulses to that over s.
"""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import copy_into
from spatialops.collision._layout import INFINITE
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.active_rows import factor_rows
from spatialops.contact.newton.blocks.substitution import substitute_blocks
from spatialops.contact.newton.dense.factors import substitute_dense
from spatialops.contact.newton.inside.pair_steps import (
    eliminate_pairs,
    name_unknowns,
    relative_step,
    step_pairs,
)
from spatialops.contact.newton.inside.pairs import (
    begin_pairs,
    find_misses,
    move_pairs,
    put_impulses,
    put_targets,
    sum_of_products,
)
from spatialops.contact.newton.residual import residual_of
from spatialops.contact.newton.row_products import (
    multiply,
    multiply_transposed,
    put_velocities,
)
from spatialops.contact.newton.rows import ContactRows, NewtonScratch, is_dense

# Ways of going: the fastest, one that keeps farther inside, one with pairs that give way by more,
# slowly, and one of contacts that open as they slide, for what stands. Of 2141 problems of seven
# heaps of boxes that settle, 300 to 650 contacts in one island, the first leads to an answer in
# 95 %, in 22 steps.
FASTEST = 0
CAREFUL = 1
YIELDING = 2
STANDING = 3
# Residual at which each ends. Newton's method finds statuses from 1e-7 on as a rule, 5 steps for
# 4; what it does not find from there the other ways come to.
NEAR = np.array([1e-7, 1e-9, 1e-9, 1e-7])
_INSIDE = np.array([0.99, 0.7, 0.95, 0.99])  # of the way to where the first pair is zero
# rho: below, rounding moves impulses along null directions
YIELDS = np.array([1e-8, 1e-8, 1e-6, 1e-8])
OPENS = np.array([0.0, 0.0, 0.0, 1.0])  # mu times so much of the speed of sliding, as it slides
_ITERATIONS = np.array([200, 80, 200, 30])
# Where pairs hold one another it wanders at the end, from the best of its points to worse ones: in
# 40 heaps of 560 contacts for ten of thirty steps, and Newton's method goes on from the best as
# well. The other ways wait: of a wall that falls they come from 2e-7 to an answer after all.
_CLOSE = 1e-5  # residual below which
_PATIENCE = np.array([10, 80, 200, 10])  # so many steps that are no better are an end
_SHORT = 0.05  # steps shorter than that
_MOST_SHORT = np.array([60, 20, 200, 20])  # so many times are an end
# Products cannot always fall together all the way: the path that they follow bends back, and steps
# come to nothing there. What bends it is that limits of friction follow what presses. A few steps
# then let them follow by half: they lead away from the path, to where it goes on or to another. Of
# 68 problems of six heaps to which the first way, ending there, leads to no answer, it leads to 52
# so, in 48 steps; of 59 of a wall that falls to 47.
_BENT = 0.1  # a step shorter than that
_AWAY = 6  # so many steps
_FOLLOWED = 0.5  # by so much


@inlined
def has_inside(rows: ContactRows) -> bool:
    """Whether the method applies: to a polygon, with linear problems that are solved for columns.

    From an answer for a polygon Newton's method finds that on the exact cone less often than from
    zero: 37 of 49 problems of a heap in place of 48. So it comes behind, see `from_polygon`.
    """
    return rows.law == at.POLYGON and has_columns(rows)


@inlined
def has_columns(rows: ContactRows) -> bool:
    """Whether linear problems of these rows are solved for columns."""
    columns = rows.trees[rows.trees.size - 1]
    return 3 * rows.friction.size > columns > 0 if is_dense(rows) else True


@inlined
def can_stand(rows: ContactRows) -> bool:
    """Whether there is a way for what stands: not where moments have limits."""
    return rows.owners.size == 0


@kernel
def interior_impulses(
    rows: ContactRows, s: float, scale: float, way: int, p: Array, scratch: NewtonScratch
) -> int:
    """Impulses p near an answer, from those given, in one of the ways; iterations.

    Velocities go with the steps: what is solved for is their change.
    """
    best, v = scratch.vectors[at.BEST], scratch.vectors[at.VELOCITY]
    unit = scale / s
    put_velocities(rows, p, v, scratch)
    count = begin_pairs(rows, (scale, unit), OPENS[way], p, scratch)
    name_unknowns(rows, scratch)
    copy_into(best, p)
    put_impulses(rows, unit, p, scratch)
    put_velocities(rows, p, v, scratch)
    least = INFINITE
    short = waits = away = 0
    done = 0
    for iteration in range(_ITERATIONS[way]):
        residual = residual_of(rows, s, scale, p, v)
        waits += 1
        if residual < least:
            least = residual
            waits = 0
            copy_into(best, p)
        late = short > _MOST_SHORT[way] or (waits >= _PATIENCE[way] and least <= _CLOSE)
        if count == 0 or least <= NEAR[way] or late or residual != residual:
            break
        find_misses(rows, scale, scratch)
        share = _FOLLOWED if away > 0 else 1.0
        away = max(away - 1, 0)
        eliminate_pairs(rows, s, YIELDS[way], share, scratch)
        factor_rows(rows, 1.0, p.size, scratch)
        scratch.factored[at.UNKNOWNS] = 0.0
        farthest = find_step(rows, (scale, unit, YIELDS[way]), count, scratch)
        if farthest < 0.0:
            break
        length = _INSIDE[way] * farthest
        move_pairs(length, scratch)
        put_impulses(rows, unit, p, scratch)
        for i in range(p.size):
            v[i] += length * scratch.vectors[at.CHANGE, i]
        short += length < _SHORT
        if length < _BENT and share == 1.0:
            away = _AWAY
        done = iteration + 1
    copy_into(p, best)
    return done


@kernel
def find_step(
    rows: ContactRows,
    units: tuple[float, float, float],
    count: int,
    scratch: NewtonScratch,
) -> float:
    """Mehrotra's step of all pairs; its length to where the first of them is zero, at most 1.

    The predictor aims at zero. How near it comes says how far down the corrector aims, which takes
    the predictor's products of changes along. Negative where all products are zero already.
    """
    mean = sum_of_products(0.0, scratch) / count
    if not mean > 0.0:
        return -1.0
    put_targets(0.0, 0.0, scratch)
    length = solve_step(rows, units, scratch)
    ahead = max(sum_of_products(length, scratch) / count, 0.0)
    put_targets(mean * min(ahead / mean, 1.0) ** 3, 1.0, scratch)
    return solve_step(rows, units, scratch)


@kernel
def solve_step(
    rows: ContactRows, units: tuple[float, float, float], scratch: NewtonScratch
) -> float:
    """The step of all pairs for the present targets; its length to where the first is zero."""
    scale, unit, rho = units
    y = scratch.y
    relative_step(rows, unit, scratch)
    multiply_transposed(rows, scratch.vectors[at.RIGHT], y, scratch)
    if is_dense(rows):
        substitute_dense(scratch.dense, y.size, y, y)
    else:
        substitute_blocks(rows.trees, scratch.blocks, y)
    multiply(rows, y, scratch.vectors[at.CHANGE], scratch)
    return step_pairs(rows, scale, rho, scratch)
