"""Impacts: compression and decompression of all that touches ([J] 54-58), without a gain of kinetic energy."""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops._jit import kernel, merged
from spatialops._stage import stage
from spatialops.collision._layout import (
    APPROACH,
    GAP,
    RESTITUTION,
)
from spatialops.dynamics.articulated_body import factor_kernel
from spatialops.simulation._layout import (
    ACTING,
    FRACTION,
    MAX_PIECES,
    PIECES,
    SEEN,
    THRESHOLD,
    TOUCH,
)
from spatialops.simulation.joints import has_joints, put_dry_limits
from spatialops.simulation.stages import drop_locked, put_compliance, take_contacts
from spatialops.simulation.tables import Tables


@merged
def impact_waits(t: Tables) -> bool:
    """Whether a touching contact approaches fast enough to be an impact."""
    for i in range(t.control[SEEN]):
        if t.seen[i, GAP] <= t.settings[TOUCH] and t.seen[i, APPROACH] < -t.settings[THRESHOLD]:
            return True
    return False


@kernel
def response(W: Array, impulses: Array, row: int) -> float:
    """Entry `row` of W p."""
    total = 0.0
    for j in range(impulses.size):
        total += W[row, j] * impulses[j]
    return total


@stage
def prepare_compression(t: Tables) -> None:
    """Problem of compression, [J] 54: all that touches, at the velocities it meets with."""
    take_contacts(t, True)
    factor_kernel(t.tree, t.links, t.work)
    if has_joints(t):
        put_dry_limits(t, 0)
    put_compliance(t, t.ints, t.floats, t.control[ACTING])
    drop_locked(t)
    t.monitor[FRACTION] = 1.0 if t.control[PIECES] < MAX_PIECES // 2 else 0.0


@merged
def store_compression(t: Tables) -> None:
    """Keep the impulses p_c of compression."""
    for i in range(3 * t.control[ACTING]):
        t.stored[i] = t.impulses[i]
        t.impulses[i] = 0.0


@merged
def prepare_decompression(t: Tables) -> bool:
    """Problem of decompression, [J] 56-57, after giving back theta = e p_c along normals; False if there is none."""
    m = t.control[ACTING]
    W, bounces = t.W[: 9 * m * m].reshape(3 * m, 3 * m), False
    for i in range(m):
        t.offset[i] = t.monitor[FRACTION] * t.floats[i, RESTITUTION] * t.stored[3 * i]
        bounces = bounces or t.offset[i] > 0.0
    if not bounces:
        return False
    for i in range(3 * m):
        total = t.floats[i // 3, APPROACH + i % 3]
        for j in range(3 * m):
            total += W[i, j] * (t.stored[j] + (t.offset[j // 3] if j % 3 == 0 else 0.0))
        t.u[i] = total
    return True


@merged
def finish_impulses(t: Tables) -> float:
    """Sum the impulses of both phases; returns the kinetic energy that they add, from contact quantities alone.

    Delta T = p . u + p . W p / 2 with u the velocities before.
    """
    m = t.control[ACTING]
    W, gain = t.W[: 9 * m * m].reshape(3 * m, 3 * m), 0.0
    for i in range(3 * m):
        t.impulses[i] += t.stored[i] + (t.offset[i // 3] if i % 3 == 0 else 0.0)
    for i in range(3 * m):
        before = t.floats[i // 3, APPROACH + i % 3]
        gain += t.impulses[i] * (before + 0.5 * response(W, t.impulses[: 3 * m], i))
    return gain
