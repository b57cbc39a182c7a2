"""One step, as a table of contents, and the compiled loop over many.

The loop is a state machine. With `EXTERNAL` set it returns SOLVE whenever a contact problem is ready (in W, u, offset
of the tables), and is called again once `impulses` hold the answer: any formulation and solver in Python then runs
through exactly the code that the compiled loop runs through.
"""

from __future__ import annotations

from spatialops._jit import merged
from spatialops._layout import OK
from spatialops._stage import entered, refer, stage
from spatialops.algebra.vectors import copy_into
from spatialops.dynamics.energy import kinetic_kernel
from spatialops.dynamics.kinematics import finite_status
from spatialops.simulation._layout import (
    ACTING,
    BEGIN,
    BROKEN,
    CODE,
    COMPRESSED,
    CONTACT,
    CONTACT_ROWS,
    CONTACTS_FULL,
    DECOMPRESSED,
    DEPTH,
    DONE,
    DT,
    DVC,
    END,
    EVENT_ROWS,
    EVERY,
    EXTERNAL,
    FRACTION,
    GAIN,
    IMPACT,
    IMPACTS,
    LOOKED,
    MAX_PIECES,
    MOVE,
    PIECE,
    PIECES,
    Q_X,
    RECORD_FULL,
    REMAINING,
    RETRIES,
    ROWS,
    SEEN,
    SMOOTH,
    SOLVE,
    SPINS,
    STAGE,
    STEP,
    STEPS_LEFT,
    TIME,
    UNSOLVED,
    V_X,
)
from spatialops.simulation.arrival import arrives_fast, cut_at_crossing, cut_piece, sinks_fast
from spatialops.simulation.closure import add_reactions, has_loops, is_driven, keep_frames
from spatialops.simulation.crossing import may_cross
from spatialops.simulation.flow import flow_to, smooth_step
from spatialops.simulation.impact import (
    finish_impulses,
    impact_waits,
    prepare_compression,
    prepare_decompression,
    store_compression,
)
from spatialops.simulation.joints import has_joints, sum_joints
from spatialops.simulation.projection import project_positions
from spatialops.simulation.recording import write_event, write_hits, write_row
from spatialops.simulation.stages import (
    apply_impulses,
    look,
    look_ahead,
    look_here,
    note_touching,
    prepare_contact,
    solve_here,
    watch_gaps,
)
from spatialops.simulation.tables import Tables


@entered
def advance(t: Tables) -> int:
    """Run until the steps are done or something is needed from outside; returns why it stopped."""
    return run(refer(t))


@stage
def run(t: Tables) -> int:
    """The state machine: a stage says which one is next."""
    while True:
        stage = t.control[STAGE]
        if stage == BEGIN:
            code = begin_step(t)
        elif stage == IMPACT:
            code = begin_impact(t)
        elif stage == COMPRESSED:
            code = after_compression(t)
        elif stage == DECOMPRESSED:
            code = after_decompression(t)
        elif stage == SMOOTH:
            code = begin_piece(t)
        elif stage == CONTACT:
            code = after_contact(t)
        elif stage == MOVE:
            code = move(t)
        else:
            code = end_step(t)
        if code == ASK:
            code = answer(t)
        if code != GO_ON:
            return code


GO_ON, ASK = -1, -2


@merged
def ask(t: Tables, next_stage: int) -> int:
    """Have the prepared problem solved, here or outside, and go on at `next_stage`."""
    t.control[STAGE] = next_stage
    return ASK


@merged
def answer(t: Tables) -> int:
    """Solve the prepared problem, or return for it; a step's contacts start from those of the step before."""
    outside = t.control[EXTERNAL]
    if outside == 1 or (outside == 2 and t.control[STAGE] != CONTACT):
        return SOLVE
    solve_here(t, t.control[STAGE] == CONTACT)
    return UNSOLVED if t.control[CODE] != 0 else GO_ON


@merged
def begin_step(t: Tables) -> int:
    """See to room in the record and to contacts at the present state; done where no steps are left."""
    if t.control[STEPS_LEFT] == 0:
        return DONE
    full = t.rows.shape[0] - t.control[ROWS] < 1 or t.events.shape[0] - t.control[EVENT_ROWS] < MAX_PIECES + 2
    if full or t.hits.shape[0] - t.control[CONTACT_ROWS] < 2 * (MAX_PIECES + 1) * t.ints.shape[0]:
        return RECORD_FULL
    if t.control[LOOKED] == 0:
        look_here(t)
        watch_gaps(t)
    if t.control[SEEN] < 0:
        t.control[LOOKED] = 0
        return CONTACTS_FULL
    t.monitor[REMAINING] = t.settings[DT]
    t.control[PIECES] = 0
    t.control[STAGE] = IMPACT
    return GO_ON


@merged
def begin_impact(t: Tables) -> int:
    """Compression of touching contacts that approach fast; without any, on to the smooth part."""
    if impact_waits(t):
        return compress(t)
    t.control[STAGE] = SMOOTH
    return GO_ON


@stage
def compress(t: Tables) -> int:
    prepare_compression(t)
    if t.control[ACTING] == 0:
        t.control[STAGE] = SMOOTH
        return GO_ON
    t.control[RETRIES] = 0
    return ask(t, COMPRESSED)


