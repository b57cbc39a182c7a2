"""Projection of positions: penetration is removed without touching velocities."""

from __future__ import annotations

from spatialops._jit import merged
from spatialops._stage import stage
from spatialops.algebra.vectors import copy_into
from spatialops.collision._layout import (
    GAP,
)
from spatialops.contact.lcp.lemke import lemke_kernel
from spatialops.contact.response import velocity_change
from spatialops.dynamics.articulated_body import factor_kernel
from spatialops.simulation._layout import (
    DEPTH,
    DT,
    DVC,
    PROJECTIONS,
    Q_X,
    SEEN,
    V_X,
)
from spatialops.simulation.closure import close_end, has_loops
from spatialops.simulation.stages import look, put_compliance
from spatialops.simulation.tables import Tables
from spatialops.tree.state import integrate_kernel


@stage
def project_positions(t: Tables) -> None:
    """Push penetrating contacts apart with the least motion in the metric of M; velocities stay: no energy enters.

    A frictionless LCP on positions, W_nn x + gap >= 0, x >= 0, whose pushes answer W and not the weight of anything.
    Loops answer in W and are closed after every push; velocities are then put back onto them, which takes energy only.
    """
    nq, nv = t.q.size, t.v.size
    move, q_x, v_x = t.vectors[DVC, :nv], t.vectors[Q_X, :nq], t.vectors[V_X, :nv]
    for _ in range(3):
        t.control[SEEN] = look(t, t.q, t.v, 0.0)
        lowest, m = 0.0, max(t.control[SEEN], 0)
        for i in range(m):
            lowest = min(lowest, t.seen[i, GAP])
        if lowest >= -0.1 * t.settings[DEPTH]:
            break
        t.control[PROJECTIONS] += 1
        factor_kernel(t.tree, t.links, t.work)
        put_compliance(t, t.seen_ints, t.seen, m)
        solve_gaps(t, m)
        velocity_change(t.tree, t.links, t.work, t.L, 3 * m, t.impulses, move)
        integrate_kernel(t.tree, t.q, move, 1.0, q_x)
        if has_loops(t):
            copy_into(v_x, t.v)
            close_end(t, t.settings[DT])
            copy_into(t.v, v_x)
        copy_into(t.q, q_x)


@merged
def solve_gaps(t: Tables, m: int) -> None:
    """Pushes along the normals that close no gap further and open those that are negative, into `impulses`.

    Gaps that nothing can change, because the loops hold both sides, are left as they are.
    """
    A, b, z, w, active = t.A[: m * m].reshape(m, m), t.b[:m], t.z[:m], t.w[:m], t.active[:m]
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
        t.D[: m * (m + 2)].reshape(m, m + 2),
        t.lcp_ints[: 6 * (m + 1)].reshape(6, m + 1),
        t.lcp_vectors[: 3 * m].reshape(3, m),
        active,
        z,
        w,
    )
    for i in range(m):
        t.impulses[3 * i] = z[i] / scale
        t.impulses[3 * i + 1] = t.impulses[3 * i + 2] = 0.0
