"""Seeing contacts, and the contact problem of a step: each stage leaves behind what the next one needs."""

from __future__ import annotations

from spatialops._arrays import Array, IntArray
from spatialops._jit import kernel, merged
from spatialops._stage import entered, refer, stage
from spatialops.algebra.vectors import copy_into
from spatialops.collision._layout import (
    APPROACH,
    CONTACT_FEATURE_A,
    CONTACT_FEATURE_B,
    CONTACT_PAIR,
    CONTACT_SLOT,
    DRY,
    GAP,
    IMPULSE,
    MU,
)
from spatialops.collision.broad_phase import renew_near_pairs
from spatialops.collision.detector import find_contacts, place_geoms
from spatialops.contact.formulations.operational_space import assemble_kernel, recover_kernel
from spatialops.contact.friction import put_frames
from spatialops.contact.lcp.basis import solve_basis
from spatialops.contact.lcp.lemke import lemke_kernel
from spatialops.contact.response import contact_rows, multiply_rows, velocity_change
from spatialops.dynamics.kinematics import poses_kernel, velocities_kernel
from spatialops.simulation._layout import (
    ACTING,
    CODE,
    DV,
    LOOKED,
    LOWEST_GAP,
    MARGIN,
    MAX_PIECES,
    MOREAU,
    PIECE,
    PIECES,
    PIVOTS,
    Q_E,
    SCALE,
    SCHEME,
    SEEN,
    SEMI_IMPLICIT,
    SKIN,
    SOLVES,
    SPINS,
    THRESHOLD,
    TOLERANCE,
    TOUCH,
    V_E,
    V_X,
    WARM,
)
from spatialops.simulation._layout import RESIDUAL as WORST
from spatialops.simulation.closure import has_loops, project_contacts
from spatialops.simulation.joints import (
    find_used,
    has_joints,
    n_of_geoms,
    put_dry_limits,
    put_joint_speeds,
    see_joints,
    squeeze,
    squeeze_active,
    unsqueeze,
)
from spatialops.simulation.tables import Tables


@merged
def look(t: Tables, q: Array, v: Array, horizon: float) -> int:
    """Poses, velocities and contacts at a state; returns how many contacts (FULL if too many)."""
    poses_kernel(t.tree, t.links, q, t.work)
    velocities_kernel(t.tree, t.links, v, t.work)
    place_geoms(t.geom_ints, t.geoms, t.work, t.centers)
    renew_near_pairs(t.geom_ints, t.geoms, t.pairs, t.pair_rows, t.centers, t.kept, t.settings[SKIN], t.near)
    return see(t, q, v, horizon)


@merged
def see(t: Tables, q: Array, v: Array, horizon: float) -> int:
    """Contacts where geoms stand, now or within the horizon, then those of joints; how many (FULL if too many)."""
    count = find(t, horizon)
    return see_joints(t, q, v, horizon, count) if has_joints(t) else count


@stage
def find(t: Tables, horizon: float) -> int:
    """Contacts of geoms where they stand."""
    return find_contacts(
        t.geom_ints,
        t.geoms,
        t.solids,
        t.lists,
        t.pairs,
        t.pair_values,
        t.centers,
        t.near,
        t.work,
        t.settings[MARGIN],
        horizon,
        t.shape_rows,
        t.shape_ints,
        t.seen_ints,
        t.seen,
    )


@entered
def look_now(t: Tables) -> None:
    """Contacts at the present state, for callers in Python."""
    look_here(refer(t))


@stage
def look_here(t: Tables) -> None:
    """Contacts at the present state."""
    t.control[SEEN] = look(t, t.q, t.v, 0.0)
    t.control[LOOKED] = 1


@merged
def take_contacts(t: Tables, touching_only: bool) -> None:
    """Copy seen contacts to those that the next problem is made of.

    For an impact all that touch. For a step all but those that approach too fast: they are met by an impact of their
    own when they arrive (unless the step has been cut too often already). What touched as the piece began cannot
    arrive any more: it takes part however fast it approaches where the step is evaluated.
    """
    farthest = t.settings[TOUCH] if touching_only else 1e300
    fastest = t.settings[THRESHOLD] if not touching_only and t.control[PIECES] < MAX_PIECES else 1e300
    t.control[SPINS] = 0
    t.control[ACTING] = copy_contacts(
        t.seen_ints, t.seen, t.control[SEEN], farthest, fastest, t.lcp_ints, t.ints, t.floats
    )


@kernel
def copy_contacts(
    seen_ints: IntArray,
    seen: Array,
    count: int,
    farthest: float,
    fastest: float,
    touching: IntArray,
    ints: IntArray,
    floats: Array,
) -> int:
    """Copy contacts with a gap of at most `farthest` that approach no faster than `fastest`, or are named; how many."""
    kept = 0
    for i in range(count):
        if seen[i, GAP] <= farthest and (seen[i, APPROACH] >= -fastest or is_named(touching, seen_ints, i)):
            copy_into(ints[kept], seen_ints[i])
            copy_into(floats[kept], seen[i])
            kept += 1
    return kept


