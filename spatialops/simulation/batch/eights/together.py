"""Steps of eight environments in one compiled call: side by side where free, else alone."""

from __future__ import annotations

from spatialops._arrays import Array, IntArray
from spatialops._compile.held import at_address, held
from spatialops._compile.jit import merged
from spatialops.algebra.simd import WIDTH
from spatialops.simulation import _layout as at
from spatialops.simulation.batch.eights import eight as of
from spatialops.simulation.batch.eights.eight import Eight
from spatialops.simulation.batch.eights.exchange import enter, leave, may_enter
from spatialops.simulation.batch.eights.free_rules import take_free_step, try_free_step
from spatialops.simulation.batch.many_steps import begin_anew, put_inputs, put_state
from spatialops.simulation.stepping.held.watched_steps import one_step
from spatialops.simulation.stepping.tables import Tables

# Where a call stands: the environment of those that step alone, whether all begin at their starts
# (1); from STEPS on the steps that each has made, and from ALONE on those that it shall make alone.
PLACE = 0
BEGINS = 1
STEPS = 2
ALONE = STEPS + WIDTH
PROGRESS = ALONE + WIDTH

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

    Each steps alone until it may step beside others, and those wait for it. `t` says of what type
    the tables are. Returns as `step_watched` does, FAULT behind the step under way; called again,
    it goes on with the same environment if PLACE is not moved on.
    """
    if progress[BEGINS] == 1:
        progress[BEGINS] = 0
        for place in range(which.size):
            if which[place] >= 0:
                begin_anew(at_address(t, addresses[place]), starts[which[place]])
    inside = 1
    while inside > 0:
        while progress[PLACE] < which.size:
            place = progress[PLACE]
            if which[place] >= 0 and e.monitor[of.INSIDE, place] == 0.0:
                one = at_address(t, addresses[place])
                while progress[STEPS + place] < taus.shape[1]:
                    if progress[ALONE + place] == 0 and may_enter(one):
                        enter(one, e, place)
                        break
                    k = progress[STEPS + place]
                    for j in range(one.tau.size):
                        one.tau[j] = taus[which[place], k, j]
                    put_inputs(one, ctrls, wrenches, which[place], k)
                    code = one_step(one, limits)
                    if code == at.DONE or code == at.FAULT:
                        put_state(one, states[which[place], k])
                    if code != at.DONE:
                        return code
                    progress[STEPS + place] = k + 1
                    progress[ALONE + place] = max(progress[ALONE + place] - 1, 0)
            progress[PLACE] += 1
        progress[PLACE] = 0
        inside = step_together(t, limits, progress, which, addresses, taus, states, e)
    return at.DONE


@merged
def step_together(
    t: Tables,
    limits: Array,
    progress: IntArray,
    which: IntArray,
    addresses: IntArray,
    taus: Array,
    states: Array,
    e: Eight,
) -> int:
    """Steps of those inside until one of them leaves; how many there were."""
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
