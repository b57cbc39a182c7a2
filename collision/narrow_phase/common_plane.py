"""The common plane of a rigid patch: points of one pair with one normal, at one height along it.

A contact acts anywhere between the two surfaces. Midway, the points of one face stand at different
heights where its gaps differ. Then no motion closes all gaps and sticks at every point: normals
that close at rates c_i turn the body, and points at heights h_i move sideways by that turn times
the difference of heights. Impulses wedge against one another over 1e-8 of the speed. On a common
plane the tangential rows of a patch depend on its three motions within the plane only, and sticking
everywhere is possible, exactly. Moving a point along the normal changes no normal row; gaps stay.
"""

from __future__ import annotations

from spatialops._arrays import Array, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import dot, minus, plus_scaled, put3, vec3
from spatialops.collision import _layout as col

ONE = 1.0 - 1e-12  # cosine: normals that lean by less than 1.4e-6 rad are one
ONE_PLACE = 1e-9  # of the size: points that are no farther apart touch in one place
SLACK = 1e-7  # of the size: how far beyond a surface a point may be put, as gaps of leaning faces


@kernel
def put_on_common_planes(found: Array, count: int, size: float) -> None:
    """Move points along their normals onto the common plane of their patch.

    It is where the flatter of the two surfaces is: all heights of a face agree to rounding along
    its own normal. A point leaves the space between the surfaces by the slack at most. What touches
    in one place stays midway: which of two corners is called A decides nothing.
    """
    for lead in range(count):
        n = vec3(found, lead, col.AT_NORMAL)
        if not leads(found, lead, n) or is_one_place(found, lead, count, ONE_PLACE * size):
            continue
        height = flat_height(found, lead, count, n)
        for i in range(lead, count):
            if dot(vec3(found, i, col.AT_NORMAL), n) < ONE:
                continue
            point = vec3(found, i, col.AT_POINT)
            middle, reach = dot(point, n), 0.5 * abs(found[i, col.AT_GAP]) + SLACK * size
            shift = min(max(height - middle, -reach), reach)
            put3(found, i, col.AT_POINT, plus_scaled(point, shift, n))


@inlined
def leads(found: Array, lead: int, n: Vec3) -> bool:
    """Whether a point is the first of its normal."""
    first = True
    for i in range(lead):
        first = first and dot(vec3(found, i, col.AT_NORMAL), n) < ONE
    return first


@inlined
def is_one_place(found: Array, lead: int, count: int, apart: float) -> bool:
    """Whether all points of the patch of `lead` are nearly where it is."""
    n, point = vec3(found, lead, col.AT_NORMAL), vec3(found, lead, col.AT_POINT)
    one = True
    for i in range(lead + 1, count):
        way = minus(vec3(found, i, col.AT_POINT), point)
        same = dot(vec3(found, i, col.AT_NORMAL), n) >= ONE
        one = one and not (same and dot(way, way) > apart * apart)
    return one


@inlined
def flat_height(found: Array, lead: int, count: int, n: Vec3) -> float:
    """Mean height along n of the surface, A's or B's, whose heights differ less in the patch."""
    low_a = low_b = col.INFINITE
    high_a = high_b = -col.INFINITE
    for i in range(lead, count):
        if dot(vec3(found, i, col.AT_NORMAL), n) < ONE:
            continue
        middle, half = dot(vec3(found, i, col.AT_POINT), n), 0.5 * found[i, col.AT_GAP]
        low_a, high_a = min(low_a, middle + half), max(high_a, middle + half)
        low_b, high_b = min(low_b, middle - half), max(high_b, middle - half)
    if high_a - low_a < high_b - low_b:
        return 0.5 * (low_a + high_a)
    return 0.5 * (low_b + high_b)
