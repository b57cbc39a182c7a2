"""Projection of positions: penetration is removed without touching velocities."""

from __future__ import annotations

from spatialops import _layout as layout
from spatialops._compile.jit import merged
from spatialops._compile.stage import stage
from spatialops.algebra.vectors import copy_into
from spatialops.collision._layout import GAP, INFINITE
from spatialops.contact.delassus import velocity_change
from spatialops.contact.newton.central import FIRST_ATTEMPT, Aim
from spatialops.contact.newton.islands import solve_islands
from spatialops.contact.rows import SparseRows, square_of
from spatialops.dynamics.articulated_body import factor_kernel
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.constraints.loop_constraints import close_end, has_loops
from spatialops.simulation.stepping.contact_stage import put_rows
from spatialops.simulation.stepping.detection_stage import detect_at
from spatialops.simulation.stepping.tables import Tables, buffers_of, rows_of
from spatialops.tree.state import integrate_kernel

_IDLE = 1e-14  # W_nn relative to the largest, of a contact whose gap nothing changes
_EXACT_ENOUGH = 1e-6  # of the deepest gap: positions are projected again if it is not
_USEFUL = 1e-2  # what is farther off is not the answer
_FAR = 10.0  # times the deepest gap: a push that moves so far is none
_PUSHES = 4
_SHALLOW = 100.0  # times the depth that is projected: what is pushed apart where not all can be


@stage
def project_positions(t: Tables) -> None:
    """Push penetrating contacts apart with the least motion in the metric of M; velocities stay.

    No energy enters. Contacts at the projected positions are seen then.

    A frictionless LCP on positions, W_nn x + gap >= 0, x >= 0, whose pushes answer W and not the
    weight of anything. Loops answer in W and are closed after every push; velocities are then put
    back onto them, which takes energy only. A push that leaves more depth than there was is taken
    back, as where shapes overlap whatever their joints do: what lies deep is then only kept from
    closing."""
    nq = t.q.size
    before, deepest = t.vectors[at.Q_E, :nq], INFINITE
    t.control[at.SEEN] = detect_at(t, t.q, t.v, 0.0)
    depth = depth_seen(t)
    for _ in range(_PUSHES):
        if not depth > 0.0:
            break
        t.control[at.PROJECTIONS] += 1
        copy_into(before, t.q)
        push_apart(t, deepest)
        t.control[at.SEEN] = detect_at(t, t.q, t.v, 0.0)
        left = depth_seen(t)
        if left < depth:
            depth = left
            continue
        copy_into(t.q, before)
        t.control[at.SEEN] = detect_at(t, t.q, t.v, 0.0)
        if deepest < INFINITE:
            break
        deepest = _SHALLOW * t.settings[at.DEPTH]


@merged
def depth_seen(t: Tables) -> float:
    """Sum of the depths that count, m; 0 where there are none."""
    depth = 0.0
    for i in range(t.control[at.SEEN]):
        if t.seen[i, GAP] < -0.1 * t.settings[at.DEPTH]:
            depth -= t.seen[i, GAP]
    return depth


@merged
def push_apart(t: Tables, deepest: float) -> None:
    """Move by one push of the contacts seen."""
    nq, nv = t.q.size, t.v.size
    m = t.control[at.SEEN]
    move = t.vectors[at.DVC, :nv]
    q_x = t.vectors[at.Q_X, :nq]
    v_x = t.vectors[at.V_X, :nv]
    factor_kernel(t.tree, t.links, t.work)
    put_rows(t, t.seen_ints, t.seen, m)
    solve_gaps(t, m, deepest)
    rows = SparseRows(t.entries, t.places)
    velocity_change(t.tree, t.links, t.work, rows, t.impulses[: 3 * m], move)
    integrate_kernel(t.tree, t.q, move, 1.0, q_x)
    if has_loops(t):
        copy_into(v_x, t.v)
        close_end(t, t.settings[at.DT])
        copy_into(t.v, v_x)
    copy_into(t.q, q_x)


@merged
def solve_gaps(t: Tables, m: int, deepest: float) -> None:
    """Pushes along the normals that close no gap and open negative ones, into `impulses`.

    Gaps that nothing can change, because the loops hold both sides, and those below the deepest,
    are left as they are. Pushes
    that do not open gaps, or move far, are none.
    """
    rows, scale = rows_of(t, m), 0.0
    for i in range(m):
        scale = max(scale, square_of(rows.L, i, 0))
    for i in range(m):
        t.friction[i] = t.prior[i] = t.dry[i] = 0.0
        moves = square_of(rows.L, i, 0) > _IDLE * scale
        t.u[3 * i] = t.seen[i, GAP] if moves and t.seen[i, GAP] >= -deepest else 0.0
        t.u[3 * i + 1] = t.u[3 * i + 2] = 0.0
    pushes = t.impulses[: 3 * m]
    _, residual = solve_islands(
        rows, Aim(False, _EXACT_ENOUGH, FIRST_ATTEMPT, False), pushes, buffers_of(t)
    )
    if not (residual <= _USEFUL and moves_little(t, m)):
        for i in range(3 * m):
            pushes[i] = 0.0


@merged
def moves_little(t: Tables, m: int) -> bool:
    """Whether pushes move the mass of the scene by no more than some of the depth in the mean.

    M |move|^2 = x . W x = -x . u. What must go far to open a gap opens it by a lever, along which
    gaps are not what they are here.
    """
    mass = moved = deepest = 0.0
    for k in range(t.v.size):
        mass += t.links[k, layout.MASS]
    for i in range(m):
        moved -= t.impulses[3 * i] * t.u[3 * i]
        deepest = max(deepest, -t.u[3 * i])
    return moved <= mass * (_FAR * deepest) ** 2
