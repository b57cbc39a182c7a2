"""Projection of positions: penetration is removed without touching velocities."""

from __future__ import annotations

from spatialops import _layout as layout
from spatialops._compile.jit import inlined, merged
from spatialops._compile.stage import stage
from spatialops.algebra.vectors import copy_into
from spatialops.collision._layout import CONTACT_PAIR, GAP, INFINITE
from spatialops.contact.newton.central import BEFORE_INSIDE, Aim
from spatialops.contact.newton.islands import solve_islands
from spatialops.contact.rows import SparseRows, square_of
from spatialops.dynamics.articulated_body import factor_kernel
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.constraints.loop_constraints import (
    close_end,
    count_independent,
    has_loops,
)
from spatialops.simulation.stepping.contact_stage import SHALLOW, put_change, put_rows
from spatialops.simulation.stepping.detection_stage import detect_at
from spatialops.simulation.stepping.tables import Tables, buffers_of, rows_of
from spatialops.tree.state import integrate_kernel

_IDLE = 1e-14  # W_nn relative to the largest, of a contact whose gap nothing changes
_EXACT_ENOUGH = 1e-6  # of the deepest gap: positions are projected again if it is not
_USEFUL = 1e-2  # what is farther off is not the answer
_FAR = 10.0  # times the lowest gap: a push that moves so far is none
_OTHER = 1e-3  # change of how deep that is, relative, after which it may be opened after all
_ALL_OF_IT = 2.0  # gaps that everything goes where one is opened by a lever
COUNTS = 0.1  # of the depth that is projected: what is deeper is pushed as well
PUSHES = 4
_OPEN = 1e-9  # m or rad: closures that are open by more have not followed a push


@stage
def project_positions(t: Tables) -> bool:
    """Push penetrating contacts apart with the least motion in the metric of M; velocities stay.

    Whether anything has moved.

    No energy enters. Contacts must have been seen at the present state; they are at the projected
    one then.

    A frictionless LCP on positions, W_nn x + gap >= 0, x >= 0, whose pushes answer W and not the
    weight of anything. Loops answer in W and are closed after every push; velocities are then put
    back onto them, which takes energy only. A push that leaves more depth than there was, or loops
    open that cannot follow it, is taken back, as where shapes overlap whatever their joints do:
    what lies deep is then only kept from closing, and pushed once more when it is not what it was.
    """
    before, deepest = t.vectors[at.Q_E, : t.q.size], INFINITE
    speeds, opening = t.vectors[at.V_E, : t.v.size], t.monitor[at.OPENING]
    depth = depth_seen(t, INFINITE)
    moved_any = False
    for _ in range(PUSHES):
        if was_in_vain(t, deepest):
            if deepest < INFINITE:
                break
            deepest = SHALLOW * t.settings[at.DEPTH]
            continue
        lowest = gaps_to_open(t, deepest)
        if lowest >= -COUNTS * t.settings[at.DEPTH]:
            break
        t.control[at.PROJECTIONS] += 1
        copy_into(before, t.q)
        copy_into(speeds, t.v)
        if push_apart(t, lowest):
            t.control[at.SEEN] = detect_at(t, t.q, t.v, 0.0)
            left = depth_seen(t, INFINITE)
            if left < depth and t.monitor[at.OPENING] <= max(opening, _OPEN):
                depth = left
                moved_any = True
                continue
            copy_into(t.q, before)
            copy_into(t.v, speeds)
            t.monitor[at.OPENING] = opening
            t.control[at.SEEN] = detect_at(t, t.q, t.v, 0.0)
            if has_loops(t):
                count_independent(t)
        note_in_vain(t, deepest)
    return moved_any


@merged
def was_in_vain(t: Tables, deepest: float) -> bool:
    """Whether what lies that deep at most is what it was as it could not be opened last."""
    row = at.IN_VAIN if deepest == INFINITE else at.IN_VAIN + 2
    depth, before = depth_seen(t, deepest), t.monitor[row]
    same = count_seen(t, deepest) == t.monitor[row + 1]
    return same and before > 0.0 and abs(depth - before) <= _OTHER * before


@merged
def note_in_vain(t: Tables, deepest: float) -> None:
    """Remember what could not be opened."""
    row = at.IN_VAIN if deepest == INFINITE else at.IN_VAIN + 2
    t.monitor[row], t.monitor[row + 1] = depth_seen(t, deepest), count_seen(t, deepest)


@merged
def count_seen(t: Tables, deepest: float) -> int:
    """How many contacts are deep enough to count, and lie that deep at most."""
    count = 0
    for i in range(t.control[at.SEEN]):
        if -deepest <= t.seen[i, GAP] < -COUNTS * t.settings[at.DEPTH]:
            count += 1
    return count


@merged
def depth_seen(t: Tables, deepest: float) -> float:
    """Sum of the depths that count, of what lies that deep at most, m; 0 where there are none."""
    depth = 0.0
    for i in range(t.control[at.SEEN]):
        if -deepest <= t.seen[i, GAP] < -COUNTS * t.settings[at.DEPTH]:
            depth -= t.seen[i, GAP]
    return depth


