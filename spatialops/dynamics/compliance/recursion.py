"""Lambda by the virtual tree: rows of Omega from Upsilon ([J] 69), in O(N) + O(n_c^2).

Three sweeps over the links: their poses, which come in `work`; articulated inertias from the tips
to the base with psi of the virtual edges; Upsilon from the base to the tips. Of trees that are
larger than the cache a sweep costs what it moves through memory, so that what is only handed on
along an edge has one row for the edge, not one for each of its links.
"""

from __future__ import annotations

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined
from spatialops._layout import LEVER, PARENT, UPSILON_COLUMNS
from spatialops.algebra.vectors import scaled, vec3
from spatialops.dynamics.articulated_body import factor_link
from spatialops.dynamics.compliance.omega import clear_world, fill_omega
from spatialops.dynamics.compliance.upsilon import pass_joint, put_upsilon, shift_columns
from spatialops.dynamics.compliance.virtual_tree import (
    ABOVE,
    BELOW,
    EDGE,
    LINK,
    VERTEX,
    assign_slots,
    is_vertex,
    number_vertices,
    reference_lever,
)

_EDGE_SIZE = 36


@inlined
def recursion_size(m: int) -> int:
    """How many numbers the recursion needs for m nodes, with at most m - 1 branch points."""
    return (UPSILON_COLUMNS + _EDGE_SIZE) * 2 * m + (12 * m + 8) ** 2


@inlined
def recursion_kernel(
    tree: IntArray,
    links: Array,
    node_links: IntArray,
    points: Array,
    work: Array,
    plan: IntArray,
    vertices: IntArray,
    rest: Array,
    out: Array,
) -> int:
    """Lambda by Upsilon and rows of Omega; poses and inertias must be in `work`, counts in `plan`.

    `rest` has room for Upsilon and psi of the vertices, and rows of Omega where `out` has none.
    """
    count = number_vertices(tree, node_links, plan, vertices)
    a = UPSILON_COLUMNS * count
    b = a + _EDGE_SIZE * count
    ups = rest[:a].reshape(count, UPSILON_COLUMNS)
    edges = rest[a:b].reshape(count, 6, 6)
    if factor_with_edges(tree, links, points, work, plan, vertices, edges) != layout.OK:
        return layout.SINGULAR
    put_upsilons(tree, links, work, plan, vertices, ups)
    size, width = 6 * node_links.size, 6 * assign_slots(vertices, count, node_links.size)
    omega, in_place = out, width == size
    if not in_place:
        width = (width + 7) // 8 * 8  # rows of whole registers are swept 1.3 times faster
        omega = rest[b : b + width * width].reshape(width, width)
    fill_omega(work, points, vertices, ups, edges, omega)
    if not in_place:
        for row in range(size):
            for c in range(size):
                out[row, c] = omega[row, c]
    clear_world(node_links, out)
    return layout.OK


@inlined
def factor_with_edges(
    tree: IntArray,
    links: Array,
    points: Array,
    work: Array,
    plan: IntArray,
    vertices: IntArray,
    edges: Array,
) -> int:
    """Articulated inertias, and psi (6, 6) from each vertex's reference point to its parent's.

    Columns of psi are forces, carried up past each joint as soon as its factors are known.
    """
    status = layout.OK
    for j in range(edges.shape[0]):
        for row in range(6):
            for c in range(6):
                edges[j, row, c] = 1.0 if row == c else 0.0
        shift_columns(edges[j], reference_lever(vertices, points, work, j))
    for k in range(tree.shape[0] - 1, -1, -1):
        if factor_link(tree, links, work, k) != layout.OK:
            status = layout.SINGULAR
        if plan[k, BELOW] == 0:
            continue
        if is_vertex(plan, k):
            plan[k, EDGE] = plan[k, VERTEX] - 1
        j = plan[k, EDGE]
        parent = tree[k, PARENT]
        if parent >= 0:
            plan[parent, EDGE] = j  # a vertex takes its own
        if vertices[j, ABOVE] >= 0:
            pass_joint(tree, links, work, k, edges[j])
            shift_columns(edges[j], vec3(work, k, LEVER))
    for j in range(edges.shape[0]):
        above = vertices[j, ABOVE]
        if above >= 0:
            lever = reference_lever(vertices, points, work, above)
            shift_columns(edges[j], scaled(-1.0, lever))
    return status


@inlined
def put_upsilons(
    tree: IntArray, links: Array, work: Array, plan: IntArray, vertices: IntArray, ups: Array
) -> None:
    """Upsilon at all vertices, base to tips: along an edge it is carried in the row of its end.

    Further nodes of a link have that of the first.
    """
    for k in range(tree.shape[0]):
        if plan[k, BELOW] == 0:
            continue
        parent = tree[k, PARENT]
        above = plan[parent, EDGE] if parent >= 0 else -1
        put_upsilon(tree, links, work, ups, k, above, plan[k, EDGE])
    for j in range(ups.shape[0]):
        first = plan[vertices[j, LINK], EDGE]
        for column in range(UPSILON_COLUMNS):
            ups[j, column] = ups[first, column]
