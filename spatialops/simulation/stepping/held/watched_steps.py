"""Ways into the loop with tables that are held; steps that are looked at when they are done.

What the certificate of a step needs stands in its row of the record, or in the monitors where it
has none. Here it is compared with its limits compiled, so that Python hears of faults only.
"""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops._compile.held import held
from spatialops._compile.jit import merged
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.detection_stage import detect_now
from spatialops.simulation.stepping.held.lasting import clear
from spatialops.simulation.stepping.record_rows import begin_record
from spatialops.simulation.stepping.state_machine import run
from spatialops.simulation.stepping.tables import Tables


@held
def begin_held(t: Tables, limits: Array) -> int:
    """As `start`: what belongs to the present state, and its row of the record."""
    begin_record(t)
    return at.DONE


@held
def clear_held(t: Tables, limits: Array) -> int:
    """Make tables as if they were new, but for frames of closures."""
    clear(t)
    return at.DONE


@held
def detect_held(t: Tables) -> int:
    """As `detect_contacts`."""
    detect_now(t)
    return at.DONE


@held
def advance_held(t: Tables, limits: Array) -> int:
    """As `advance`; nothing is compared with limits."""
    return run(t)


@held
def advance_watched(t: Tables, limits: Array) -> int:
    """As `advance`; FAULT where the steps are done and the last row is beyond a limit."""
    return run_watched(t, limits)


@held
def step_watched(t: Tables, limits: Array) -> int:
    """One step, whose row is the only one of the record, or what is left of it."""
    return one_step(t, limits)


@merged
def one_step(t: Tables, limits: Array) -> int:
    """Begin a step, or go on with one that had to wait; FAULT where it is beyond a limit."""
    if t.control[at.STAGE] == at.BEGIN:
        begin_one(t)
    return run_watched(t, limits)


@merged
def begin_one(t: Tables) -> None:
    """Ask for one step, whose row is the only one of the record."""
    t.control[at.ROWS] = 0
    t.control[at.CONTACT_ROWS] = 0
    t.control[at.EVENT_ROWS] = 0
    t.control[at.STEPS_LEFT] = 1


@merged
def run_watched(t: Tables, limits: Array) -> int:
    """Go on with the steps that are left; FAULT where they are done and beyond a limit."""
    code = run(t)
    if code == at.DONE and beyond(t, limits):
        return at.FAULT
    return code


@merged
def beyond(t: Tables, limits: Array) -> bool:
    """Whether the last row, or what was seen since, is beyond a limit (NaN is)."""
    row = t.control[at.ROWS] - 1
    if row >= 0 and not (
        t.rows[row, at.ROW_RESIDUAL] <= limits[at.MOST_RESIDUAL]
        and -t.rows[row, at.ROW_GAP] <= limits[at.MOST_DEPTH]
        and t.rows[row, at.ROW_OPENING] <= limits[at.MOST_OPENING]
    ):
        return True
    return not (
        t.monitor[at.RESIDUAL] <= limits[at.MOST_RESIDUAL]
        and -t.monitor[at.LOWEST_GAP] <= limits[at.MOST_DEPTH]
        and t.monitor[at.OPENING] <= limits[at.MOST_OPENING]
        and t.monitor[at.GAIN] <= limits[at.MOST_GAIN]
        and t.monitor[at.FASTEST] <= limits[at.MOST_SPIN]
        and t.control[at.STRAINED] == 0
    )
