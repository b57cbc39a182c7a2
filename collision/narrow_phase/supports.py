"""Where shapes reach farthest, and the faces, edges or points that they turn towards a direction.

A shape is a core (point, segment, box, ...) with a radius all about it; only spheres and capsules
have one.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array, IntArray, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import (
    dot,
    mat3,
    minus,
    plus,
    plus_scaled,
    put3,
    rotate,
    rotate_back,
    vec3,
)
from spatialops.collision import _layout as col
from spatialops.collision.geom_tables import GeomTables
from spatialops.collision.narrow_phase.farthest_corner import farthest_corner

RIM = 8  # points that stand for a circle
STEEP = math.sqrt(0.5)  # a cylinder turns its cap towards what is less than 45 degrees off its axis
TILT = 2e-5  # rad; beyond it a circle's points are counted from its lowest one, which is then exact
_FACES_OF_A_BOX = 6
_AXIAL = 1e-300  # part of a direction across the axis below which it has none to divide by
_UP = 1e-12  # the same of a unit vector: it looks along a cone's axis, and sees but the tip


@kernel
def support(geoms: GeomTables, g: int, d: Vec3) -> Vec3:
    """Point of the core of shape g that lies farthest along d, both in the shape's axes."""
    kind, (x, y, z) = geoms.ints[g, col.GEOM_SHAPE], vec3(geoms.floats, g, col.GEOM_SIZE)
    if kind == col.SPHERE:
        return 0.0, 0.0, 0.0
    if kind == col.CAPSULE:
        return 0.0, 0.0, math.copysign(z, d[2])
    if kind == col.BOX:
        return math.copysign(x, d[0]), math.copysign(y, d[1]), math.copysign(z, d[2])
    if kind in (col.CYLINDER, col.CONE):
        across = math.sqrt(d[0] * d[0] + d[1] * d[1])
        if kind == col.CONE and z * d[2] >= x * across - z * d[2]:
            return 0.0, 0.0, z
        height = -z if kind == col.CONE else math.copysign(z, d[2])
        if across < _AXIAL:
            return x, 0.0, height
        return x * d[0] / across, x * d[1] / across, height
    if kind == col.ELLIPSOID:
        a = x * d[0]
        b = y * d[1]
        c = z * d[2]
        length = math.sqrt(a * a + b * b + c * c)
        return x * a / length, y * b / length, z * c / length
    corner = farthest_corner(geoms.ints, geoms.solids, geoms.lists, g, d)
    return vec3(geoms.solids, geoms.ints[g, col.GEOM_VERTICES] + corner, 0)


@kernel
def put_feature(
    geoms: GeomTables, places: Array, g: int, d: Vec3, origin: Vec3, rows: Array, names: IntArray
) -> int:
    """The face, edge or point that shape g turns towards the world direction d.

    A face has three points or more, in order. Points are written to `rows` in world axes from
    `origin`, with the radius; their features to column 0 of `names`, those of the edges that begin
    at them to column 1. Returns how many.
    """
    rotation, place = mat3(places, g, col.TURN), minus(vec3(places, g, col.PLACE), origin)
    local, kind = rotate_back(rotation, d), geoms.ints[g, col.GEOM_SHAPE]
    if kind == col.CAPSULE:
        count = capsule_feature(geoms.floats[g, col.GEOM_SIZE + 2], rows, names)
    elif kind == col.CYLINDER:
        count = cylinder_feature(vec3(geoms.floats, g, col.GEOM_SIZE), local, rows, names)
    elif kind == col.CONE:
        count = cone_feature(vec3(geoms.floats, g, col.GEOM_SIZE), local, rows, names)
    elif kind in (col.SPHERE, col.ELLIPSOID):
        put3(rows, 0, 0, support(geoms, g, local))
        names[0, 0] = names[0, 1] = col.VERTEX
        count = 1
    else:
        count = polyhedron_feature(geoms.ints, geoms.solids, geoms.lists, g, local, rows, names)
    for i in range(count):
        point = plus(place, rotate(rotation, vec3(rows, i, 0)))
        put3(rows, i, 0, plus_scaled(point, geoms.floats[g, col.GEOM_RADIUS], d))
    return count


@inlined
def vertex_name(i: int) -> int:
    return 3 * i + col.VERTEX


