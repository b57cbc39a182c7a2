"""Lambda by the virtual tree: rows of Omega from Upsilon ([J] 69), in O(N) + O(n_c^2).

Links that carry no node and where no branches meet are only passed through: the psi of a run of
links is multiplied once, for the *virtual* edge between two vertices. psi is singular, so that
products from the root could not be divided.
"""

from __future__ import annotations

from spatialops._arrays import Array, IntArray, Vec3
from spatialops._compile.jit import inlined
from spatialops._layout import (
    LEVER,
    ORIGIN,
    PARENT,
    UPSILON_COLUMNS,
)
from spatialops.algebra.vectors import (
    ZERO3,
    minus,
    scaled,
    vec3,
)
from spatialops.dynamics.compliance.upsilon import (
    pass_joint,
    put_upsilon,
    shift_columns,
    shifted_compliance,
)

# Integer plan: per link, then per vertex.
BELOW = 0
CHILDREN = 1
_VERTEX = 2
OWN = 3
_LINK = 0
_ABOVE = 1
_NODE = 2
_SLOT = 3

# Columns and vertices that are worked on together: their rows of `above` fit the first cache, and
# rows that are mirrored are still in the second.
_TILE = 192
_BAND = 16
_CACHED = 600  # columns of an Omega that is in the second cache as a whole


@inlined
def mark_links(tree: IntArray, node_links: IntArray, plan: IntArray) -> None:
    """For every link, how many nodes lie on it and below it, and how many children have any."""
    plan[:] = 0
    for i in range(node_links.size):
        if node_links[i] >= 0:
            plan[node_links[i], BELOW] += 1
            plan[node_links[i], OWN] += 1
    for k in range(tree.shape[0] - 1, -1, -1):
        parent = tree[k, PARENT]
        if parent >= 0 and plan[k, BELOW] > 0:
            plan[parent, BELOW] += plan[k, BELOW]
            plan[parent, CHILDREN] += 1


@inlined
def number_vertices(
    tree: IntArray, node_links: IntArray, plan: IntArray, vertices: IntArray
) -> int:
    """The virtual tree, parents first: all nodes, and links where active branches meet.

    How many there are is returned.

    A link's first node stands for the link itself; further nodes of a link hang on the first by a
    pure shift. In `plan`, _VERTEX is the vertex of a link (or of the nearest above it), plus one.
    """
    count = 0
    for k in range(tree.shape[0]):
        parent = tree[k, PARENT]
        above = 0 if parent < 0 else plan[parent, _VERTEX]
        plan[k, _VERTEX] = above
        if plan[k, BELOW] == 0:
            continue
        if plan[k, CHILDREN] < 2 and plan[k, OWN] == 0:
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
    vertices[count, _LINK] = link
    vertices[count, _ABOVE] = above - 1
    vertices[count, _NODE] = node
    return count + 1


@inlined
def reference_lever(vertices: IntArray, points: Array, work: Array, j: int) -> Vec3:
    """From the origin of vertex j's link to its reference point."""
    if vertices[j, _NODE] < 0:
        return ZERO3
    return minus(vec3(points, vertices[j, _NODE], 0), vec3(work, vertices[j, _LINK], ORIGIN))