@merged
def gaps_to_open(t: Tables, deepest: float) -> float:
    """Rows of the contacts seen, and their gaps into `u`; the lowest of those that are to open.

    Gaps that are left as they are count as none there: those that nothing can change, because the
    loops hold both sides, those below the deepest, and those of pairs that would be opened by a
    lever. Zero where none is deep enough to ask for a projection.
    """
    m = t.control[at.SEEN]
    if not has_deep(t, deepest):
        return 0.0
    factor_kernel(t.tree, t.links, t.work)
    put_rows(t, t.seen_ints, t.seen, m)
    L = SparseRows(t.entries, t.places)
    scale = lowest = 0.0
    for i in range(m):
        t.friction[i] = t.prior[i] = t.dry[i] = 0.0
        t.u[3 * i] = t.u[3 * i + 1] = t.u[3 * i + 2] = 0.0
        scale = max(scale, square_of(L, i, 0))
    mass = mass_of(t)
    begin = 0
    for end in range(1, m + 1):
        if end < m and t.seen_ints[end, CONTACT_PAIR] == t.seen_ints[begin, CONTACT_PAIR]:
            continue
        levered = opens_by_lever(t, L, begin, end, mass)
        for i in range(begin, end):
            moves = square_of(L, i, 0) > _IDLE * scale
            if moves and t.seen[i, GAP] >= -deepest and not (levered and t.seen[i, GAP] < 0.0):
                t.u[3 * i] = t.seen[i, GAP]
                lowest = min(lowest, t.u[3 * i])
        begin = end
    return lowest


@merged
def has_deep(t: Tables, deepest: float) -> bool:
    """Whether any gap down to the deepest asks for a projection."""
    least = COUNTS if deepest == INFINITE else 1.0
    for i in range(t.control[at.SEEN]):
        if -deepest <= t.seen[i, GAP] < -least * t.settings[at.DEPTH]:
            return True
    return False


@merged
def push_apart(t: Tables, lowest: float) -> bool:
    """Move by one push that opens the gaps in `u`; False where nothing is pushed."""
    nq, nv = t.q.size, t.v.size
    m = t.control[at.SEEN]
    if not solve_gaps(t, m, lowest):
        return False
    move = t.vectors[at.DVC, :nv]
    q_x = t.vectors[at.Q_X, :nq]
    v_x = t.vectors[at.V_X, :nv]
    put_change(t, t.impulses[: 3 * m], move)
    integrate_kernel(t.tree, t.q, move, 1.0, q_x)
    if has_loops(t):
        copy_into(v_x, t.v)
        close_end(t, t.settings[at.DT])
        copy_into(t.v, v_x)
    copy_into(t.q, q_x)
    return True


@merged
def solve_gaps(t: Tables, m: int, lowest: float) -> bool:
    """Pushes along the normals that close no gap and open negative ones, into `impulses`.

    False where nothing is to be pushed, and where pushes would not open gaps, or move far. Moments
    of the step's own problem are none of this one.
    """
    moments = t.control[at.MOMENTS]
    t.control[at.MOMENTS] = 0
    aim = Aim(False, _EXACT_ENOUGH, BEFORE_INSIDE, False, False, False)
    _, residual = solve_islands(rows_of(t, m), aim, t.impulses[: 3 * m], buffers_of(t))
    t.control[at.MOMENTS] = moments
    return residual <= _USEFUL and pushes_any(t, m) and moved(t, m) <= far(t, lowest)


@inlined
def opens_by_lever(t: Tables, L: SparseRows, begin: int, end: int, mass: float) -> bool:
    """Whether a pair has an overlap that can be opened by going far only.

    Opening this gap alone takes M |move|^2 = gap^2 / W_nn: of a lever more than moving the whole
    scene would, and its ends go sqrt(W_tt / W_nn) gaps aside. As far as that gaps of what is deep
    are not what they are here, and most such overlaps stay whatever joints do. Points of a pair are
    opened together.
    """
    deep = -SHALLOW * t.settings[at.DEPTH]
    for i in range(begin, end):
        along = square_of(L, i, 0)
        aside = max(square_of(L, i, 1), square_of(L, i, 2))
        least = 1.0 / (_FAR**2 * mass)
        if t.seen[i, GAP] < deep:
            least = max(least, min(1.0 / (_ALL_OF_IT**2 * mass), aside / _FAR**2))
        if t.seen[i, GAP] < 0.0 and along < least:
            return True
    return False


@merged
def pushes_any(t: Tables, m: int) -> bool:
    """Whether any contact is pushed."""
    any_is = False
    for i in range(m):
        any_is = any_is or t.impulses[3 * i] != 0.0
    return any_is


@merged
def far(t: Tables, gap: float) -> float:
    """M |move|^2 of a motion that moves the scene's mass by some gaps, in the mean.

    What must go farther to open one opens it by a lever, along which gaps are not what they are
    here.
    """
    return mass_of(t) * (_FAR * gap) ** 2


@merged
def mass_of(t: Tables) -> float:
    """Mass of everything that moves."""
    mass = 0.0
    for k in range(t.v.size):
        mass += t.links[k, layout.MASS]
    return mass


@merged
def moved(t: Tables, m: int) -> float:
    """M |move|^2 = x . W x = -x . u of pushes x."""
    total = 0.0
    for i in range(m):
        total -= t.impulses[3 * i] * t.u[3 * i]
    return total