@inlined
def edge_name(i: int, j: int) -> int:
    """Name of the edge between two corners, whichever comes first."""
    return 3 * (min(i, j) * col.EDGE_BASE + max(i, j)) + col.EDGE


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
    geom_ints: IntArray,
    solids: Array,
    lists: IntArray,
    g: int,
    d: Vec3,
    rows: Array,
    names: IntArray,
) -> int:
    """Of the faces about the farthest corner the one that looks most along d."""
    vertices, loops = geom_ints[g, col.GEOM_VERTICES], geom_ints[g, col.GEOM_LOOPS]
    best = face_along(geom_ints, solids, lists, g, d)
    first, count = lists[loops + best], lists[loops + best + 1] - lists[loops + best]
    corner = lists[first]
    for i in range(count):
        after = lists[first + i + 1] if i + 1 < count else lists[first]
        put3(rows, i, 0, vec3(solids, vertices + corner, 0))
        names[i, 0], names[i, 1] = vertex_name(corner), edge_name(corner, after)
        corner = after
    names[count, 0] = 3 * best + col.FACE
    return count


@inlined
def face_along(geom_ints: IntArray, solids: Array, lists: IntArray, g: int, d: Vec3) -> int:
    """That face. A box has no other that looks more along d, and few to look at."""
    planes, fans = geom_ints[g, col.GEOM_FACES], geom_ints[g, col.GEOM_FANS]
    most = -2.0
    if geom_ints[g, col.GEOM_SHAPE] == col.BOX:
        best = 0
        for i in range(_FACES_OF_A_BOX):
            along = dot(vec3(solids, planes + i, 0), d)
            if along > most:
                best, most = i, along
        return best
    corner = farthest_corner(geom_ints, solids, lists, g, d)
    begin = lists[fans + corner]
    best = lists[begin]  # the first face where d is no number
    for i in range(begin, lists[fans + corner + 1]):
        along = dot(vec3(solids, planes + lists[i], 0), d)
        if along > most:
            best, most = lists[i], along
    return best


@kernel
def rim_feature(
    radius: float, height: float, d: Vec3, rows: Array, names: IntArray, first: int
) -> int:
    """Points of a circle across local z, counter-clockwise.

    A tilted one begins with the point farthest along d. Names are counted from there, too: they
    stay while a tilted circle rolls, and where it comes to lie flat.
    """
    across = math.sqrt(d[0] * d[0] + d[1] * d[1])
    x = radius
    y = 0.0
    if across > TILT * abs(d[2]):
        x, y = radius * d[0] / across, radius * d[1] / across
    for i in range(RIM):
        c, s = math.cos(2.0 * math.pi / RIM * i), math.sin(2.0 * math.pi / RIM * i)
        put3(rows, i, 0, (c * x - s * y, s * x + c * y, height))
        names[i, 0] = vertex_name(first + i)
        names[i, 1] = edge_name(first + i, first + (i + 1) % RIM)
    return RIM


@kernel
def cylinder_feature(size: Vec3, d: Vec3, rows: Array, names: IntArray) -> int:
    """The cap, or the line along the side that lies farthest."""
    if abs(d[2]) >= STEEP:
        return rim_feature(
            size[0], math.copysign(size[2], d[2]), d, rows, names, 0 if d[2] < 0.0 else 2 * RIM
        )
    across = math.sqrt(d[0] * d[0] + d[1] * d[1])
    x, y = size[0] * d[0] / across, size[0] * d[1] / across
    put3(rows, 0, 0, (x, y, -size[2]))
    put3(rows, 1, 0, (x, y, size[2]))
    name_line(names, 0, 2 * RIM)  # as the caps' lowest points: rocking over the rim keeps them
    return 2


@kernel
def cone_feature(size: Vec3, d: Vec3, rows: Array, names: IntArray) -> int:
    """The base, or the line from it to the tip that lies farthest; the tip where that is all."""
    radius, half = size[0], size[2]
    across = math.sqrt(d[0] * d[0] + d[1] * d[1])
    slant = math.sqrt(radius * radius + 4.0 * half * half)
    side = (2.0 * half * across + radius * d[2]) / slant  # along the normal of the side
    if -d[2] > side:
        return rim_feature(radius, -half, d, rows, names, 0)
    if across < _UP:
        put3(rows, 0, 0, (0.0, 0.0, half))
        names[0, 0] = names[0, 1] = vertex_name(2 * RIM)
        return 1
    put3(rows, 0, 0, (radius * d[0] / across, radius * d[1] / across, -half))
    put3(rows, 1, 0, (0.0, 0.0, half))
    name_line(names, 0, 2 * RIM)
    return 2
