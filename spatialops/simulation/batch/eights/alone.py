"""Steps of environments that are alone: each by itself, but for its smooth part.

They begin a step one after the other, up to its smooth part; the smooth parts are found side by
side; then each goes on to the end of its step.
"""

from __future__ import annotations

from spatialops._arrays import Array, IntArray
from spatialops._compile.held import at_address
from spatialops._compile.jit import merged
from spatialops.algebra.simd import WIDTH
from spatialops.simulation import _layout as at
from spatialops.simulation.batch.eights import eight as of
from spatialops.simulation.batch.eights.eight import Eight
from spatialops.simulation.batch.eights.exchange import enter, may_enter
from spatialops.simulation.batch.eights.smooth_eight import (
    keep_out,
    put_works,
    smooth_eight,
    take_in,
    take_over_smooth,
)
from spatialops.simulation.batch.eights.smooth_part import (
    READY,
    aim,
    finish_smooth,
    go_on,
    to_smooth_part,
)
from spatialops.simulation.batch.many_steps import put_inputs, put_state
from spatialops.simulation.stepping.held.watched_steps import begin_one, beyond, run_watched
from spatialops.simulation.stepping.state_machine import GO_ON
from spatialops.simulation.stepping.tables import Tables

# Where a call stands: the environment that is at work alone, whether all begin at their starts (1);
# from STEPS on the steps that each has made, and from ALONE on those that it shall make alone.
PLACE = 0
BEGINS = 1
STEPS = 2
ALONE = STEPS + WIDTH
STAND = ALONE + WIDTH
PROGRESS = STAND + WIDTH

# Where each stands, from STAND on: between two steps, before its smooth part or behind it, where
# that is found beside others or alone, or within a step that goes on before anything else.
BETWEEN = 0
BESIDE = 1
APART = 2
BEHIND = 3
WITHIN = 4

_BESIDE = 2  # of so many at least smooth parts are found side by side


@merged
def some_alone(progress: IntArray, which: IntArray, steps: int, e: Eight) -> bool:
    """Whether any has steps left that it shall make alone."""
    for place in range(which.size):
        apart = which[place] >= 0 and e.monitor[of.INSIDE, place] == 0.0
        if apart and progress[STEPS + place] < steps:
            return True
    return False


@merged
def begin_steps(
    t: Tables,
    limits: Array,
    progress: IntArray,
    which: IntArray,
    addresses: IntArray,
    taus: Array,
    ctrls: Array,
    wrenches: Array,
    states: Array,
    e: Eight,
) -> int:
    """Begin a step of all that have steps left, up to its smooth part; DONE.

    Those that may step beside others enter, and wait.
    """
    for place in range(which.size):
        if which[place] < 0 or e.monitor[of.INSIDE, place] != 0.0:
            continue
        one = at_address(t, addresses[place])
        while progress[STAND + place] == BETWEEN and progress[STEPS + place] < taus.shape[1]:
            if progress[ALONE + place] == 0 and may_enter(one):
                enter(one, e, place)
                break
            k = progress[STEPS + place]
            for j in range(one.tau.size):
                one.tau[j] = taus[which[place], k, j]
            put_inputs(one, ctrls, wrenches, which[place], k)
            begin_one(one)
            progress[PLACE] = place
            progress[STAND + place] = WITHIN
            code = begin_alone(one, limits)
            if code == READY:
                aimed = aim(one)
                progress[STAND + place] = BESIDE if aimed else APART
                if aimed:
                    take_in(one, e, place)
                break
            end_alone(one, progress, which, states, place, code)
            if code != at.DONE:
                return code
    return at.DONE


@merged
def begin_alone(t: Tables, limits: Array) -> int:
    """READY before the smooth part of a step by the midpoint rule; of others, what ends the step.

    The smooth part of those is too short for being found elsewhere.
    """
    if t.control[at.SCHEME] != at.MOREAU:
        return run_watched(t, limits)
    code = to_smooth_part(t)
    return at.FAULT if code == at.DONE and beyond(t, limits) else code


@merged
def find_smooth_parts(
    t: Tables, progress: IntArray, which: IntArray, addresses: IntArray, e: Eight
) -> None:
    """Smooth parts of those that are before it, side by side where there are several."""
    beside = 0
    for place in range(which.size):
        if is_beside(progress, which, place):
            beside += 1
    if beside < _BESIDE:
        return
    for place in range(WIDTH):
        if not is_beside(progress, which, place):
            keep_out(e, place)
    smooth_eight(e)
    put_works(
        e,
        work_of(t, progress, which, addresses, e, 0),
        work_of(t, progress, which, addresses, e, 1),
        work_of(t, progress, which, addresses, e, 2),
        work_of(t, progress, which, addresses, e, 3),
        work_of(t, progress, which, addresses, e, 4),
        work_of(t, progress, which, addresses, e, 5),
        work_of(t, progress, which, addresses, e, 6),
        work_of(t, progress, which, addresses, e, 7),
    )
    for place in range(which.size):
        if e.monitor[of.WAITS, place] != 0.0 and e.monitor[of.FREE, place] != 0.0:
            progress[STAND + place] = BEHIND


@merged
def is_beside(progress: IntArray, which: IntArray, place: int) -> bool:
    """Whether there is an environment whose smooth part is found beside others."""
    return place < which.size and which[place] >= 0 and progress[STAND + place] == BESIDE


@merged
def work_of(
    t: Tables, progress: IntArray, which: IntArray, addresses: IntArray, e: Eight, place: int
) -> Array:
    """Where its links are to be put."""
    if is_beside(progress, which, place):
        return at_address(t, addresses[place]).work
    return e.nowhere


@merged
def finish_steps(
    t: Tables,
    limits: Array,
    progress: IntArray,
    which: IntArray,
    addresses: IntArray,
    states: Array,
    e: Eight,
) -> int:
    """Go on to the ends of steps that have begun; DONE. First the one that had to wait."""
    first = progress[PLACE]
    for i in range(-1, which.size):
        place = first if i < 0 else i
        if place >= which.size or which[place] < 0 or progress[STAND + place] == BETWEEN:
            continue
        one = at_address(t, addresses[place])
        stand = progress[STAND + place]
        progress[PLACE] = place
        progress[STAND + place] = WITHIN
        code = GO_ON
        if stand == BEHIND:
            take_over_smooth(one, e, place)
        elif stand != WITHIN:
            code = finish_smooth(one, stand == BESIDE)
        if stand != WITHIN and code == GO_ON:
            code = go_on(one)
        if code == GO_ON:
            code = run_watched(one, limits)
        end_alone(one, progress, which, states, place, code)
        if code != at.DONE:
            return code
    return at.DONE


@merged
def end_alone(
    t: Tables, progress: IntArray, which: IntArray, states: Array, place: int, code: int
) -> None:
    """Note that a step is done, if it is."""
    if code == at.DONE or code == at.FAULT:
        k = progress[STEPS + place]
        put_state(t, states[which[place], k])
        progress[STAND + place] = BETWEEN
        if code == at.DONE:
            progress[STEPS + place] = k + 1
            progress[ALONE + place] = max(progress[ALONE + place] - 1, 0)
