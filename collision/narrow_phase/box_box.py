"""Two boxes by their separating axes: three of each and nine across an edge of both.

S. Gottschalk, M. C. Lin, D. Manocha, *OBBTree*, SIGGRAPH 1996. For boxes that overlap or touch the
largest separation over the fifteen axes is the signed distance; for boxes apart it is a lower
bound.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array, Mat3, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import (
    column_of,
    cross,
    dot,
    mat3,
    minus,
    plus_scaled,
    put3,
    rotate,
    rotate_back,
    scaled,
    vec3,
)
from spatialops.collision._layout import GEOM_SIZE, INFINITE, PLACE, TURN
from spatialops.collision.narrow_phase.gjk import ON_A, W

NEARLY = 1e-9  # m; a face is taken where an edge-edge axis is better by less
_PARALLEL = 1e-6  # sine below which two edges are parallel: the faces' directions say it all


@inlined
def farthest(half: Vec3, d: Vec3) -> Vec3:
    """Corner of a box farthest along d, both in its axes."""
    return math.copysign(half[0], d[0]), math.copysign(half[1], d[1]), math.copysign(half[2], d[2])


@inlined
def cosines(turn_a: Mat3, turn_b: Mat3) -> Mat3:
    """Cosines between axes: a row for each of A's, a column for each of B's."""
    x, y, z = turn_a
    return (
        rotate_back(turn_b, (x[0], y[0], z[0])),
        rotate_back(turn_b, (x[1], y[1], z[1])),
        rotate_back(turn_b, (x[2], y[2], z[2])),
    )


@inlined
def sizes(a: Vec3) -> Vec3:
    return abs(a[0]), abs(a[1]), abs(a[2])


@inlined
def largest(a: Vec3) -> tuple[float, int]:
    """The largest of three numbers, and which: the first of those."""
    best, which = a[0], 0
    if a[1] > best:
        best, which = a[1], 1
    if a[2] > best:
        best, which = a[2], 2
    return best, which


@kernel
def face_separation(geoms: Array, places: Array, a: int, b: int, rows: Array) -> float:
    """Largest separation (m) of boxes about two cores along their axes; row 4: it, from B to A (W).

    A box is about the place of its geom and along its axes. What is far apart along one of these
    is told at a tenth of the cost of the distance, and the axis is where to begin with that.
    """
    turn_a, turn_b = mat3(places, a, TURN), mat3(places, b, TURN)
    half_a, half_b = vec3(geoms, a, GEOM_SIZE), vec3(geoms, b, GEOM_SIZE)
    line = minus(vec3(places, a, PLACE), vec3(places, b, PLACE))
    c = cosines(turn_a, turn_b)
    c = sizes(c[0]), sizes(c[1]), sizes(c[2])
    of_a = minus(minus(sizes(rotate_back(turn_a, line)), half_a), rotate(c, half_b))
    of_b = minus(minus(sizes(rotate_back(turn_b, line)), half_b), rotate_back(c, half_a))
    best, i = largest(of_a)
    other, j = largest(of_b)
    axis = column_of(places, a, TURN, i) if best >= other else column_of(places, b, TURN, j)
    put3(rows, 4, W, scaled(math.copysign(1.0, dot(line, axis)), axis))
    return max(best, other)


@kernel
def box_box(geoms: Array, places: Array, a: int, b: int, limit: float, rows: Array) -> float:
    """Largest separation (m) over the axes; row 4: axis from B to A (W), a point there (ON_A).

    Where it is beyond the limit already along a box's own axis, that is the answer.
    """
    best = face_separation(geoms, places, a, b, rows)
    if best > limit:
        return best
    axis = vec3(rows, 4, W)
    turn_a, turn_b = mat3(places, a, TURN), mat3(places, b, TURN)
    half_a, half_b = vec3(geoms, a, GEOM_SIZE), vec3(geoms, b, GEOM_SIZE)
    line = minus(vec3(places, a, PLACE), vec3(places, b, PLACE))
    t, c = rotate_back(turn_a, line), cosines(turn_a, turn_b)
    edge = -1
    for i in range(3):
        if i == 0:
            gaps = across((t[1], t[2]), (half_a[1], half_a[2]), c, half_b)
        elif i == 1:
            gaps = across((t[2], t[0]), (half_a[2], half_a[0]), (c[1], c[2], c[0]), half_b)
        else:
            gaps = across((t[0], t[1]), (half_a[0], half_a[1]), (c[2], c[0], c[1]), half_b)
        for j in range(3):
            if gaps[j] > best + NEARLY:
                best, edge = gaps[j], 3 * i + j
    if edge >= 0:
        d = cross(column_of(places, a, TURN, edge // 3), column_of(places, b, TURN, edge % 3))
        axis = scaled(math.copysign(1.0 / math.sqrt(dot(d, d)), dot(line, d)), d)
        put3(rows, 4, W, axis)
    # Corners that are deepest: where an edge or a face is, the manifold knows better.
    corner_a = minus(line, rotate(turn_a, farthest(half_a, rotate_back(turn_a, axis))))
    corner_b = rotate(turn_b, farthest(half_b, rotate_back(turn_b, axis)))
    put3(rows, 4, ON_A, plus_scaled(scaled(0.5, corner_a), 0.5, corner_b))
    return best


@inlined
def across(t: tuple[float, float], half: tuple[float, float], c: Mat3, half_b: Vec3) -> Vec3:
    """Separations across an edge of A and each of B's.

    `t` and `half` are distance and half the extent along the two other edges of A, the rows of c
    cosines of this edge and of those two.
    """
    own = sizes(c[0])
    return (
        across_both(t, half, c[1][0], c[2][0], half_b[1] * own[2] + half_b[2] * own[1]),
        across_both(t, half, c[1][1], c[2][1], half_b[2] * own[0] + half_b[0] * own[2]),
        across_both(t, half, c[1][2], c[2][2], half_b[0] * own[1] + half_b[1] * own[0]),
    )


@inlined
def across_both(
    t: tuple[float, float], half: tuple[float, float], x: float, y: float, reach: float
) -> float:
    """The same of one edge of B, which has cosines x, y: -y and x are along the cross product."""
    sine = math.sqrt(x * x + y * y)
    reach += half[0] * abs(y) + half[1] * abs(x)
    return (abs(t[1] * x - t[0] * y) - reach) / sine if sine >= _PARALLEL else -INFINITE
