"""Steps of eight environments in one compiled call: side by side where free, else alone."""

from __future__ import annotations

from spatialops._arrays import Array, IntArray
from spatialops._compile.held import at_address, held
from spatialops._compile.jit import merged
from spatialops.simulation import _layout as at
from spatialops.simulation.batch.eights import eight as of
from spatialops.simulation.batch.eights.eight import Eight
from spatialops.simulation.batch.eights.exchange import enter, leave, may_enter
from spatialops.simulation.batch.eights.free_rules import take_free_step, try_free_step
from spatialops.simulation.batch.many_steps import begin_anew, put_inputs, put_state
from spatialops.simulation.stepping.held.watched_steps import one_step
from spatialops.simulation.stepping.tables import Tables

# Where a call stands: the step, the environment of those that step alone, whether all begin at
# their starts (1).
STEP = 0
PLACE = 1
BEGINS = 2
PROGRESS = 3

TOGETHER = -1  # place: those that are free have not made the step yet


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
    """Steps of the listed environments (-1: none), all of them one step at a time.

    `t` says of what type the tables are. Returns as `step_watched` does, FAULT about the step under
    way; called again, it goes on with the same environment if PLACE is not moved on.
    """
    if progress[BEGINS] == 1:
        progress[BEGINS] = 0
        for place in range(which.size):
            if which[place] >= 0:
                begin_anew(at_address(t, addresses[place]), starts[which[place]])
    while progress[STEP] < taus.shape[1]:
        k = progress[STEP]
        if progress[PLACE] == TOGETHER:
            step_together(t, limits, which, addresses, taus, states, e, k)
            progress[PLACE] = 0
        while progress[PLACE] < which.size:
            place = progress[PLACE]
            if which[place] >= 0 and e.monitor[of.INSIDE, place] == 0.0:
                one = at_address(t, addresses[place])
                for j in range(one.tau.size):
                    one.tau[j] = taus[which[place], k, j]
                put_inputs(one, ctrls, wrenches, which[place], k)
                code = one_step(one, limits)
                if code == at.DONE or code == at.FAULT:
                    put_state(one, states[which[place], k])
                if code != at.DONE:
                    return code
            progress[PLACE] += 1
        progress[PLACE] = TOGETHER
        progress[STEP] += 1
    for place in range(which.size):
        if which[place] >= 0 and e.monitor[of.INSIDE, place] != 0.0:
            leave(at_address(t, addresses[place]), e, place)
    return at.DONE


@merged
def step_together(
    t: Tables,
    limits: Array,
    which: IntArray,
    addresses: IntArray,
    taus: Array,
    states: Array,
    e: Eight,
    k: int,
) -> None:
    """Step k of those that are free; the others are left to step alone."""
    inside = 0
    for place in range(which.size):
        if which[place] < 0:
            continue
        if e.monitor[of.INSIDE, place] == 0.0:
            one = at_address(t, addresses[place])
            if may_enter(one):
                enter(one, e, place)
        if e.monitor[of.INSIDE, place] != 0.0:
            inside += 1
            for j in range(e.tau.shape[0]):
                e.tau[j, place] = taus[which[place], k, j]
    if inside == 0:
        return
    try_free_step(e, limits[at.MOST_SPIN])
    for place in range(which.size):
        if e.monitor[of.INSIDE, place] != 0.0 and e.monitor[of.FREE, place] == 0.0:
            leave(at_address(t, addresses[place]), e, place)
    take_free_step(e)
    nv = e.v.shape[0]
    for place in range(which.size):
        if e.monitor[of.INSIDE, place] != 0.0:
            for j in range(nv):
                states[which[place], k, j] = e.q[j, place]
                states[which[place], k, nv + j] = e.v[j, place]
