"""A step that is made alone, around its smooth part: that may be found beside those of others.

What an environment leaves behind before it is its own. Tables that environments share are written
and read after it.
"""

from __future__ import annotations

from spatialops._compile.jit import merged
from spatialops._compile.stage import stage
from spatialops._layout import OK
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.integrators.floating_trees import has_floating, take_momenta
from spatialops.simulation.stepping.integrators.flow import begin_smooth, smooth_step
from spatialops.simulation.stepping.integrators.midpoint import aim_middle, find_middle
from spatialops.simulation.stepping.state_machine import (
    ASK,
    GO_ON,
    answer,
    meet_ahead,
    next_stage,
    prepare_piece,
)
from spatialops.simulation.stepping.tables import Tables

READY = GO_ON  # to begin the smooth part


@stage
def to_smooth_part(t: Tables) -> int:
    """Go on to the next smooth part: READY, or what the loop returns with before."""
    while t.control[at.STAGE] != at.SMOOTH:
        code = next_stage(t)
        if code != GO_ON:
            return code
    return READY


@stage
def aim(t: Tables) -> bool:
    """Begin a piece by the midpoint rule; whether it is a whole step, without wrenches.

    Then its smooth part is begun as well, up to where links are placed.
    """
    prepare_piece(t)
    if t.control[at.WRENCHED] != 0 or t.monitor[at.PIECE] != t.settings[at.DT]:
        return False
    begin_smooth(t)
    if has_floating(t):
        take_momenta(t)
    aim_middle(t)
    return True


@merged
def finish_smooth(t: Tables, aimed: bool) -> int:
    """The smooth part of a piece that was begun, alone; GO_ON if it has an end."""
    status = find_middle(t) if aimed else smooth_step(t)
    return GO_ON if status == OK else at.BROKEN


@stage
def go_on(t: Tables) -> int:
    """The contact problem behind the smooth part; what the loop returns with, or GO_ON."""
    code = meet_ahead(t)
    return answer(t) if code == ASK else code
