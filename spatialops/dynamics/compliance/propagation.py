"""Lambda of few nodes by propagating their force columns to the base ([J] 62-64).

Lambda = Y* Y with Y = D^-1/2 H psi B: unit forces on a node are carried past one joint after the
other, and each row of Y is what a joint takes of them. O(N + n_c depth + n_c^2 depth), without
vertices where branches meet and without J or M.
"""

from __future__ import annotations

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, Vec3
from spatialops._compile.fast_call import Arguments, FastCall, enter
from spatialops._compile.jit import entry_point, inlined, kernel
from spatialops.algebra.simd import WIDTH, Lanes, aligned, spread, store
from spatialops.algebra.simd_rows import Six
from spatialops.algebra.vectors import cross, plus, vec3
from spatialops.dynamics.compliance.inertia_rows import (
    GAIN,
    RESULT,
    ROOT,
    along,
    factor_rows,
)
from spatialops.dynamics.compliance.link_rows import (
    BLOCK,
    HELD_COLUMNS,
    PLACE_COLUMNS,
    held_rows,
    in_world,
    lever_of,
    place_in_rows,
    unit,
)
from spatialops.dynamics.compliance.row_products import (
    clear_rows,
    link_of,
    multiply_rows,
    register_pairs,
)
from spatialops.dynamics.kinematics import finite_status, names_links
from spatialops.tree.branches import COLUMNS, FREE


@inlined
def row_width(m: int) -> int:
    """Columns of `rows`, in an odd number of cache lines.

    With an even one all rows would compete for the same few lines at some sizes.
    """
    return WIDTH * ((RESULT // WIDTH + 2 * register_pairs(m)) | 1)


def propagation_memory(n: int, m: int) -> tuple[Array, Array, Array]:
    """Memory for placing, for inertias that wait, and for rows of n links and m nodes."""
    rows = -(-n // WIDTH) * WIDTH
    return (
        aligned(BLOCK, PLACE_COLUMNS),
        aligned(held_rows(n), HELD_COLUMNS),
        aligned(rows, row_width(m)),
    )


@inlined
def carry_node(
    tree: IntArray, constants: Array, rows: Array, k: int, offset: Vec3, into: int
) -> None:
    """Rows of Y of a node of link k, in six lanes from column `into` on.

    They take whole registers: the two zeros that a node spills lie where the next one's begin."""
    f = unit(3), unit(4), unit(5)
    n = unit(0), unit(1), unit(2)
    n = plus(n, cross(in_world(rows, k, offset), f))
    X = n[0], n[1], n[2], f[0], f[1], f[2]
    while k >= 0:
        if tree[k, FREE]:
            carry_past_base(rows, k, X, into)
            return
        taken = spread(rows, k, ROOT) * along(tree, constants, rows, k, X)
        store(rows, k, into, taken)
        if tree[k, layout.FRAME] != layout.SAME:
            n = plus((X[0], X[1], X[2]), cross(lever_of(rows, k), (X[3], X[4], X[5])))
            X = n[0], n[1], n[2], X[3], X[4], X[5]
        X = less_gain(rows, k, X, taken)
        k = tree[k, layout.PARENT]


@inlined
def less_gain(rows: Array, k: int, X: Six, taken: Lanes) -> Six:
    """What is left of force columns behind the joint of link k."""
    return (
        X[0] - spread(rows, k, GAIN) * taken,
        X[1] - spread(rows, k, GAIN + 1) * taken,
        X[2] - spread(rows, k, GAIN + 2) * taken,
        X[3] - spread(rows, k, GAIN + 4) * taken,
        X[4] - spread(rows, k, GAIN + 5) * taken,
        X[5] - spread(rows, k, GAIN + 6) * taken,
    )


@inlined
def take(rows: Array, k: int, x: Lanes, into: int) -> Lanes:
    """A row of Y of an axis of a free base, which takes forces as they are."""
    taken = spread(rows, k, ROOT) * x
    store(rows, k, into, taken)
    return taken


@inlined
def carry_past_base(rows: Array, k: int, X: Six, into: int) -> None:
    """The last six rows of Y, of the free joint whose last link is k, by `factor_free_base`."""
    X = less_gain(rows, k, X, take(rows, k, X[5], into))
    X = less_gain(rows, k - 1, X, take(rows, k - 1, X[4], into))
    X = less_gain(rows, k - 2, X, take(rows, k - 2, X[3], into))
    X = less_gain(rows, k - 3, X, take(rows, k - 3, X[2], into))
    X = less_gain(rows, k - 4, X, take(rows, k - 4, X[1], into))
    take(rows, k - 5, X[0], into)


@kernel
def propagation_kernel(
    tree: IntArray,
    constants: Array,
    q: Array,
    node_links: IntArray,
    offsets: Array,
    work: Array,
    held: Array,
    rows: Array,
    out: Array,
) -> int:
    """Everything; tables are those of `Branches`."""
    m = node_links.size
    if (
        q.size != tree[0, layout.SIZE_Q]
        or out.shape[0] != 6 * m
        or out.shape[1] != 6 * m
        or offsets.shape[0] != m
    ):
        return layout.MISFIT
    if work.shape[1] != PLACE_COLUMNS or tree.shape[1] < COLUMNS:
        return layout.MISFIT
    if held.shape[0] < held_rows(tree.shape[0]) or held.shape[1] != HELD_COLUMNS:
        return layout.MISFIT
    if rows.shape[0] != WIDTH * constants.shape[0] or rows.shape[1] < row_width(m):
        return layout.MISFIT
    if not names_links(tree, node_links):
        return layout.MISFIT
    if finite_status(q) != layout.OK:
        return layout.NOT_FINITE
    place_in_rows(tree, constants, q, work, rows)
    if factor_rows(tree, constants, rows, held) != layout.OK:
        return layout.SINGULAR
    clear_rows(tree, rows, RESULT, m)
    for i in range(m):
        link = link_of(tree, node_links, i)
        if link >= 0:
            carry_node(tree, constants, rows, link, vec3(offsets, i, 0), RESULT + 6 * i)
    multiply_rows(tree, node_links, rows, RESULT, out)
    return layout.OK


@entry_point
def _entry(arguments: Arguments) -> int:
    return enter(propagation_kernel, arguments)


PROPAGATION = FastCall(propagation_kernel, _entry)
