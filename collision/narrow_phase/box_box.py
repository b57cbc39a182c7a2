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
def reach(turn: Mat3, half: Vec3, d: Vec3) -> float:
    """Half of a box's extent along d."""
    x = rotate_back(turn, d)
    return half[0] * abs(x[0]) + half[1] * abs(x[1]) + half[2] * abs(x[2])


@inlined
def farthest(half: Vec3, d: Vec3) -> Vec3:
    """Corner of a box farthest along d, both in its axes."""
    return math.copysign(half[0], d[0]), math.copysign(half[1], d[1]), math.copysign(half[2], d[2])


@kernel
def face_separation(geoms: Array, places: Array, a: int, b: int, rows: Array) -> float:
    """Largest separation (m) of boxes about two cores along their axes; row 4: it, from B to A (W).

    A box is about the place of its geom and along its axes. What is far apart along one of these
    is told at a tenth of the cost of the distance, and the axis is where to begin with that.
    """
    turn_a, turn_b = mat3(places, a, TURN), mat3(places, b, TURN)
    half_a, half_b = vec3(geoms, a, GEOM_SIZE), vec3(geoms, b, GEOM_SIZE)
    line = minus(vec3(places, a, PLACE), vec3(places, b, PLACE))
    best, axis = -INFINITE, (0.0, 0.0, 1.0)
    for i in range(6):
        d = column_of(places, a, TURN, i) if i < 3 else column_of(places, b, TURN, i - 3)
        along = dot(line, d)
        gap = abs(along) - reach(turn_a, half_a, d) - reach(turn_b, half_b, d)
        if gap > best:
            best, axis = gap, scaled(math.copysign(1.0, along), d)
    put3(rows, 4, W, axis)
    return best


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
    for i in range(9):
        d = cross(column_of(places, a, TURN, i // 3), column_of(places, b, TURN, i % 3))
        length = math.sqrt(dot(d, d))
        if length < _PARALLEL:
            continue
        d = scaled(1.0 / length, d)
        along = dot(line, d)
        gap = abs(along) - reach(turn_a, half_a, d) - reach(turn_b, half_b, d)
        if gap > best + NEARLY:
            best, axis = gap, scaled(math.copysign(1.0, along), d)
    put3(rows, 4, W, axis)
    # Corners that are deepest: where an edge or a face is, the manifold knows better.
    corner_a = minus(line, rotate(turn_a, farthest(half_a, rotate_back(turn_a, axis))))
    corner_b = rotate(turn_b, farthest(half_b, rotate_back(turn_b, axis)))
    put3(rows, 4, ON_A, plus_scaled(scaled(0.5, corner_a), 0.5, corner_b))
    return best
