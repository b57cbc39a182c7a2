"""The natural residual of the law, of impulses and velocities.

Of Coulomb's with a polygon it is that of the operational-space problem, [J] 53.

The problem's other unknowns follow from them: beta are the shares of friction along the two corners
about it, sigma the fastest sliding against any corner's direction. What is measured is what
`lcp.problem.residual_kernel` measures of the assembled problem, max |min(a z, w)| / scale, without
assembling it.
"""

from __future__ import annotations

import math

import numpy as np

from spatialops._arrays import Array
from spatialops._compile.jit import inlined, kernel
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.row_products import put_velocities
from spatialops.contact.newton.rows import (
    ContactRows,
    NewtonScratch,
    Problem,
    is_moment,
    presser_of,
)
from spatialops.contact.newton.statuses import limit_of, side_facing

_EPS = float(np.finfo(np.float64).eps)
# Multiples of rounding below which forces of a step before hold: those that have held before, and
# those just found. Were the first much more, forces that are nearly right would be kept for good,
# and what rests would creep. The second is less: forces that undo what wrong ones have done are
# wrong by as much themselves, the other way, until they are found once more.
HELD = 32.0
FOUND = 4.0
_A = 2.0  # largest entry that D* W D / s can have, and max |A| where mu is smaller


@inlined
def rounding(rows: int, columns: int) -> float:
    """Residual that is rounding: of sums of so many terms."""
    return _EPS * (rows + columns)


@kernel
def speed_scale(rows: ContactRows, s: float) -> float:
    """max |b| of the assembled problem: rows' velocities, and friction without normal impulse."""
    scale = 0.0
    for i in range(rows.friction.size):
        scale = max(scale, abs(rows.u[3 * i]))
        scale = max(scale, s * limit_of(rows, i, 0.0))
        for k in range(rows.corners.shape[0] // 2):  # the others are opposite
            scale = max(scale, abs(along(rows.corners, k, rows.u[3 * i + 1], rows.u[3 * i + 2])))
    return scale


@inlined
def along(corners: Array, k: int, x: float, y: float) -> float:
    return corners[k, 0] * x + corners[k, 1] * y


@inlined
def residual_at(problem: Problem, p: Array, scratch: NewtonScratch) -> float:
    """Residual of p, whose velocities are put into the scratch."""
    v = scratch.vectors[at.VELOCITY]
    put_velocities(problem.rows, p, v, scratch)
    return residual_of(problem.rows, problem.s, problem.scale, p, v)


@kernel
def residual_of(rows: ContactRows, s: float, scale: float, p: Array, v: Array) -> float:
    """Largest violation of any condition, relative to the scale; NaN where anything is."""
    worst = 0.0
    sum_of_all = 0.0
    most = _A
    for i in range(rows.friction.size if rows.law <= at.CONE else 0):
        most = max(most, rows.friction[i])
    for i in range(rows.friction.size):
        j = 3 * i
        sum_of_all += p[j] + p[j + 1] + p[j + 2] + v[j] + v[j + 1] + v[j + 2]
        if rows.dry[i] == 0.0:  # a joint's dry friction has no normal
            worst = max(worst, abs(min(most * s * p[j], v[j])))
        if rows.friction[i] > 0.0 or rows.dry[i] > 0.0:
            if rows.dry[i] > 0.0:
                worst = max(
                    worst, line_residual(s * limit_of(rows, i, 0.0), most, s * p[j + 1], v[j + 1])
                )
            elif rows.law == at.POLYGON:
                worst = max(worst, friction_residual(rows, s, most, i, p, v))
            elif is_moment(rows, i):
                worst = max(worst, round_residual(rows, s, i, p, v))
            else:
                worst = max(worst, other_residual(rows, s, i, p, v))
    if not (scale > 0.0 and sum_of_all - sum_of_all == 0.0):
        return worst if sum_of_all - sum_of_all == 0.0 else sum_of_all - sum_of_all
    return worst / scale


@inlined
def line_residual(limit: float, most: float, x: float, v: float) -> float:
    """The violation that `friction_residual` measures, of friction along the first corner alone."""
    speed = abs(v)
    worst = abs(min(most * speed, limit - abs(x)))
    slack = (v if x > 0.0 else -v) + speed
    return max(worst, abs(min(most * abs(x), slack)))


@inlined
def friction_residual(
    rows: ContactRows, s: float, most: float, i: int, p: Array, v: Array
) -> float:
    """Violation of 0 <= beta _|_ D* v + sigma e >= 0 and 0 <= sigma _|_ R - e* beta >= 0."""
    corners, j = rows.corners, 3 * i
    sides = corners.shape[0]
    x = s * p[j + 1]
    y = s * p[j + 2]
    first, second, b_first, b_second = shares(corners, x, y)
    sigma = 0.0
    for k in range(sides // 2):  # the others are opposite
        sigma = max(sigma, abs(along(corners, k, v[j + 1], v[j + 2])))
    pressing = max(p[3 * presser_of(rows, i)], 0.0)
    left = s * limit_of(rows, i, pressing) - b_first - b_second
    worst = abs(min(most * sigma, left))
    # Of corners without a share the slack is not negative, by what sigma is.
    slack = along(corners, first, v[j + 1], v[j + 2]) + sigma
    worst = max(worst, abs(min(most * b_first, slack)))
    slack = along(corners, second, v[j + 1], v[j + 2]) + sigma
    return max(worst, abs(min(most * b_second, slack)))


@inlined
def other_residual(rows: ContactRows, s: float, i: int, p: Array, v: Array) -> float:
    """Violation of the exact cone, of no slip, or of a drag."""
    j = 3 * i
    if rows.law == at.NO_SLIP:
        return math.sqrt(v[j + 1] * v[j + 1] + v[j + 2] * v[j + 2])
    if rows.law == at.VISCOUS:  # a velocity where the drag is weak, an impulse where it is strong
        drag = s * rows.friction[i]
        a, b = s * p[j + 1] + drag * v[j + 1], s * p[j + 2] + drag * v[j + 2]
        return math.sqrt(a * a + b * b) / (1.0 + drag)
    return round_residual(rows, s, i, p, v)


@inlined
def round_residual(rows: ContactRows, s: float, i: int, p: Array, v: Array) -> float:
    """How far friction is from the nearest to s p_t - v_t in its disc."""
    j = 3 * i
    x, y = s * p[j + 1], s * p[j + 2]
    limit = s * limit_of(rows, i, max(p[3 * presser_of(rows, i)], 0.0))
    a, b = x - v[j + 1], y - v[j + 2]
    length = math.sqrt(a * a + b * b)
    factor = limit / length if length > limit else 1.0
    a, b = x - factor * a, y - factor * b
    return math.sqrt(a * a + b * b)


@inlined
def shares(corners: Array, x: float, y: float) -> tuple[int, int, float, float]:
    """The two corners about (x, y), and its shares along them, which are not negative."""
    sides = corners.shape[0]
    if sides == 2:
        return 0, 1, max(x, 0.0), max(-x, 0.0)
    best, _ = side_facing(corners, x, y)
    after = best + 1 if best + 1 < sides else 0
    a_x, a_y = corners[best, 0], corners[best, 1]
    c_x, c_y = corners[after, 0], corners[after, 1]
    turn = a_x * c_y - a_y * c_x
    return best, after, max((x * c_y - y * c_x) / turn, 0.0), max((a_x * y - a_y * x) / turn, 0.0)
