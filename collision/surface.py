"""Convex shapes on surfaces of triangles: each triangle near answers as a prism, and what they say is put in order."""

from __future__ import annotations

import math

from spatialops._arrays import Array, IntArray, Vec3
from spatialops._jit import inlined, kernel
from spatialops.algebra.vectors import column_of, dot, mat3, minus, put3, vec3
from spatialops.collision._layout import (
    AT_GAP,
    AT_NORMAL,
    AT_POINT,
    GEOM_BOUND,
    GEOM_FANS,
    GEOM_RADIUS,
    GEOM_SHAPE,
    GEOM_SIZE,
    HEIGHT_FIELD,
    MANY_POINTS,
    PLACE,
    TURN,
)
from spatialops.collision.manifold import spread, swap
from spatialops.collision.prism import UPRIGHT, corner, extent, put_prism, triangle_points
from spatialops.collision.scratch import FIRST_STACK, FOUND, GATHERED, STACK, name_at, row_at

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
    gathered, gathered_names = rows[row_at(rows, GATHERED) :], ints[name_at(ints, GATHERED) :]
    found, names = (
        rows[row_at(rows, FOUND) : row_at(rows, GATHERED)],
        ints[name_at(ints, FOUND) : name_at(ints, GATHERED)],
    )
    put3(places, geom_ints.shape[0] - 1, PLACE, vec3(places, b, PLACE))
    if geom_ints[b, GEOM_SHAPE] == HEIGHT_FIELD:
        total = over_cells(geom_ints, geoms, solids, lists, places, a, b, limit, rows, ints)
    else:
        total = over_tree(geom_ints, geoms, solids, lists, places, a, b, limit, rows, ints)
    total = sort_out(gathered, gathered_names, total, geoms[a, GEOM_BOUND])
    for i in range(total):
        for k in range(found.shape[1]):
            found[i, k] = gathered[i, k]
        names[i, 0], names[i, 1] = gathered_names[i, 0], gathered_names[i, 1]
    return total


@inlined
def span(
    geom_ints: IntArray, geoms: Array, solids: Array, places: Array, a: int, b: int, limit: float, d: Vec3
) -> tuple[float, float]:
    """From where to where A and its limit reach along d, counted from the place of B."""
    line, turn = minus(vec3(places, a, PLACE), vec3(places, b, PLACE)), mat3(places, a, TURN)
    middle, more = dot(line, d), geoms[a, GEOM_RADIUS] + max(limit, 0.0)
    low = middle - more - extent(geom_ints, geoms, solids, a, turn, (-d[0], -d[1], -d[2]))
    return low, middle + more + extent(geom_ints, geoms, solids, a, turn, d)


