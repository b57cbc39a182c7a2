"""An answer followed from statuses to statuses, where Newton's method cycles among them.

Shifted by d, so that v = u + (W + eps w) p - (1 - t) d, the problem has an answer at hand where
t = 0: impulses of the step before, and velocities that go with their statuses. Answers for t are a
path of straight pieces, since the law with a polygon is linear on the pieces of its statuses; at
each end of one a single status changes. Where the problem is not monotone, as of contacts that
wedge, mu W_nt > W_nn, t falls on some pieces: the path goes on into the piece that begins, whatever
t does, as Lemke's method goes on along its ray (B. C. Eaves, 1971).

Of 87 problems of two robots whose hulls overlap, for which Newton's method takes 30 to 600
iterations, 77 are solved in 14 and 29 changes, in the median.
"""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops._compile.apart import VECTOR, late, types
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import copy_into
from spatialops.collision._layout import INFINITE
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.active_rows import answer_factors, factor_statuses
from spatialops.contact.newton.proximal import proximal_steps
from spatialops.contact.newton.ray import FAR
from spatialops.contact.newton.refinement import refined
from spatialops.contact.newton.residual import residual_at
from spatialops.contact.newton.row_products import multiply, multiply_transposed
from spatialops.contact.newton.rows import (
    PROBLEM,
    SCRATCH,
    ContactRows,
    NewtonScratch,
    Problem,
    is_dense,
    is_one_tree,
)
from spatialops.contact.newton.status_changes import (
    NONE,
    goes_inward,
    next_change,
    take_change,
)
from spatialops.contact.newton.statuses import find_statuses, put_on_piece
from spatialops.contact.newton.unknowns import component, put_change

_TERM = 1e-8  # proximal, of s; 1e-6 leaves a tenth more unsolved, 1e-4 half
_CENTRES, _FALLS = 4, 0.1  # each of which must make the residual so many times as large
# Where a path ends with so small a residual proximal steps of a term, of s, so many at most, come
# to an answer: of problems of robots that lie on 20 to 40 points a third of those that went inside.
_NEAR_END, _FROM_END = 1e-5, 12
_TERM_AT_END = 1e-3
# Most of them: of 50 problems of four robots, with 10 to 60 contacts, 25 ended within 25 changes,
# and 18 went on for three times as many for nothing. What nothing else solves may be farther away.
CHANGES, LAST_CHANGES = 40, 200


@inlined
def can_be_followed(rows: ContactRows) -> bool:
    """Whether the law is linear on pieces, and its linear problems are small."""
    if rows.law != at.POLYGON or rows.owners.size > 0 or not is_dense(rows):
        return False
    pressed = 0.0
    for i in range(rows.prior.size):
        pressed = max(pressed, rows.prior[i])
    return not pressed > 0.0


@late(PROBLEM, types.float64, types.float64, types.int64, VECTOR, SCRATCH)
def follow_path(
    problem: Problem, share: float, tolerance: float, most: int, p: Array, scratch: NewtonScratch
) -> tuple[int, float]:
    """Impulses p from those given; changes of statuses, `most` of them, and the residual.

    The share of statuses is that of the start, as in `find_statuses`.
    """
    rows = problem.rows
    eps = _TERM * problem.s
    total = 0
    residual = before = INFINITE
    for centre in range(_CENTRES):
        copy_into(scratch.vectors[at.CENTRE], p)
        residual_at(problem, p, scratch)
        find_statuses(rows, eps, share if centre == 0 else 1.0, p, scratch)
        begin(rows, eps, share if centre == 0 else 1.0, p, scratch)
        changes = to_the_end(rows, eps, most, p, scratch)
        total += abs(changes) + 1
        residual = residual_at(problem, p, scratch)
        if changes < 0 or residual != residual:
            scratch.factored[at.UNKNOWNS] = 0.0
            return total, INFINITE
        count = int(scratch.factored[at.UNKNOWNS])
        residual = refined(problem, eps, count, residual, p, scratch)
        if residual <= tolerance or residual > _FALLS * before:
            break
        before = residual
    return total, residual