@merged
def note_touching(t: Tables) -> None:
    """Names of the contacts that touch at the present state, into `lcp_ints`: how many, then three numbers each."""
    names, count = t.lcp_ints, 0
    for i in range(t.control[SEEN]):
        if t.seen[i, GAP] <= t.settings[TOUCH] and 3 * count + 3 < names.size:
            names[3 * count + 1] = t.seen_ints[i, CONTACT_PAIR]
            names[3 * count + 2] = t.seen_ints[i, CONTACT_FEATURE_A]
            names[3 * count + 3] = t.seen_ints[i, CONTACT_FEATURE_B]
            count += 1
    names[0] = count


@kernel
def is_named(names: IntArray, ints: IntArray, i: int) -> bool:
    """Whether contact i is one of those that `note_touching` wrote down."""
    for j in range(1, 3 * names[0] + 1, 3):
        same = names[j] == ints[i, CONTACT_PAIR] and names[j + 1] == ints[i, CONTACT_FEATURE_A]
        if same and names[j + 2] == ints[i, CONTACT_FEATURE_B]:
            return True
    return False


@merged
def put_compliance(t: Tables, ints: IntArray, floats: Array, m: int) -> None:
    """Frames, rows of L and W of m contacts; factors and velocities must be in `work` (joints have theirs already)."""
    put_frames(ints, floats, m, t.work)
    contact_rows(t.tree, t.links, t.work, ints, floats, m, t.L)
    if has_loops(t):
        project_contacts(t, m)
    multiply_rows(t.L, 3 * m, t.W[: 9 * m * m].reshape(3 * m, 3 * m))
    for i in range(m):
        t.offset[i] = 0.0
        for j in range(3):
            t.u[3 * i + j] = floats[i, APPROACH + j]


@merged
def drop_locked(t: Tables) -> None:
    """Leave out contacts at a dead centre: W_nn below 1e-6 of the tangential compliance of the same contact.

    There the line of contact passes through the mechanism's joints. Within the angle d = 1e-3 about it the gap changes
    by less than d^2 / 2 = 5e-7 of the lever whatever the motion, while impulses of hundreds of N s would be needed to
    answer normal speeds of 1e-9 m/s, and with friction they jam or have no bound (Painleve).
    """
    m, largest, kept = t.control[ACTING], 0.0, 0
    W = t.W[: 9 * m * m].reshape(3 * m, 3 * m)
    for i in range(3 * m):
        largest = max(largest, W[i, i])
    for i in range(m):
        sideways = max(W[3 * i + 1, 3 * i + 1], W[3 * i + 2, 3 * i + 2])
        moves = sideways > 1e-14 * largest if t.ints[i, CONTACT_FEATURE_A] == DRY else False
        if moves or W[3 * i, 3 * i] > max(1e-6 * sideways, 1e-14 * largest):
            if kept < i:
                copy_into(t.ints[kept], t.ints[i])
                copy_into(t.floats[kept], t.floats[i])
            kept += 1
    if kept < m:
        t.control[ACTING] = kept
        put_compliance(t, t.ints, t.floats, t.control[ACTING])


@merged
def put_lcp(t: Tables) -> None:
    """The OS problem of W, u and offset."""
    m = t.control[ACTING]
    n = m * (t.facets.shape[0] + 2)
    friction = t.lcp_vectors[:m]
    for i in range(m):
        friction[i] = t.floats[i, MU]
    W, A = t.W[: 9 * m * m].reshape(3 * m, 3 * m), t.A[: n * n].reshape(n, n)
    t.monitor[SCALE] = assemble_kernel(W, t.u[: 3 * m], friction, t.offset[:m], t.facets, A, t.b[:n])
    if has_joints(t):
        for i in range(m):
            t.b[n - m + i] += t.monitor[SCALE] * t.dry[i]


@merged
def recall(t: Tables) -> None:
    """Active sets of the same contacts (pair and features) in the step before; none for new ones."""
    m, width = t.control[ACTING], t.facets.shape[0] + 1
    for i in range(m):
        p, row = t.ints[i, CONTACT_PAIR], -1
        for s in range(t.slots[p], t.slots[p + 1]):
            same_a = t.memory[s, width + 1] == t.ints[i, CONTACT_FEATURE_A]
            if same_a and t.memory[s, width + 2] == t.ints[i, CONTACT_FEATURE_B]:
                row = s
        for a in range(width + 1):
            t.active[width * i + a if a < width else width * m + i] = t.memory[row, a] if row >= 0 else 0