@kernel
def over_tree(
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
    """Gather the points of triangles whose boxes come within the limit, from the tree's root down; how many."""
    low_x, high_x = span(geom_ints, geoms, solids, places, a, b, limit, (1.0, 0.0, 0.0))
    low_y, high_y = span(geom_ints, geoms, solids, places, a, b, limit, (0.0, 1.0, 0.0))
    low_z, high_z = span(geom_ints, geoms, solids, places, a, b, limit, (0.0, 0.0, 1.0))
    tree, total, waiting = geom_ints[b, GEOM_FANS], 0, 1
    boxes, nodes = lists[tree], tree + 2
    ints[FIRST_STACK, 0] = 0
    while waiting > 0:
        waiting -= 1
        node = ints[FIRST_STACK + waiting, 0]
        low, high = vec3(solids, boxes + node, 0), vec3(solids, boxes + node, 3)
        if low[0] > high_x or low[1] > high_y or low[2] > high_z:
            continue
        if high[0] < low_x or high[1] < low_y or high[2] < low_z:
            continue
        first, last = lists[nodes + 2 * node], lists[nodes + 2 * node + 1]
        if first < 0 and waiting + 2 <= STACK:
            ints[FIRST_STACK + waiting, 0], ints[FIRST_STACK + waiting + 1, 0] = last, -1 - first
            waiting += 2
        elif first >= 0:
            for f in range(first, last):
                total = visit(geom_ints, geoms, solids, lists, places, a, b, f, limit, rows, ints, total)
    return total


@kernel
def over_cells(
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
    """Gather the points of a height field's cells below A: their places in the grid say which; how many."""
    x, y, z = column_of(places, b, TURN, 0), column_of(places, b, TURN, 1), column_of(places, b, TURN, 2)
    cells, total = geom_ints[b, GEOM_FANS], 0
    i_first, i_last = cell_range(
        span(geom_ints, geoms, solids, places, a, b, limit, x), geoms[b, GEOM_SIZE], lists[cells]
    )
    j_first, j_last = cell_range(
        span(geom_ints, geoms, solids, places, a, b, limit, y), geoms[b, GEOM_SIZE + 1], lists[cells + 1]
    )
    low, _ = span(geom_ints, geoms, solids, places, a, b, limit, z)
    for i in range(i_first, i_last):
        for j in range(j_first, j_last):
            f = 2 * (i * lists[cells + 1] + j)
            if top_of(geom_ints, solids, lists, b, f, z) < low:
                continue
            total = visit(geom_ints, geoms, solids, lists, places, a, b, f, limit, rows, ints, total)
            total = visit(geom_ints, geoms, solids, lists, places, a, b, f + 1, limit, rows, ints, total)
    return total


@inlined
def cell_range(reach: tuple[float, float], edge: float, count: int) -> tuple[int, int]:
    """First cell, and the one after the last, of `count` about the middle that lie between two places."""
    low, high = reach[0] / edge + 0.5 * count, reach[1] / edge + 0.5 * count
    return max(math.floor(max(low, 0.0)), 0), min(math.floor(min(high, float(count))) + 1, count)


@inlined
def top_of(geom_ints: IntArray, solids: Array, lists: IntArray, b: int, f: int, up: Vec3) -> float:
    """Height of the highest corner of a cell, whose first triangle is f."""
    low, right = corner(geom_ints, solids, lists, b, f, 0), corner(geom_ints, solids, lists, b, f, 1)
    far, left = corner(geom_ints, solids, lists, b, f, 2), corner(geom_ints, solids, lists, b, f + 1, 2)
    return max(max(dot(low, up), dot(right, up)), max(dot(far, up), dot(left, up)))


@kernel
def visit(
    geom_ints: IntArray,
    geoms: Array,
    solids: Array,
    lists: IntArray,
    places: Array,
    a: int,
    b: int,
    f: int,
    limit: float,
    rows: Array,
    ints: IntArray,
    total: int,
) -> int:
    """Add the points of triangle f to those gathered; the new total."""
    if not put_prism(geom_ints, geoms, solids, lists, places, a, b, f, limit):
        return total
    gathered, gathered_names = rows[row_at(rows, GATHERED) :], ints[name_at(ints, GATHERED) :]
    found, names = (
        rows[row_at(rows, FOUND) : row_at(rows, GATHERED)],
        ints[name_at(ints, FOUND) : name_at(ints, GATHERED)],
    )
    size = geoms[a, GEOM_BOUND]
    count = triangle_points(geom_ints, geoms, solids, lists, places, a, b, f, limit, rows, ints)
    for j in range(count):
        names[j, 1] += NAME_STEP * (f + 1)
        if total == gathered.shape[0]:  # a large body on small triangles: only the outermost points matter
            total = sort_out(gathered, gathered_names, total, size)
        total = gather(found, names, j, gathered, gathered_names, total, 1e-3 * size)
    return total


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
    for k in range(found.shape[1]):
        gathered[total, k] = found[j, k]
    gathered_names[total, 0], gathered_names[total, 1] = names[j, 0], names[j, 1]
    return total + 1


@kernel
def sort_out(gathered: Array, names: IntArray, total: int, size: float) -> int:
    """Keep, at the front, four points of every normal, those with the deepest first; how many are kept."""
    start, kept = 0, 0
    while start < total and kept < MANY_POINTS:
        lead = start
        for i in range(start, total):
            if gathered[i, AT_GAP] < gathered[lead, AT_GAP] - 1e-4 * size:
                lead = i
        n, end = vec3(gathered, lead, AT_NORMAL), start
        for i in range(start, total):
            if dot(n, vec3(gathered, i, AT_NORMAL)) > UPRIGHT:
                swap(gathered, names, i, end)
                end += 1
        count = spread(gathered[start:end], names[start:end], end - start, size, 4)
        for i in range(min(count, MANY_POINTS - kept)):
            swap(gathered, names, kept, start + i)
            kept += 1
        start = end
    return kept
