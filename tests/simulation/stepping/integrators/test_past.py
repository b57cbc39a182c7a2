"""What the past foresees: polynomials, the order that fits, and how often a step is evaluated."""

import numpy as np
import pytest

import spatialops as so
from spatialops.simulation import _layout as at
from spatialops.simulation.scene.placement import raised
from spatialops.simulation.stepping.adapter import load_state
from spatialops.simulation.stepping.integrators.past import (
    foresee,
    put_before,
    put_pushes,
    whole_curvature,
)
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
    foresee(t, at.SMOOTH_BEFORE, order, 0.0, out)
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


def push(t, accelerations):
    """Put steps with these accelerations of contacts into the past; the order that fits."""
    order = 0
    for n, a in enumerate(accelerations):
        t.control[at.PAST] = min(n + 1, at.REMEMBERED)
        t.monitor[at.LENGTHS_BEFORE : at.LENGTHS_BEFORE + 2] = DT
        t.vectors[at.DVC, :2] = DT * np.array([a, -2.0 * a])
        order = put_pushes(t)
    return order


@pytest.mark.compiled
@pytest.mark.parametrize("ratio", [-1.0, -0.75])
@pytest.mark.parametrize("degree", [1, 2])
def test_what_swings_about_a_polynomial_is_continued(tables, degree, ratio):
    n = np.arange(13.0)
    values = 5.0 + n**degree + 0.1 * ratio**n
    order = push(tables, values[:12])
    share = tables.monitor[at.PUSHED_SHARE]
    assert (order, share) == (degree + 1, pytest.approx(ratio, abs=1e-6))
    out = np.zeros(2)
    foresee(tables, at.PUSHED_BEFORE, order, share, out)
    assert out[0] / DT == pytest.approx(values[12])


@pytest.mark.compiled
def test_what_grows_is_not_foreseen_to_grow_on(tables):
    values = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1e-9, 1.0]
    push(tables, values)
    assert abs(tables.monitor[at.PUSHED_SHARE]) <= 1.0


@pytest.mark.compiled
def test_what_swings_is_no_curvature(tables):
    n = np.arange(9.0)
    for values, second in ((3.0 * n + 0.1 * (-1.0) ** n, 0.0), (n**2, 2.0)):
        tables.vectors[at.SMOOTH_BEFORE :] = 0.0
        for k in range(9):
            push(tables, values[: k + 1])
            found = whole_curvature(tables, k > 3)
        assert found == pytest.approx(5.0 * second**2, rel=1e-9, abs=1e-18)


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


@pytest.mark.compiled
def test_a_robot_that_has_landed_seldom_states_its_problems_twice():
    """With polynomials alone it does in all of them."""
    scene = so.models.quadruped().scene()
    scene.state = raised(scene, 0.02)
    stepping = so.Simulator(scene, dt=DT, certify="off").stepping
    t = stepping.tables()
    load_state(t, scene.state, np.zeros(scene.model.nv), 0)
    start(t)
    again = 0
    for step in range(90):
        t.control[[at.STEPS_LEFT, at.ROWS, at.CONTACT_ROWS, at.EVENT_ROWS]] = 1, 0, 0, 0
        t = stepping.advance(t)
        again += step >= 70 and t.control[at.REPEATS] > 0
        assert step < 70 or t.control[at.ACTING] > 0
    assert again <= 8
