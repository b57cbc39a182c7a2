"""How contacts answer impulses: their compliance W = G M^-1 G^T along the contact frames, and M^-1 G^T p, in O(N).

Rows of L = G psi* H* D^-1/2 by carrying unit forces at each contact to the base ([J] 62-64, three columns a contact
instead of six a node); then W = L L^T, and joint velocities follow from u = L^T p by one sweep base to tips.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array, IntArray, Vec3
from spatialops._jit import inlined, kernel
from spatialops._layout import (
    ACCEL,
    ALPHA,
    D_INVERSE,
    GAIN_F,
    GAIN_M,
    LEVER,
    ORIGIN,
    PARENT,
)
from spatialops.algebra.vectors import ZERO3, cross, dot, minus, plus, plus_scaled, scaled, vec3
from spatialops.collision._layout import CONTACT_A, CONTACT_B, NORMAL, POINT
from spatialops.dynamics.articulated_body import joint_force
from spatialops.dynamics.newton_euler import put_acceleration


@inlined
def carry(tree: IntArray, links: Array, work: Array, k: int, m: Vec3, f: Vec3, row: Array) -> tuple[Vec3, Vec3]:
    """Leave what the joint of link k takes of the wrench (m, f) in `row`, and carry the rest to the parent."""
    e = joint_force(tree, links, work, k, m, f)
    d_inverse = work[k, D_INVERSE]
    row[k] += e * math.sqrt(d_inverse)
    m = plus_scaled(m, -e * d_inverse, vec3(work, k, GAIN_M))
    f = plus_scaled(f, -e * d_inverse, vec3(work, k, GAIN_F))
    return plus(m, cross(vec3(work, k, LEVER), f)), f


@kernel
def row_response(
    tree: IntArray,
    links: Array,
    work: Array,
    link_a: int,
    link_b: int,
    point: Vec3,
    angular: Vec3,
    linear: Vec3,
    row: Array,
) -> None:
    """Add to a row of L a wrench at `point` on link a and its opposite on link b; they merge where paths meet."""
    a, b, force_a, force_b = link_a, link_b, linear, scaled(-1.0, linear)
    moment_a, moment_b = angular, scaled(-1.0, angular)
    if a >= 0:
        moment_a = plus(moment_a, cross(minus(point, vec3(work, a, ORIGIN)), force_a))
    if b >= 0:
        moment_b = plus(moment_b, cross(minus(point, vec3(work, b, ORIGIN)), force_b))
    while a != b:
        if a > b:
            moment_a, force_a = carry(tree, links, work, a, moment_a, force_a, row)
            a = tree[a, PARENT]
        else:
            moment_b, force_b = carry(tree, links, work, b, moment_b, force_b, row)
            b = tree[b, PARENT]
    moment_a, force_a = plus(moment_a, moment_b), plus(force_a, force_b)
    while a >= 0:
        moment_a, force_a = carry(tree, links, work, a, moment_a, force_a, row)
        a = tree[a, PARENT]


@kernel
def contact_rows(
    tree: IntArray, links: Array, work: Array, ints: IntArray, floats: Array, count: int, L: Array
) -> None:
    """Rows of L of all contacts along normal and tangents; factors must be in `work`."""
    for i in range(count):
        point = vec3(floats, i, POINT)
        for j in range(3):
            direction, row = vec3(floats, i, NORMAL + 3 * j), L[3 * i + j]
            for k in range(row.size):
                row[k] = 0.0
            row_response(tree, links, work, ints[i, CONTACT_A], ints[i, CONTACT_B], point, ZERO3, direction, row)


@kernel
def multiply_rows(L: Array, size: int, W: Array) -> None:
    """W = L L^T for the first `size` rows."""
    n = L.shape[1]
    for i in range(size):
        for j in range(i + 1):
            total = 0.0
            for k in range(n):
                total += L[i, k] * L[j, k]
            W[i, j] = total
            W[j, i] = total


@kernel
def velocity_change(tree: IntArray, links: Array, work: Array, L: Array, size: int, impulses: Array, dv: Array) -> None:
    """dv = M^-1 G^T p: u = L^T p, then one sweep base to tips; uses the acceleration columns of `work`."""
    for k in range(tree.shape[0]):
        dv[k] = 0.0
    for i in range(size):
        p = impulses[i]
        if p != 0.0:
            for k in range(tree.shape[0]):
                dv[k] += L[i, k] * p
    for k in range(tree.shape[0]):
        parent, angular, linear = tree[k, PARENT], ZERO3, ZERO3
        if parent >= 0:
            angular = vec3(work, parent, ALPHA)
            linear = plus(vec3(work, parent, ACCEL), cross(angular, vec3(work, k, LEVER)))
        pull = dot(vec3(work, k, GAIN_M), angular) + dot(vec3(work, k, GAIN_F), linear)
        d_inverse = work[k, D_INVERSE]
        dv[k] = dv[k] * math.sqrt(d_inverse) - pull * d_inverse
        put_acceleration(tree, links, work, k, angular, linear, dv[k])
