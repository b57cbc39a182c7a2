"""Tables that are cleared, or that work in those of others, step as new ones do, to the bit."""

import numpy as np
import pytest

import spatialops as so
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.adapter import load_new
from spatialops.simulation.stepping.held import lasting
from spatialops.simulation.stepping.held.held_loop import HeldLoop
from spatialops.simulation.stepping.held.watched_steps import begin_held, clear_held
from spatialops.simulation.stepping.tables import Tables
from tests.support.runs import boxes

STEPS = 60


@pytest.fixture(scope="module")
def simulator():
    return so.Simulator(boxes(2), dt=2e-3)


def states(simulator, tables):
    """Where the loop leads these tables from the scene's state."""
    loop = HeldLoop(simulator.stepping, tables, np.zeros(at.LIMITS))
    loop.advance(clear_held)
    load_new(loop.tables, simulator.scene.state)
    loop.advance(begin_held)
    loop.tables.control[at.STEPS_LEFT] = STEPS
    loop.advance()
    return loop.tables.row_states[: STEPS + 1].copy()


def new_tables(simulator):
    return simulator.stepping.tables(steps=(10 * STEPS, STEPS + 2))


def spoil(t, names):
    for name in names:
        values = getattr(t, name)
        values[...] = np.nan if values.dtype == np.float64 else 7


def test_every_table_is_of_one_kind():
    kinds = [lasting.WHOLE, lasting.COUNTED, lasting.STAYS_ZERO, lasting.CONSTANT]
    names = [name for kind in (*kinds, lasting.SCRATCH) for name in kind]
    assert sorted(names) == sorted(Tables._fields)


@pytest.mark.compiled
def test_cleared_tables_are_as_new(simulator):
    t = new_tables(simulator)
    first = states(simulator, t)
    spoil(t, lasting.WHOLE)
    np.testing.assert_array_equal(states(simulator, t), first)


@pytest.mark.compiled
def test_nothing_is_read_from_scratch_before_it_is_written(simulator):
    first = states(simulator, new_tables(simulator))
    t = new_tables(simulator)
    spoil(t, lasting.SCRATCH)
    np.testing.assert_array_equal(states(simulator, t), first)


@pytest.mark.compiled
def test_siblings_work_in_the_same_tables_and_keep_their_own_state(simulator):
    t = new_tables(simulator)
    other = lasting.sibling(t)
    assert other.entries is t.entries
    assert other.q is not t.q
    first = states(simulator, t)
    q = t.q.copy()
    np.testing.assert_array_equal(states(simulator, other), first)
    np.testing.assert_array_equal(t.q, q)
