"""Operational-space compliance Lambda = J M^-1 J^T of nodes, without J and without M ([J] appendix).

Two routes to the same matrix, behind a model of their cost:

- recursion, O(N) + O(n_c^2): Upsilon base to tips ([J] 68), then rows of Omega ([J] 69). Links that carry no node and
  where no branches meet are only passed through: the psi of a run of links is multiplied once, for the *virtual* edge
  between two vertices, and the row of a vertex is psi^T times the row of its virtual parent, one contiguous sweep.
- propagation ([J] 62-64, B* psi* H* D^-1 H psi B): the force columns of every node are carried to the base, and what
  they leave at each joint is multiplied out over common ancestors. Wins for few nodes on a bushy or short tree.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from spatialops._arrays import Array, IntArray, Sym3, Vec3, not_finite, output, vector
from spatialops._jit import Door, inlined, kernel
from spatialops._layout import (
    D_INVERSE,
    GAIN_F,
    GAIN_M,
    LEVER,
    LINEAR,
    MISFIT,
    MOTION,
    NOT_FINITE,
    OK,
    ORIGIN,
    PARENT,
    PITCH,
    ROTARY,
    SINGULAR,
    SIZE_Q,
    UPS_E,
    UPS_F,
    UPS_G,
    UPSILON_COLUMNS,
    WORK_COLUMNS,
)
from spatialops.algebra.vectors import (
    ZERO3,
    cross,
    dot,
    mat3,
    minus,
    plus,
    plus_scaled,
    put_mat3,
    put_sym3,
    rotate,
    rotate_back,
    scaled,
    sym3,
    sym_times,
    vec3,
)
from spatialops.dynamics.articulated_body import factor_kernel, singular_joint
from spatialops.dynamics.jacobian import node_points
from spatialops.dynamics.kinematics import axis_of, poses_kernel
from spatialops.errors import ArgumentError
from spatialops.tree.model import Model, Nodes

# Integer plan: per link, then per vertex.
_BELOW, _CHILDREN, _VERTEX, _OWN = 0, 1, 2, 3
_LINK, _ABOVE, _NODE = 0, 1, 2


@inlined
def motion_axis(tree: IntArray, links: Array, work: Array, k: int) -> tuple[Vec3, Vec3]:
    """H*(k) = (angular, linear): the spatial velocity of link k at unit rate."""
    axis, motion = axis_of(tree, work, k), tree[k, MOTION]
    if motion == ROTARY:
        return axis, ZERO3
    if motion == LINEAR:
        return ZERO3, axis
    return axis, scaled(links[k, PITCH], axis)


@inlined
def shifted_compliance(ups: Array, k: int, r: Vec3) -> tuple[Sym3, tuple[Vec3, Vec3, Vec3], Sym3]:
    """Shift phi* Upsilon phi for a lever r: F' = F + E r~, G' = G + F^T r~ - r~ F' (E stays)."""
    E, F, G = sym3(ups, k, UPS_E), mat3(ups, k, UPS_F), sym3(ups, k, UPS_G)
    # Row i of E r~ is E_i x r, because (r~)^T = -r~ and a^T r~ = (a x r)^T.
    f0 = plus(F[0], cross((E[0], E[1], E[2]), r))
    f1 = plus(F[1], cross((E[1], E[3], E[4]), r))
    f2 = plus(F[2], cross((E[2], E[4], E[5]), r))
    # F^T r~: row i is (column i of F) x r.  r~ F': row i of it from rows of F'.
    a0 = cross((F[0][0], F[1][0], F[2][0]), r)
    a1 = cross((F[0][1], F[1][1], F[2][1]), r)
    a2 = cross((F[0][2], F[1][2], F[2][2]), r)
    x, y, z = r
    g = (
        G[0] + a0[0] - (y * f2[0] - z * f1[0]),
        G[1] + a0[1] - (y * f2[1] - z * f1[1]),
        G[2] + a0[2] - (y * f2[2] - z * f1[2]),
        G[3] + a1[1] - (z * f0[1] - x * f2[1]),
        G[4] + a1[2] - (z * f0[2] - x * f2[2]),
        G[5] + a2[2] - (x * f1[2] - y * f0[2]),
    )
    return E, (f0, f1, f2), g


