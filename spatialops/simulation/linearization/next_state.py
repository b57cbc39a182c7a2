"""Steps from one state after another, each with what the one before has found at hand."""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops._compile.held import held
from spatialops._compile.jit import kernel, merged
from spatialops.algebra.vectors import copy_into
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization.made_step import Start
from spatialops.simulation.stepping.state_machine import GO_ON, next_stage
from spatialops.simulation.stepping.tables import Tables


@held
def begin_held(t: Tables, start: Start) -> int:
    """As `begin_near`."""
    begin_near(t, start)
    return at.DONE


@merged
def begin_near(t: Tables, start: Start) -> None:
    """Get ready for one step from `start`, which need not be where the last one led to.

    Its accelerations and forces of contacts are where the next one begins to look for its own:
    only how fast they are found depends on that. An activation is put by the caller.
    """
    copy_into(t.q, start.q)
    copy_into(t.v, start.v)
    copy_into(t.tau, start.tau)
    copy_into(t.ctrl, t.rest_ctrl)
    age_memory(t)
    t.monitor[at.RESIDUAL] = 0.0
    t.monitor[at.LONGEST] = t.settings[at.DT]
    t.monitor[at.LENGTHS_BEFORE + 1] = 0.0
    t.control[at.PAST] = min(t.control[at.PAST], 1)
    for i in range(t.floating.shape[0]):
        t.floating[i, at.PUT_RIGHT] = 0.0
    for i in (at.STAGE, at.STEP, at.ROWS, at.CONTACT_ROWS, at.EVENT_ROWS, at.LOOKED, at.CODE):
        t.control[i] = 0
    t.control[at.PROJECTIONS] = 0
    t.control[at.STEPS_LEFT] = 1


@kernel
def age_memory(t: Tables) -> None:
    """Forces of contacts are known until steps that are counted anew."""
    for i in range(t.control[at.MEMORY_ROWS]):
        t.memory[i, at.MEMORY_STEP] -= t.control[at.STEP]


@held
def part_held(t: Tables, limits: Array) -> int:
    """Go on until a piece has been moved, an impact has been resolved, or the step is done.

    The stage is then that after it: SMOOTH after an impact, BEGIN after the step.
    """
    while True:
        done = t.control[at.STAGE]
        code = next_stage(t)
        if code != GO_ON:
            return code
        anew = done == at.MOVE and t.control[at.STAGE] == at.SMOOTH
        if done in (at.MOVE, at.DECOMPRESSED, at.END) and not anew:
            return at.DONE
