"""Lambda of few nodes on a small tree by the mass matrix: Y* Y with L^T D^1/2 Y = J*.

M = L^T D L is made and factorised in one sweep, tips to base, without fill-in outside of ancestors
(Featherstone 2008, section 6.5). A row of the table `rows` is what belongs to a link k:

    M(k, .)  |  L(k, .)  |  column k of J, or what is left of it  |  column k of Y

J has eight numbers a node, two of them zeros. Y has six, and zeros where a link does not carry the
node, so that rows of Y* Y are made by whole registers. O(N depth^2 + n_c depth^2 + n_c^2 depth),
with fewer and more independent operations than articulated inertias take.
"""

from __future__ import annotations

import math

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops._compile.fast_call import Arguments, FastCall, enter
from spatialops._compile.jit import entry_point, inlined, kernel
from spatialops.algebra.simd import (
    WIDTH,
    Lanes,
    LanesVec3,
    aligned,
    at,
    load,
    load3,
    spread,
    spread1,
    spread3,
    store,
)
from spatialops.algebra.vectors import cross, dot, minus, plus, rotate, vec3
from spatialops.dynamics.compliance.row_products import (
    clear_rows,
    link_of,
    multiply_rows,
    register_pairs,
)
from spatialops.dynamics.composite_lanes import (
    CARRIES,
    COMPOSITE_ROWS,
    MOVES,
    PLACED,
    SCALE,
    TURNED,
    column3,
    column9,
    composites,
)
from spatialops.dynamics.kinematics import finite_status, names_links
from spatialops.tree.branches import LAST, RANK

_ROOT = COMPOSITE_ROWS  # one row more of the workspace: D^-1/2
_LOSS = 1e-4  # a pivot this small against the diagonal that it is left of has too few digits


@inlined
def table_width(width: int, m: int) -> int:
    """Columns of `rows`, in an odd number of cache lines.

    With an even one all rows would compete for the same few lines at some sizes.
    """
    lines = width // WIDTH * 2 + m + 2 * register_pairs(m)
    return WIDTH * (lines | 1)