@inlined
def sym_minus_mixed(S: Sym3, a: Vec3, b: Vec3) -> Sym3:
    """S - a b^T - b a^T."""
    return (
        S[0] - 2.0 * a[0] * b[0],
        S[1] - a[0] * b[1] - a[1] * b[0],
        S[2] - a[0] * b[2] - a[2] * b[0],
        S[3] - 2.0 * a[1] * b[1],
        S[4] - a[1] * b[2] - a[2] * b[1],
        S[5] - 2.0 * a[2] * b[2],
    )


@inlined
def mat_minus_mixed(M: tuple[Vec3, Vec3, Vec3], a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> tuple[Vec3, Vec3, Vec3]:
    """M - a b^T - c d^T."""
    return (
        plus_scaled(plus_scaled(M[0], -a[0], b), -c[0], d),
        plus_scaled(plus_scaled(M[1], -a[1], b), -c[1], d),
        plus_scaled(plus_scaled(M[2], -a[2], b), -c[2], d),
    )


@inlined
def put_upsilon(tree: IntArray, links: Array, work: Array, ups: Array, k: int) -> None:
    """Upsilon(k) = psi* Upsilon(parent) psi + H* D^-1 H ([J] 67).

    With Y the parent's Upsilon shifted to link k, h = Y U / D and s = H*: Y - s h^T - h s^T + s s^T (h.U + 1) / D.
    """
    parent, d_inverse = tree[k, PARENT], work[k, D_INVERSE]
    s_w, s_v = motion_axis(tree, links, work, k)
    E: Sym3 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    F, G, h_w, h_v, f = (ZERO3, ZERO3, ZERO3), E, ZERO3, ZERO3, d_inverse
    if parent >= 0:
        E, F, G = shifted_compliance(ups, parent, vec3(work, k, LEVER))
        gain_m, gain_f = vec3(work, k, GAIN_M), vec3(work, k, GAIN_F)
        h_w = scaled(d_inverse, plus(sym_times(E, gain_m), rotate(F, gain_f)))
        h_v = scaled(d_inverse, plus(rotate_back(F, gain_m), sym_times(G, gain_f)))
        f = d_inverse * (dot(h_w, gain_m) + dot(h_v, gain_f) + 1.0)
    # - s h^T - h s^T + f s s^T = - s g^T - g s^T with g = h - (f / 2) s.
    g_w, g_v = plus_scaled(h_w, -0.5 * f, s_w), plus_scaled(h_v, -0.5 * f, s_v)
    put_sym3(ups, k, UPS_E, sym_minus_mixed(E, s_w, g_w))
    put_mat3(ups, k, UPS_F, mat_minus_mixed(F, s_w, g_v, g_w, s_v))
    put_sym3(ups, k, UPS_G, sym_minus_mixed(G, s_v, g_v))


@kernel
def mark_links(tree: IntArray, node_links: IntArray, plan: IntArray) -> None:
    """For every link how many nodes lie on it, how many on or below it, and how many of its children have any."""
    plan[:] = 0
    for i in range(node_links.size):
        if node_links[i] >= 0:
            plan[node_links[i], _BELOW] += 1
            plan[node_links[i], _OWN] += 1
    for k in range(tree.shape[0] - 1, -1, -1):
        parent = tree[k, PARENT]
        if parent >= 0 and plan[k, _BELOW] > 0:
            plan[parent, _BELOW] += plan[k, _BELOW]
            plan[parent, _CHILDREN] += 1


@kernel
def number_vertices(tree: IntArray, node_links: IntArray, plan: IntArray, vertices: IntArray) -> int:
    """The virtual tree, parents first: the links where active branches meet and all nodes; returns how many.

    A link's first node stands for the link itself; further nodes of a link hang on the first by a pure shift. In
    `plan`, _VERTEX is the vertex of a link (or of the nearest above it), plus one.
    """
    count = 0
    for k in range(tree.shape[0]):
        parent = tree[k, PARENT]
        above = 0 if parent < 0 else plan[parent, _VERTEX]
        plan[k, _VERTEX] = above
        if plan[k, _BELOW] == 0:
            continue
        if plan[k, _CHILDREN] < 2 and plan[k, _OWN] == 0:
            continue
        first = True
        for i in range(node_links.size):
            if node_links[i] == k:
                count = add_vertex(vertices, count, k, above if first else plan[k, _VERTEX], i)
                if first:
                    plan[k, _VERTEX] = count
                first = False
        if first:
            count = add_vertex(vertices, count, k, above, -1)
            plan[k, _VERTEX] = count
    return count


@inlined
def add_vertex(vertices: IntArray, count: int, link: int, above: int, node: int) -> int:
    vertices[count, _LINK], vertices[count, _ABOVE], vertices[count, _NODE] = link, above - 1, node
    return count + 1


@inlined
def reference_lever(vertices: IntArray, points: Array, work: Array, j: int) -> Vec3:
    """From the origin of vertex j's link to its reference point."""
    if vertices[j, _NODE] < 0:
        return ZERO3
    return minus(vec3(points, vertices[j, _NODE], 0), vec3(work, vertices[j, _LINK], ORIGIN))


@kernel
def edge_kernel(tree: IntArray, links: Array, work: Array, vertices: IntArray, points: Array, j: int, X: Array) -> None:
    """X (6, 6) = psi from vertex j's reference point to that of its virtual parent: force columns carried up."""
    for row in range(6):
        for c in range(6):
            X[row, c] = 1.0 if row == c else 0.0
    above = vertices[j, _ABOVE]
    shift_columns(X, reference_lever(vertices, points, work, j))
    k = vertices[j, _LINK]
    while k != vertices[above, _LINK]:
        pass_joint(tree, links, work, k, X)
        shift_columns(X, vec3(work, k, LEVER))
        k = tree[k, PARENT]
    shift_columns(X, scaled(-1.0, reference_lever(vertices, points, work, above)))


@inlined
def shift_columns(X: Array, r: Vec3) -> None:
    """Shift by phi: moments n + r x f of all columns."""
    for c in range(X.shape[1]):
        fx, fy, fz = X[3, c], X[4, c], X[5, c]
        X[0, c] += r[1] * fz - r[2] * fy
        X[1, c] += r[2] * fx - r[0] * fz
        X[2, c] += r[0] * fy - r[1] * fx


@inlined
def pass_joint(tree: IntArray, links: Array, work: Array, k: int, X: Array) -> None:
    """(1 - U D^-1 H) X: what of the force columns the joint of link k transmits."""
    s_w, s_v = motion_axis(tree, links, work, k)
    m, f = scaled(work[k, D_INVERSE], vec3(work, k, GAIN_M)), scaled(work[k, D_INVERSE], vec3(work, k, GAIN_F))
    for c in range(X.shape[1]):
        e = s_w[0] * X[0, c] + s_w[1] * X[1, c] + s_w[2] * X[2, c]
        e += s_v[0] * X[3, c] + s_v[1] * X[4, c] + s_v[2] * X[5, c]
        X[0, c] -= m[0] * e
        X[1, c] -= m[1] * e
        X[2, c] -= m[2] * e
        X[3, c] -= f[0] * e
        X[4, c] -= f[1] * e
        X[5, c] -= f[2] * e


@kernel
def recursion_kernel(
    tree: IntArray,
    links: Array,
    node_links: IntArray,
    points: Array,
    work: Array,
    ups: Array,
    plan: IntArray,
    vertices: IntArray,
    buffer: Array,
    X: Array,
    out: Array,
) -> None:
    """Lambda by Upsilon and rows of Omega; factors must be in `work`, counts in `plan`."""
    for k in range(tree.shape[0]):
        if plan[k, _BELOW] > 0:
            put_upsilon(tree, links, work, ups, k)
    count = number_vertices(tree, node_links, plan, vertices)
    omega = buffer[: 36 * count * count].reshape(6 * count, 6 * count)
    for j in range(count):
        put_diagonal(work, ups, vertices, points, j, omega)
        above = vertices[j, _ABOVE]
        if above < 0:
            for row in range(6 * j, 6 * j + 6):
                for c in range(6 * j):
                    omega[row, c] = 0.0
                    omega[c, row] = 0.0
            continue
        edge_kernel(tree, links, work, vertices, points, j, X)
        sweep_row(omega, X, 6 * above, 6 * j)
    clear_world(node_links, out)
    for a in range(count):
        i = vertices[a, _NODE]
        if i < 0:
            continue
        for row in range(6):
            for b in range(count):
                j = vertices[b, _NODE]
                if j >= 0:
                    for c in range(6):
                        out[6 * i + row, 6 * j + c] = omega[6 * a + row, 6 * b + c]


@inlined
def clear_world(node_links: IntArray, out: Array) -> None:
    """Zero rows and columns of the world's nodes, which no vertex stands for."""
    for i in range(node_links.size):
        if node_links[i] < 0:
            for row in range(6 * i, 6 * i + 6):
                for c in range(out.shape[1]):
                    out[row, c] = 0.0
                    out[c, row] = 0.0


@inlined
def sweep_row(omega: Array, X: Array, above: int, j: int) -> None:
    """Omega(j, x) = psi^T(above, j) Omega(above, x) for all earlier vertices x ([J] 69)."""
    for row in range(6):
        x0, x1, x2, x3, x4, x5 = X[0, row], X[1, row], X[2, row], X[3, row], X[4, row], X[5, row]
        for c in range(j):
            half = x0 * omega[above, c] + x1 * omega[above + 1, c] + x2 * omega[above + 2, c]
            omega[j + row, c] = half + x3 * omega[above + 3, c] + x4 * omega[above + 4, c] + x5 * omega[above + 5, c]
    for c in range(j):
        for row in range(6):
            omega[c, j + row] = omega[j + row, c]


@inlined
def put_diagonal(work: Array, ups: Array, vertices: IntArray, points: Array, j: int, omega: Array) -> None:
    """Omega(j, j) = Upsilon of the link, shifted to the vertex's reference point."""
    E, F, G = shifted_compliance(ups, vertices[j, _LINK], reference_lever(vertices, points, work, j))
    e = ((E[0], E[1], E[2]), (E[1], E[3], E[4]), (E[2], E[4], E[5]))
    g = ((G[0], G[1], G[2]), (G[1], G[3], G[4]), (G[2], G[4], G[5]))
    i = 6 * j
    for row in range(3):
        for c in range(3):
            omega[i + row, i + c] = e[row][c]
            omega[i + row, i + 3 + c] = F[row][c]
            omega[i + 3 + row, i + c] = F[c][row]
            omega[i + 3 + row, i + 3 + c] = g[row][c]


@kernel
def propagation_kernel(
    tree: IntArray, links: Array, node_links: IntArray, points: Array, work: Array, left: Array, X: Array, out: Array
) -> None:
    """Lambda = L L^T with L = B* psi* H* D^-1/2, one block of six rows a node; factors must be in `work`."""
    for i in range(node_links.size):
        k = node_links[i]
        for row in range(6):
            for c in range(6):
                X[row, c] = 1.0 if row == c else 0.0
        if k >= 0:
            shift_columns(X, minus(vec3(points, i, 0), vec3(work, k, ORIGIN)))
        while k >= 0:
            s_w, s_v = motion_axis(tree, links, work, k)
            root = math.sqrt(work[k, D_INVERSE])
            for c in range(6):
                e = s_w[0] * X[0, c] + s_w[1] * X[1, c] + s_w[2] * X[2, c]
                left[k, 6 * i + c] = root * (e + s_v[0] * X[3, c] + s_v[1] * X[4, c] + s_v[2] * X[5, c])
            pass_joint(tree, links, work, k, X)
            shift_columns(X, vec3(work, k, LEVER))
            k = tree[k, PARENT]
        for j in range(i + 1):
            multiply_common(tree, node_links, left, i, j, out)


@inlined
def multiply_common(tree: IntArray, node_links: IntArray, left: Array, i: int, j: int, out: Array) -> None:
    """Block (i, j) of L L^T and its mirror: the sum over common ancestors."""
    a, b = node_links[i], node_links[j]
    while a != b:  # a parent has a smaller number than its child
        if a > b:
            a = tree[a, PARENT]
        else:
            b = tree[b, PARENT]
    for row in range(6):
        for c in range(6):
            out[6 * i + row, 6 * j + c] = 0.0
    while a >= 0:
        for row in range(6):
            f = left[a, 6 * i + row]
            for c in range(6):
                out[6 * i + row, 6 * j + c] += f * left[a, 6 * j + c]
        a = tree[a, PARENT]
    for row in range(6):
        for c in range(6):
            out[6 * j + c, 6 * i + row] = out[6 * i + row, 6 * j + c]


@inlined
def recursion_is_cheaper(plan: IntArray, n_nodes: int) -> bool:
    """Compare what both routes cost in nanoseconds, fitted on chains and bushy trees with 1 to 64 nodes."""
    recursion, propagation = 16.0 * n_nodes * (n_nodes + 1), 0.0
    for k in range(plan.shape[0]):
        m = plan[k, _BELOW]
        if m > 0:
            recursion += 45.0
            propagation += 5.5 * m * (m + 1) + 35.0 * m
    return recursion < propagation


@kernel
def compliance_kernel(
    tree: IntArray,
    links: Array,
    q: Array,
    node_links: IntArray,
    offsets: Array,
    method: int,
    scratch: Array,
    plan: IntArray,
    out: Array,
) -> int:
    """Everything; `scratch` starts with the workspace. One call and two buffers: each array costs 0.05-0.1 us."""
    n, m = tree.shape[0], node_links.size
    if q.size != tree[0, SIZE_Q] or out.shape[0] != 6 * m or out.shape[1] != 6 * m:
        return MISFIT
    a = WORK_COLUMNS * n
    b = a + 3 * m
    c = b + 36
    d = c + UPSILON_COLUMNS * n
    work, points, X = scratch[:a].reshape(n, WORK_COLUMNS), scratch[a:b].reshape(m, 3), scratch[b:c].reshape(6, 6)
    if poses_kernel(tree, links, q, work) != OK:
        return NOT_FINITE
    if factor_kernel(tree, links, work) != OK:
        return SINGULAR
    node_points(node_links, offsets, work, points)
    counts, vertices = plan[: 4 * n].reshape(n, 4), plan[4 * n : 4 * n + 6 * m].reshape(2 * m, 3)
    mark_links(tree, node_links, counts)
    if method == _RECURSION or (method == _AUTO and recursion_is_cheaper(counts, m)):
        ups = scratch[c:d].reshape(n, UPSILON_COLUMNS)
        recursion_kernel(tree, links, node_links, points, work, ups, counts, vertices, scratch[d:], X, out)
    else:
        left = scratch[c : c + 6 * m * n].reshape(n, 6 * m)
        propagation_kernel(tree, links, node_links, points, work, left, X, out)
    return OK


_AUTO, _RECURSION, _PROPAGATION = 0, 1, 2
_METHODS = {"auto": _AUTO, "recursion": _RECURSION, "propagation": _PROPAGATION}
_DOOR = Door(compliance_kernel)


def compliance(
    model: Model, q: Array, nodes: Sequence[Any] | Nodes, *, method: str = "auto", out: Array | None = None
) -> Array:
    """Operational-space compliance matrix Lambda = J M^-1 J^T of nodes, in O(N) + O(n_c^2).

    Parameters
    ----------
    model : Model
    q : (nq,) array
    nodes : sequence of Node, or what `model.resolve` returned for one (saves looking up names in loops)
    method : {"auto", "recursion", "propagation"}
        "auto" takes the route that a cost model finds the cheaper; both give the same matrix to rounding.
    out : (6 n_c, 6 n_c) array, optional

    Returns
    -------
    (6 n_c, 6 n_c) array
        Symmetric positive semidefinite. Block (i, j) maps an impulse [angular; linear] on node j to the change of the
        velocity [angular; linear] of node i, in world axes at the nodes. Rows of the world's nodes are zero.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN, infinity, an unknown body or method.
    ModelError
        If the mass matrix is singular.

    References
    ----------
    [J] equations 62-69; Kreutz-Delgado, Jain and Rodriguez 1992.
    """
    if method not in _METHODS:
        raise ArgumentError(f"method: expected 'auto', 'recursion' or 'propagation', got {method!r}")
    node_links, offsets = nodes if type(nodes) is Nodes else model.resolve(nodes)
    n, m = model.nv, node_links.size
    result = np.empty((6 * m, 6 * m)) if out is None else out
    scratch = np.empty(WORK_COLUMNS * n + 39 * (m + 1) + max((UPSILON_COLUMNS * n + 144 * m * m), 6 * m * n))
    plan = np.empty(4 * n + 6 * m, dtype=np.int64)
    arguments = node_links, offsets, _METHODS[method], scratch, plan
    try:
        status = _DOOR.call(model.tree, model.links, q, *arguments, result)
    except TypeError:
        status = MISFIT
    if status == MISFIT:
        q, result = vector(q, model.nq, "q"), output(result, (6 * m, 6 * m))
        status = _DOOR.checked_call(model.tree, model.links, q, *arguments, result)
    if status == NOT_FINITE:
        raise not_finite(q=q)
    if status == SINGULAR:
        raise singular_joint(model, scratch[: WORK_COLUMNS * n].reshape(n, WORK_COLUMNS))
    return result
