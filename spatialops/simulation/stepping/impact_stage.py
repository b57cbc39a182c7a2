"""Impacts: compression and decompression of all that touches ([J] 54-58), no gain of energy."""

from __future__ import annotations

from spatialops._compile.jit import merged
from spatialops._compile.stage import stage
from spatialops.collision._layout import (
    APPROACH,
    GAP,
    RESTITUTION,
)
from spatialops.contact.rows import SparseRows, answer_rows
from spatialops.dynamics.articulated_body import factor_kernel
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.constraints.arrivals import (
    arrive_together,
    is_fast,
    meet_together,
    of_others,
)
from spatialops.simulation.stepping.constraints.joint_limits_and_friction import (
    has_joints,
    put_dry_limits,
)
from spatialops.simulation.stepping.contact_stage import (
    drop_locked,
    put_acting_rows,
)
from spatialops.simulation.stepping.detection_stage import take_contacts
from spatialops.simulation.stepping.tables import Tables


@merged
def impact_waits(t: Tables) -> bool:
    """Whether a touching contact approaches fast enough to be an impact.

    Inelastic ones that are many are none, but arrivals of the step's own problem.
    """
    inelastic, last = 0, -1
    for i in range(t.control[at.SEEN]):
        if t.seen[i, GAP] > t.settings[at.TOUCH] or not is_fast(t, i):
            continue
        if t.seen[i, RESTITUTION] > 0.0:
            return True
        inelastic += of_others(t, i, last)
        last = i
    meet_together(t, inelastic, max(t.control[at.MET] - 1, 0))  # the last cut was at these
    return inelastic > 0 and not arrive_together(t)


@stage
def prepare_compression(t: Tables) -> None:
    """Problem of compression, [J] 54: all that touches, at the velocities it meets with."""
    take_contacts(t, True)
    t.control[at.HOLDS] = t.control[at.QUIET] = 0
    factor_kernel(t.tree, t.links, t.work)
    if has_joints(t):
        put_dry_limits(t, 0)
    put_acting_rows(t)
    drop_locked(t)
    t.monitor[at.FRACTION] = 1.0 if t.control[at.PIECES] < at.MAX_PIECES // 2 else 0.0


@merged
def store_compression(t: Tables) -> None:
    """Keep the impulses p_c of compression."""
    for i in range(3 * t.control[at.ACTING]):
        t.stored[i] = t.impulses[i]
        t.impulses[i] = 0.0


@merged
def prepare_decompression(t: Tables) -> bool:
    """Problem of decompression, [J] 56-57, after giving back theta = e p_c along normals.

    False if there is none.
    """
    m, bounces = t.control[at.ACTING], False
    given = t.impulses[: 3 * m]
    for i in range(m):
        t.prior[i] = t.monitor[at.FRACTION] * t.floats[i, RESTITUTION] * t.stored[3 * i]
        bounces = bounces or t.prior[i] > 0.0
        for j in range(3):
            given[3 * i + j] = t.stored[3 * i + j] + (t.prior[i] if j == 0 else 0.0)
    answer_rows(SparseRows(t.entries, t.places), given, t.vectors[at.DVC, : t.v.size], t.u[: 3 * m])
    for i in range(3 * m):
        t.u[i] += t.floats[i // 3, APPROACH + i % 3]
        given[i] = 0.0
    return bounces


@merged
def finish_impulses(t: Tables) -> float:
    """Sum the impulses of both phases.

    Returns the kinetic energy that they add, from contact quantities alone.

    Delta T = p . u + p . W p / 2 with u the velocities before.
    """
    m, gain = t.control[at.ACTING], 0.0
    p, w = t.impulses[: 3 * m], t.u[: 3 * m]
    for i in range(3 * m):
        p[i] += t.stored[i] + (t.prior[i // 3] if i % 3 == 0 else 0.0)
    answer_rows(SparseRows(t.entries, t.places), p, t.vectors[at.DVC, : t.v.size], w)
    for i in range(3 * m):
        gain += p[i] * (t.floats[i // 3, APPROACH + i % 3] + 0.5 * w[i])
    return gain