@merged
def remember(t: Tables) -> None:
    """Keep the active sets for the next step, under the names of their contacts."""
    m, width, last = t.control[ACTING], t.facets.shape[0] + 1, -1
    for i in range(m):
        p = t.ints[i, CONTACT_PAIR]
        if p != last:
            for s in range(t.slots[p], t.slots[p + 1]):
                t.memory[s, width + 1] = -1
            last = p
        row = t.slots[p] + t.ints[i, CONTACT_SLOT]
        t.memory[row, width + 1], t.memory[row, width + 2] = t.ints[i, CONTACT_FEATURE_A], t.ints[i, CONTACT_FEATURE_B]
        for a in range(width + 1):
            t.memory[row, a] = t.active[width * i + a if a < width else width * m + i]


@stage
def solve_here(t: Tables, warm: bool) -> None:
    """Assemble and solve the OS problem: the basis of the step before where it still fits, else Lemke."""
    m = t.control[ACTING]
    n = rows = m * (t.facets.shape[0] + 2)
    put_lcp(t)
    idle = has_joints(t) and n_of_geoms(t) < m
    if idle:
        n = find_used(t, m)
        squeeze(t, rows, n)
    A, b, z, w, active = t.A[: n * n].reshape(n, n), t.b[:n], t.z[:n], t.w[:n], t.active[:n]
    D, ints = t.D[: n * (n + 2)], t.lcp_ints[: 6 * (n + 1)].reshape(6, n + 1)
    vectors, tolerance = t.lcp_vectors[: 3 * n].reshape(3, n), t.settings[TOLERANCE]
    residual, code, pivots = 1e300, 0, 0
    if warm:
        recall(t)
        if idle:
            squeeze_active(t, n)
        residual = solve_basis(A, b, 0, active, z, w, D[: n * n].reshape(n, n), ints[4:6], vectors)
        t.control[WARM] += 1 if residual <= tolerance else 0
    if not residual <= tolerance:  # also where it is NaN
        code, pivots, residual = lemke_kernel(
            A, b, 0, t.covers, 10 * n + 100, tolerance, D.reshape(n, n + 2), ints, vectors, active, z, w
        )
    if idle:
        unsqueeze(t, rows, n)
    if warm:
        remember(t)
    t.control[CODE] = code
    t.control[PIVOTS] += pivots
    if code == 0:  # else Python's ladder goes on, and its residual counts
        t.monitor[WORST] = max(t.monitor[WORST], residual)
    recover_kernel(t.z[:rows], 0, t.facets, t.monitor[SCALE], t.impulses[: 3 * m])


@merged
def rest_of(t: Tables) -> float:
    """Time of the piece that lies after the state where its contacts are evaluated and that their impulses act in."""
    return t.monitor[PIECE] * (1.0 if t.control[SCHEME] == SEMI_IMPLICIT else 0.5)


@merged
def look_ahead(t: Tables) -> int:
    """Contacts at the evaluation state that touch or would within the rest of the piece; FULL if too many."""
    q_e, v_e = t.vectors[Q_E, : t.q.size], t.vectors[V_E, : t.v.size]
    if t.control[SCHEME] == MOREAU:  # else it is the present state, where geoms have been placed
        place_geoms(t.geom_ints, t.geoms, t.work, t.centers)
        renew_near_pairs(t.geom_ints, t.geoms, t.pairs, t.pair_rows, t.centers, t.kept, t.settings[SKIN], t.near)
    t.control[SEEN] = see(t, q_e, v_e, rest_of(t))
    return t.control[SEEN]


@stage
def prepare_contact(t: Tables) -> None:
    """Problem of a step, [J] 53: contacts at the evaluation state, velocities that they would have without impulses."""
    take_contacts(t, False)
    if t.control[ACTING] == 0:
        return
    nv = t.v.size
    v_e, dv, v_free = t.vectors[V_E, :nv], t.vectors[DV, :nv], t.vectors[V_X, :nv]
    for k in range(nv):
        v_free[k] = v_e[k] + dv[k]
    velocities_kernel(t.tree, t.links, v_free, t.work)
    if has_joints(t):
        put_joint_speeds(t, n_of_geoms(t), t.control[ACTING], v_free)
    put_compliance(t, t.ints, t.floats, t.control[ACTING])
    drop_locked(t)
    if has_joints(t):
        put_dry_limits(t, t.control[ACTING])
    for i in range(t.control[ACTING]):
        t.u[3 * i] += max(t.floats[i, GAP], 0.0) / rest_of(t)


@merged
def apply_impulses(t: Tables, dv: Array) -> None:
    """Joint velocities dv = M^-1 G^T p for the acting contacts, and their impulses into their table."""
    m = t.control[ACTING]
    for i in range(m):
        for j in range(3):
            t.floats[i, IMPULSE + j] = t.impulses[3 * i + j]
    velocity_change(t.tree, t.links, t.work, t.L, 3 * m, t.impulses, dv)
    t.control[SOLVES] += 1


@merged
def watch_gaps(t: Tables) -> float:
    """Smallest seen gap of the present state (0 where nothing is near), kept for the record."""
    lowest = 0.0
    for i in range(t.control[SEEN]):
        lowest = min(lowest, t.seen[i, GAP])
    t.monitor[LOWEST_GAP] = min(t.monitor[LOWEST_GAP], lowest)
    return lowest
