"""Where shapes reach farthest, and the faces, edges or points that they turn towards a direction.

A shape is a core (point, segment, box, ...) with a radius all about it; only spheres and capsules have one.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array, IntArray, Vec3
from spatialops._jit import inlined, kernel
from spatialops.algebra.vectors import dot, mat3, minus, plus, plus_scaled, put3, rotate, rotate_back, vec3
from spatialops.collision._layout import (
    BOX,
    CAPSULE,
    CONE,
    CYLINDER,
    EDGE,
    EDGE_BASE,
    ELLIPSOID,
    FACE,
    GEOM_FACES,
    GEOM_FANS,
    GEOM_LOOPS,
    GEOM_RADIUS,
    GEOM_SHAPE,
    GEOM_SIZE,
    GEOM_VERTEX_COUNT,
    GEOM_VERTICES,
    PLACE,
    SPHERE,
    TURN,
    VERTEX,
)

RIM = 8  # points that stand for a circle
STEEP = math.sqrt(0.5)  # a cylinder turns its cap towards what is less than 45 degrees off its axis
TILT = 2e-5  # rad; beyond it a circle's points are counted from its lowest one, which is then exact


@inlined
def farthest_corner(geom_ints: IntArray, solids: Array, g: int, d: Vec3) -> int:
    """Row, counted from its first, of the corner of a polyhedron that lies farthest along d."""
    first, best, most = geom_ints[g, GEOM_VERTICES], 0, -1e300
    for i in range(geom_ints[g, GEOM_VERTEX_COUNT]):
        reach = dot(vec3(solids, first + i, 0), d)
        if reach > most:
            best, most = i, reach
    return best


@kernel
def support(geom_ints: IntArray, geoms: Array, solids: Array, g: int, d: Vec3) -> Vec3:
    """Point of the core of shape g that lies farthest along d, both in the shape's axes."""
    kind, (x, y, z) = geom_ints[g, GEOM_SHAPE], vec3(geoms, g, GEOM_SIZE)
    if kind == SPHERE:
        return 0.0, 0.0, 0.0
    if kind == CAPSULE:
        return 0.0, 0.0, math.copysign(z, d[2])
    if kind == BOX:
        return math.copysign(x, d[0]), math.copysign(y, d[1]), math.copysign(z, d[2])
    if kind in (CYLINDER, CONE):
        across = math.sqrt(d[0] * d[0] + d[1] * d[1])
        if kind == CONE and z * d[2] >= x * across - z * d[2]:
            return 0.0, 0.0, z
        height = -z if kind == CONE else math.copysign(z, d[2])
        if across < 1e-300:
            return x, 0.0, height
        return x * d[0] / across, x * d[1] / across, height
    if kind == ELLIPSOID:
        a, b, c = x * d[0], y * d[1], z * d[2]
        length = math.sqrt(a * a + b * b + c * c)
        return x * a / length, y * b / length, z * c / length
    return vec3(solids, geom_ints[g, GEOM_VERTICES] + farthest_corner(geom_ints, solids, g, d), 0)


@kernel
def put_feature(
    geom_ints: IntArray,
    geoms: Array,
    solids: Array,
    lists: IntArray,
    places: Array,
    g: int,
    d: Vec3,
    origin: Vec3,
    rows: Array,
    names: IntArray,
) -> int:
    """The face (three points or more, in order), edge (two) or point that shape g turns towards the world direction d.

    Points are written to `rows` in world axes from `origin`, with the radius; their features to column 0 of `names`,
    those of the edges that begin at them to column 1. Returns how many.
    """
    rotation, place = mat3(places, g, TURN), minus(vec3(places, g, PLACE), origin)
    local, kind = rotate_back(rotation, d), geom_ints[g, GEOM_SHAPE]
    if kind == CAPSULE:
        count = capsule_feature(geoms[g, GEOM_SIZE + 2], rows, names)
    elif kind == CYLINDER:
        count = cylinder_feature(vec3(geoms, g, GEOM_SIZE), local, rows, names)
    elif kind == CONE:
        count = cone_feature(vec3(geoms, g, GEOM_SIZE), local, rows, names)
    elif kind in (SPHERE, ELLIPSOID):
        put3(rows, 0, 0, support(geom_ints, geoms, solids, g, local))
        names[0, 0] = names[0, 1] = VERTEX
        count = 1
    else:
        count = polyhedron_feature(geom_ints, solids, lists, g, local, rows, names)
    for i in range(count):
        point = plus(place, rotate(rotation, vec3(rows, i, 0)))
        put3(rows, i, 0, plus_scaled(point, geoms[g, GEOM_RADIUS], d))
    return count


