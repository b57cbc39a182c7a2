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
_FAR = 10.0  # times the lowest gap: a push that moves so far is none
PUSHES = 4
_SHALLOW = 100.0  # times the depth that is projected: what is pushed apart where not all can be


@stage
def project_positions(t: Tables) -> None:
    """Push penetrating contacts apart with the least motion in the metric of M; velocities stay.

    No energy enters. Contacts must have been seen at the present state; they are at the projected
    one then.

    A frictionless LCP on positions, W_nn x + gap >= 0, x >= 0, whose pushes answer W and not the
    weight of anything. Loops answer in W and are closed after every push; velocities are then put
    back onto them, which takes energy only. A push that leaves more depth than there was is taken
    back, as where shapes overlap whatever their joints do: what lies deep is then only kept from
    closing."""
    nq = t.q.size
    before, deepest = t.vectors[at.Q_E, :nq], INFINITE
    depth = depth_seen(t)
    for _ in range(PUSHES):
        if not depth > 0.0:
            break
        t.control[at.PROJECTIONS] += 1
        copy_into(before, t.q)
        if push_apart(t, deepest):
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
def push_apart(t: Tables, deepest: float) -> bool:
    """Move by one push of the contacts seen; False where nothing is pushed."""
    nq, nv = t.q.size, t.v.size
    m = t.control[at.SEEN]
    if not has_deep(t, deepest):
        return False
    move = t.vectors[at.DVC, :nv]
    q_x = t.vectors[at.Q_X, :nq]
    v_x = t.vectors[at.V_X, :nv]
    factor_kernel(t.tree, t.links, t.work)
    put_rows(t, t.seen_ints, t.seen, m)
    if not solve_gaps(t, m, deepest):
        return False
    rows = SparseRows(t.entries, t.places)
    velocity_change(t.tree, t.links, t.work, rows, t.impulses[: 3 * m], move)
    integrate_kernel(t.tree, t.q, move, 1.0, q_x)
    if has_loops(t):
        copy_into(v_x, t.v)
        close_end(t, t.settings[at.DT])
        copy_into(t.v, v_x)
    copy_into(t.q, q_x)
    return True


@merged
def has_deep(t: Tables, deepest: float) -> bool:
    """Whether any gap down to the deepest asks for a projection."""
    if deepest == INFINITE:
        return True
    for i in range(t.control[at.SEEN]):
        if -deepest <= t.seen[i, GAP] < -t.settings[at.DEPTH]:
            return True
    return False


@merged
def solve_gaps(t: Tables, m: int, deepest: float) -> bool:
    """Pushes along the normals that close no gap and open negative ones, into `impulses`.

    Gaps that nothing can change, because the loops hold both sides, and those below the deepest,
    are left as they are. False where nothing is to be pushed, and where pushes would not open
    gaps, or move far.
    """
    rows = rows_of(t, m)
    scale = 0.0
    lowest = 0.0
    for i in range(m):
        scale = max(scale, square_of(rows.L, i, 0))
    for i in range(m):
        t.friction[i] = t.prior[i] = t.dry[i] = 0.0
        moves = square_of(rows.L, i, 0) > _IDLE * scale
        t.u[3 * i] = t.seen[i, GAP] if moves and t.seen[i, GAP] >= -deepest else 0.0
        t.u[3 * i + 1] = t.u[3 * i + 2] = 0.0
        lowest = min(lowest, t.u[3 * i])
    most = far(t, lowest)
    for i in range(m):
        # Opening this gap alone takes |move|^2 = gap^2 / W_nn.
        if t.u[3 * i] < 0.0 and t.u[3 * i] ** 2 > most * square_of(rows.L, i, 0):
            return False
    aim = Aim(False, _EXACT_ENOUGH, FIRST_ATTEMPT, False)
    _, residual = solve_islands(rows, aim, t.impulses[: 3 * m], buffers_of(t))
    return residual <= _USEFUL and pushes_any(t, m) and moved(t, m) <= most


@merged
def pushes_any(t: Tables, m: int) -> bool:
    """Whether any contact is pushed."""
    any_is = False
    for i in range(m):
        any_is = any_is or t.impulses[3 * i] != 0.0
    return any_is


@merged
def far(t: Tables, lowest: float) -> float:
    """M |move|^2 of a motion that moves the scene's mass by some of the lowest gap, in the mean.

    What must go farther to open a gap opens it by a lever, along which gaps are not what they are
    here.
    """
    mass = 0.0
    for k in range(t.v.size):
        mass += t.links[k, layout.MASS]
    return mass * (_FAR * lowest) ** 2


@merged
def moved(t: Tables, m: int) -> float:
    """M |move|^2 = x . W x = -x . u of pushes x."""
    total = 0.0
    for i in range(m):
        total -= t.impulses[3 * i] * t.u[3 * i]
    return total
