"""Environments on their way from the loop's tables into lanes, and back."""

from __future__ import annotations

from spatialops._compile.jit import merged
from spatialops.simulation import _layout as at
from spatialops.simulation.batch.eights import eight as of
from spatialops.simulation.batch.eights.eight import Eight
from spatialops.simulation.stepping.integrators.past import EQUAL
from spatialops.simulation.stepping.tables import Tables


@merged
def may_enter(t: Tables) -> bool:
    """Whether the next step of an environment may be a free one, as far as its past says.

    Between two steps, without contacts now and those of steps before forgotten, and the steps
    before as long as the next one.
    """
    dt, last = t.settings[at.DT], t.monitor[at.LENGTHS_BEFORE]
    quiet = t.control[at.STAGE] == at.BEGIN and t.control[at.PUSHES] == 0
    apart = t.control[at.LOOKED] == 0 or t.control[at.SEEN] == 0
    known = t.control[at.PAST]
    even = known == 0 or abs(dt - last) <= EQUAL * dt
    if known == 1:
        even = even and t.monitor[at.LENGTHS_BEFORE + 1] == 0.0
    return quiet and apart and even and t.monitor[at.LONGEST] >= dt


@merged
def enter(t: Tables, e: Eight, lane: int) -> None:
    """State and past of an environment into its lane."""
    for i in range(t.q.size):
        e.q[i, lane] = t.q[i]
    for i in range(t.roots.size):
        for c in range(at.FLOATING_COLUMNS):
            e.floating[i, c, lane] = t.floating[i, c]
    for k in range(t.v.size):
        e.v[k, lane] = t.v[k]
        for j in range(at.REMEMBERED):
            e.past[j, k, lane] = t.vectors[at.SMOOTH_BEFORE + j, k]
    e.monitor[of.TIME, lane] = t.monitor[at.TIME]
    e.monitor[of.PAST, lane] = t.control[at.PAST]
    e.monitor[of.SMOOTH_ORDER, lane] = t.control[at.SMOOTH_ORDER] if t.control[at.PAST] > 0 else 0.0
    e.monitor[of.LENGTHS_BEFORE, lane] = t.monitor[at.LENGTHS_BEFORE]
    e.monitor[of.LENGTHS_BEFORE + 1, lane] = t.monitor[at.LENGTHS_BEFORE + 1]
    e.monitor[of.CURVATURE, lane] = t.monitor[at.CURVATURE]
    e.monitor[of.INSIDE, lane] = 1.0
    e.monitor[of.FRESH, lane] = 1.0
    e.steps[lane] = t.control[at.STEP]


@merged
def leave(t: Tables, e: Eight, lane: int) -> None:
    """Back into its tables; the lane stands where nothing can become of it.

    Contacts at its state are to be looked for anew, and none are known.
    """
    for i in range(t.q.size):
        t.q[i] = e.q[i, lane]
        e.q[i, lane] = e.neutral[i]
    for i in range(t.roots.size):
        for c in range(at.FLOATING_COLUMNS):
            t.floating[i, c] = e.floating[i, c, lane]
    for k in range(t.v.size):
        t.v[k] = e.v[k, lane]
        e.v[k, lane] = 0.0
        e.tau[k, lane] = 0.0
        for j in range(at.REMEMBERED):
            t.vectors[at.SMOOTH_BEFORE + j, k] = e.past[j, k, lane]
            e.past[j, k, lane] = 0.0
    t.monitor[at.TIME] = e.monitor[of.TIME, lane]
    t.control[at.PAST] = int(e.monitor[of.PAST, lane])
    t.control[at.SMOOTH_ORDER] = int(e.monitor[of.SMOOTH_ORDER, lane])
    t.monitor[at.LENGTHS_BEFORE] = e.monitor[of.LENGTHS_BEFORE, lane]
    t.monitor[at.LENGTHS_BEFORE + 1] = e.monitor[of.LENGTHS_BEFORE + 1, lane]
    t.monitor[at.CURVATURE] = e.monitor[of.CURVATURE, lane]
    t.control[at.STEP] = e.steps[lane]
    t.control[at.LOOKED] = 0
    t.control[at.BEFORE] = 0
    t.control[at.BEFORE_LOOK] = 0
    t.control[at.STILL] = 0
    for i in range(of.MONITORS):
        e.monitor[i, lane] = 0.0