@inlined
def vertex_name(i: int) -> int:
    return 3 * i + VERTEX


@inlined
def edge_name(i: int, j: int) -> int:
    """Name of the edge between two corners, whichever comes first."""
    return 3 * (min(i, j) * EDGE_BASE + max(i, j)) + EDGE


@inlined
def name_line(names: IntArray, first: int, second: int) -> None:
    """Names of a segment's ends and of itself."""
    names[0, 0], names[1, 0] = vertex_name(first), vertex_name(second)
    names[0, 1] = names[1, 1] = edge_name(first, second)


@inlined
def capsule_feature(half: float, rows: Array, names: IntArray) -> int:
    put3(rows, 0, 0, (0.0, 0.0, -half))
    put3(rows, 1, 0, (0.0, 0.0, half))
    name_line(names, 0, 1)
    return 2


@kernel
def polyhedron_feature(
    geom_ints: IntArray, solids: Array, lists: IntArray, g: int, d: Vec3, rows: Array, names: IntArray
) -> int:
    """Of the faces about the farthest corner the one that looks most along d."""
    corner = farthest_corner(geom_ints, solids, g, d)
    fans, loops, planes = geom_ints[g, GEOM_FANS], geom_ints[g, GEOM_LOOPS], geom_ints[g, GEOM_FACES]
    best, most = -1, -2.0
    for i in range(lists[fans + corner], lists[fans + corner + 1]):
        along = dot(vec3(solids, planes + lists[i], 0), d)
        if along > most:
            best, most = lists[i], along
    first, count = lists[loops + best], lists[loops + best + 1] - lists[loops + best]
    for i in range(count):
        corner, after = lists[first + i], lists[first + (i + 1) % count]
        put3(rows, i, 0, vec3(solids, geom_ints[g, GEOM_VERTICES] + corner, 0))
        names[i, 0], names[i, 1] = vertex_name(corner), edge_name(corner, after)
    names[count, 0] = 3 * best + FACE
    return count


@kernel
def rim_feature(radius: float, height: float, d: Vec3, rows: Array, names: IntArray, first: int) -> int:
    """Points of a circle across local z, counter-clockwise; where it is tilted, from the farthest along d on.

    Names are counted from there, too: they stay while a tilted circle rolls, and where it comes to lie flat.
    """
    across, x, y = math.sqrt(d[0] * d[0] + d[1] * d[1]), radius, 0.0
    if across > TILT * abs(d[2]):
        x, y = radius * d[0] / across, radius * d[1] / across
    for i in range(RIM):
        c, s = math.cos(2.0 * math.pi / RIM * i), math.sin(2.0 * math.pi / RIM * i)
        put3(rows, i, 0, (c * x - s * y, s * x + c * y, height))
        names[i, 0], names[i, 1] = vertex_name(first + i), edge_name(first + i, first + (i + 1) % RIM)
    return RIM


@kernel
def cylinder_feature(size: Vec3, d: Vec3, rows: Array, names: IntArray) -> int:
    """The cap, or the line along the side that lies farthest."""
    if abs(d[2]) >= STEEP:
        return rim_feature(size[0], math.copysign(size[2], d[2]), d, rows, names, 0 if d[2] < 0.0 else 2 * RIM)
    across = math.sqrt(d[0] * d[0] + d[1] * d[1])
    x, y = size[0] * d[0] / across, size[0] * d[1] / across
    put3(rows, 0, 0, (x, y, -size[2]))
    put3(rows, 1, 0, (x, y, size[2]))
    name_line(names, 0, 2 * RIM)  # as the caps' lowest points, so that rocking from cap to side changes no name
    return 2


@kernel
def cone_feature(size: Vec3, d: Vec3, rows: Array, names: IntArray) -> int:
    """The base, or the line from it to the tip that lies farthest; the tip where that is all."""
    radius, half = size[0], size[2]
    across, slant = math.sqrt(d[0] * d[0] + d[1] * d[1]), math.sqrt(radius * radius + 4.0 * half * half)
    side = (2.0 * half * across + radius * d[2]) / slant  # along the normal of the side
    if -d[2] > side:
        return rim_feature(radius, -half, d, rows, names, 0)
    if across < 1e-12:
        put3(rows, 0, 0, (0.0, 0.0, half))
        names[0, 0] = names[0, 1] = vertex_name(2 * RIM)
        return 1
    put3(rows, 0, 0, (radius * d[0] / across, radius * d[1] / across, -half))
    put3(rows, 1, 0, (0.0, 0.0, half))
    name_line(names, 0, 2 * RIM)
    return 2
