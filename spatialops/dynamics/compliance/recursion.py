"""Lambda by the virtual tree: rows of Omega from Upsilon ([J] 69), in O(N) + O(n_c^2).

Upsilon is wanted at the vertices of the virtual tree only. From one to the next, [J] 67 along the
links k between them adds up to

    Upsilon(v) = psi* Upsilon(above) psi + sum over k of e_k* D_k^-1 e_k,    e_k = H_k psi(k, v),

psi being that of the whole edge. e_k is what the joint takes of unit forces at v that are carried
to the base, which psi is made by as well: one sweep from the tips has both, with the articulated
inertias that it needs. No link keeps more than its pose: of trees that are larger than the cache
a sweep costs what it moves through memory.

On a long edge that bends psi goes to zero in most directions, below what is a normal number after a
thousand links. Subnormal ones cost a hundred times as much on some processors and add nothing.
"""

from __future__ import annotations

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, Vec3
from spatialops._compile.jit import inlined
from spatialops.algebra.simd import WIDTH, Lanes, load, spread, store
from spatialops.algebra.simd_parts import lane
from spatialops.algebra.simd_rows import Six, minus_product, spreads, sum_of_rows
from spatialops.algebra.vectors import ZERO3, scaled, vec3
from spatialops.dynamics.compliance.inertia_rows import (
    about_parent,
    add_met,
    along,
    arrive_at,
    leave_at,
    no_inertia,
)
from spatialops.dynamics.compliance.link_rows import (
    OWN_ROWS,
    in_world,
    is_large,
    lever_of,
    own_rows,
    prefetch_back,
    weigh_block,
)
from spatialops.dynamics.compliance.omega import clear_world, fill_omega
from spatialops.dynamics.compliance.virtual_tree import (
    ABOVE,
    BELOW,
    EDGE_COLUMNS,
    LINK,
    NODE,
    UP,
    UPSILON,
    VERTEX,
    assign_slots,
    is_vertex,
    number_vertices,
)

_FORCES = 24  # of psi in an edge's row, after its moments
_TAKEN = EDGE_COLUMNS - 8  # the last e
_ROWS = 8  # between rows of six numbers

_NEGLIGIBLE = 1e-100  # beside 1: its square is still a normal number after `_OFTEN` more links
_OFTEN = 64


@inlined
def recursion_size(m: int) -> int:
    """How many numbers the recursion needs for m nodes, with at most m - 1 branch points."""
    return EDGE_COLUMNS * 2 * m + (12 * m + 8) ** 2


@inlined
def recursion_kernel(
    tree: IntArray,
    constants: Array,
    node_links: IntArray,
    offsets: Array,
    rows: Array,
    held: Array,
    plan: IntArray,
    vertices: IntArray,
    rest: Array,
    out: Array,
) -> int:
    """Lambda by Upsilon and rows of Omega; poses must be in `rows`, and `plan` must be filled.

    Links of nodes are depth first. `rest` has room for the edges of the vertices, and rows of Omega
    where `out` has none.
    """
    count = make_edges(tree, constants, node_links, offsets, rows, held, plan, vertices, rest)
    if count < 0:
        return layout.SINGULAR
    start = EDGE_COLUMNS * count
    edges = rest[:start].reshape(count, EDGE_COLUMNS)
    size, width = 6 * node_links.size, 6 * assign_slots(vertices, count, node_links.size)
    omega, in_place = out, width == size
    if not in_place:
        width = (width + 7) // 8 * 8  # rows of whole registers are swept 1.3 times faster
        omega = rest[start : start + width * width].reshape(width, width)
    fill_omega(vertices, edges, omega)
    if not in_place:
        for row in range(size):
            for c in range(size):
                out[row, c] = omega[row, c]
    clear_world(node_links, out)
    return layout.OK