@kernel
def from_path(
    problem: Problem,
    tolerance: float,
    share: float,
    changes: int,
    p: Array,
    scratch: NewtonScratch,
) -> tuple[int, float]:
    """The path of so many changes from p, and proximal steps from where it all but ends."""
    total, residual = follow_path(problem, share, tolerance, changes, p, scratch)
    if tolerance < residual <= _NEAR_END and is_one_tree(problem.rows):
        count, residual = proximal_steps(
            problem,
            _TERM_AT_END,
            share,
            (_FROM_END, _FROM_END, False),
            False,
            tolerance,
            p,
            scratch,
        )
        total += count
    return total, residual


@kernel
def begin(rows: ContactRows, eps: float, share: float, p: Array, scratch: NewtonScratch) -> None:
    """Impulses and velocities AHEAD that the statuses hold for, and what the latter are off by.

    Of x = p - r v, of which the statuses are, p is the nearest point that the law allows, and
    (p - x) / r the velocity.
    """
    v, ahead = scratch.vectors[at.VELOCITY], scratch.vectors[at.AHEAD]
    squares, centre = scratch.vectors[at.SQUARES], scratch.vectors[at.CENTRE]
    copy_into(ahead, v)
    for i in range(rows.friction.size):
        parts, j = scratch.status[i, at.PARTS], 3 * i
        tangent = scratch.status[i, at.TANGENT]
        if parts & at.HAS_NORMAL:
            x = p[j] - share * v[j] / squares[j]
            p[j] = max(x, 0.0)
            ahead[j] = (p[j] - x) * squares[j] / share
        else:
            p[j] = 0.0
        if tangent == at.FREE:
            p[j + 1] = p[j + 2] = 0.0
            continue
        rate = max(squares[j + 1], squares[j + 2]) / share
        x, y = p[j + 1] - v[j + 1] / rate, p[j + 2] - v[j + 2] / rate
        if not parts & at.HAS_SECOND:
            y = 0.0
        p[j + 1], p[j + 2] = x, y
        put_on_piece(rows, i, p, scratch)
        ahead[j + 1] = (p[j + 1] - x) * rate
        if parts & at.HAS_SECOND:
            ahead[j + 2] = (p[j + 2] - y) * rate
    shift = scratch.vectors[at.SHIFT]
    multiply_transposed(rows, p, scratch.y, scratch)
    multiply(rows, scratch.y, shift, scratch)
    for k in range(p.size):
        own = eps * scratch.friction[k // 3, at.WEIGHT] * (p[k] - centre[k])
        shift[k] += rows.u[k] + own - ahead[k]


@kernel
def to_the_end(rows: ContactRows, eps: float, most: int, p: Array, scratch: NewtonScratch) -> int:
    """Follow the path to t = 1; changes of statuses, negative where it does not end there."""
    ahead = scratch.vectors[at.AHEAD]
    d, w = scratch.vectors[at.CHANGE], scratch.vectors[at.ANSWER]
    t, sign = 0.0, 1.0
    change, old = (0.0, NONE, 0, 0, 0), (0, 0, 0)
    for changes in range(most):
        find_direction(rows, eps, scratch)
        if changes > 0:
            sign = 1.0 if goes_inward(rows, change, old, scratch) else -1.0
        change = next_change(rows, sign, 1.0 - t if sign > 0.0 else FAR, p, scratch)
        length = sign * change[0]
        if not abs(length) < FAR:
            return -changes - 1
        for k in range(p.size):
            p[k] += length * d[k]
            ahead[k] += length * w[k]
        t += length
        if change[1] == NONE:
            return changes
        old = take_change(rows, change, scratch)
    return -most


@inlined
def find_direction(rows: ContactRows, eps: float, scratch: NewtonScratch) -> None:
    """CHANGE of impulses, and ANSWER, that of the velocities AHEAD, by t for present statuses."""
    right, step = scratch.vectors[at.RIGHT], scratch.vectors[at.STEP]
    d, w = scratch.vectors[at.CHANGE], scratch.vectors[at.ANSWER]
    shift = scratch.vectors[at.SHIFT]
    count = factor_statuses(rows, eps, scratch)
    for c in range(count):
        right[c] = -component(scratch, c, shift) * scratch.vectors[at.SHARE, c]
    answer_factors(rows, eps, count, scratch)
    put_change(rows, scratch, count, step, d)
    multiply_transposed(rows, d, scratch.y, scratch)
    multiply(rows, scratch.y, w, scratch)
    for k in range(d.size):
        w[k] += shift[k] + eps * scratch.friction[k // 3, at.WEIGHT] * d[k]
