"""The midpoint rule: second order beside DOP853, energy without trend, pieces that are cut."""

import itertools

import numpy as np
import pytest

import spatialops as so
from spatialops.bench.contacts.mechanisms import chain_on_balls
from spatialops.errors import StepSizeWarning
from spatialops.experiments.accuracy.measures import order, swing, trend
from spatialops.experiments.accuracy.spinning import heavy_top
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.adapter import load_state
from spatialops.simulation.stepping.record_rows import start as begin

STEPS = (4e-3, 2e-3, 1e-3)


def fast_pendulum():
    model = so.models.pendulum(3).model
    return so.Scene(model, state=so.State(np.array([0.5, -1.0, 2.0]), np.array([4.0, -6.0, 9.0])))


def robot_in_flight():
    robot = so.models.quadruped()
    v = np.random.default_rng(5).normal(size=robot.model.nv)
    return so.Scene(robot.model, state=so.State(robot.state.q, v))


@pytest.mark.compiled
@pytest.mark.parametrize(
    "scene", [fast_pendulum(), heavy_top(20.0), robot_in_flight()], ids=["tree", "ball", "floating"]
)
def test_errors_fall_with_the_square_of_the_step(scene):
    model = scene.model
    motion = so.smooth_motion(model, scene.state, 0.2)
    errors = []
    for dt in STEPS:
        record = so.Simulator(scene, dt=dt, certify="off", joint_limits=False).run(duration=0.2)
        end = motion(0.2)
        errors.append(np.abs(so.difference(model, end.q, record.q[-1])).max())
    assert order(errors) == pytest.approx(2.0, abs=0.1)


@pytest.mark.compiled
def test_errors_of_a_closed_loop_fall_so_too():
    scene = so.models.four_bar().scene()
    ends = [so.Simulator(scene, dt=dt).run(duration=0.4).q[-1] for dt in (*STEPS, 5e-4)]
    errors = [np.abs(a - b).max() for a, b in itertools.pairwise(ends)]
    assert order(errors) > 1.9


@pytest.mark.compiled
def test_the_energy_of_a_fast_top_has_no_trend():
    record = so.Simulator(heavy_top(150.0), dt=1e-3, certify="off").run(duration=5.0)
    assert swing(record.energy, record.kinetic[0]) < 1e-5
    assert trend(record.energy, record.kinetic[0]) < 1e-5


@pytest.mark.compiled
def test_steps_are_cut_where_the_middle_velocity_does_not_settle():
    """A step of 1.2 rad: Coriolis forces settle in shorter pieces, and energy is still kept."""
    with pytest.warns(StepSizeWarning, match="top"):
        record = so.Simulator(heavy_top(150.0), dt=8e-3, certify="off").run(duration=1.0)
    assert swing(record.energy, record.kinetic[0]) < 1e-3


@pytest.mark.compiled
def test_stepping_by_hand_is_the_run():
    scene = fast_pendulum()
    simulator = so.Simulator(scene, dt=2e-3)
    record = simulator.run(duration=0.1)
    state = scene.state
    for _ in range(50):
        state, _ = simulator.step(state)
    assert np.array_equal(state.q, record.q[-1])


@pytest.mark.compiled
def test_what_was_before_does_not_matter_for_where_a_step_leads():
    scene = fast_pendulum()
    simulator = so.Simulator(scene, dt=1e-3)
    record = simulator.run(duration=0.1)
    begun = so.State(record.q[-2], record.v[-2], record.times[-2])
    anew, _ = so.Simulator(scene, dt=1e-3).step(begun)
    assert np.abs(anew.v - record.v[-1]).max() < 1e-7 * np.abs(anew.v).max()


def problems_in(taus):
    """Problems and velocities of a chain that lies on balls, pushed so step by step."""
    scene = chain_on_balls(6, 4)
    start = so.State(scene.state.q, np.append(np.zeros(6), 0.5 * np.ones(5)))
    stepping = so.Simulator(scene, dt=1e-3, certify="off").stepping
    t = stepping.tables()
    load_state(t, start, taus[0], 0)
    begin(t)
    for tau in taus:
        t.control[[at.STEPS_LEFT, at.ROWS, at.CONTACT_ROWS, at.EVENT_ROWS]] = 1, 0, 0, 0
        t.tau[:] = tau
        t = stepping.advance(t)
    return t.control[at.SOLVES], t.v.copy()


@pytest.mark.compiled
def test_forces_that_are_held_settle_as_none_do_and_new_ones_to_what_was_asked():
    """In contact: a controller counts on the step that its forces begin with."""
    held = np.zeros((60, 11))
    held[:, 6:] = 0.05
    news = held * (1.0 + 1e-9 * np.arange(60)[:, None])
    few, end = problems_in(held)
    many, exact = problems_in(news)
    assert few < many
    assert np.abs(end - exact).max() < 1e-5
