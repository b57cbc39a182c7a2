"""Steps of many environments in one compiled call, which returns where it needs something."""

from __future__ import annotations

from spatialops._arrays import Array, IntArray
from spatialops._compile.held import at_address, held
from spatialops._compile.jit import kernel, merged
from spatialops.algebra.vectors import copy_into
from spatialops.collision.pair_runs import sides_of
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.held.lasting import clear, zero_rows
from spatialops.simulation.stepping.held.watched_steps import one_step
from spatialops.simulation.stepping.record_rows import begin_record
from spatialops.simulation.stepping.tables import Tables

# Where a call stands: place in its list of environments, one past the last, step, whether each
# begins at its start (1) or goes on from where it stands, and whether it returns READ before the
# first step of each and behind all of them (1).
PLACE = 0
LAST = 1
STEP = 2
BEGINS = 3
READS = 4
PROGRESS = 5

TO_BEGIN = -1  # step of an environment that has not begun


@held
def step_many(
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
    forces: Array,
) -> int:
    """Steps of the listed environments, each with its tables, one environment after the other.

    `t` says of what type the tables are. Forces are those on geoms, where there is room for them.
    Returns as `step_watched` does, FAULT behind the step that it is about; called again, it goes on
    where it stopped.
    """
    while progress[PLACE] < progress[LAST]:
        e = which[progress[PLACE]]
        if e < 0:  # it stays where it is
            progress[PLACE] += 1
            continue
        one = at_address(t, addresses[progress[PLACE]])
        if progress[STEP] == TO_BEGIN:
            progress[STEP] = 0
            if progress[BEGINS] == 1:
                begin_anew(one, starts[e])
            if progress[READS] == 1:
                return at.READ
        while progress[STEP] < taus.shape[1]:
            k = progress[STEP]
            copy_into(one.tau, taus[e, k])
            put_inputs(one, ctrls, wrenches, e, k)
            code = one_step(one, limits)
            if code != at.DONE and code != at.FAULT:
                return code
            put_state(one, states[e, k])
            if forces.shape[0] > 0:
                put_forces(one, forces[e, k])
            progress[STEP] = k + 1
            if code == at.FAULT:
                return code
            if progress[READS] == 1:
                return at.READ
        progress[STEP] = TO_BEGIN
        progress[PLACE] += 1
    return at.DONE


@merged
def put_inputs(t: Tables, ctrls: Array, wrenches: Array, e: int, k: int) -> None:
    """Controls and wrenches of step k of environment e, where there are any."""
    if ctrls.shape[1] > 0:
        copy_into(t.ctrl, ctrls[e, k])
    else:
        copy_into(t.ctrl, t.rest_ctrl)
    if wrenches.shape[1] > 0:
        t.control[at.WRENCHED] = 1
        for b in range(t.wrenches.shape[0]):
            copy_into(t.wrenches[b], wrenches[e, k, b])
    elif t.control[at.WRENCHED] != 0:
        zero_rows(t.wrenches)
        t.control[at.WRENCHED] = min(t.compensation.shape[0], 1)


@merged
def begin_anew(t: Tables, start: Array) -> None:
    """Begin at a state, time and activations, without a past."""
    clear(t)
    end = t.q.size + t.v.size
    copy_into(t.q, start[: t.q.size])
    copy_into(t.v, start[t.q.size : end])
    copy_into(t.activation, start[end + 1 :])
    t.monitor[at.TIME] = start[end]
    t.monitor[at.LONGEST] = t.settings[at.DT]
    begin_record(t)


@merged
def put_state(t: Tables, state: Array) -> None:
    """The present state into a row of q and v."""
    copy_into(state, t.q)
    copy_into(state[t.q.size :], t.v)


@merged
def put_forces(t: Tables, forces: Array) -> None:
    """Mean forces of the step on every geom, world axes."""
    count = t.control[at.CONTACT_ROWS]
    sum_forces(t.contact_records, count, t.geom_ints, t.pair_runs, t.settings[at.DT], forces)


@kernel
def sum_forces(
    records: Array, count: int, geom_ints: IntArray, runs: IntArray, dt: float, forces: Array
) -> None:
    for g in range(forces.shape[0]):
        for j in range(3):
            forces[g, j] = 0.0
    for i in range(count):
        pair = int(records[i, at.RECORD_PAIR])
        if pair < 0:  # a moment
            continue
        a, b = sides_of(geom_ints, runs, pair)
        for j in range(3):
            force = records[i, at.RECORD_IMPULSE + j] / dt
            forces[a, j] += force
            forces[b, j] -= force
