"""Mass matrix by the composite-body algorithm, O(N depth), in blocks of eight links by eight."""

from __future__ import annotations

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, IntArray, not_finite, output, vector
from spatialops._compile.doors import door
from spatialops._compile.fast_call import Arguments, FastCall, enter
from spatialops._compile.jit import entry_point, inlined, kernel
from spatialops.algebra.simd import WIDTH, at, load3, spread3, store1, zeros
from spatialops.algebra.simd_blocks import (
    between,
    load_block,
    store_block,
    sum_of_blocks,
    transposed,
)
from spatialops.algebra.vectors import cross, dot, minus, plus
from spatialops.dynamics.composite_lanes import (
    CARRIES,
    COMPOSITE_ROWS,
    MOVES,
    PLACED,
    composites,
    fits_workspace,
)
from spatialops.dynamics.kinematics import finite_status
from spatialops.tree import sources
from spatialops.tree.branches import ALONG, ANGULAR, LAST, NUMBER
from spatialops.tree.model import Model, not_a_model

_ENTRIES = COMPOSITE_ROWS  # eight rows more of the workspace, of M of eight links, depth first


@inlined
def put_carried(constants: Array, work: Array, i: int, last: int, end: int) -> None:
    """Row i of M from link i on, up to register `end`: all that it carries, up to link `last`.

    M(i, k) = S(i)* phi(i, k) F(k) = w.(moment + (p(k) - p(i)) x force) + v.force of S(i) = (w, v),
    where most joints turn or slide, so that v or w is zero.
    """
    row, behind = _ENTRIES + (i & 7), (last >> 3) + 1
    turns, slides = constants[at(ANGULAR, i)] != 0.0, constants[at(ALONG, i)] != 0.0
    place = spread3(work, PLACED, i)
    omega = spread3(work, MOVES, i)
    v = spread3(work, MOVES + 3, i)
    for eight in range(i >> 3, behind):
        force = load3(work, CARRIES + 3, eight)
        entries = zeros()
        if turns:
            swing = cross(minus(load3(work, PLACED, eight), place), force)
            entries = dot(omega, plus(load3(work, CARRIES, eight), swing))
        if slides:
            entries = entries + dot(v, force)
        store1(work, row, eight, between(entries, i - WIDTH * eight, last - WIDTH * eight))
    for eight in range(behind, end + 1):
        store1(work, row, eight, zeros())


@inlined
def last_carried(tree: IntArray, eight: int) -> int:
    """The last eight of links of which these eight carry any."""
    last = eight
    for i in range(WIDTH * eight, min(WIDTH * eight + WIDTH, tree.shape[0])):
        last = max(last, tree[i, LAST] >> 3)
    return last


@inlined
def put_zeros(tree: IntArray, eights: int, mass: Array) -> None:
    """Zeros everywhere, if there is an eight that does not carry any of the last ones."""
    n = tree.shape[0]
    entries = mass.reshape(n * n)
    for eight in range(eights):
        if last_carried(tree, eight) == eights - 1:
            continue
        for i in range(n * n):
            entries[i] = 0.0
        return


@inlined
def put_eight_rows(tree: IntArray, constants: Array, work: Array, eight: int, mass: Array) -> None:
    """M of eight links and all that they carry, block after block into both triangles."""
    n, first = tree.shape[0], WIDTH * eight
    count, end = min(n - first, WIDTH), last_carried(tree, eight)
    for i in range(first, first + count):
        put_carried(constants, work, i, tree[i, LAST], end)
    for right in range(eight + 1, end + 1):
        column = WIDTH * right
        block = load_block(work, _ENTRIES, right)
        store_block(mass, first, column, block, WIDTH, n - column)
        store_block(mass, column, first, transposed(block), n - column, WIDTH)
    block = load_block(work, _ENTRIES, eight)  # zeros below its diagonal
    store_block(mass, first, first, sum_of_blocks(block, transposed(block)), count, count)
    for i in range(first, first + count):
        mass[i, i] = work[at(_ENTRIES + (i & 7), i)] + constants[at(layout.ARMATURE, i)]


@kernel
def composite_body_kernel(
    tree: IntArray, constants: Array, q: Array, work: Array, ordered: Array, mass: Array
) -> int:
    """The full symmetric mass matrix; tables are those of `Branches`.

    `ordered` has the size of `mass` where the model's links are not depth first, else it is empty.
    """
    n = tree.shape[0]
    if q.size != tree[0, layout.SIZE_Q] or mass.shape[0] != n or mass.shape[1] != n:
        return layout.MISFIT
    if not fits_workspace(constants, work):
        return layout.MISFIT
    if finite_status(q) != layout.OK:
        return layout.NOT_FINITE
    composites(tree, constants, q, work)
    target = ordered if ordered.shape[0] == n else mass
    put_zeros(tree, constants.shape[0], target)
    for eight in range(constants.shape[0]):
        put_eight_rows(tree, constants, work, eight, target)
    for i in range(ordered.shape[0]):
        for j in range(n):
            mass[tree[i, NUMBER], tree[j, NUMBER]] = ordered[i, j]
    return layout.OK


@entry_point
def _entry(arguments: Arguments) -> int:
    return enter(composite_body_kernel, arguments)


_CALL = FastCall(composite_body_kernel, _entry)


@door(
    _CALL,
    *sources.BRANCHES,
    sources.Q,
    sources.WORK,
    sources.of_branches("ordered"),
    sources.OUT,
    results=[sources.SQUARE],
    classes=sources.OF_STATE,
)
def mass_matrix(model: Model, q: ArrayLike, *, out: Array | None = None) -> Array:
    """Mass matrix M(q), with joint armature on its diagonal.

    Parameters
    ----------
    model : Model
        The mechanism.
    q : (nq,) array_like
        Coordinates, rad and m.
    out : (nv, nv) array, optional
        Where to write the result.

    Returns
    -------
    (nv, nv) array
        Symmetric and positive definite; kg, kg m, kg m^2.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN or infinity.

    References
    ----------
    Walker and Orin 1982; [J] equation 59, first line.

    Examples
    --------
    >>> import spatialops as so
    >>> model = so.models.pendulum(2).model
    >>> M = so.mass_matrix(model, [0.1, 0.2])
    >>> M.shape, bool((M == M.T).all())
    ((2, 2), True)
    """
    if type(model) is not Model:
        raise not_a_model(model)
    tables = model.branches
    mass = np.empty((model.nv, model.nv)) if out is None else out
    try:
        status = _CALL.call(tables.tree, tables.constants, q, tables.work, tables.ordered, mass)
    except TypeError:  # also where the call is long, and there is no such memory
        status = layout.MISFIT
    return mass if not status else _checked(model, q, mass)


def _checked(model: Model, q: ArrayLike, mass: Array) -> Array:
    """The same with everything checked, in memory that no other thread uses."""
    n, tables = model.nv, model.branches
    q, mass = vector(q, model.nq, "q"), output(mass, (n, n))
    work = tables.workspace()
    status = _CALL.checked_call(tables.tree, tables.constants, q, work, tables.room(), mass)
    if status != layout.OK:
        raise not_finite(q=q)
    tables.spare.append(work)
    return mass
