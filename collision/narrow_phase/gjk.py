"""Distance of two convex cores that lie apart, by Gilbert, Johnson and Keerthi's method.

E. G. Gilbert, D. W. Johnson, S. S. Keerthi, *A fast procedure for computing the distance between
complex objects*, IEEE J. Robotics and Automation 4 (1988). It works on the difference A - B. With v
the point of the present simplex that is nearest to the origin and w the support point of A - B
along -v, the distance d obeys v.w / |v| <= d <= |v| and the error of v is at most
sqrt(v.v - v.w): iteration ends where that is 1e-5 |v|.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import (
    ZERO3,
    cross,
    dot,
    mat3,
    minus,
    plus,
    plus_scaled,
    put3,
    rotate,
    rotate_back,
    scaled,
    vec3,
)
from spatialops.collision._layout import INFINITE, PLACE, TURN
from spatialops.collision.geom_tables import GeomTables
from spatialops.collision.narrow_phase.supports import support

APART = 0
FAR = 1
TOUCHING = 2
AROUND = 3

# Columns of a point of A - B.
W = 0  # 3: the point
ON_A = 3  # 3: the point of A that it comes from (the point of B is ON_A - W)
WEIGHT = 6
POINT_COLUMNS = 10

ENOUGH = 1e-10  # bound of the squared error, relative to the squared distance, at which to end
MAX_ITERATIONS = 100
_FLAT = 1e-14  # volume, relative to the lengths that span it, of four points in a plane
_LINE = 1e-28  # squared area, relative to the squared edges, of three points on a line


@kernel
def put_support(
    geoms: GeomTables,
    places: Array,
    a: int,
    b: int,
    d: Vec3,
    rows: Array,
    row: int,
) -> Vec3:
    """Point of A - B that lies farthest along d, with B's place as origin; written to a row."""
    turn_a, turn_b = mat3(places, a, TURN), mat3(places, b, TURN)
    line = minus(vec3(places, a, PLACE), vec3(places, b, PLACE))
    on_a = plus(line, rotate(turn_a, support(geoms, a, rotate_back(turn_a, d))))
    on_b = rotate(turn_b, support(geoms, b, rotate_back(turn_b, scaled(-1.0, d))))
    w = minus(on_a, on_b)
    put3(rows, row, W, w)
    put3(rows, row, ON_A, on_a)
    return w


@kernel
def gjk(
    geoms: GeomTables,
    places: Array,
    a: int,
    b: int,
    reach: float,
    small: float,
    rows: Array,
) -> int:
    """Nearest points of two cores.

    Row 4 has a direction from B to A to begin with (its columns W). Returns APART, FAR (farther
    than `reach`: by row 4's weight at least), TOUCHING (nearer than `small`) or AROUND
    (overlapping: the origin lies within the simplex). Rows 0 to 3 hold the simplex; row 4 is left
    with v (W), the nearest point of A (ON_A) and how many points of the simplex carry it (weight).
    """
    v = put_support(geoms, places, a, b, scaled(-1.0, vec3(rows, 4, W)), rows, 0)
    count = 1
    status = APART
    rows[0, WEIGHT] = 1.0
    for _ in range(MAX_ITERATIONS):
        square = dot(v, v)
        if square < small * small:
            return TOUCHING
        w = put_support(geoms, places, a, b, scaled(-1.0, v), rows, count)
        along = dot(v, w)
        if along > 0.0 and along * along > reach * reach * square:
            rows[4, WEIGHT] = along / math.sqrt(square)
            return FAR
        if square - along <= ENOUGH * square or is_known(rows, count, w):
            break
        rows[count, WEIGHT] = 0.0
        count = nearest(rows, count + 1)
        if count == 4:
            return AROUND
        new = weighted(rows, count, W)
        if dot(new, new) >= square:  # rounding is all that is left
            break
        v = new
    put3(rows, 4, W, v)
    put3(rows, 4, ON_A, weighted(rows, count, ON_A))
    rows[4, WEIGHT] = count
    return status


@inlined
def is_known(rows: Array, count: int, w: Vec3) -> bool:
    """Whether w is a point of the simplex already."""
    known = False
    for i in range(count):
        known = known or w == vec3(rows, i, W)
    return known


@inlined
def weighted(rows: Array, count: int, column: int) -> Vec3:
    """Sum of the points of the simplex with their weights."""
    total = ZERO3
    for i in range(count):
        total = plus_scaled(total, rows[i, WEIGHT], vec3(rows, i, column))
    return total