@stage
def after_compression(t: Tables) -> int:
    store_compression(t)
    if not prepare_decompression(t):
        t.control[STAGE] = DECOMPRESSED
        return GO_ON
    return ask(t, DECOMPRESSED)


@stage
def after_decompression(t: Tables) -> int:
    """Apply both phases; where they would add kinetic energy, decompress again with less restitution."""
    nv = t.v.size
    gain = finish_impulses(t)
    kinetic = kinetic_kernel(t.links, t.v, t.work)
    if gain > 1e-12 * kinetic and t.monitor[FRACTION] > 0.0:
        t.control[RETRIES] += 1
        t.monitor[FRACTION] = 0.5 * t.monitor[FRACTION] if t.control[RETRIES] < 8 else 0.0
        t.impulses[:] = 0.0
        if prepare_decompression(t):
            return ask(t, DECOMPRESSED)
        gain = finish_impulses(t)
    dv = t.vectors[DVC, :nv]
    apply_impulses(t, dv)
    copy_into(t.vectors[V_X, :nv], t.v)
    for k in range(nv):
        t.v[k] += dv[k]
    if has_joints(t):
        sum_joints(t, 1.0, t.vectors[V_X, :nv], t.v)
    look_here(t)
    after = kinetic_kernel(t.links, t.v, t.work)
    gain = gain if is_driven(t) else after - kinetic
    t.monitor[GAIN] = max(t.monitor[GAIN], gain / kinetic if kinetic > 0.0 else 0.0)
    write_event(t, kinetic, after)
    write_hits(t, 1.0, 1)
    t.control[IMPACTS] += 1
    t.control[STAGE] = SMOOTH
    return GO_ON


@stage
def begin_piece(t: Tables) -> int:
    """Free acceleration, then the dt problem of the contacts that touch or would within the piece."""
    if t.control[LOOKED] == 0:  # it is begun anew
        look_here(t)
    note_touching(t)
    t.monitor[PIECE] = t.monitor[REMAINING]
    t.control[LOOKED] = 0
    t.control[ACTING] = 0
    t.control[SPINS] = 0
    if smooth_step(t) != OK:
        return BROKEN
    found = look_ahead(t)
    if found < 0:
        return CONTACTS_FULL
    if found > 0:
        return touch(t)
    t.control[STAGE] = MOVE
    return GO_ON


@merged
def touch(t: Tables) -> int:
    """The dt problem of the contacts in sight."""
    prepare_contact(t)
    if t.control[ACTING] > 0:
        return ask(t, CONTACT)
    t.control[STAGE] = MOVE
    return GO_ON


@merged
def after_contact(t: Tables) -> int:
    """Take up the impulses of the step's contact problem."""
    apply_impulses(t, t.vectors[DVC, : t.v.size])
    if has_loops(t):
        add_reactions(t, t.control[ACTING])
    t.control[STAGE] = MOVE
    return GO_ON


@stage
def move(t: Tables) -> int:
    """To the end of the piece, or to the first impact within it."""
    q_x, v_x, x = t.vectors[Q_X, : t.q.size], t.vectors[V_X, : t.v.size], 1.0
    flow_to(t, 1.0)
    t.control[SEEN] = look(t, q_x, v_x, 0.0)
    if t.control[PIECES] < MAX_PIECES:
        if arrives_fast(t):
            x = cut_piece(t)
            if x == 1.0 and sinks_fast(t):
                return begin_anew(t)
        elif may_cross(t):
            x = cut_at_crossing(t)
    if t.control[SEEN] < 0:
        return CONTACTS_FULL
    if t.control[ACTING] > 0:
        write_hits(t, x, 0)
        if has_joints(t):
            sum_joints(t, x, t.v, v_x)
    copy_into(t.q, q_x)
    copy_into(t.v, v_x)
    t.control[LOOKED] = 1
    t.monitor[REMAINING] -= x * t.monitor[PIECE]
    finished = x == 1.0 or t.monitor[REMAINING] <= 1e-12 * t.settings[DT]
    t.control[STAGE] = END if finished else IMPACT
    return GO_ON


@merged
def begin_anew(t: Tables) -> int:
    """The piece once more, with all contacts in its problem however fast they approach; the step is not cut again."""
    t.control[PIECES] = MAX_PIECES
    t.control[LOOKED] = 0
    t.control[STAGE] = SMOOTH
    return GO_ON


@stage
def end_step(t: Tables) -> int:
    """Project positions where they penetrate, count the step, and record it."""
    if watch_gaps(t) < -t.settings[DEPTH]:
        project_positions(t)
        look_here(t)
    if has_loops(t):
        keep_frames(t)
    t.control[STEP] += 1
    t.control[STEPS_LEFT] -= 1
    t.monitor[TIME] += t.settings[DT]
    if t.control[STEP] % t.control[EVERY] == 0:
        if finite_status(t.q) != OK or finite_status(t.v) != OK:  # NaN spreads and stays: what is recorded is finite
            return BROKEN
        write_row(t)
    t.control[STAGE] = BEGIN
    return GO_ON
