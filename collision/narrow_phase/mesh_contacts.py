"""Convex shapes on surfaces of triangles: near ones answer as prisms, and all are put in order."""

from __future__ import annotations

import math

from spatialops._arrays import Array, IntArray, Vec3
from spatialops._compile.apart import late
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import column_of, dot, mat3, minus, put3, vec3
from spatialops.collision import _layout as col
from spatialops.collision.geom_tables import GeomTables
from spatialops.collision.narrow_phase.manifold import spread, swap
from spatialops.collision.narrow_phase.prism import (
    UPRIGHT,
    corner,
    extent,
    put_prism,
    triangle_points,
)
from spatialops.collision.narrow_phase.scratch import (
    FIRST_STACK,
    FOUND,
    GATHERED,
    PAIR,
    STACK,
    Scratch,
    name_at,
    row_at,
)

NAME_STEP = 1 << 44  # a name says its triangle, too
_SAME_POINT = 1e-3  # of the size: points of two triangles that are nearer are one
_DEEPER = 1e-3  # of that distance: by so much a point must be deeper to replace its double
_LEADS = 1e-4  # of the size: by so much a point must be deeper to come first


@late(*PAIR)
def surface_points(
    geoms: GeomTables, places: Array, a: int, b: int, limit: float, scratch: Scratch
) -> int:
    """Contact points of a convex shape with a surface, into the block FOUND; how many."""
    gathered = scratch.rows[row_at(scratch.rows, GATHERED) :]
    gathered_names = scratch.ints[name_at(scratch.ints, GATHERED) :]
    found = scratch.rows[row_at(scratch.rows, FOUND) : row_at(scratch.rows, GATHERED)]
    names = scratch.ints[name_at(scratch.ints, FOUND) : name_at(scratch.ints, GATHERED)]
    put3(places, geoms.ints.shape[0] - 1, col.PLACE, vec3(places, b, col.PLACE))
    if geoms.ints[b, col.GEOM_SHAPE] == col.HEIGHT_FIELD:
        total = over_cells(geoms, places, a, b, limit, scratch)
    else:
        total = over_tree(geoms, places, a, b, limit, scratch)
    total = sort_out(gathered, gathered_names, total, geoms.floats[a, col.GEOM_BOUND])
    for i in range(total):
        for k in range(found.shape[1]):
            found[i, k] = gathered[i, k]
        names[i, 0], names[i, 1] = gathered_names[i, 0], gathered_names[i, 1]
    return total


@inlined
def span(
    geoms: GeomTables, places: Array, a: int, b: int, limit: float, d: Vec3
) -> tuple[float, float]:
    """From where to where A and its limit reach along d, counted from the place of B."""
    line = minus(vec3(places, a, col.PLACE), vec3(places, b, col.PLACE))
    turn = mat3(places, a, col.TURN)
    middle, more = dot(line, d), geoms.floats[a, col.GEOM_RADIUS] + max(limit, 0.0)
    low = middle - more - extent(geoms, a, turn, (-d[0], -d[1], -d[2]))
    return low, middle + more + extent(geoms, a, turn, d)


@kernel
def over_tree(
    geoms: GeomTables, places: Array, a: int, b: int, limit: float, scratch: Scratch
) -> int:
    """Gather the points of triangles whose boxes come within the limit; how many.

    The tree of boxes is gone through from its root down.
    """
    low_x, high_x = span(geoms, places, a, b, limit, (1.0, 0.0, 0.0))
    low_y, high_y = span(geoms, places, a, b, limit, (0.0, 1.0, 0.0))
    low_z, high_z = span(geoms, places, a, b, limit, (0.0, 0.0, 1.0))
    tree = geoms.ints[b, col.GEOM_FANS]
    total = 0
    waiting = 1
    boxes, nodes = geoms.lists[tree], tree + 2
    scratch.ints[FIRST_STACK, 0] = 0
    while waiting > 0:
        waiting -= 1
        node = scratch.ints[FIRST_STACK + waiting, 0]
        low, high = vec3(geoms.solids, boxes + node, 0), vec3(geoms.solids, boxes + node, 3)
        if low[0] > high_x or low[1] > high_y or low[2] > high_z:
            continue
        if high[0] < low_x or high[1] < low_y or high[2] < low_z:
            continue
        first, last = geoms.lists[nodes + 2 * node], geoms.lists[nodes + 2 * node + 1]
        if first < 0 and waiting + 2 <= STACK:
            scratch.ints[FIRST_STACK + waiting, 0] = last
            scratch.ints[FIRST_STACK + waiting + 1, 0] = -1 - first
            waiting += 2
        elif first >= 0:
            for f in range(first, last):
                total = visit(geoms, places, a, b, f, limit, scratch, total)
    return total