@inlined
def make_edges(
    tree: IntArray,
    constants: Array,
    node_links: IntArray,
    offsets: Array,
    rows: Array,
    held: Array,
    plan: IntArray,
    vertices: IntArray,
    rest: Array,
) -> int:
    """Vertices, and their edges with psi and Upsilon at the beginning of `rest`; how many.

    -1 where the mass matrix is singular.
    """
    count = number_vertices(node_links, plan, vertices)
    edges = rest[: EDGE_COLUMNS * count].reshape(count, EDGE_COLUMNS)
    begin_edges(edges)
    if sweep_edges(tree, constants, rows, held, plan, edges) != layout.OK:
        return -1
    add_up(vertices, edges)
    for j in range(count):
        refer_to_nodes(vertices, offsets, rows, edges, j)
    return count


@inlined
def reference_lever(vertices: IntArray, offsets: Array, rows: Array, j: int) -> Vec3:
    """From the origin of vertex j's link to its reference point, its node or that origin."""
    node = vertices[j, NODE]
    return in_world(rows, vertices[j, LINK], vec3(offsets, node, 0)) if node >= 0 else ZERO3


@inlined
def begin_edges(edges: Array) -> None:
    """Unit forces at the origins of the vertices' links, and nothing that they have met."""
    for j in range(edges.shape[0]):
        for c in range(EDGE_COLUMNS):
            edges[j, c] = 0.0
        for c in range(6):
            edges[j, (_ROWS + 1) * c] = 1.0


@inlined
def add_up(vertices: IntArray, edges: Array) -> None:
    """Upsilon about the links' origins, parents first: psi* Upsilon(above) psi and the edge's."""
    for j in range(edges.shape[0]):
        above = vertices[j, ABOVE]
        for c in range(6):
            if above >= 0:
                for row in range(6):
                    edges[j, _TAKEN + row] = 0.0
                    for i in range(6):
                        known = edges[above, UPSILON + _ROWS * row + i]
                        edges[j, _TAKEN + row] += known * edges[j, _ROWS * i + c]
                for row in range(c, 6):
                    for i in range(6):
                        carried = edges[j, _ROWS * i + row] * edges[j, _TAKEN + i]
                        edges[j, UPSILON + _ROWS * row + c] += carried
            for row in range(c, 6):
                edges[j, UPSILON + _ROWS * c + row] = edges[j, UPSILON + _ROWS * row + c]


@inlined
def refer_to_nodes(vertices: IntArray, offsets: Array, rows: Array, edges: Array, j: int) -> None:
    """Upsilon and psi of vertex j about its reference point and that of its virtual parent.

    Last of all: about points far from their links the terms of Upsilon are large and cancel."""
    r = reference_lever(vertices, offsets, rows, j)
    take_forces_at(edges, j, 0, r)
    take_forces_at(edges, j, UPSILON, r)
    for c in range(6):  # phi* Upsilon phi: its rows as its columns
        x = edges[j, UPSILON + c]
        y = edges[j, UPSILON + _ROWS + c]
        z = edges[j, UPSILON + 2 * _ROWS + c]
        edges[j, UPSILON + 3 * _ROWS + c] += y * r[2] - z * r[1]
        edges[j, UPSILON + 4 * _ROWS + c] += z * r[0] - x * r[2]
        edges[j, UPSILON + 5 * _ROWS + c] += x * r[1] - y * r[0]
    above = vertices[j, ABOVE]
    if above >= 0:
        lever = reference_lever(vertices, offsets, rows, above)
        shift_edge(edges, j, scaled(-1.0, lever))


@inlined
def take_forces_at(edges: Array, j: int, first: int, r: Vec3) -> None:
    """A x phi for a block A of an edge: columns of forces at the lever r from the origin."""
    for row in range(6):
        at = first + _ROWS * row
        x = edges[j, at]
        y = edges[j, at + 1]
        z = edges[j, at + 2]
        edges[j, at + 3] += y * r[2] - z * r[1]
        edges[j, at + 4] += z * r[0] - x * r[2]
        edges[j, at + 5] += x * r[1] - y * r[0]