@inlined
def keep(rows: Array, place: int, i: int, weight: float) -> int:
    """Move point i to `place` with a weight, if it has any; the next place."""
    if weight <= 0.0:
        return place
    if place != i:
        put3(rows, place, W, vec3(rows, i, W))
        put3(rows, place, ON_A, vec3(rows, i, ON_A))
    rows[place, WEIGHT] = weight
    return place + 1


@kernel
def nearest(rows: Array, count: int) -> int:
    """Reduce the simplex to the points that carry its point nearest to the origin.

    Returns how many; 4 where the origin lies inside.
    """
    if count == 2:
        x, y = segment_weights(vec3(rows, 0, W), vec3(rows, 1, W))
        return keep(rows, keep(rows, 0, 0, x), 1, y)
    a = vec3(rows, 0, W)
    b = vec3(rows, 1, W)
    c = vec3(rows, 2, W)
    if count == 3:
        x, y, z = triangle_weights(a, b, c)
        return keep(rows, keep(rows, keep(rows, 0, 0, x), 1, y), 2, z)
    return nearest_of_tetrahedron(rows, a, b, c, vec3(rows, 3, W))


@inlined
def nearest_of_tetrahedron(rows: Array, a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> int:
    """Of the sides that have the origin outside the nearest; 4 where none has."""
    best, weights = INFINITE, (0.0, 0.0, 0.0, 0.0)
    if is_outside(a, b, c, d):
        x, y, z = triangle_weights(a, b, c)
        square = combined(a, x, b, y, c, z)
        if square < best:
            best, weights = square, (x, y, z, 0.0)
    if is_outside(a, b, d, c):
        x, y, z = triangle_weights(a, b, d)
        square = combined(a, x, b, y, d, z)
        if square < best:
            best, weights = square, (x, y, 0.0, z)
    if is_outside(a, c, d, b):
        x, y, z = triangle_weights(a, c, d)
        square = combined(a, x, c, y, d, z)
        if square < best:
            best, weights = square, (x, 0.0, y, z)
    if is_outside(b, c, d, a):
        x, y, z = triangle_weights(b, c, d)
        square = combined(b, x, c, y, d, z)
        if square < best:
            best, weights = square, (0.0, x, y, z)
    if best == INFINITE:
        return 4
    place = keep(rows, keep(rows, 0, 0, weights[0]), 1, weights[1])
    return keep(rows, keep(rows, place, 2, weights[2]), 3, weights[3])


@inlined
def combined(a: Vec3, x: float, b: Vec3, y: float, c: Vec3, z: float) -> float:
    """Square of |x a + y b + z c|."""
    v = plus_scaled(plus_scaled(scaled(x, a), y, b), z, c)
    return dot(v, v)


@inlined
def is_outside(a: Vec3, b: Vec3, c: Vec3, other: Vec3) -> bool:
    """Whether a triangle parts the origin from the fourth point, or all four are flat."""
    normal = cross(minus(b, a), minus(c, a))
    volume, height = dot(normal, minus(other, a)), -dot(normal, a)
    flat = abs(volume) <= _FLAT * math.sqrt(
        dot(normal, normal) * dot(minus(other, a), minus(other, a))
    )
    return flat or volume * height < 0.0


@inlined
def segment_weights(a: Vec3, b: Vec3) -> tuple[float, float]:
    """Weights of the ends for the point nearest to the origin."""
    edge = minus(b, a)
    square = dot(edge, edge)
    if square == 0.0:
        return 1.0, 0.0
    x = min(max(-dot(a, edge) / square, 0.0), 1.0)
    return 1.0 - x, x


@kernel
def triangle_weights(a: Vec3, b: Vec3, c: Vec3) -> Vec3:
    """Weights of the corners for the point of a triangle nearest to the origin."""
    ab, ac = minus(b, a), minus(c, a)
    normal = cross(ab, ac)
    square = dot(normal, normal)
    if square > _LINE * dot(ab, ab) * dot(ac, ac):
        # Areas opposite to the corners, of the triangle about the origin's foot.
        x = dot(normal, cross(b, c))
        y = dot(normal, cross(c, a))
        z = dot(normal, cross(a, b))
        if x >= 0.0 and y >= 0.0 and z >= 0.0:
            total = x + y + z
            return x / total, y / total, z / total
    best, weights = INFINITE, ZERO3
    x, y = segment_weights(a, b)
    far = combined(a, x, b, y, c, 0.0)
    if far < best:
        best, weights = far, (x, y, 0.0)
    x, y = segment_weights(a, c)
    far = combined(a, x, b, 0.0, c, y)
    if far < best:
        best, weights = far, (x, 0.0, y)
    x, y = segment_weights(b, c)
    far = combined(a, 0.0, b, x, c, y)
    if far < best:
        weights = (0.0, x, y)
    return weights
