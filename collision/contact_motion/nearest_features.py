"""The features of a shape that lie farthest along a direction: a point, an edge or a face.

With x(d) the point of a smooth surface where its outward normal is d, dx = R dd: R is the second
derivative of the support function max x . d, symmetric, with the radii of curvature as its
eigenvalues. At a corner R is none; along an edge or a generator the normal cannot lean; on a face
it is the face's.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array, Mat3, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import (
    ZERO3,
    dot,
    mat3,
    minus,
    plus,
    plus_scaled,
    put3,
    put_mat3,
    rotate,
    rotate_back,
    scaled,
    vec3,
)
from spatialops.collision import _layout as col
from spatialops.collision.contact_motion import _layout as by
from spatialops.collision.geom_tables import GeomTables

SAME = 1e-8  # of the size: points whose heights differ by less lie equally far
_NO_BEND: Mat3 = (ZERO3, ZERO3, ZERO3)


@inlined
def outer(s: float, a: Vec3, b: Vec3) -> Mat3:
    """s a b*."""
    return scaled(s * a[0], b), scaled(s * a[1], b), scaled(s * a[2], b)


@inlined
def mat_plus(a: Mat3, b: Mat3) -> Mat3:
    return plus(a[0], b[0]), plus(a[1], b[1]), plus(a[2], b[2])


@inlined
def world_of(places: Array, g: int, x: Vec3) -> Vec3:
    """A point of a shape's axes in the world."""
    return plus(vec3(places, g, col.PLACE), rotate(mat3(places, g, col.TURN), x))


@inlined
def within(geoms: GeomTables, g: int, other: int) -> float:
    """By how much heights of points of g may differ, m."""
    return SAME * min(geoms.floats[g, col.GEOM_BOUND], 100.0 * geoms.floats[other, col.GEOM_BOUND])


@kernel
def put_nearest_feature(
    geoms: GeomTables, places: Array, g: int, d: Vec3, most: float, rows: Array, i: int, at: int
) -> None:
    """What of shape g lies farthest along d, within `most`, into columns of row i."""
    shape, turn = geoms.ints[g, col.GEOM_SHAPE], mat3(places, g, col.TURN)
    put_mat3(rows, i, at + by.BEND, _NO_BEND)
    put3(rows, i, at + by.EDGE, ZERO3)
    rows[i, at + by.KIND] = by.POINTED
    if shape == col.HALF_SPACE:
        rows[i, at + by.KIND] = by.FLAT
        put3(rows, i, at + by.CORE, vec3(places, g, col.PLACE))
        return
    local = rotate_back(turn, d)
    if shape in (col.BOX, col.HULL):
        put_polyhedral(geoms, places, g, d, most, rows, i, at)
    elif shape == col.CYLINDER:
        put_cylindrical(vec3(geoms.floats, g, col.GEOM_SIZE), local, most, rows, i, at)
    elif shape == col.CONE:
        put_conical(vec3(geoms.floats, g, col.GEOM_SIZE), local, most, rows, i, at)
    elif shape == col.ELLIPSOID:
        put_ellipsoidal(vec3(geoms.floats, g, col.GEOM_SIZE), local, rows, i, at)
    else:
        put_round(
            geoms.floats[g, col.GEOM_SIZE + 2], shape == col.CAPSULE, local, most, rows, i, at
        )
    if shape not in (col.BOX, col.HULL):
        put_in_world(places, g, turn, rows, i, at)
    radius = geoms.floats[g, col.GEOM_RADIUS]
    put3(rows, i, at + by.CORE, plus_scaled(vec3(rows, i, at + by.CORE), radius, d))
    one = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    edge = vec3(rows, i, at + by.EDGE)
    flat = mat_plus(mat_plus(one, outer(-1.0, d, d)), outer(-1.0, edge, edge))
    bend = mat3(rows, i, at + by.BEND)
    whole = (
        plus_scaled(bend[0], radius, flat[0]),
        plus_scaled(bend[1], radius, flat[1]),
        plus_scaled(bend[2], radius, flat[2]),
    )
    put_mat3(rows, i, at + by.BEND, whole)


@inlined
def put_in_world(places: Array, g: int, turn: Mat3, rows: Array, i: int, at: int) -> None:
    """Point, edge and bend from the shape's axes."""
    put3(rows, i, at + by.CORE, world_of(places, g, vec3(rows, i, at + by.CORE)))
    put3(rows, i, at + by.EDGE, rotate(turn, vec3(rows, i, at + by.EDGE)))
    bend = mat3(rows, i, at + by.BEND)
    half = rotate(turn, bend[0]), rotate(turn, bend[1]), rotate(turn, bend[2])  # (T B*)*
    first = rotate(turn, (half[0][0], half[1][0], half[2][0]))
    second = rotate(turn, (half[0][1], half[1][1], half[2][1]))
    third = rotate(turn, (half[0][2], half[1][2], half[2][2]))
    put_mat3(rows, i, at + by.BEND, (first, second, third))


@inlined
def corner_of(geoms: GeomTables, places: Array, g: int, c: int) -> Vec3:
    return world_of(places, g, vec3(geoms.solids, geoms.ints[g, col.GEOM_VERTICES] + c, 0))


