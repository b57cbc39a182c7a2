"""Depth of two convex cores that overlap: a polytope within A - B grows until it reaches out.

G. van den Bergen, *Proximity queries and penetration depth computation on 3D game objects* (2001).
The depth is the minimum of h(d) over unit vectors d, h being the support function of A - B. A
polytope inside A - B has faces with normals n and offsets c; the least c is a lower bound of that
minimum and h(n) an upper one: the face is pushed out to its support point until both agree. The
origin may lie outside by a little: its offsets are then negative and nothing else changes.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array, IntArray, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import ZERO3, cross, dot, minus, plus_scaled, put3, scaled, vec3
from spatialops.collision._layout import INFINITE
from spatialops.collision.geom_tables import GeomTables
from spatialops.collision.narrow_phase.gjk import ON_A, WEIGHT, W, put_support, triangle_weights

POINTS, SIDES = 160, 320  # room
FIRST_POINT = 5  # of its rows: those before are the simplex
FIRST_SIDE = FIRST_POINT + POINTS
EPA_ROWS = FIRST_SIDE + SIDES
NORMAL, OFFSET = 0, 3  # columns of a side
OTHERS = WEIGHT  # of row 4

# Where the polytope starts: unit vectors that lie along no axis, edge or face of a usual shape.
_ALONG = (0.36, 0.48, 0.8)
_AGAINST = (-0.36, -0.48, -0.8)
_OFF_X = 0.6  # cosine against x below which a line has a good cross product with it
_ON_LINE = 1e-12  # square of the sine below which a third point lies on the line of two
_IN_PLANE = 1e-9  # of their line: a fourth point that is nearer lies in the plane of three
_FLAT = 1e-3  # of GJK's simplex: height over a side, relative; what is flatter makes slivers
SLIVER = 1e-20  # m^2, twice the area below which a triangle has no normal
_SEEN = 1e-14  # m above its plane from which on a point sees a side
_LEVEL = 1.0 - 1e-12  # cosine between sides of one face


@kernel
def epa(
    geoms: GeomTables,
    places: Array,
    a: int,
    b: int,
    enough: float,
    around: bool,
    rows: Array,
    ints: IntArray,
) -> float:
    """Depth (m) to within `enough`; row 4: normal from A into B (W) and a point of A (ON_A).

    Where GJK has ended `around` the origin, its simplex is where to begin. Rows 0 to 2 are left
    with the corners of the nearest side, and the last column of row 4 with the least offset of
    those that are not in its plane.
    """
    points, sides = rows[FIRST_POINT:FIRST_SIDE], rows[FIRST_SIDE:EPA_ROWS]
    begun = around and take_over(rows, points)
    if not (begun or start_polytope(geoms, places, a, b, points)):
        put3(rows, 4, W, (0.0, 0.0, -1.0))
        put3(rows, 4, ON_A, vec3(points, 0, ON_A))
        rows[4, OTHERS] = -INFINITE
        return 0.0
    inside = scaled(0.25, sum_of_four(points))
    n_points, n_sides = 4, 0
    for i in range(4):
        n_sides = put_side(points, sides, ints, n_sides, i, (i + 1) % 4, (i + 2) % 4, inside)
    side = 0
    lower = -INFINITE
    upper = INFINITE
    while True:
        side = lowest_side(sides, n_sides)
        normal, lower = vec3(sides, side, NORMAL), sides[side, OFFSET]
        w = put_support(geoms, places, a, b, normal, points, n_points)
        upper = dot(normal, w)
        if upper - lower <= enough or n_points + 1 >= POINTS:
            break
        grown = grow(points, sides, ints, n_sides, n_points, inside)
        if grown == 0:
            break
        n_sides, n_points = grown, n_points + 1
    put3(rows, 4, W, normal)
    put_foot(points, sides, ints, (n_sides, side), lower + enough, rows)
    return upper


@kernel
def put_foot(
    points: Array, sides: Array, ints: IntArray, of: tuple[int, int], highest: float, rows: Array
) -> None:
    """The point of A that the origin's foot on the plane of a side, of so many, comes from.

    A face of A - B with more than three corners is several sides: that which has the foot counts,
    or comes nearest to it.
    """
    count, side = of
    normal = vec3(sides, side, NORMAL)
    foot = scaled(sides[side, OFFSET], normal)
    least = others = INFINITE
    for s in range(count):
        level = sides[s, OFFSET] <= highest and dot(vec3(sides, s, NORMAL), normal) > _LEVEL
        if not (level or s == side):
            others = min(others, sides[s, OFFSET])
            continue
        miss, on_a = nearest_of_side(points, (ints[s, 0], ints[s, 1], ints[s, 2]), foot)
        if miss < least:
            least = miss
            put3(rows, 4, ON_A, on_a)
            for c in range(3):
                put3(rows, c, W, vec3(points, ints[s, c], W))
                put3(rows, c, ON_A, vec3(points, ints[s, c], ON_A))
    rows[4, OTHERS] = others


@inlined
def nearest_of_side(points: Array, corners: tuple[int, int, int], foot: Vec3) -> tuple[float, Vec3]:
    """Squared distance of the foot from a side, and the point of A that the nearest comes from."""
    i, j, k = corners
    p, q = minus(vec3(points, i, W), foot), minus(vec3(points, j, W), foot)
    r = minus(vec3(points, k, W), foot)
    x, y, z = triangle_weights(p, q, r)
    miss = plus_scaled(plus_scaled(scaled(x, p), y, q), z, r)
    on_a = plus_scaled(scaled(x, vec3(points, i, ON_A)), y, vec3(points, j, ON_A))
    return dot(miss, miss), plus_scaled(on_a, z, vec3(points, k, ON_A))


@inlined
def sum_of_four(points: Array) -> Vec3:
    total = ZERO3
    for i in range(4):
        total = plus_scaled(total, 1.0, vec3(points, i, W))
    return total


@inlined
def take_over(rows: Array, points: Array) -> bool:
    """Begin with the simplex that GJK ended with, or False where it is flat."""
    for i in range(4):
        put3(points, i, W, vec3(rows, i, W))
        put3(points, i, ON_A, vec3(rows, i, ON_A))
    p = vec3(points, 0, W)
    normal = cross(minus(vec3(points, 1, W), p), minus(vec3(points, 2, W), p))
    last = minus(vec3(points, 3, W), p)
    near = _FLAT * math.sqrt(dot(normal, normal) * dot(last, last))
    return abs(dot(normal, last)) > near


@kernel
def start_polytope(geoms: GeomTables, places: Array, a: int, b: int, points: Array) -> bool:
    """Four support points that span a body, or False where there are none.

    They are the farthest along an axis, against it, off their line, and off their plane.
    """
    p = put_support(geoms, places, a, b, _ALONG, points, 0)
    q = put_support(geoms, places, a, b, _AGAINST, points, 1)
    line = minus(q, p)
    least = _ON_LINE * dot(line, line)
    across = cross(
        line,
        (1.0, 0.0, 0.0) if abs(line[0]) < _OFF_X * math.sqrt(dot(line, line)) else (0.0, 1.0, 0.0),
    )
    r = put_support(geoms, places, a, b, across, points, 2)
    normal = cross(line, minus(r, p))
    if dot(normal, normal) <= least * dot(line, line):
        r = put_support(geoms, places, a, b, scaled(-1.0, across), points, 2)
        normal = cross(line, minus(r, p))
        if dot(normal, normal) <= least * dot(line, line):
            return False
    s = put_support(geoms, places, a, b, normal, points, 3)
    near = _IN_PLANE * math.sqrt(dot(normal, normal) * dot(line, line))
    if abs(dot(normal, minus(s, p))) <= near:
        s = put_support(geoms, places, a, b, scaled(-1.0, normal), points, 3)
    return abs(dot(normal, minus(s, p))) > near


@inlined
def put_side(
    points: Array, sides: Array, ints: IntArray, row: int, i: int, j: int, k: int, inside: Vec3
) -> int:
    """Write the triangle of three points as a side, seen from `inside`; the next free row."""
    p = vec3(points, i, W)
    normal = cross(minus(vec3(points, j, W), p), minus(vec3(points, k, W), p))
    length = math.sqrt(dot(normal, normal))
    normal = scaled(1.0 / length if length > 0.0 else 0.0, normal)
    if dot(normal, minus(p, inside)) < 0.0:
        normal = scaled(-1.0, normal)
        j, k = k, j
    put3(sides, row, NORMAL, normal)
    # A sliver is nobody's nearest side.
    sides[row, OFFSET] = dot(normal, p) if length > SLIVER else INFINITE
    ints[row, 0] = i
    ints[row, 1] = j
    ints[row, 2] = k
    return row + 1


@inlined
def lowest_side(sides: Array, count: int) -> int:
    best = 0
    for i in range(1, count):
        if sides[i, OFFSET] < sides[best, OFFSET]:
            best = i
    return best


@kernel
def grow(points: Array, sides: Array, ints: IntArray, n_sides: int, new: int, inside: Vec3) -> int:
    """Replace the sides that the new point sees by a fan to the edges about them.

    The count of sides, 0 if it fails.
    """
    w = vec3(points, new, W)
    edges = 0
    kept = 0
    edge = ints[SIDES:]
    for i in range(n_sides):
        normal = vec3(sides, i, NORMAL)
        if dot(normal, minus(w, vec3(points, ints[i, 0], W))) > _SEEN:
            for j in range(3):
                edges = toggle_edge(edge, edges, ints[i, j], ints[i, (j + 1) % 3])
                if edges < 0:
                    return 0
        else:
            if kept != i:
                put3(sides, kept, NORMAL, normal)
                sides[kept, OFFSET] = sides[i, OFFSET]
                ints[kept, 0] = ints[i, 0]
                ints[kept, 1] = ints[i, 1]
                ints[kept, 2] = ints[i, 2]
            kept += 1
    if edges < 3 or kept + edges > SIDES:
        return 0
    for i in range(edges):
        kept = put_side(points, sides, ints, kept, edge[i, 0], edge[i, 1], new, inside)
    return kept


@inlined
def toggle_edge(edge: IntArray, count: int, i: int, j: int) -> int:
    """An edge between two sides that are seen goes, one that only one has stays. The count.

    -1 for no room.
    """
    for k in range(count):
        if edge[k, 0] == j and edge[k, 1] == i:
            edge[k, 0], edge[k, 1] = edge[count - 1, 0], edge[count - 1, 1]
            return count - 1
    if count == edge.shape[0]:
        return -1
    edge[count, 0], edge[count, 1] = i, j
    return count + 1
