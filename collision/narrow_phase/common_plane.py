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
from spatialops.algebra.vectors import dot, plus_scaled, put3, vec3
from spatialops.collision import _layout as col

ONE = 1.0 - 1e-12  # cosine: normals that lean by less than 1.4e-6 rad are one
SLACK = 1e-7  # of the size: how far beyond a surface a point may be put, as gaps of leaning faces


@kernel
def put_on_common_planes(found: Array, count: int, size: float) -> None:
    """Move points along their normals onto the common plane of their patch.

    It is where the flatter of the two surfaces is, midway if both are flat: all heights of a face
    agree to rounding along its own normal. A point leaves the space between the surfaces by the
    slack at most.
    """
    for lead in range(count):
        n = vec3(found, lead, col.AT_NORMAL)
        if not leads(found, lead, n):
            continue
        height = flat_height(found, lead, count, n, SLACK * size)
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
def flat_height(found: Array, lead: int, count: int, n: Vec3, even: float) -> float:
    """Mean height along n of the surface, A's or B's, whose heights differ less in the patch.

    Of both where none differs by more than the other but for `even`: which of two faces is called A
    decides nothing.
    """
    low_a = low_b = col.INFINITE
    high_a = high_b = -col.INFINITE
    for i in range(lead, count):
        if dot(vec3(found, i, col.AT_NORMAL), n) < ONE:
            continue
        middle, half = dot(vec3(found, i, col.AT_POINT), n), 0.5 * found[i, col.AT_GAP]
        low_a, high_a = min(low_a, middle + half), max(high_a, middle + half)
        low_b, high_b = min(low_b, middle - half), max(high_b, middle - half)
    steeper = (high_a - low_a) - (high_b - low_b)
    if abs(steeper) < even:
        return 0.25 * (low_a + high_a + low_b + high_b)
    if steeper < 0.0:
        return 0.5 * (low_a + high_a)
    return 0.5 * (low_b + high_b)
