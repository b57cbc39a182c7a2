"""One step, as a table of contents, and the compiled loop over many.

The loop is a state machine. With `EXTERNAL` set it returns SOLVE whenever a contact problem is
ready (in the rows of L and u of the tables), and is called again once `impulses` hold the answer:
any formulation and solver in Python then runs through exactly the code that the compiled loop runs
through.
"""

from __future__ import annotations

from spatialops._compile.jit import inlined, merged
from spatialops._compile.references import refer
from spatialops._compile.stage import entered, stage
from spatialops._layout import OK
from spatialops.algebra.vectors import copy_into
from spatialops.dynamics.energy import kinetic_kernel
from spatialops.dynamics.kinematics import finite_status
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.constraints.arrivals import forget_arrivals
from spatialops.simulation.stepping.constraints.closed_mechanisms import add_reactions
from spatialops.simulation.stepping.constraints.forgone_motion import asks_too_much
from spatialops.simulation.stepping.constraints.joint_limits_and_friction import (
    has_joints,
    sum_joints,
)
from spatialops.simulation.stepping.constraints.loop_constraints import (
    has_loops,
    is_driven,
    keep_frames,
)
from spatialops.simulation.stepping.constraints.unforeseen import (
    is_pushed_back,
    keep_reach,
    met_unforeseen,
    shall_end_at,
)
from spatialops.simulation.stepping.contact_drift import note_motion
from spatialops.simulation.stepping.contact_solver import (
    solve_here,
    take_the_best,
)
from spatialops.simulation.stepping.contact_stage import (
    apply_impulses,
    prepare_contact,
    state_again,
    state_without_drift,
)
from spatialops.simulation.stepping.continuous_collision import may_cross
from spatialops.simulation.stepping.detection_stage import (
    detect_ahead,
    detect_at,
    detect_now,
    lowest_gap,
    note_touching,
)
from spatialops.simulation.stepping.impact_stage import (
    finish_impulses,
    impact_waits,
    prepare_compression,
    prepare_decompression,
    store_compression,
)
from spatialops.simulation.stepping.integrators.floating_trees import (
    forget_momenta,
    has_floating,
    put_right,
)
from spatialops.simulation.stepping.integrators.flow import smooth_step
from spatialops.simulation.stepping.integrators.joint_forces import advance_elements
from spatialops.simulation.stepping.integrators.midpoint import again
from spatialops.simulation.stepping.integrators.past import (
    begin_after_impulse,
    remember,
    remember_forces,
)
from spatialops.simulation.stepping.position_projection import project_positions
from spatialops.simulation.stepping.record_rows import (
    becomes_row,
    write_contacts,
    write_event,
    write_row,
)
from spatialops.simulation.stepping.tables import Tables
from spatialops.simulation.stepping.time_of_impact import (
    arrives_fast,
    cut_at_crossing,
    cut_piece,
    sinks_fast,
)
from spatialops.simulation.stepping.warm.impulse_memory import keep_forces, store_impulses
from spatialops.simulation.stepping.warm.rest import (
    begin_watching,
    flow_to_end,
    move_state,
    note_rest,
    rests,
    stay,
)


@entered
def advance(t: Tables) -> int:
    """Run until the steps are done or something is needed from outside; returns why it stopped."""
    return run(refer(t))


@stage
def run(t: Tables) -> int:
    """The state machine: a stage says which one is next."""
    while True:
        code = next_stage(t)
        if code != GO_ON:
            return code


GO_ON, ASK = -1, -2
_SHORTEST = 0.1  # of a step: pieces longer than that are halved where their problem is not solved
# Of a step: what is left of it after an arrival and shorter is none. The forces of a piece are its
# impulses over its length, and of roundings of positions they would be as large as one likes.
_SLIVER = 1e-9


@stage
def next_stage(t: Tables) -> int:
    """One stage of a step; GO_ON, or what the loop returns with."""
    stage = t.control[at.STAGE]
    if t.control[at.CODE] == at.FACTORS_FULL:
        code = ASK
    elif stage == at.BEGIN:
        code = begin_step(t)
    elif stage == at.IMPACT:
        code = begin_impact(t)
    elif stage == at.COMPRESSED:
        code = after_compression(t)
    elif stage == at.DECOMPRESSED:
        code = after_decompression(t)
    elif stage == at.SMOOTH:
        code = begin_piece(t)
    elif stage == at.CONTACT:
        code = after_contact(t)
    elif stage == at.MOVE:
        code = move(t)
    else:
        code = end_step(t)
    return answer(t) if code == ASK else code


@merged
def ask(t: Tables, next_stage: int) -> int:
    """Have the prepared problem solved, here or outside, and go on at `next_stage`."""
    t.control[at.STAGE] = next_stage
    return ASK


