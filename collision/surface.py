"""Convex shapes on surfaces of triangles: each triangle near answers as a prism, and what they say is put in order."""

from __future__ import annotations

from spatialops._arrays import Array, IntArray
from spatialops._jit import kernel
from spatialops.algebra.vectors import dot, mat3, minus, put3, vec3
from spatialops.collision._layout import (
    AT_GAP,
    AT_NORMAL,
    AT_POINT,
    GEOM_BOUND,
    GEOM_FANS,
    GEOM_RADIUS,
    MANY_POINTS,
    PLACE,
    TURN,
)
from spatialops.collision.manifold import spread, swap
from spatialops.collision.prism import UPRIGHT, extent, put_prism, triangle_points
from spatialops.collision.scratch import FIRST_LISTED, FIRST_STACK, FOUND, GATHERED, LISTED, STACK, name_at, row_at

NAME_STEP = 1 << 44  # a name says its triangle, too


@kernel
def surface_points(
    geom_ints: IntArray,
    geoms: Array,
    solids: Array,
    lists: IntArray,
    places: Array,
    a: int,
    b: int,
    limit: float,
    rows: Array,
    ints: IntArray,
) -> int:
    """Contact points of a convex shape with a surface, into the block FOUND; how many."""
    near = list_triangles(geom_ints, geoms, solids, lists, places, a, b, limit, ints)
    total, prism = 0, geom_ints.shape[0] - 1
    gathered, gathered_names = rows[row_at(rows, GATHERED) :], ints[name_at(ints, GATHERED) :]
    found, names = (
        rows[row_at(rows, FOUND) : row_at(rows, GATHERED)],
        ints[name_at(ints, FOUND) : name_at(ints, GATHERED)],
    )
    put3(places, prism, PLACE, vec3(places, b, PLACE))
    for i in range(near):
        f = ints[FIRST_LISTED + i, 0]
        if not put_prism(geom_ints, geoms, solids, lists, places, a, b, f, limit):
            continue
        count = triangle_points(geom_ints, geoms, solids, lists, places, a, b, f, limit, rows, ints)
        for j in range(count):
            names[j, 1] += NAME_STEP * (f + 1)
            total = gather(found, names, j, gathered, gathered_names, total, 1e-3 * geoms[a, GEOM_BOUND])
    return sort_out(gathered, gathered_names, total, found, names, geoms[a, GEOM_BOUND])


@kernel
def list_triangles(
    geom_ints: IntArray,
    geoms: Array,
    solids: Array,
    lists: IntArray,
    places: Array,
    a: int,
    b: int,
    limit: float,
    ints: IntArray,
) -> int:
    """Triangles whose boxes come within the limit of A, found from the tree's root down; how many."""
    line, count, waiting = minus(vec3(places, a, PLACE), vec3(places, b, PLACE)), 0, 1
    turn, radius = mat3(places, a, TURN), geoms[a, GEOM_RADIUS] + max(limit, 0.0)
    low_x = extent(geom_ints, geoms, solids, a, turn, (-1.0, 0.0, 0.0)) + radius - line[0]
    high_x = extent(geom_ints, geoms, solids, a, turn, (1.0, 0.0, 0.0)) + radius + line[0]
    low_y = extent(geom_ints, geoms, solids, a, turn, (0.0, -1.0, 0.0)) + radius - line[1]
    high_y = extent(geom_ints, geoms, solids, a, turn, (0.0, 1.0, 0.0)) + radius + line[1]
    low_z = extent(geom_ints, geoms, solids, a, turn, (0.0, 0.0, -1.0)) + radius - line[2]
    high_z = extent(geom_ints, geoms, solids, a, turn, (0.0, 0.0, 1.0)) + radius + line[2]
    tree = geom_ints[b, GEOM_FANS]
    boxes, nodes = lists[tree], tree + 2
    ints[FIRST_STACK, 0] = 0
    while waiting > 0:
        waiting -= 1
        node = ints[FIRST_STACK + waiting, 0]
        low, high = vec3(solids, boxes + node, 0), vec3(solids, boxes + node, 3)
        if low[0] > high_x or low[1] > high_y or low[2] > high_z:
            continue
        if -high[0] > low_x or -high[1] > low_y or -high[2] > low_z:
            continue
        first, last = lists[nodes + 2 * node], lists[nodes + 2 * node + 1]
        if first < 0 and waiting + 2 <= STACK:
            ints[FIRST_STACK + waiting, 0], ints[FIRST_STACK + waiting + 1, 0] = last, -1 - first
            waiting += 2
        elif first >= 0:
            for f in range(first, last):
                if count < LISTED:
                    ints[FIRST_LISTED + count, 0] = f
                    count += 1
    return count


@kernel
def gather(
    found: Array, names: IntArray, j: int, gathered: Array, gathered_names: IntArray, total: int, near: float
) -> int:
    """Add a point to those gathered, unless one with the same normal stands there already; the new total."""
    point, n = vec3(found, j, AT_POINT), vec3(found, j, AT_NORMAL)
    for i in range(total):
        apart = minus(point, vec3(gathered, i, AT_POINT))
        if dot(apart, apart) < near * near and dot(n, vec3(gathered, i, AT_NORMAL)) > UPRIGHT:
            if found[j, AT_GAP] >= gathered[i, AT_GAP] - 1e-3 * near:
                return total
            total -= 1
            swap(gathered, gathered_names, i, total)
            break
    if total == gathered.shape[0]:
        return total
    for k in range(found.shape[1]):
        gathered[total, k] = found[j, k]
    gathered_names[total, 0], gathered_names[total, 1] = names[j, 0], names[j, 1]
    return total + 1


@kernel
def sort_out(gathered: Array, gathered_names: IntArray, total: int, found: Array, names: IntArray, size: float) -> int:
    """Of the points of every normal four; the deepest of all if there are too many normals."""
    start, kept = 0, 0
    while start < total and kept < MANY_POINTS:
        lead = start
        for i in range(start, total):
            if gathered[i, AT_GAP] < gathered[lead, AT_GAP] - 1e-4 * size:
                lead = i
        n, end = vec3(gathered, lead, AT_NORMAL), start
        for i in range(start, total):
            if dot(n, vec3(gathered, i, AT_NORMAL)) > UPRIGHT:
                swap(gathered, gathered_names, i, end)
                end += 1
        count = spread(gathered[start:end], gathered_names[start:end], end - start, size, 4)
        for i in range(min(count, MANY_POINTS - kept)):
            for k in range(found.shape[1]):
                found[kept, k] = gathered[start + i, k]
            names[kept, 0], names[kept, 1] = gathered_names[start + i, 0], gathered_names[start + i, 1]
            kept += 1
        start = end
    return kept
