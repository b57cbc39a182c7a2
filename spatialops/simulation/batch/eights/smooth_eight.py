"""Smooth parts of up to eight environments that step alone, side by side.

Of a step in contact the smooth part is the same arithmetic for all environments, as a free step is,
and ends with the same bits: links placed, factors, and the velocity change without contacts. What
contacts are foreseen to do counts with the middle velocity. Environments whose part asks for more
are left to `midpoint`.
"""

from __future__ import annotations

from spatialops import _layout as layout
from spatialops._arrays import Array
from spatialops._compile.jit import kernel, merged
from spatialops.algebra.lane_arrays import lanes_of
from spatialops.algebra.lane_logic import less, where
from spatialops.algebra.simd import WIDTH, store
from spatialops.algebra.simd_blocks import transposed
from spatialops.dynamics.kinematics import poses_kernel, velocities_kernel
from spatialops.simulation import _layout as at
from spatialops.simulation.batch.eights import eight as of
from spatialops.simulation.batch.eights.eight import Eight
from spatialops.simulation.batch.eights.free_rules import coordinates, row, settle_eight
from spatialops.simulation.batch.eights.free_step import LARGEST, keep_near, resist_eight
from spatialops.simulation.stepping.integrators.midpoint import end_middle, is_commanded
from spatialops.simulation.stepping.tables import Tables


@merged
def take_in(t: Tables, e: Eight, lane: int) -> None:
    """State at the middle of a step into a lane, and what is foreseen."""
    for i in range(t.q.size):
        e.vectors[of.Q_E, i, lane] = t.vectors[at.Q_E, i]
    for k in range(t.v.size):
        e.vectors[of.V_E, k, lane] = t.vectors[at.V_E, k]
        e.vectors[of.DV, k, lane] = t.vectors[at.DV, k]
        e.vectors[of.GUESS, k, lane] = t.vectors[at.DVC_GUESS, k]
        e.tau[k, lane] = t.tau[k]
    pushed = t.control[at.PUSHES] > 0
    e.monitor[of.WAITS, lane] = 1.0
    e.monitor[of.PUSHED, lane] = 1.0 if pushed else 0.0
    e.monitor[of.COMMANDED, lane] = 1.0 if is_commanded(t, pushed) else 0.0
    e.monitor[of.PAST, lane] = t.control[at.PAST]
    e.monitor[of.CURVATURE, lane] = t.monitor[at.CURVATURE]


@merged
def keep_out(e: Eight, lane: int) -> None:
    """Nothing in a lane of which no smooth part is to be found."""
    e.monitor[of.WAITS, lane] = 0.0
    for i in range(e.q.shape[0]):
        e.vectors[of.Q_E, i, lane] = e.neutral[i]
    for k in range(e.v.shape[0]):
        e.vectors[of.V_E, k, lane] = 0.0
        e.vectors[of.DV, k, lane] = 0.0
        e.vectors[of.GUESS, k, lane] = 0.0
        e.tau[k, lane] = 0.0


@kernel
def smooth_eight(e: Eight) -> None:
    """As `midpoint.find_middle` of those that wait; FREE says of whom it has been found."""
    s = e.settings[at.DT]
    monitor, work = lanes_of(e.monitor), lanes_of(e.work)
    monitor[of.FREE] = monitor[of.WAITS]
    monitor[of.FASTEST] = 0.0
    monitor[of.FRESH] = monitor[of.INSIDE]  # what is in `work` is of others
    keep_near(e, of.Q_E)
    poses_kernel(e.tree, e.links, coordinates(e, of.Q_E), work)
    if e.control[at.DAMPED] != 0:
        resist_eight(e, s)
    settle_eight(e, s)
    dv, free = row(e, of.DV), monitor[of.FREE]
    for k in range(e.v.shape[0]):
        free = where(less(abs(dv[k]), LARGEST), free, 0.0)
        free = where(less(0.0, work[k, layout.D_INVERSE]), free, 0.0)
    monitor[of.FREE] = free
    velocities_kernel(e.tree, e.links, row(e, of.V_E), work)


@kernel
def put_works(
    e: Eight,
    a: Array,
    b: Array,
    c: Array,
    d: Array,
    f: Array,
    g: Array,
    h: Array,
    i: Array,
) -> None:
    """Links in the tables `work` of the eight: what is asked of them behind the smooth part."""
    work = lanes_of(e.work)
    for k in range(e.v.shape[0]):
        for j in range(0, layout.WORK_COLUMNS, WIDTH):
            if layout.ART_B <= j < layout.PULL_M:  # inertias, which have done their work
                continue
            turned = transposed(
                (
                    work[k, j],
                    work[k, j + 1],
                    work[k, j + 2],
                    work[k, j + 3],
                    work[k, j + 4],
                    work[k, j + 5],
                    work[k, j + 6],
                    work[k, j + 7],
                )
            )
            store(a, k, j, turned[0])
            store(b, k, j, turned[1])
            store(c, k, j, turned[2])
            store(d, k, j, turned[3])
            store(f, k, j, turned[4])
            store(g, k, j, turned[5])
            store(h, k, j, turned[6])
            store(i, k, j, turned[7])


@merged
def take_over_smooth(t: Tables, e: Eight, lane: int) -> None:
    """The smooth part that was found in a lane."""
    nv = t.v.size
    for k in range(nv):
        t.vectors[at.DV, k] = e.vectors[of.DV, k, lane]
        t.vectors[at.TAU, k] = e.vectors[of.FORCES, k, lane]
        t.vectors[at.DRIVEN, k] = t.tau[k]
    t.control[at.ROUNDS] = int(e.monitor[of.ROUNDS, lane])
    t.monitor[at.SPIN] = e.monitor[of.SPIN, lane]
    if e.monitor[of.FASTEST, lane] > t.monitor[at.FASTEST]:
        t.monitor[at.FASTEST] = e.monitor[of.FASTEST, lane]
        t.control[at.SPINNING] = int(e.monitor[of.LINK, lane])
    end_middle(t)