@inlined
def answer(t: Tables) -> int:
    """Solve the prepared problem, or return for it.

    A step's contacts start from those of the step before.
    """
    outside = t.control[at.EXTERNAL]
    if outside == 1 or (outside == 2 and t.control[at.STAGE] != at.CONTACT):
        return at.SOLVE
    if t.control[at.STAGE] == at.CONTACT and t.control[at.HOLDS] == 1:
        t.control[at.CODE] = 0
        t.control[at.WARM] += 1
        return GO_ON
    warm = t.control[at.STAGE] == at.CONTACT
    solve_here(t, warm)
    if warm and asks_too_much(t):
        state_without_drift(t)
        solve_here(t, warm)
    if t.control[at.CODE] == at.UNSOLVED:
        if warm and halve(t):
            return state_anew(t)
        take_the_best(t)
    return GO_ON if t.control[at.CODE] == 0 else t.control[at.CODE]


@merged
def halve(t: Tables) -> bool:
    """Make the piece, whose problem has not been solved, half as long; False where it is short.

    Of a shorter piece it is another problem, nearer to the answer known last, and what is left to
    solvers outside takes up to a thousand times as long, or has no answer.
    """
    if t.monitor[at.PIECE] <= _SHORTEST * t.settings[at.DT]:
        return False
    t.monitor[at.LONGEST] = 0.5 * t.monitor[at.PIECE]
    t.control[at.CODE] = 0
    return True


@inlined
def begin_step(t: Tables) -> int:
    """See to room in the record and to contacts at the present state.

    Done where no steps are left.
    """
    if t.control[at.STEPS_LEFT] == 0:
        return at.DONE
    full = (
        t.rows.shape[0] - t.control[at.ROWS] < 1
        or t.events.shape[0] - t.control[at.EVENT_ROWS] < at.MAX_PIECES + 2
    )
    if (
        full
        or t.contact_records.shape[0] - t.control[at.CONTACT_ROWS]
        < 2 * (at.MAX_PIECES + 1) * t.ints.shape[0]
    ):
        return at.RECORD_FULL
    if rests(t):
        return stay_here(t)
    begin_watching(t)
    t.control[at.TOGETHER] = 0
    t.control[at.MET] = 0
    keep_reach(t, 0.0, 0)
    if t.control[at.LOOKED] == 0:
        detect_now(t)
        lowest_gap(t)
    if t.control[at.SEEN] < 0:
        t.control[at.LOOKED] = 0
        return at.CONTACTS_FULL
    t.monitor[at.REMAINING] = t.settings[at.DT]
    t.control[at.PIECES] = 0
    t.control[at.STAGE] = at.IMPACT
    return GO_ON


@inlined
def begin_impact(t: Tables) -> int:
    """Compression of touching contacts that approach fast; without any, on to the smooth part."""
    if impact_waits(t):
        return compress(t)
    t.control[at.STAGE] = at.SMOOTH
    return GO_ON


@stage
def compress(t: Tables) -> int:
    prepare_compression(t)
    if t.control[at.ACTING] == 0:
        t.control[at.STAGE] = at.SMOOTH
        return GO_ON
    t.control[at.RETRIES] = 0
    return ask(t, at.COMPRESSED)


@stage
def after_compression(t: Tables) -> int:
    store_compression(t)
    if not prepare_decompression(t):
        t.control[at.STAGE] = at.DECOMPRESSED
        return GO_ON
    return ask(t, at.DECOMPRESSED)


@stage
def after_decompression(t: Tables) -> int:
    """Apply both phases; where they would add energy, decompress again with less restitution."""
    nv = t.v.size
    gain = finish_impulses(t)
    kinetic = kinetic_kernel(t.links, t.v, t.work)
    if gain > 1e-12 * kinetic and t.monitor[at.FRACTION] > 0.0:
        t.control[at.RETRIES] += 1
        t.monitor[at.FRACTION] = 0.5 * t.monitor[at.FRACTION] if t.control[at.RETRIES] < 8 else 0.0
        t.impulses[:] = 0.0
        if prepare_decompression(t):
            return ask(t, at.DECOMPRESSED)
        gain = finish_impulses(t)
    dv = t.vectors[at.DVC, :nv]
    t.control[at.STIRRED] = 1
    begin_after_impulse(t)
    forget_momenta(t)
    apply_impulses(t, dv)
    copy_into(t.vectors[at.V_X, :nv], t.v)
    for k in range(nv):
        t.v[k] += dv[k]
    if has_joints(t):
        sum_joints(t, 1.0, t.vectors[at.V_X, :nv], t.v)
    detect_now(t)
    after = kinetic_kernel(t.links, t.v, t.work)
    gain = gain if is_driven(t) else after - kinetic
    t.monitor[at.GAIN] = max(t.monitor[at.GAIN], gain / kinetic if kinetic > 0.0 else 0.0)
    write_event(t, kinetic, after)
    write_contacts(t, 1.0, 1)
    t.control[at.IMPACTS] += 1
    t.control[at.STAGE] = at.SMOOTH
    return GO_ON


@stage
def begin_piece(t: Tables) -> int:
    """Free acceleration, then the dt problem of contacts that touch or would within the piece."""
    prepare_piece(t)
    return meet_ahead(t) if smooth_step(t) == OK else at.BROKEN


