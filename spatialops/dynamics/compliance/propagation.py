"""Lambda by propagating force columns to the base ([J] 62-64): few nodes, short or bushy trees."""

from __future__ import annotations

import math

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined
from spatialops.algebra.vectors import (
    minus,
    vec3,
)
from spatialops.dynamics.compliance.upsilon import motion_axis, pass_joint, shift_columns


@inlined
def propagation_kernel(
    tree: IntArray,
    links: Array,
    node_links: IntArray,
    points: Array,
    work: Array,
    left: Array,
    X: Array,
    out: Array,
) -> None:
    """Lambda = L L^T with L = B* psi* H* D^-1/2, six rows a node; factors must be in `work`."""
    for i in range(node_links.size):
        k = node_links[i]
        for row in range(6):
            for c in range(6):
                X[row, c] = 1.0 if row == c else 0.0
        if k >= 0:
            shift_columns(X, minus(vec3(points, i, 0), vec3(work, k, layout.ORIGIN)))
        while k >= 0:
            s_w, s_v = motion_axis(tree, links, work, k)
            root = math.sqrt(work[k, layout.D_INVERSE])
            for c in range(6):
                e = s_w[0] * X[0, c] + s_w[1] * X[1, c] + s_w[2] * X[2, c]
                left[k, 6 * i + c] = root * (
                    e + s_v[0] * X[3, c] + s_v[1] * X[4, c] + s_v[2] * X[5, c]
                )
            pass_joint(tree, links, work, k, X)
            shift_columns(X, vec3(work, k, layout.LEVER))
            k = tree[k, layout.PARENT]
        for j in range(i + 1):
            multiply_common(tree, node_links, left, i, j, out)


@inlined
def common_link(tree: IntArray, a: int, b: int) -> int:
    """The last link that carries both, -1 if there is none."""
    while a != b:  # a parent has a smaller number than its child
        if a > b:
            a = tree[a, layout.PARENT]
        else:
            b = tree[b, layout.PARENT]
    return a


@inlined
def multiply_common(
    tree: IntArray, node_links: IntArray, left: Array, i: int, j: int, out: Array
) -> None:
    """Block (i, j) of L L^T and its mirror: the sum over common ancestors."""
    a = common_link(tree, node_links[i], node_links[j])
    for row in range(6):
        for c in range(6):
            out[6 * i + row, 6 * j + c] = 0.0
    while a >= 0:
        for row in range(6):
            f = left[a, 6 * i + row]
            for c in range(6):
                out[6 * i + row, 6 * j + c] += f * left[a, 6 * j + c]
        a = tree[a, layout.PARENT]
    for row in range(6):
        for c in range(6):
            out[6 * j + c, 6 * i + row] = out[6 * i + row, 6 * j + c]
