"""Rays against geoms: where each first crosses a surface, in closed form, planes or triangles."""

from __future__ import annotations

import math

from spatialops._arrays import Array, IntArray, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import (
    ZERO3,
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
from spatialops.collision import _layout as col
from spatialops.collision.geom_tables import GeomTables

MISS = col.INFINITE
STACK = 128  # nodes of a tree of triangles that wait; it halves at every level
HIT_COLUMNS = 4  # distance, normal
_PARALLEL = 1e-300  # a denominator that is taken for zero


@kernel
def cast_kernel(
    geoms: GeomTables,
    places: Array,
    skipped: IntArray,
    rays: Array,
    stack: IntArray,
    hits: Array,
    hit_geoms: IntArray,
) -> None:
    """First crossing of every ray (origin, unit direction): distance, outward normal, and geom."""
    for i in range(rays.shape[0]):
        origin, direction = vec3(rays, i, 0), vec3(rays, i, 3)
        hits[i, 0] = MISS
        hit_geoms[i] = -1
        put3(hits, i, 1, ZERO3)
        for g in range(skipped.size):
            if skipped[g] != 0 or passes_by(geoms, places, g, origin, direction, hits[i, 0]):
                continue
            distance, normal = cross_geom(geoms, places, g, origin, direction, stack)
            if distance < hits[i, 0]:
                hits[i, 0] = distance
                hit_geoms[i] = g
                put3(hits, i, 1, normal)


@inlined
def passes_by(
    geoms: GeomTables, places: Array, g: int, origin: Vec3, direction: Vec3, limit: float
) -> bool:
    """Whether a ray misses the ball about a geom, or comes to it beyond the limit."""
    if geoms.ints[g, col.GEOM_SHAPE] == col.HALF_SPACE:
        return False
    bound = max(geoms.floats[g, col.GEOM_BOUND], geoms.floats[g, col.GEOM_RADIUS])
    line = minus(vec3(places, g, col.PLACE), origin)
    along, square = dot(line, direction), dot(line, line)
    if square <= bound * bound:
        return False
    near = square - along * along <= bound * bound * (1.0 + 1e-12) + 1e-12 * square
    return not near or along < 0.0 or along - bound > limit


@kernel
def cross_geom(
    geoms: GeomTables, places: Array, g: int, origin: Vec3, direction: Vec3, stack: IntArray
) -> tuple[float, Vec3]:
    """Distance to a geom's surface along a ray, and the normal there, world axes."""
    kind = geoms.ints[g, col.GEOM_SHAPE]
    start = minus(origin, vec3(places, g, col.PLACE))
    if kind == col.HALF_SPACE:
        normal = vec3(geoms.floats, g, col.GEOM_NORMAL)
        slope = dot(normal, direction)
        if abs(slope) < _PARALLEL:
            return MISS, ZERO3
        distance = -dot(normal, start) / slope
        return (distance, normal) if distance >= 0.0 else (MISS, ZERO3)
    if kind == col.SPHERE:
        return quadric(start, direction, (1.0, 1.0, 1.0), geoms.floats[g, col.GEOM_RADIUS])
    if kind == col.MESH:
        return cross_tree(geoms, g, start, direction, stack)
    turn = mat3(places, g, col.TURN)
    o, d = rotate_back(turn, start), rotate_back(turn, direction)
    if kind == col.HEIGHT_FIELD:
        return cross_cells(geoms, g, start, direction, o, d)
    if kind in (col.BOX, col.HULL):
        distance, normal = cross_planes(geoms, g, o, d)
    elif kind == col.ELLIPSOID:
        distance, normal = quadric(o, d, vec3(geoms.floats, g, col.GEOM_SIZE), 1.0)
    else:
        distance, normal = cross_round(geoms, g, kind, o, d)
    return distance, rotate(turn, normal)


@inlined
def roots(a: float, b: float, c: float) -> tuple[float, float]:
    """Roots of a t^2 + 2 b t + c, the lower first, without cancellation; MISS where none."""
    square = b * b - a * c
    if square < 0.0 or a == 0.0:
        # A line along a cone's side meets it once.
        return (MISS, -0.5 * c / b) if a == 0.0 and abs(b) > _PARALLEL else (MISS, MISS)
    q = -(b + math.copysign(math.sqrt(square), b))
    first, second = q / a, c / q if abs(q) > _PARALLEL else q / a
    return min(first, second), max(first, second)


@inlined
def quadric(o: Vec3, d: Vec3, axes: Vec3, radius: float) -> tuple[float, Vec3]:
    """An ellipsoid of semi-axes `axes` times `radius` about the origin."""
    scale = (1.0 / axes[0], 1.0 / axes[1], 1.0 / axes[2])
    p = (o[0] * scale[0], o[1] * scale[1], o[2] * scale[2])
    u = (d[0] * scale[0], d[1] * scale[1], d[2] * scale[2])
    low, high = roots(dot(u, u), dot(u, p), dot(p, p) - radius * radius)
    t = low if low >= 0.0 else high
    if not 0.0 <= t < MISS:
        return MISS, ZERO3
    x = plus_scaled(p, t, u)
    normal = (x[0] * scale[0], x[1] * scale[1], x[2] * scale[2])
    return t, scaled(1.0 / math.sqrt(dot(normal, normal)), normal)


@inlined
def cross_planes(geoms: GeomTables, g: int, o: Vec3, d: Vec3) -> tuple[float, Vec3]:
    """A convex polyhedron: the ray between the planes that it enters and leaves by."""
    first = geoms.ints[g, col.GEOM_FACES]
    enter, leave = -MISS, MISS
    inward, outward = ZERO3, ZERO3
    for f in range(first, first + geoms.ints[g, col.GEOM_FACE_COUNT]):
        normal = vec3(geoms.solids, f, 0)
        height = geoms.solids[f, col.PLANE_OFFSET] - dot(normal, o)
        slope = dot(normal, d)
        if abs(slope) < _PARALLEL:
            if height < 0.0:
                return MISS, ZERO3
        elif slope < 0.0 and height / slope > enter:
            enter, inward = height / slope, normal
        elif slope > 0.0 and height / slope < leave:
            leave, outward = height / slope, normal
    if enter > leave or leave < 0.0:
        return MISS, ZERO3
    return (enter, inward) if enter >= 0.0 else (leave, outward)


@kernel
def cross_round(geoms: GeomTables, g: int, kind: int, o: Vec3, d: Vec3) -> tuple[float, Vec3]:
    """A capsule, cylinder or cone along z: the nearest crossing of its side, ends and caps.

    The side is x^2 + y^2 = (r - s (z + h))^2, with s the slope of a cone, from -h to h.
    """
    h = geoms.floats[g, col.GEOM_SIZE + 2]
    r = geoms.floats[g, col.GEOM_RADIUS if kind == col.CAPSULE else col.GEOM_SIZE]
    s = 0.5 * r / h if kind == col.CONE else 0.0
    here = r - s * (o[2] + h)
    a = d[0] * d[0] + d[1] * d[1] - s * s * d[2] * d[2]
    b = o[0] * d[0] + o[1] * d[1] + s * d[2] * here
    low, high = roots(a, b, o[0] * o[0] + o[1] * o[1] - here * here)
    best, normal = MISS, ZERO3
    for t in (low, high):
        x = plus_scaled(o, t, d)
        if 0.0 <= t < best and abs(x[2]) <= h:
            best, normal = t, (x[0], x[1], s * math.sqrt(x[0] * x[0] + x[1] * x[1]))
    for side in (-1.0, 1.0):
        if kind == col.CAPSULE:
            p = (o[0], o[1], o[2] - side * h)
            low, high = roots(dot(d, d), dot(d, p), dot(p, p) - r * r)
            for t in (low, high):
                if 0.0 <= t < best and side * (p[2] + t * d[2]) >= 0.0:
                    best, normal = t, plus_scaled(p, t, d)
        elif abs(d[2]) > _PARALLEL and (kind == col.CYLINDER or side < 0.0):
            t = (side * h - o[2]) / d[2]
            x = plus_scaled(o, t, d)
            if 0.0 <= t < best and x[0] * x[0] + x[1] * x[1] <= r * r:
                best, normal = t, (0.0, 0.0, side)
    if best == MISS:
        return MISS, ZERO3
    return best, scaled(1.0 / math.sqrt(max(dot(normal, normal), _PARALLEL)), normal)


@inlined
def cross_triangle(
    geoms: GeomTables, g: int, f: int, o: Vec3, d: Vec3, best: float, normal: Vec3
) -> tuple[float, Vec3]:
    """The nearer of `best` and a triangle of a surface (Moeller and Trumbore 1997)."""
    corners = geoms.ints[g, col.GEOM_LOOPS] + 6 * f
    first = geoms.ints[g, col.GEOM_VERTICES]
    a = vec3(geoms.solids, first + geoms.lists[corners], 0)
    e = minus(vec3(geoms.solids, first + geoms.lists[corners + 1], 0), a)
    c = minus(vec3(geoms.solids, first + geoms.lists[corners + 2], 0), a)
    p = cross(d, c)
    size = dot(e, p)
    if abs(size) < _PARALLEL:
        return best, normal
    line = minus(o, a)
    across = cross(line, e)
    u = dot(line, p) / size
    w = dot(d, across) / size
    t = dot(c, across) / size
    if u < 0.0 or w < 0.0 or u + w > 1.0 or t < 0.0 or t >= best:
        return best, normal
    upright = cross(e, c)
    return t, scaled(1.0 / math.sqrt(dot(upright, upright)), upright)


@kernel
def cross_tree(geoms: GeomTables, g: int, o: Vec3, d: Vec3, stack: IntArray) -> tuple[float, Vec3]:
    """A mesh, its corners along the world's axes: boxes that the ray meets, then triangles."""
    tree = geoms.ints[g, col.GEOM_FANS]
    boxes, nodes = geoms.lists[tree], tree + 2
    best, normal = MISS, ZERO3
    waiting = 1
    stack[0] = 0
    while waiting > 0:
        waiting -= 1
        node = stack[waiting]
        low, high = vec3(geoms.solids, boxes + node, 0), vec3(geoms.solids, boxes + node, 3)
        if misses_box(low, high, o, d, best):
            continue
        first, last = geoms.lists[nodes + 2 * node], geoms.lists[nodes + 2 * node + 1]
        if first < 0:
            stack[waiting] = last
            stack[waiting + 1] = -1 - first
            waiting += 2
            continue
        for f in range(first, last):
            best, normal = cross_triangle(geoms, g, f, o, d, best, normal)
    return best, normal


@inlined
def misses_box(low: Vec3, high: Vec3, o: Vec3, d: Vec3, limit: float) -> bool:
    """Whether a ray meets no point of a box before the limit."""
    enter, leave = 0.0, limit
    for i in range(3):
        if abs(d[i]) < _PARALLEL:
            if o[i] < low[i] or o[i] > high[i]:
                return True
            continue
        a, b = (low[i] - o[i]) / d[i], (high[i] - o[i]) / d[i]
        enter, leave = max(enter, min(a, b)), min(leave, max(a, b))
    slack = 1e-12 * (abs(enter) + 1.0)  # flat boxes are met by rounding
    return enter > leave + slack


@inlined
def strip(o: float, d: float, low: float, high: float) -> tuple[float, float]:
    """Distances between which a ray is in low..high along one axis; empty: the first is larger."""
    if abs(d) < _PARALLEL:
        return (0.0, MISS) if low <= o <= high else (MISS, 0.0)
    a, b = (low - o) / d, (high - o) / d
    return max(0.0, min(a, b)), max(a, b)


@kernel
def cross_cells(
    geoms: GeomTables, g: int, start: Vec3, direction: Vec3, o: Vec3, d: Vec3
) -> tuple[float, Vec3]:
    """A height field: the cells below the ray, column after column.

    `start` and `direction` are along the world's axes, as its corners; o and d along its own.
    """
    cells = geoms.ints[g, col.GEOM_FANS]
    nx, ny = geoms.lists[cells], geoms.lists[cells + 1]
    width = geoms.floats[g, col.GEOM_SIZE]
    depth = geoms.floats[g, col.GEOM_SIZE + 1]
    best, normal = MISS, ZERO3
    for column in range(nx):
        left = (column - 0.5 * nx) * width
        enter, leave = strip(o[0], d[0], left, left + width)
        if enter > leave or enter > best:
            continue
        there = min(leave, 1e15)  # a ray along the column does not leave it
        a, b = o[1] + enter * d[1], o[1] + there * d[1]
        lowest = max(math.floor(min(max(min(a, b) / depth + 0.5 * ny, 0.0), ny)) - 1, 0)
        highest = min(math.floor(min(max(max(a, b) / depth + 0.5 * ny, 0.0), ny)) + 2, ny)
        for row in range(lowest, highest):
            f = 2 * (column * ny + row)
            best, normal = cross_triangle(geoms, g, f, start, direction, best, normal)
            best, normal = cross_triangle(geoms, g, f + 1, start, direction, best, normal)
    return best, normal
