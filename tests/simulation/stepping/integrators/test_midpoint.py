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
from spatialops.simulation.scene.maximal_scene import maximal_scene, maximal_state
from spatialops.simulation.stepping.adapter import load_state
from spatialops.simulation.stepping.record_rows import start as begin

STEPS = (4e-3, 2e-3, 1e-3)
# A pendulum of 30 links on the floor, of which one is about to touch near a dead centre.
FALLEN = """
0.5715 0.0365 0.0453 0.03 0.0145 0.0052 -0.0154 -0.0066 -0.0069 -0.0141 0.0007 -0.0094 -0.0069
0.0569 -0.1653 -0.5063 -0.2111 -0.1264 0.0169 0.5948 0.0835 -0.3957 -0.1774 0.7236 -0.9174
0.3285 0.804 -1.2217 -0.0015 -3.1415
"""
FALLING = """
0.8837 -0.4072 0.6868 0.0739 -0.278 -0.0854 -0.3359 0.0965 0.006 -0.5534 0.5457 -0.7545 0.9348
0.7134 -6.3827 -0.9017 4.5963 -2.1937 3.8586 1.7277 -2.006 -0.846 4.9796 -4.9528 -3.8578 7.8305
-7.0326 8.7224 0.0969 -0.0272
"""


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
def test_rounds_that_lead_away_near_a_dead_centre_are_not_followed():
    """Each answered the round before with three times its forces: 868 N s, then no number."""
    scene = so.models.pendulum(30).scene(restitution=0.0)
    simulator = so.Simulator(maximal_scene(scene), dt=1e-3)
    fallen = so.State(*(np.array(text.split(), dtype=float) for text in (FALLEN, FALLING)))
    state = maximal_state(scene.model, fallen)
    kinetic = [so.energy(simulator.scene.model, state.q, state.v).kinetic]
    for _ in range(8):
        state, info = simulator.step(state)
        kinetic.append(so.energy(simulator.scene.model, state.q, state.v).kinetic)
        assert info.contacts.world_impulses[:, 2].max(initial=0.0) < 100.0
    assert np.diff(kinetic).max() < 0.0  # the tip rises


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
