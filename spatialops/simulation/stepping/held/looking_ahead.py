"""A step that is only looked at: up to its contact problem, from tables that are held.

What `load_state`, `without_past` and `Stepping.prepare` do, compiled.
"""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops._compile.held import held
from spatialops._compile.jit import merged
from spatialops.algebra.vectors import copy_into
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.integrators.past import forget_past
from spatialops.simulation.stepping.state_machine import run
from spatialops.simulation.stepping.tables import Tables


@held
def look_held(
    t: Tables, time: Array, q: Array, v: Array, activation: Array, tau: Array, gain: Array
) -> int:
    """Begin a step at a state and go on to its first contact problem; what the loop returns.

    `time` (1,), `activation` of all elements; `gain` (nv,) is the change of velocity that Coriolis
    forces count on, of no entries where it is not known.
    """
    return look(t, time[0], q, v, activation, tau, gain)


@merged
def look(
    t: Tables, time: float, q: Array, v: Array, activation: Array, tau: Array, gain: Array
) -> int:
    """As `look_held`."""
    load(t, time, q, v, activation, tau)
    t.control[at.AIMED] = 0
    if gain.size > 0:
        t.control[at.AIMED] = 1
        copy_into(t.vectors[at.AIM, : gain.size], gain)
    t.control[at.EXTERNAL] = 1
    return run(t)


@merged
def load(t: Tables, time: float, q: Array, v: Array, activation: Array, tau: Array) -> None:
    """A state without a past, and one step to do."""
    forget_past(t)
    for k in range(t.floating.shape[0]):
        t.floating[k, at.PUT_RIGHT] = 0.0
    for k in range(t.control[at.MEMORY_ROWS]):
        t.memory[k, at.MEMORY_STEP] -= t.control[at.STEP]
    copy_into(t.q, q)
    copy_into(t.v, v)
    copy_into(t.activation, activation)
    copy_into(t.tau, tau)
    copy_into(t.ctrl, t.rest_ctrl)
    if t.control[at.WRENCHED] != 0:
        for k in range(t.wrenches.shape[0]):
            for c in range(t.wrenches.shape[1]):
                t.wrenches[k, c] = 0.0
        t.control[at.WRENCHED] = 1 if t.compensation.shape[0] > 0 else 0
    for k in range(at.MONITORS):
        t.monitor[k] = 0.0
    t.monitor[at.LONGEST] = t.settings[at.DT]
    t.monitor[at.TIME] = time
    begin_at_zero(t)
    t.control[at.STEPS_LEFT] = 1
    t.control[at.LOOKED] = 0


@merged
def begin_at_zero(t: Tables) -> None:
    """Counters of the run, as where the loop begins."""
    t.control[at.STAGE] = at.BEGIN
    t.control[at.STEP] = 0
    t.control[at.ROWS] = 0
    t.control[at.CONTACT_ROWS] = 0
    t.control[at.EVENT_ROWS] = 0
    t.control[at.IMPACTS] = 0
    t.control[at.PIVOTS] = 0
    t.control[at.PIVOTED] = 0
    t.control[at.CODE] = 0
    t.control[at.STILL] = 0