@kernel
def put_polyhedral(
    geoms: GeomTables, places: Array, g: int, d: Vec3, most: float, rows: Array, i: int, at: int
) -> None:
    """One corner, two, or a face of them."""
    count, highest = geoms.ints[g, col.GEOM_VERTEX_COUNT], -col.INFINITE
    for c in range(count):
        highest = max(highest, dot(corner_of(geoms, places, g, c), d))
    found = 0
    first = second = ZERO3
    for c in range(count):
        corner = corner_of(geoms, places, g, c)
        if dot(corner, d) < highest - most:
            continue
        found += 1
        if found == 1:
            first = corner
        elif found == 2:
            second = corner
    put3(rows, i, at + by.CORE, first)
    if found == 2:
        edge = minus(second, first)
        rows[i, at + by.KIND] = by.EDGED
        put3(rows, i, at + by.EDGE, scaled(1.0 / math.sqrt(dot(edge, edge)), edge))
    elif found > 2:
        rows[i, at + by.KIND] = by.FLAT


@kernel
def put_round(half: float, long: bool, d: Vec3, most: float, rows: Array, i: int, at: int) -> None:
    """The middle of a ball; an end of a capsule's segment, or all of it."""
    if not long:
        put3(rows, i, at + by.CORE, ZERO3)
        return
    put3(rows, i, at + by.CORE, (0.0, 0.0, math.copysign(half, d[2])))
    if 2.0 * half * abs(d[2]) <= most:
        rows[i, at + by.KIND] = by.EDGED
        put3(rows, i, at + by.EDGE, (0.0, 0.0, 1.0))


@kernel
def put_cylindrical(size: Vec3, d: Vec3, most: float, rows: Array, i: int, at: int) -> None:
    """A cap, a line along the side, or a point of a rim, which runs about it as d leans."""
    radius, half = size[0], size[2]
    across = math.hypot(d[0], d[1])
    height = math.copysign(half, d[2])
    if 2.0 * radius * across <= most:
        rows[i, at + by.KIND] = by.FLAT
        put3(rows, i, at + by.CORE, (0.0, 0.0, height))
        return
    put3(rows, i, at + by.CORE, (radius * d[0] / across, radius * d[1] / across, height))
    about = (-d[1] / across, d[0] / across, 0.0)
    put_mat3(rows, i, at + by.BEND, outer(radius / across, about, about))
    if 2.0 * half * abs(d[2]) <= most:
        rows[i, at + by.KIND] = by.EDGED
        put3(rows, i, at + by.EDGE, (0.0, 0.0, 1.0))


@kernel
def put_conical(size: Vec3, d: Vec3, most: float, rows: Array, i: int, at: int) -> None:
    """The base, a line along the side, a point of the rim, or the tip.

    Along the line the bend goes with the distance from the axis; it is left as that of the rim.
    """
    radius, half = size[0], size[2]
    across = math.hypot(d[0], d[1])
    tip, rim = half * d[2], radius * across - half * d[2]
    if d[2] < 0.0 and 2.0 * radius * across <= most:
        rows[i, at + by.KIND] = by.FLAT
        put3(rows, i, at + by.CORE, (0.0, 0.0, -half))
        return
    if tip > rim + most or across == 0.0:
        put3(rows, i, at + by.CORE, (0.0, 0.0, half))
        return
    low = (radius * d[0] / across, radius * d[1] / across, -half)
    put3(rows, i, at + by.CORE, low)
    about = (-d[1] / across, d[0] / across, 0.0)
    put_mat3(rows, i, at + by.BEND, outer(radius / across, about, about))
    if tip >= rim - most:
        line = minus((0.0, 0.0, half), low)
        rows[i, at + by.KIND] = by.EDGED
        put3(rows, i, at + by.EDGE, scaled(1.0 / math.sqrt(dot(line, line)), line))


@kernel
def put_ellipsoidal(size: Vec3, d: Vec3, rows: Array, i: int, at: int) -> None:
    """x = S^2 d / h with h = |S d|, and R = (S^2 - x x*) / h."""
    squares = (size[0] * size[0], size[1] * size[1], size[2] * size[2])
    h = math.sqrt(squares[0] * d[0] * d[0] + squares[1] * d[1] * d[1] + squares[2] * d[2] * d[2])
    x = (squares[0] * d[0] / h, squares[1] * d[1] / h, squares[2] * d[2] / h)
    put3(rows, i, at + by.CORE, x)
    S = ((squares[0] / h, 0.0, 0.0), (0.0, squares[1] / h, 0.0), (0.0, 0.0, squares[2] / h))
    put_mat3(rows, i, at + by.BEND, mat_plus(S, outer(-1.0 / h, x, x)))


@kernel
def reaches_of(
    geoms: GeomTables, places: Array, g: int, d: Vec3, axis: Vec3, most: float
) -> tuple[float, float]:
    """From where to where what lies farthest along d goes along an axis across it."""
    shape, place = geoms.ints[g, col.GEOM_SHAPE], vec3(places, g, col.PLACE)
    low, high = col.INFINITE, -col.INFINITE
    if shape == col.HALF_SPACE:
        return -col.INFINITE, col.INFINITE
    if shape in (col.BOX, col.HULL):
        top = -col.INFINITE
        for c in range(geoms.ints[g, col.GEOM_VERTEX_COUNT]):
            top = max(top, dot(corner_of(geoms, places, g, c), d))
        for c in range(geoms.ints[g, col.GEOM_VERTEX_COUNT]):
            corner = corner_of(geoms, places, g, c)
            if dot(corner, d) >= top - most:
                low, high = min(low, dot(corner, axis)), max(high, dot(corner, axis))
        return low, high
    turn, size = mat3(places, g, col.TURN), vec3(geoms.floats, g, col.GEOM_SIZE)
    along = rotate_back(turn, axis)
    local, middle = rotate_back(turn, d), dot(place, axis)
    if abs(local[2]) > math.sqrt(0.5) and shape != col.CAPSULE:  # a cap or base
        reach = size[0] * math.hypot(along[0], along[1])
        return middle - reach, middle + reach
    reach = size[2] * abs(along[2])
    return middle - reach, middle + reach