@inlined
def edge_kernel(
    tree: IntArray, links: Array, work: Array, vertices: IntArray, points: Array, j: int, X: Array
) -> None:
    """X (6, 6) = psi from vertex j's reference point to that of its virtual parent.

    Its columns are forces, carried up.
    """
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
def recursion_kernel(
    tree: IntArray,
    links: Array,
    node_links: IntArray,
    points: Array,
    work: Array,
    plan: IntArray,
    vertices: IntArray,
    rest: Array,
    X: Array,
    out: Array,
) -> None:
    """Lambda by Upsilon and rows of Omega; factors must be in `work`, counts in `plan`.

    Upsilon takes the first of `rest`, and rows of Omega the others where `out` has no room.
    """
    n = tree.shape[0]
    ups = rest[: UPSILON_COLUMNS * n].reshape(n, UPSILON_COLUMNS)
    buffer = rest[UPSILON_COLUMNS * n :]
    for k in range(tree.shape[0]):
        if plan[k, BELOW] > 0:
            put_upsilon(tree, links, work, ups, k)
    count = number_vertices(tree, node_links, plan, vertices)
    size, width = 6 * node_links.size, 6 * assign_slots(vertices, count, node_links.size)
    omega, in_place = out, width == size
    if not in_place:
        width = (width + 7) // 8 * 8  # rows of whole registers are swept 1.3 times faster
        omega = buffer[: width * width].reshape(width, width)
    # In the cache, whole rows that are mirrored at once are quicker: fewer loops begin.
    cached = width <= _CACHED
    band = 1 if cached else _BAND
    reach = width if cached else 0
    for j in range(count):
        above, row = vertices[j, _ABOVE], 6 * vertices[j, _SLOT]
        if above < 0:
            clear_row(omega, row, reach)
        else:
            edge_kernel(tree, links, work, vertices, points, j, X)
            start = 6 * vertices[above, _SLOT]
            if cached:
                sweep_row(omega, X, start, row, 0, omega.shape[1])
            else:
                complete_row(vertices, above, j, omega)
                for tile in range(0, reach, _TILE):
                    sweep_row(omega, X, start, row, tile, min(tile + _TILE, reach))
        put_diagonal(work, ups, vertices, points, j, omega)
        # Whole registers: what lies behind belongs to later vertices, which overwrite it.
        reach = min(width, max(reach, (row + 13) // 8 * 8))
        if (j + 1) % band == 0 or j + 1 == count:
            mirror_rows(vertices, j - j % band, j + 1, omega)
    if not in_place:
        for row in range(size):
            for c in range(size):
                out[row, c] = omega[row, c]
    clear_world(node_links, out)


@inlined
def assign_slots(vertices: IntArray, count: int, n_nodes: int) -> int:
    """Rows of Omega: a node's are those of the result, made in place; branch points come after."""
    slots = n_nodes
    for j in range(count):
        vertices[j, _SLOT] = vertices[j, _NODE]
        if vertices[j, _NODE] < 0:
            vertices[j, _SLOT] = slots
            slots += 1
    return slots


@inlined
def clear_row(omega: Array, row: int, reach: int) -> None:
    """Trees do not feel each other: zero in the rows of a root, up to column `reach`."""
    for r in range(row, row + 6):
        for c in range(reach):
            omega[r, c] = 0.0


@inlined
def complete_row(vertices: IntArray, above: int, j: int, omega: Array) -> None:
    """Omega(above, x) for the vertices x between a parent and j, which came after its own row.

    On a chain there are none."""
    for x in range(above + 1, j):
        transpose_block(omega, 6 * vertices[x, _SLOT], 6 * vertices[above, _SLOT])


@inlined
def mirror_rows(vertices: IntArray, first: int, end: int, omega: Array) -> None:
    """Omega(x, j) = Omega(j, x)^T for a band of vertices j and all x before each of them.

    A band at a time, since every row that is written to is a page of its own: that of one vertex
    alone would miss the cache at each block."""
    for x in range(end):
        for j in range(max(first, x + 1), end):
            transpose_block(omega, 6 * vertices[j, _SLOT], 6 * vertices[x, _SLOT])


@inlined
def transpose_block(omega: Array, row: int, column: int) -> None:
    """The block at (column, row) from that at (row, column)."""
    for c in range(6):
        for i in range(6):
            omega[column + c, row + i] = omega[row + i, column + c]


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
def sweep_row(omega: Array, X: Array, above: int, j: int, first: int, end: int) -> None:
    """Omega(j, x) = psi^T(above, j) Omega(above, x) for the vertices x in some columns ([J] 69).

    Those of later ones are overwritten when their turn comes: leaving them out where nodes are not
    in the order of the tree would cost more than computing them."""
    for row in range(6):
        x0 = X[0, row]
        x1 = X[1, row]
        x2 = X[2, row]
        x3 = X[3, row]
        x4 = X[4, row]
        x5 = X[5, row]
        for c in range(first, end):
            half = x0 * omega[above, c] + x1 * omega[above + 1, c] + x2 * omega[above + 2, c]
            omega[j + row, c] = (
                half
                + x3 * omega[above + 3, c]
                + x4 * omega[above + 4, c]
                + x5 * omega[above + 5, c]
            )


@inlined
def put_diagonal(
    work: Array, ups: Array, vertices: IntArray, points: Array, j: int, omega: Array
) -> None:
    """Omega(j, j) = Upsilon of the link, shifted to the vertex's reference point."""
    E, F, G = shifted_compliance(
        ups, vertices[j, _LINK], reference_lever(vertices, points, work, j)
    )
    e = ((E[0], E[1], E[2]), (E[1], E[3], E[4]), (E[2], E[4], E[5]))
    g = ((G[0], G[1], G[2]), (G[1], G[3], G[4]), (G[2], G[4], G[5]))
    i = 6 * vertices[j, _SLOT]
    for row in range(3):
        for c in range(3):
            omega[i + row, i + c] = e[row][c]
            omega[i + row, i + 3 + c] = F[row][c]
            omega[i + 3 + row, i + c] = F[c][row]
            omega[i + 3 + row, i + 3 + c] = g[row][c]