@inlined
def shift_edge(edges: Array, j: int, r: Vec3) -> None:
    """Shift by phi: moments n + r x f of all columns of psi."""
    fx = load(edges, j, _FORCES)
    fy = load(edges, j, _FORCES + _ROWS)
    fz = load(edges, j, _FORCES + 2 * _ROWS)
    store(edges, j, 0, load(edges, j, 0) + (r[1] * fz - r[2] * fy))
    store(edges, j, _ROWS, load(edges, j, _ROWS) + (r[2] * fx - r[0] * fz))
    store(edges, j, 2 * _ROWS, load(edges, j, 2 * _ROWS) + (r[0] * fy - r[1] * fx))


@inlined
def pass_edge(
    tree: IntArray, constants: Array, rows: Array, k: int, f: Lanes, U: Six, edges: Array, j: int
) -> None:
    """Carry the columns of psi past a joint to the parent, and add e* D^-1 e to Upsilon.

    `f` is D^-1, and U' is about the parent's origin, each number in all lanes."""
    mx = load(edges, j, 0)
    my = load(edges, j, _ROWS)
    mz = load(edges, j, 2 * _ROWS)
    fx = load(edges, j, _FORCES)
    fy = load(edges, j, _FORCES + _ROWS)
    fz = load(edges, j, _FORCES + 2 * _ROWS)
    e = along(tree, constants, rows, k, (mx, my, mz, fx, fy, fz))
    store(edges, j, _TAKEN, e)
    g = f * e
    x, y, z = lever_of(rows, k)
    store(edges, j, 0, mx + (y * fz - z * fy) - U[0] * g)
    store(edges, j, _ROWS, my + (z * fx - x * fz) - U[1] * g)
    store(edges, j, 2 * _ROWS, mz + (x * fy - y * fx) - U[2] * g)
    store(edges, j, _FORCES, fx - U[3] * g)
    store(edges, j, _FORCES + _ROWS, fy - U[4] * g)
    store(edges, j, _FORCES + 2 * _ROWS, fz - U[5] * g)
    for row in range(6):
        at = UPSILON + _ROWS * row
        store(edges, j, at, load(edges, j, at) + spread(edges, j, _TAKEN + row) * g)


@inlined
def drop_negligible(edges: Array, j: int) -> None:
    """Zero for what has become negligible of psi."""
    for c in range(UPSILON):
        if abs(edges[j, c]) < _NEGLIGIBLE:
            edges[j, c] = 0.0


@inlined
def sweep_edges(
    tree: IntArray, constants: Array, rows: Array, held: Array, plan: IntArray, edges: Array
) -> int:
    """Articulated inertias, tips to base, and past each joint the edge that goes up from it."""
    status, free = layout.OK, OWN_ROWS
    k = tree.shape[0] - 1
    end = constants.shape[0]
    P, U, f = no_inertia()
    large = is_large(tree)
    while k >= 0:
        end = weigh_block(constants, rows, end, held)
        while k >= WIDTH * end:
            if large:
                prefetch_back(tree, constants, rows, k - OWN_ROWS)
            P = add_met(rows, held, k, sum_of_rows(P, own_rows(held, k)))
            P, U, D = arrive_at(tree, constants, rows, k, P, f, U)
            if not lane(D, 0) > 0.0:
                status = layout.SINGULAR
            P, U = about_parent(tree, rows, k, P, U)
            f, parent = 1.0 / D, plan[k, UP]
            if plan[k, BELOW] > 0:
                j = plan[k, VERTEX] - 1
                pass_edge(tree, constants, rows, k, f, spreads(U), edges, j)
                if k % _OFTEN == 0:
                    drop_negligible(edges, j)
                if parent >= 0 and not is_vertex(plan, parent):
                    plan[parent, VERTEX] = j + 1
            if parent < 0 or parent != k - 1:
                if parent >= 0:
                    P = minus_product(P, spreads(U), f * U)
                    free = leave_at(rows, held, parent, free, P)
                P, U, f = no_inertia()
            k -= 1
    return status