@merged
def prepare_piece(t: Tables) -> None:
    """How long the piece is, and what it begins with; nothing is known of its contacts."""
    if t.control[at.LOOKED] == 0:  # it is begun anew
        detect_now(t)
    note_motion(t)
    t.monitor[at.PIECE] = min(t.monitor[at.REMAINING], t.monitor[at.LONGEST])
    t.control[at.LOOKED] = 0
    t.control[at.ACTING] = 0
    t.control[at.MOMENTS] = 0
    forget_arrivals(t)


@merged
def meet_ahead(t: Tables) -> int:
    """The dt problem of contacts that touch or would within the piece, whose smooth part is known.

    What is seen still is of the beginning of the piece.
    """
    note_touching(t)
    found = detect_ahead(t)
    if found < 0:
        return at.CONTACTS_FULL
    if found > 0:
        prepare_contact(t)
    if t.control[at.ACTING] > 0:
        return ask(t, at.CONTACT)
    again(t)  # where contacts were foreseen
    t.control[at.STAGE] = at.MOVE
    return GO_ON


@stage
def after_contact(t: Tables) -> int:
    """Take up the impulses of the step's contact problem, or state it once more."""
    apply_impulses(t, t.vectors[at.DVC, : t.v.size])
    if t.control[at.HOLDS] > 0:
        keep_forces(t)
    else:
        store_impulses(t)
    if again(t):
        state_again(t)
        return ask(t, at.CONTACT)
    if t.monitor[at.LONGEST] < t.monitor[at.PIECE]:
        return state_anew(t)
    if has_loops(t):
        add_reactions(t, t.control[at.ACTING])
    t.control[at.STAGE] = at.MOVE
    return GO_ON


@stage
def move(t: Tables) -> int:
    """To the end of the piece, or to the first impact within it."""
    q_x = t.vectors[at.Q_X, : t.q.size]
    v_x = t.vectors[at.V_X, : t.v.size]
    x = 1.0
    flow_to_end(t)
    t.control[at.SEEN] = detect_at(t, q_x, v_x, 0.0)
    if t.control[at.PIECES] < at.MAX_PIECES:
        if met_unforeseen(t):
            return state_anew(t)
        if arrives_fast(t):
            x = cut_piece(t)
            if is_pushed_back(t):
                return state_anew(t)
            if x == 1.0 and sinks_fast(t):
                return begin_anew(t)
        elif may_cross(t):
            x = cut_at_crossing(t)
        if shall_end_at(t, x):
            return state_anew(t)
    if t.control[at.SEEN] < 0:
        return at.CONTACTS_FULL
    if t.control[at.ACTING] > 0:
        if becomes_row(t):
            write_contacts(t, x, 0)
        if has_joints(t):
            sum_joints(t, x, t.v, v_x)
    if t.control[at.SCHEME] == at.MOREAU:
        remember(t)
        if x == 1.0 and has_floating(t):
            put_right(t)
    move_state(t, q_x, v_x)
    keep_reach(t, 0.0, 0)
    t.control[at.LOOKED] = 1
    t.monitor[at.REMAINING] -= x * t.monitor[at.PIECE]
    finished = t.monitor[at.REMAINING] <= _SLIVER * t.settings[at.DT]
    if not finished:
        t.control[at.STIRRED] = 1
    t.control[at.STAGE] = at.END if finished else at.IMPACT
    return GO_ON


@merged
def begin_anew(t: Tables) -> int:
    """The piece once more, with all contacts in its problem however fast they approach.

    The step is not cut again.
    """
    t.control[at.PIECES] = at.MAX_PIECES
    return state_anew(t)


@merged
def state_anew(t: Tables) -> int:
    """The piece once more."""
    t.control[at.LOOKED] = 0
    t.control[at.STAGE] = at.SMOOTH
    return GO_ON


@stage
def end_step(t: Tables) -> int:
    """Project positions where they penetrate, count the step, and record it."""
    if lowest_gap(t) < -t.settings[at.DEPTH] and project_positions(t):
        forget_momenta(t)
        t.control[at.STIRRED] = 1
    if has_loops(t):
        keep_frames(t)
    advance_elements(t)
    remember_forces(t)
    note_rest(t)
    return count_step(t)


@stage
def stay_here(t: Tables) -> int:
    """A step that changes nothing, which is known."""
    stay(t)
    t.monitor[at.REMAINING] = t.settings[at.DT]
    if t.control[at.ACTING] > 0 and becomes_row(t):
        write_contacts(t, 1.0, 0)
    t.monitor[at.REMAINING] = 0.0
    return count_step(t)


@merged
def count_step(t: Tables) -> int:
    """Count the step that is done, and record it."""
    recorded = becomes_row(t)
    t.control[at.STEP] += 1
    t.control[at.STEPS_LEFT] -= 1
    t.monitor[at.TIME] += t.settings[at.DT]
    if recorded:
        # NaN spreads and stays: what is recorded is finite, and so are its energies.
        if finite_status(t.q) != OK or finite_status(t.v) != OK:
            return at.BROKEN
        write_row(t)
        last = t.control[at.ROWS] - 1
        if finite_status(t.rows[last, at.ROW_KINETIC : at.ROW_POTENTIAL + 1]) != OK:
            t.control[at.ROWS] = last
            return at.BROKEN
    t.control[at.STAGE] = at.BEGIN
    return GO_ON
