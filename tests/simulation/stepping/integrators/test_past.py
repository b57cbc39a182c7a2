"""What the past foresees: polynomials, the order that fits, and how often a step is evaluated."""

import numpy as np
import pytest

import spatialops as so
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.adapter import load_state
from spatialops.simulation.stepping.integrators.past import foresee, put_before
from spatialops.simulation.stepping.record_rows import start

DT = 1e-3


@pytest.fixture
def tables():
    model = so.models.pendulum(2).model
    t = so.Simulator(so.Scene(model), dt=DT).stepping.tables()
    t.monitor[at.PIECE] = DT
    t.work[:] = 1.0
    return t


def lead(t, accelerations, lengths):
    """Put steps with these accelerations and lengths into the past; the order that fits."""
    order, run = 0, 0
    for a, s in zip(accelerations, lengths):
        run = run + 1 if s == t.monitor[at.LENGTHS_BEFORE] else 1
        t.control[at.PAST] = min(run, at.REMEMBERED)
        t.monitor[at.PIECE] = s
        t.monitor[at.LENGTHS_BEFORE + 1] = t.monitor[at.LENGTHS_BEFORE]
        t.monitor[at.LENGTHS_BEFORE] = s
        t.vectors[at.DV, :2] = s * np.array([a, -2.0 * a])
        order = put_before(t, at.SMOOTH_BEFORE, at.DV)
    return order


def foreseen(t, order, s):
    """Acceleration of the first link in the next step of length s."""
    t.monitor[at.PIECE] = s
    out = np.zeros(2)
    foresee(t, at.SMOOTH_BEFORE, order, out)
    assert out[1] == -2.0 * out[0]
    return out[0] / s


@pytest.mark.compiled
@pytest.mark.parametrize("degree", range(6))
def test_polynomials_are_continued(tables, degree):
    values = np.arange(10.0) ** degree
    order = lead(tables, values[:9], 9 * [DT])
    assert order == degree + 1
    assert foreseen(tables, order, DT) == pytest.approx(values[9])


@pytest.mark.compiled
def test_after_a_jump_the_last_value_is_the_best(tables):
    assert lead(tables, [1.0, 2.0, 3.0, 4.0, 5.0, -20.0], 6 * [DT]) == 1


@pytest.mark.compiled
def test_steps_of_other_lengths_are_continued_on_a_line(tables):
    """Middles at 0.5, 1.5, 2.5 (steps of 1), 4 (of 2) and 6.5 (of 3): a = 3 t + 1."""
    middles = np.array([0.5, 1.5, 2.5, 4.0])
    order = lead(tables, 3.0 * middles + 1.0, [DT, DT, DT, 2.0 * DT])
    assert foreseen(tables, order, 3.0 * DT) == pytest.approx(3.0 * 6.5 + 1.0)


@pytest.mark.compiled
def test_without_a_past_nothing_is_foreseen(tables):
    assert foreseen(tables, 0, DT) == 0.0
    order = lead(tables, [5.0], [DT])
    assert foreseen(tables, order, DT) == 5.0


def evaluations(scene, steps):
    """Evaluations of the dynamics a step."""
    stepping = so.Simulator(scene, dt=DT, certify="off").stepping
    t = stepping.tables(steps=(10, 10 * steps))
    load_state(t, scene.state, np.zeros(scene.model.nv), 0)
    start(t)
    total = 0
    for _ in range(steps):
        t.control[at.STEPS_LEFT] = 1
        t = stepping.advance(t)
        total += 1 + t.control[at.ROUNDS]
    return total / steps


@pytest.mark.compiled
def test_hardly_more_than_one_evaluation_settles_a_whirling_pendulum():
    """With a parabola it takes 2.6."""
    model = so.models.pendulum(12).model
    whirling = so.State(np.zeros(12), 8.0 * (-1.0) ** np.arange(12))
    assert evaluations(so.Scene(model, state=whirling), 400) < 1.5