def mass_memory(n: int, m: int) -> tuple[Array, Array]:
    """Workspace and rows for n links and m nodes."""
    eights = -(-n // WIDTH)
    return aligned(eights, WIDTH * (_ROOT + 1)), aligned(n, table_width(WIDTH * eights, m))


@inlined
def mass_row(
    work: Array, eight: int, place: LanesVec3, moment: LanesVec3, force: LanesVec3
) -> tuple[Lanes, Lanes]:
    """Eight entries M(i, .) as a sum of two, from F = (moment, force) about the place of link i.

    (w, v)* F with F taken to the other links' origins: w.(moment + (place - p) x force) + v.force.
    """
    lever = minus(place, load3(work, PLACED, eight))
    a = dot(load3(work, MOVES, eight), plus(moment, cross(lever, force)))
    return a, dot(load3(work, MOVES + 3, eight), force)


@inlined
def factor_mass(tree: IntArray, constants: Array, work: Array, rows: Array) -> int:
    """M = L^T D L: M and L into `rows`, D^-1/2 into `work`; S and F must be there.

    M(i, .) <- F(i)* phi* S(.) - sum over carried k of L(k, i) M(k, .), and L(i, .) = M(i, .) /
    D(i). Entries that are not ancestors' come out as anything, and are never used. Every pivot
    waits for the one before; the term of link i + 1 therefore enters it last, and as a number of
    its own."""
    width, inverse = WIDTH * work.shape[0], 0.0
    for i in range(tree.shape[0] - 1, -1, -1):
        last = tree[i, LAST]
        below = 0.0
        first = i >> 3
        if last > i:
            below = rows[i + 1, i]
        factor = below * inverse
        place = spread3(work, PLACED, i)
        moment = spread3(work, CARRIES, i)
        force = spread3(work, CARRIES + 3, i)
        for eight in range(first, -1, -1):  # the pivot's eight come first
            column = WIDTH * eight
            a, b = mass_row(work, eight, place, moment, force)
            k = last
            while k > i + 2:
                a = a - spread(rows, k, width + i) * load(rows, k, column)
                b = b - spread(rows, k - 1, width + i) * load(rows, k - 1, column)
                k -= 2
            if k > i + 1:
                a = a - spread(rows, k, width + i) * load(rows, k, column)
            a = a + b
            if eight == first:
                store(rows, i, column, a)
                pivot = (rows[i, i] + constants[at(layout.ARMATURE, i)]) - below * factor
                if not pivot > _LOSS * work[at(SCALE, i)]:
                    return layout.SINGULAR
                inverse = 1.0 / pivot
                work[at(_ROOT, i)] = math.sqrt(inverse)
            if last > i:
                a = a - factor * load(rows, i + 1, column)
            store(rows, i, column, a)
            store(rows, i, width + column, inverse * a)
    return layout.OK


@inlined
def put_jacobian(
    tree: IntArray,
    work: Array,
    k: int,
    offset: tuple[float, float, float],
    rows: Array,
    column: int,
) -> None:
    """Columns (w, v + w x lever) of J of a node of link k, link after link, from `column` on."""
    if k < 0:
        return
    point = plus(column3(work, PLACED, k), rotate(column9(work, TURNED, k), offset))
    while k >= 0:
        omega, lever = column3(work, MOVES, k), minus(point, column3(work, PLACED, k))
        rows[k, column], rows[k, column + 1], rows[k, column + 2] = omega
        rows[k, column + 3], rows[k, column + 4], rows[k, column + 5] = plus(
            column3(work, MOVES + 3, k), cross(omega, lever)
        )
        rows[k, column + 6] = rows[k, column + 7] = 0.0
        k = tree[k, layout.PARENT]


@inlined
def solve_node(tree: IntArray, work: Array, rows: Array, tip: int, column: int, into: int) -> None:
    """L^T D^1/2 Y = J* for a node of link `tip`, tips to base.

    Y takes whole registers: what each node spills are zeros in front of the next one's numbers."""
    i, width = tip, WIDTH * work.shape[0]
    while i >= 0:
        z, k = load(rows, i, column), tip
        while k > i:
            z = z - spread(rows, k, width + i) * load(rows, k, column)
            k = tree[k, layout.PARENT]
        store(rows, i, column, z)
        store(rows, i, into, spread1(work, _ROOT, i) * z)
        i = tree[i, layout.PARENT]


@kernel
def mass_route_kernel(
    tree: IntArray,
    constants: Array,
    q: Array,
    node_links: IntArray,
    offsets: Array,
    work: Array,
    rows: Array,
    out: Array,
) -> int:
    """Everything; tables are those of `Branches`."""
    n = tree.shape[0]
    m = node_links.size
    width = WIDTH * constants.shape[0]
    if (
        q.size != tree[0, layout.SIZE_Q]
        or out.shape[0] != 6 * m
        or out.shape[1] != 6 * m
        or offsets.shape[0] != m
    ):
        return layout.MISFIT
    if (
        work.shape[0] != constants.shape[0]
        or work.shape[1] <= WIDTH * _ROOT
        or tree.shape[1] <= RANK
    ):
        return layout.MISFIT
    if rows.shape[0] != n or rows.shape[1] < table_width(width, m):
        return layout.MISFIT
    if not names_links(tree, node_links):
        return layout.MISFIT
    if finite_status(q) != layout.OK:
        return layout.NOT_FINITE
    composites(tree, constants, q, work)
    given = 2 * width
    found = given + WIDTH * m
    for i in range(m):  # before the factors, so that they are in memory when registers read them
        link, column = link_of(tree, node_links, i), given + WIDTH * i
        put_jacobian(tree, work, link, vec3(offsets, i, 0), rows, column)
    clear_rows(tree, rows, found, m)
    if factor_mass(tree, constants, work, rows) != layout.OK:
        return layout.SINGULAR
    for i in range(m):
        link = link_of(tree, node_links, i)
        solve_node(tree, work, rows, link, given + WIDTH * i, found + 6 * i)
    multiply_rows(tree, node_links, rows, found, out)
    return layout.OK


@entry_point
def _entry(arguments: Arguments) -> int:
    return enter(mass_route_kernel, arguments)


MASS_ROUTE = FastCall(mass_route_kernel, _entry)