@kernel
def over_cells(
    geoms: GeomTables, places: Array, a: int, b: int, limit: float, scratch: Scratch
) -> int:
    """Gather the points of the cells of a height field that lie below A; how many."""
    x = column_of(places, b, col.TURN, 0)
    y = column_of(places, b, col.TURN, 1)
    z = column_of(places, b, col.TURN, 2)
    cells, total = geoms.ints[b, col.GEOM_FANS], 0
    i_first, i_last = cell_range(
        span(geoms, places, a, b, limit, x),
        geoms.floats[b, col.GEOM_SIZE],
        geoms.lists[cells],
    )
    j_first, j_last = cell_range(
        span(geoms, places, a, b, limit, y),
        geoms.floats[b, col.GEOM_SIZE + 1],
        geoms.lists[cells + 1],
    )
    low, _ = span(geoms, places, a, b, limit, z)
    for i in range(i_first, i_last):
        for j in range(j_first, j_last):
            f = 2 * (i * geoms.lists[cells + 1] + j)
            if top_of(geoms, b, f, z) < low:
                continue
            total = visit(geoms, places, a, b, f, limit, scratch, total)
            total = visit(geoms, places, a, b, f + 1, limit, scratch, total)
    return total


@inlined
def cell_range(reach: tuple[float, float], edge: float, count: int) -> tuple[int, int]:
    """First cell, and the one after the last, between two places, of `count` about the middle."""
    low, high = reach[0] / edge + 0.5 * count, reach[1] / edge + 0.5 * count
    return max(math.floor(max(low, 0.0)), 0), min(math.floor(min(high, float(count))) + 1, count)


@inlined
def top_of(geoms: GeomTables, b: int, f: int, up: Vec3) -> float:
    """Height of the highest corner of a cell, whose first triangle is f."""
    low, right = corner(geoms, b, f, 0), corner(geoms, b, f, 1)
    far, left = corner(geoms, b, f, 2), corner(geoms, b, f + 1, 2)
    return max(max(dot(low, up), dot(right, up)), max(dot(far, up), dot(left, up)))


@kernel
def visit(
    geoms: GeomTables,
    places: Array,
    a: int,
    b: int,
    f: int,
    limit: float,
    scratch: Scratch,
    total: int,
) -> int:
    """Add the points of triangle f to those gathered; the new total."""
    if not put_prism(geoms, places, a, b, f, limit):
        return total
    gathered = scratch.rows[row_at(scratch.rows, GATHERED) :]
    gathered_names = scratch.ints[name_at(scratch.ints, GATHERED) :]
    found = scratch.rows[row_at(scratch.rows, FOUND) : row_at(scratch.rows, GATHERED)]
    names = scratch.ints[name_at(scratch.ints, FOUND) : name_at(scratch.ints, GATHERED)]
    size = geoms.floats[a, col.GEOM_BOUND]
    count = triangle_points(geoms, places, a, b, f, limit, scratch)
    for j in range(count):
        names[j, 1] += NAME_STEP * (f + 1)
        # A large body on small triangles: only the outermost points matter.
        if total == gathered.shape[0]:
            total = sort_out(gathered, gathered_names, total, size)
        total = gather(found, names, j, gathered, gathered_names, total, _SAME_POINT * size)
    return total


@kernel
def gather(
    found: Array,
    names: IntArray,
    j: int,
    gathered: Array,
    gathered_names: IntArray,
    total: int,
    near: float,
) -> int:
    """Add a point unless one with the same normal stands there already; the new total."""
    point, n = vec3(found, j, col.AT_POINT), vec3(found, j, col.AT_NORMAL)
    for i in range(total):
        apart = minus(point, vec3(gathered, i, col.AT_POINT))
        if dot(apart, apart) < near * near and dot(n, vec3(gathered, i, col.AT_NORMAL)) > UPRIGHT:
            if found[j, col.AT_GAP] >= gathered[i, col.AT_GAP] - _DEEPER * near:
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
    """Keep four points of every normal, those with the deepest first; how many are kept."""
    start, kept = 0, 0
    while start < total and kept < col.MANY_POINTS:
        lead = start
        for i in range(start, total):
            if gathered[i, col.AT_GAP] < gathered[lead, col.AT_GAP] - _LEADS * size:
                lead = i
        n, end = vec3(gathered, lead, col.AT_NORMAL), start
        for i in range(start, total):
            if dot(n, vec3(gathered, i, col.AT_NORMAL)) > UPRIGHT:
                swap(gathered, names, i, end)
                end += 1
        count = spread(gathered[start:end], names[start:end], end - start, size, 4)
        for i in range(min(count, col.MANY_POINTS - kept)):
            swap(gathered, names, kept, start + i)
            kept += 1
        start = end
    return kept
