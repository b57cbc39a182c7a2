"""Steps of eight environments in one compiled call: side by side where free, else alone."""

from __future__ import annotations

from spatialops._arrays import Array, IntArray
from spatialops._compile.held import at_address, held
from spatialops._compile.jit import merged
from spatialops.simulation import _layout as at
from spatialops.simulation.batch.eights import eight as of
from spatialops.simulation.batch.eights.alone import (
    ALONE,
    BEGINS,
    STEPS,
    begin_steps,
    find_smooth_parts,
    finish_steps,
    some_alone,
)
from spatialops.simulation.batch.eights.eight import Eight
from spatialops.simulation.batch.eights.exchange import leave
from spatialops.simulation.batch.eights.free_rules import take_free_step, try_free_step
from spatialops.simulation.batch.many_steps import begin_anew
from spatialops.simulation.stepping.tables import Tables

_PAUSE = 8  # steps alone of one that was refused, or that nobody is beside: trying costs some


@held
def step_eight(
    t: Tables,
    limits: Array,
    progress: IntArray,
    which: IntArray,
    addresses: IntArray,
    starts: Array,
    taus: Array,
    ctrls: Array,
    wrenches: Array,
    states: Array,
    e: Eight,
) -> int:
    """Steps of the listed environments (-1: none).

    All go on step by step, those that may beside each other, and the others alone. `t` says of what
    type the tables are. Returns as `step_watched` does, FAULT behind the step under way; called
    again, it goes on with the same environment if PLACE is not moved on.
    """
    if progress[BEGINS] == 1:
        progress[BEGINS] = 0
        for place in range(which.size):
            if which[place] >= 0:
                begin_anew(at_address(t, addresses[place]), starts[which[place]])
    code = finish_steps(t, limits, progress, which, addresses, states, e)
    goes_on = True
    while code == at.DONE and goes_on:
        code = begin_steps(t, limits, progress, which, addresses, taus, ctrls, wrenches, states, e)
        if code == at.DONE:
            find_smooth_parts(t, progress, which, addresses, e)
            code = finish_steps(t, limits, progress, which, addresses, states, e)
        if code == at.DONE:
            mixed = some_alone(progress, which, taus.shape[1], e)
            inside = step_together(t, limits, progress, which, addresses, taus, states, mixed, e)
            goes_on = mixed or inside > 0
    return code


@merged
def step_together(
    t: Tables,
    limits: Array,
    progress: IntArray,
    which: IntArray,
    addresses: IntArray,
    taus: Array,
    states: Array,
    once: bool,
    e: Eight,
) -> int:
    """A step of those inside, or steps until one of them leaves; how many there were."""
    inside = 0
    for place in range(which.size):
        if e.monitor[of.INSIDE, place] != 0.0:
            inside += 1
    stay = inside > 0
    if inside == 1:  # alone it is faster
        stay = False
        for place in range(which.size):
            if e.monitor[of.INSIDE, place] != 0.0:
                leave(at_address(t, addresses[place]), e, place)
                progress[ALONE + place] = _PAUSE
    nq, nv = e.q.shape[0], e.v.shape[0]
    while stay:
        stay = not once
        for place in range(which.size):
            if e.monitor[of.INSIDE, place] != 0.0:
                for j in range(nv):
                    e.tau[j, place] = taus[which[place], progress[STEPS + place], j]
        try_free_step(e, limits[at.MOST_SPIN])
        for place in range(which.size):
            if e.monitor[of.INSIDE, place] != 0.0 and e.monitor[of.FREE, place] == 0.0:
                leave(at_address(t, addresses[place]), e, place)
                progress[ALONE + place] = _PAUSE
                stay = False
        take_free_step(e)
        for place in range(which.size):
            if e.monitor[of.INSIDE, place] != 0.0:
                k = progress[STEPS + place]
                for j in range(nq):
                    states[which[place], k, j] = e.q[j, place]
                for j in range(nv):
                    states[which[place], k, nq + j] = e.v[j, place]
                progress[STEPS + place] = k + 1
                if k + 1 == taus.shape[1]:
                    leave(at_address(t, addresses[place]), e, place)
                    stay = False
    return inside
