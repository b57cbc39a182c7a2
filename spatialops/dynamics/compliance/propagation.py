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
from spatialops.algebra.simd import WIDTH, Lanes, aligned, spread, spread1, spread3, store, zeros
from spatialops.algebra.simd_blocks import between
from spatialops.algebra.vectors import cross, plus, rotate, vec3
from spatialops.dynamics.compliance.inertia_rows import (
    GAIN,
    MET_COLUMNS,
    RESULT,
    ROOT,
    along,
    factor_rows,
    place_and_weigh,
)
from spatialops.dynamics.compliance.row_products import (
    clear_rows,
    link_of,
    multiply_rows,
    register_pairs,
)
from spatialops.dynamics.composite_lanes import COMPOSITE_ROWS, REACH, TURNED, column9
from spatialops.dynamics.kinematics import finite_status, names_links
from spatialops.tree.branches import RANK


@inlined
def row_width(m: int) -> int:
    """Columns of `rows`, in an odd number of cache lines.

    With an even one all rows would compete for the same few lines at some sizes.
    """
    lines = RESULT // WIDTH + max(MET_COLUMNS // WIDTH, 2 * register_pairs(m))
    return WIDTH * (lines | 1)


def propagation_memory(n: int, m: int) -> tuple[Array, Array]:
    """Workspace and rows for n links and m nodes."""
    eights = -(-n // WIDTH)
    return aligned(eights, WIDTH * COMPOSITE_ROWS), aligned(WIDTH * eights, row_width(m))


@inlined
def unit(lane: int) -> Lanes:
    """1 in one lane."""
    return between(zeros() + 1.0, lane, lane)


@inlined
def carry_node(tree: IntArray, work: Array, rows: Array, k: int, offset: Vec3, into: int) -> None:
    """Rows of Y of a node of link k, in six lanes from column `into` on.

    They take whole registers: the two zeros that a node spills lie where the next one's begin."""
    x, y, z = rotate(column9(work, TURNED, k), offset)
    f = unit(3), unit(4), unit(5)
    n = plus((unit(0), unit(1), unit(2)), cross((x, y, z), f))
    while k >= 0:
        taken = spread1(work, ROOT, k) * along(tree, work, k, (n[0], n[1], n[2], f[0], f[1], f[2]))
        store(rows, k, into, taken)
        if tree[k, layout.FRAME] != layout.SAME:
            n = plus(n, cross(spread3(work, REACH, k), f))
        n = (
            n[0] - spread(rows, k, GAIN) * taken,
            n[1] - spread(rows, k, GAIN + 1) * taken,
            n[2] - spread(rows, k, GAIN + 2) * taken,
        )
        f = (
            f[0] - spread(rows, k, GAIN + 4) * taken,
            f[1] - spread(rows, k, GAIN + 5) * taken,
            f[2] - spread(rows, k, GAIN + 6) * taken,
        )
        k = tree[k, layout.PARENT]


@kernel
def propagation_kernel(
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
    m = node_links.size
    if (
        q.size != tree[0, layout.SIZE_Q]
        or out.shape[0] != 6 * m
        or out.shape[1] != 6 * m
        or offsets.shape[0] != m
    ):
        return layout.MISFIT
    if (
        work.shape[0] != constants.shape[0]
        or work.shape[1] < WIDTH * COMPOSITE_ROWS
        or tree.shape[1] <= RANK
    ):
        return layout.MISFIT
    if rows.shape[0] != WIDTH * constants.shape[0] or rows.shape[1] < row_width(m):
        return layout.MISFIT
    if not names_links(tree, node_links):
        return layout.MISFIT
    if finite_status(q) != layout.OK:
        return layout.NOT_FINITE
    place_and_weigh(tree, constants, q, work, rows)
    if factor_rows(tree, constants, work, rows) != layout.OK:
        return layout.SINGULAR
    clear_rows(tree, rows, RESULT, m)
    for i in range(m):
        link = link_of(tree, node_links, i)
        if link >= 0:
            carry_node(tree, work, rows, link, vec3(offsets, i, 0), RESULT + 6 * i)
    multiply_rows(tree, node_links, rows, RESULT, out)
    return layout.OK


@entry_point
def _entry(arguments: Arguments) -> int:
    return enter(propagation_kernel, arguments)


PROPAGATION = FastCall(propagation_kernel, _entry)
