"""How contacts answer impulses.

Their compliance W = G M^-1 G^T along the contact frames, and M^-1 G^T p, in O(N).

Rows of L = G psi* H* D^-1/2 by carrying unit forces at each contact to the base ([J] 62-64, three
columns a contact instead of six a node); then W = L L^T, W p = L (L^T p), and joint velocities
follow from u = L^T p by one sweep base to tips.
"""

from __future__ import annotations

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import kernel
from spatialops._layout import LINEAR, MOTION
from spatialops.algebra.vectors import ZERO3, vec3
from spatialops.collision import _layout as col
from spatialops.dynamics.response import add_three_rows, add_wrench_row, velocities_from


@kernel
def contact_rows(
    tree: IntArray, links: Array, work: Array, ints: IntArray, floats: Array, count: int, L: Array
) -> None:
    """Rows of L of all contacts along normal and tangents; factors must be in `work`."""
    for i in range(3 * count):
        for k in range(L.shape[1]):
            L[i, k] = 0.0
    for i in range(count):
        point, normal = vec3(floats, i, col.POINT), vec3(floats, i, col.NORMAL)
        first, second = vec3(floats, i, col.TANGENT), vec3(floats, i, col.SECOND)
        a, b = ints[i, col.CONTACT_A], ints[i, col.CONTACT_B]
        if (
            ints[i, col.CONTACT_FEATURE_A] < 0
        ):  # of a joint: its rate along the normal or the tangent, nothing else
            j = 0 if ints[i, col.CONTACT_FEATURE_A] == col.STOP else 1
            axis = vec3(floats, i, col.NORMAL + 3 * j)
            moment, force = (ZERO3, axis) if tree[a, MOTION] == LINEAR else (axis, ZERO3)
            add_wrench_row(tree, links, work, a, b, point, moment, force, L[3 * i + j])
            continue
        if b < 0:
            add_three_rows(tree, links, work, a, point, normal, first, second, L, 3 * i)
            continue
        for j in range(3):
            direction = vec3(floats, i, col.NORMAL + 3 * j)
            add_wrench_row(tree, links, work, a, b, point, ZERO3, direction, L[3 * i + j])


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
def answer_rows(L: Array, p: Array, y: Array, w: Array) -> None:
    """w = W p = L (L^T p), by y = L^T p."""
    for k in range(L.shape[1]):
        y[k] = 0.0
    for i in range(p.size):
        if p[i] != 0.0:
            for k in range(L.shape[1]):
                y[k] += L[i, k] * p[i]
    for i in range(p.size):
        total = 0.0
        for k in range(L.shape[1]):
            total += L[i, k] * y[k]
        w[i] = total


@kernel
def velocity_change(
    tree: IntArray, links: Array, work: Array, L: Array, size: int, impulses: Array, dv: Array
) -> None:
    """dv = M^-1 G^T p: u = L^T p, then one sweep base to tips.

    Uses the acceleration columns of `work`.
    """
    for k in range(tree.shape[0]):
        dv[k] = 0.0
    for i in range(size):
        p = impulses[i]
        if p != 0.0:
            for k in range(tree.shape[0]):
                dv[k] += L[i, k] * p
    velocities_from(tree, links, work, dv)
