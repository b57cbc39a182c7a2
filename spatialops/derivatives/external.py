"""What external wrenches add to derivatives: they keep their components while bodies turn.

A wrench (n, F) at the origin of body k that turned with the body would be part of the composite
force. It does not: against that its change is less (w x n, w x F) where the link turns by w. Summed
over what a link carries, about its origin, that is

    E (w, u) = (N w, -F x w),   N = -n~ for a body, shifted by -r~ F~,

of the same form as the matrix of Coriolis forces, and d tau(i) / dq(j) gains S(i)* E S(j).
"""

from __future__ import annotations

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined
from spatialops.algebra.vectors import (
    ZERO3,
    add3,
    cross,
    dot,
    mat3,
    plus,
    plus_scaled,
    put3,
    rotate,
    rotate_back,
    vec3,
)
from spatialops.derivatives.carried import (
    AXIS,
    CORIOLIS,
    MOMENTUM,
    double_cross,
    one_of_eight,
    power,
    shifted,
)


@inlined
def put_wrenches(tree: IntArray, external: Array, work: Array) -> None:
    """N and F of the bodies alone, in the columns of Coriolis forces."""
    for k in range(tree.shape[0]):
        b = tree[k, layout.BODY]
        n = vec3(external, b, 0) if b >= 0 else ZERO3
        force = vec3(external, b, 3) if b >= 0 else ZERO3
        put3(work, k, CORIOLIS, (0.0, -n[2], n[1]))
        put3(work, k, CORIOLIS + 3, (n[2], 0.0, -n[0]))
        put3(work, k, CORIOLIS + 6, (-n[1], n[0], 0.0))
        put3(work, k, MOMENTUM, force)


@inlined
def add_external_derivatives(
    tree: IntArray, external: Array, work: Array, table: Array, dq: Array
) -> None:
    """Add to d tau / dq; takes the columns of Coriolis forces of `work`."""
    put_wrenches(tree, external, work)
    for k in range(tree.shape[0] - 1, -1, -1):
        S = one_of_eight(table, k, AXIS)
        N, force = mat3(work, k, CORIOLIS), vec3(work, k, MOMENTUM)
        back = plus(rotate(N, S[0]), cross(force, S[1]))  # E* S, which no shift changes
        push = (rotate_back(N, S[0]), cross(S[0], force))
        dq[k, k] += power(push, S)
        child, j = k, tree[k, layout.PARENT]
        while j >= 0:
            push = shifted(vec3(work, child, layout.LEVER), push)
            T = one_of_eight(table, j, AXIS)
            dq[j, k] += power(push, T)
            dq[k, j] += dot(back, T[0])
            child, j = j, tree[j, layout.PARENT]
        parent, r = tree[k, layout.PARENT], vec3(work, k, layout.LEVER)
        if parent < 0:
            continue
        swing = double_cross(r, force)
        for i in range(3):
            add3(work, parent, CORIOLIS + 3 * i, plus_scaled(N[i], -1.0, swing[i]))
        add3(work, parent, MOMENTUM, force)
