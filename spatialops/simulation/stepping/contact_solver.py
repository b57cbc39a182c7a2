"""The loop's own solver: the central answer, and Lemke's vertex where that has none."""

from __future__ import annotations

from spatialops._compile.jit import inlined, kernel, merged
from spatialops._compile.references import refer
from spatialops._compile.stage import stage
from spatialops.collision import _layout as col
from spatialops.contact.formulations.operational_space import assemble_kernel, recover_kernel
from spatialops.contact.lcp.lemke import lemke_kernel
from spatialops.contact.lcp.scratch import lemke_scratch
from spatialops.contact.newton._layout import POLYGON
from spatialops.contact.newton.central import ALL_ATTEMPTS, Aim
from spatialops.contact.newton.islands import have_no_room, solve_islands
from spatialops.contact.newton.residual import FOUND, rounding
from spatialops.contact.rows import SparseRows, multiply_rows
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.constraints.forgone_motion import asks_for_motion
from spatialops.simulation.stepping.constraints.joint_limits_and_friction import (
    find_used,
    has_joints,
    n_of_geoms,
    squeeze,
    unsqueeze,
)
from spatialops.simulation.stepping.tables import Tables, buffers_of, rows_of
from spatialops.simulation.stepping.warm.impulse_memory import (
    load_impulses,
)

# Iterations that only refine, and change of impulses, relative: forces of the next step may hold
# as they are. What moves changes more, and looking costs half of what solving does.
_FEW = 2
_NEARLY = 1e-9


@stage
def solve_here(t: Tables, warm: bool) -> None:
    """Impulses of the prepared problem: from those of the step before where `warm`, else from zero.

    What a pivoting method answers instead is one of several motions, and is counted.
    """
    m = t.control[at.ACTING]
    remembered = load_impulses(t) if warm else 0
    known = remembered > 0
    rows, buffers = refer(rows_of(t, m, True)), refer(buffers_of(t))
    for i in range(m if known else 0):
        for j in range(3):
            t.floats[i, col.IMPULSE + j] = t.impulses[3 * i + j]
    aim = Aim(
        known,
        t.settings[at.TOLERANCE],
        ALL_ATTEMPTS,
        known and t.control[at.TURNED] == 1,
        known and t.control[at.ANEW] > 0,
        True,
    )
    put_moves(t)
    iterations, residual = solve_islands(rows, aim, t.impulses[: 3 * m], buffers)
    t.control[at.CODE] = 0
    t.control[at.QUIET] = 0
    if residual <= t.settings[at.TOLERANCE]:
        quiet = known and 0 <= iterations <= _FEW and stays(t, m)
        t.control[at.QUIET] = 1 if quiet else 0
        left = quiet and residual > FOUND * rounding(3 * m, t.v.size)
        t.monitor[at.KEPT_RESIDUAL] = residual if left else 0.0
        t.control[at.WARM] += 1 if known and iterations >= 0 else 0
        t.control[at.PIVOTS] += abs(iterations)
        if iterations == 0 and remembered == m:
            t.control[at.HOLDS] = 2
    elif have_no_room(rows, buffers):
        t.control[at.CODE] = at.FACTORS_FULL
    elif warm and asks_for_motion(t):
        t.control[at.CODE] = at.UNSOLVED  # it is stated without drifts
    elif may_be_pivoted(t):  # also where it is NaN
        residual = pivot(t, m)
        t.control[at.PIVOTED] += 1
    else:
        t.control[at.CODE] = at.UNSOLVED
        t.control[at.PIVOTED] += 1
    if t.control[at.CODE] != 0:  # Python's ladder goes on, and its residual counts
        t.monitor[at.MISSED] = residual
        return
    t.monitor[at.RESIDUAL] = max(t.monitor[at.RESIDUAL], residual)


@inlined
def put_moves(t: Tables) -> None:
    """How fast each tree is before."""
    moves = t.vectors[at.MOVES]
    for i in range(t.trees.size - 1):
        moves[i] = 0.0
        for k in range(t.trees[i], t.trees[i + 1]):
            moves[i] = max(moves[i], abs(t.v[k]))


@inlined
def take_the_best(t: Tables) -> None:
    """Take the best answer to a problem that nothing in the loop solves, where it is accepted.

    The certificate tells of its residual. Else the problem goes to the solvers outside: of few
    contacts they are quick, of hundreds they take minutes.
    """
    many = t.control[at.ACTING] > at.PIVOTED_AT_MOST
    if not many or not t.monitor[at.MISSED] <= t.settings[at.ACCEPTED]:
        return
    t.control[at.CODE] = 0
    t.monitor[at.RESIDUAL] = max(t.monitor[at.RESIDUAL], t.monitor[at.MISSED])


@kernel
def stays(t: Tables, m: int) -> bool:
    """Whether the impulses that a problem began with, in the table, are nearly its answer."""
    moved = largest = 0.0
    for i in range(m):
        for j in range(3):
            moved = max(moved, abs(t.impulses[3 * i + j] - t.floats[i, col.IMPULSE + j]))
            largest = max(largest, abs(t.impulses[3 * i + j]))
    return moved <= _NEARLY * largest


@merged
def may_be_pivoted(t: Tables) -> bool:
    """Whether Lemke's method applies: to polygons of few contacts, and to no moments."""
    few = t.control[at.ACTING] <= at.PIVOTED_AT_MOST and t.control[at.MOMENTS] == 0
    return t.control[at.LAW] == POLYGON and few


@stage
def pivot(t: Tables, m: int) -> float:
    """Lemke's method on the assembled problem; returns the residual."""
    rows = n = m * (t.facets.shape[0] + 2)
    put_lcp(t)
    idle = has_joints(t) and n_of_geoms(t) < m
    if idle:
        n = find_used(t, m)
        squeeze(t, rows, n)
    code, pivots, residual = lemke_kernel(
        t.A[: n * n].reshape(n, n),
        t.b[:n],
        0,
        t.covers,
        10 * n + 100,
        t.settings[at.TOLERANCE],
        t.active[:n],
        t.z[:n],
        t.w[:n],
        lemke_scratch(
            t.D[: n * (n + 2)].reshape(n, n + 2),
            t.lcp_ints[: 6 * (n + 1)].reshape(6, n + 1),
            t.lcp_vectors[: 3 * n].reshape(3, n),
        ),
    )
    if idle:
        unsqueeze(t, rows, n)
    recover_kernel(t.z[:rows], 0, t.facets, t.monitor[at.SCALE], t.impulses[: 3 * m])
    t.control[at.CODE] = 0 if code == 0 else at.UNSOLVED
    t.control[at.PIVOTS] += pivots
    return residual


@merged
def put_lcp(t: Tables) -> None:
    """The OS problem of the rows of L, u and offset."""
    m = t.control[at.ACTING]
    n = m * (t.facets.shape[0] + 2)
    W, A = t.W[: 9 * m * m].reshape(3 * m, 3 * m), t.A[: n * n].reshape(n, n)
    multiply_rows(SparseRows(t.entries, t.places), m, W)
    t.monitor[at.SCALE] = assemble_kernel(
        W, t.u[: 3 * m], t.friction[:m], t.prior[:m], t.facets, A, t.b[:n]
    )
    if has_joints(t):
        for i in range(m):
            t.b[n - m + i] += t.monitor[at.SCALE] * t.dry[i]
