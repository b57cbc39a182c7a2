"""Projection of positions: penetration is removed without touching velocities."""

from __future__ import annotations

from spatialops._compile.jit import merged
from spatialops._compile.stage import stage
from spatialops.algebra.vectors import copy_into
from spatialops.collision._layout import (
    GAP,
)
from spatialops.contact.delassus import multiply_rows, velocity_change
from spatialops.contact.lcp.lemke import lemke_kernel
from spatialops.contact.lcp.scratch import lemke_scratch
from spatialops.dynamics.articulated_body import factor_kernel
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.constraints.loop_constraints import close_end, has_loops
from spatialops.simulation.stepping.contact_stage import detect_at, put_rows
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.state import integrate_kernel


@stage
def project_positions(t: Tables) -> None:
    """Push penetrating contacts apart with the least motion in the metric of M; velocities stay.

    No energy enters.

    A frictionless LCP on positions, W_nn x + gap >= 0, x >= 0, whose pushes answer W and not the
    weight of anything. Loops answer in W and are closed after every push; velocities are then put
    back onto them, which takes energy only."""
    nq, nv = t.q.size, t.v.size
    move = t.vectors[at.DVC, :nv]
    q_x = t.vectors[at.Q_X, :nq]
    v_x = t.vectors[at.V_X, :nv]
    for _ in range(3):
        t.control[at.SEEN] = detect_at(t, t.q, t.v, 0.0)
        lowest, m = 0.0, max(t.control[at.SEEN], 0)
        for i in range(m):
            lowest = min(lowest, t.seen[i, GAP])
        if lowest >= -0.1 * t.settings[at.DEPTH]:
            break
        t.control[at.PROJECTIONS] += 1
        factor_kernel(t.tree, t.links, t.work)
        put_rows(t, t.seen_ints, t.seen, m)
        multiply_rows(t.L, 3 * m, t.W[: 9 * m * m].reshape(3 * m, 3 * m))
        solve_gaps(t, m)
        velocity_change(t.tree, t.links, t.work, t.L, 3 * m, t.impulses, move)
        integrate_kernel(t.tree, t.q, move, 1.0, q_x)
        if has_loops(t):
            copy_into(v_x, t.v)
            close_end(t, t.settings[at.DT])
            copy_into(t.v, v_x)
        copy_into(t.q, q_x)


@merged
def solve_gaps(t: Tables, m: int) -> None:
    """Pushes along the normals that close no gap and open negative ones, into `impulses`.

    Gaps that nothing can change, because the loops hold both sides, are left as they are.
    """
    A = t.A[: m * m].reshape(m, m)
    b = t.b[:m]
    z = t.z[:m]
    w = t.w[:m]
    active = t.active[:m]
    W, scale = t.W[: 9 * m * m].reshape(3 * m, 3 * m), 0.0
    for i in range(m):
        scale = max(scale, W[3 * i, 3 * i])
    if scale == 0.0:
        scale = 1.0
    for i in range(m):
        b[i] = t.seen[i, GAP] if W[3 * i, 3 * i] > 1e-14 * scale else 0.0
        for j in range(m):
            A[i, j] = W[3 * i, 3 * j] / scale
    lemke_kernel(
        A,
        b,
        0,
        t.covers,
        10 * m + 100,
        1e-6,
        active,
        z,
        w,
        lemke_scratch(
            t.D[: m * (m + 2)].reshape(m, m + 2),
            t.lcp_ints[: 6 * (m + 1)].reshape(6, m + 1),
            t.lcp_vectors[: 3 * m].reshape(3, m),
        ),
    )
    for i in range(m):
        t.impulses[3 * i] = z[i] / scale
        t.impulses[3 * i + 1] = t.impulses[3 * i + 2] = 0.0
