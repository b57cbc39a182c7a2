"""Products of the derivative of many steps against differences, and with each other."""

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ArgumentError, ContactError
from tests.simulation.linearization.test_linearize import EXACT, driven_arm, standing


def changes(simulator, rollout, dq, dv, dtau, step):
    """States of fourth order differences along a direction: q and v, row by row."""
    model, first = simulator.scene.model, rollout.states[0]

    def moved(c):
        start = so.State(so.integrate(model, first.q, c * dq), first.v + c * dv)
        ends = simulator.linearize_rollout(start, rollout.forces + c * dtau).states
        return np.array(
            [
                np.concatenate([so.difference(model, at.q, end.q), end.v - at.v])
                for at, end in zip(rollout.states, ends)
            ]
        )

    f = [moved(c * step) for c in (-2.0, -1.0, 1.0, 2.0)]
    return (f[0] - 8.0 * f[1] + 8.0 * f[2] - f[3]) / (12.0 * step)


def check(simulator, state, forces, step, tolerance, seed=0):
    """Tangents are differences, and adjoints their transpose."""
    nv, rng = simulator.scene.model.nv, np.random.default_rng(seed)
    rollout = simulator.linearize_rollout(state, forces)
    dq, dv = rng.normal(size=(2, nv))
    dtau = rng.normal(size=forces.shape)
    ahead = rollout.jvp(dq, dv, dtau)
    expected = changes(simulator, rollout, dq, dv, dtau, step)
    found = np.hstack([ahead.q, ahead.v])
    assert np.abs(found - expected).max() < tolerance * np.abs(expected).max()
    by_q, by_v = rng.normal(size=(2, *ahead.q.shape))
    gradient = rollout.vjp(by_q, by_v)
    across = gradient.q @ dq + gradient.v @ dv + (gradient.tau * dtau).sum()
    total = (by_q * ahead.q).sum() + (by_v * ahead.v).sum()
    terms = np.abs(by_q * ahead.q).sum() + np.abs(by_v * ahead.v).sum()
    assert abs(across - total) < 1e-12 * terms
    return rollout


@pytest.mark.parametrize("integrator", ["moreau", "semi-implicit"])
def test_an_arm_with_springs_and_servos(integrator):
    simulator = so.Simulator(driven_arm(10.0), dt=5e-3, integrator=integrator, time=EXACT)
    state = so.State(np.array([0.3, 0.5, -0.8]), np.array([1.0, -2.0, 3.0]))
    check(simulator, state, np.full((8, 3), 0.1), 1e-4, 1e-7)


@pytest.mark.parametrize("every", [2, 3, 8, 20])
def test_states_between_those_that_are_kept_are_made_again(every):
    simulator = so.Simulator(driven_arm(10.0), dt=5e-3, time=EXACT)
    state = so.State(np.array([0.3, 0.5, -0.8]), np.array([1.0, -2.0, 3.0]))
    rng = np.random.default_rng(0)
    forces, by_q, by_v = rng.normal(size=(8, 3)), *rng.normal(size=(2, 9, 3))
    whole = simulator.linearize_rollout(state, forces)
    kept = simulator.linearize_rollout(state, forces, every=every)
    assert len(kept.states) == 2 + 7 // every
    assert np.allclose(kept.states[-1].q, whole.states[-1].q, rtol=0.0, atol=1e-12)
    for found, expected in zip(kept.vjp(by_q, by_v), whole.vjp(by_q, by_v), strict=True):
        assert np.allclose(found, expected, rtol=0.0, atol=1e-9 * np.abs(expected).max())
    ahead, all_ahead = (one.jvp(by_q[0], by_v[0], forces) for one in (kept, whole))
    assert np.allclose(ahead.q, all_ahead.q, rtol=0.0, atol=1e-9)
    assert np.allclose(ahead.v, all_ahead.v, rtol=0.0, atol=1e-9)
    with pytest.raises(ArgumentError, match="every"):
        simulator.linearize_rollout(state, forces, every=0)


@pytest.mark.compiled
def test_two_hundred_steps_on_four_feet():
    """A quadruped whose feet slide until they stick, under joint forces that hold it."""
    robot = so.models.quadruped()
    state, tau = standing(robot)
    simulator = so.Simulator(robot.scene(friction=0.3), dt=1e-3, time=EXACT)
    check(simulator, state, np.tile(tau, (200, 1)), 1e-8, 1e-5)


@pytest.mark.compiled
def test_a_box_that_is_pushed_over_the_floor():
    """It does not turn: corners that slide in different directions share its weight anyhow."""
    builder = so.TreeBuilder()
    solid = so.Inertia.box((0.2, 0.2, 0.1), mass=1.0)
    builder.add_body("box", joint="free", inertia=solid, position=(0.0, 0.0, 0.05 - 1e-6))
    geoms = [
        so.Geom("floor", "world", so.HalfSpace(), friction=0.4),
        so.Geom("box", "box", so.Box((0.2, 0.2, 0.1)), friction=0.4),
    ]
    simulator = so.Simulator(so.Scene(builder.build(), geoms), dt=2e-3, integrator="semi-implicit")
    state = so.State(simulator.scene.state.q, np.zeros(6))
    forces = np.tile([0.0, 0.0, 0.0, 6.0, 1.0, 0.0], (200, 1))
    rollout = simulator.linearize_rollout(state, forces)
    assert rollout.states[-1].q[0] > 0.1
    rng = np.random.default_rng(1)
    along = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 0.0])
    dq, dv = along * rng.normal(size=(2, 6))
    dtau = along * rng.normal(size=forces.shape)
    ahead = rollout.jvp(dq, dv, dtau)
    expected = changes(simulator, rollout, dq, dv, dtau, 1e-5)
    found = np.hstack([ahead.q, ahead.v])
    assert np.abs(found - expected).max() < 1e-5 * np.abs(expected).max()


@pytest.mark.parametrize("bad", [np.zeros((3, 3)), np.zeros(6), np.full((3, 2), np.nan), "x", None])
def test_what_does_not_fit_is_refused(bad):
    pendulum = so.models.pendulum(2)
    simulator = so.Simulator(pendulum.scene(), dt=1e-2, time=EXACT)
    rollout = simulator.linearize_rollout(pendulum.state, np.zeros((3, 2)))
    right, zero = np.zeros((4, 2)), np.zeros(2)
    with pytest.raises(ArgumentError, match="forces"):
        simulator.linearize_rollout(pendulum.state, bad)
    with pytest.raises(ArgumentError, match="by_q"):
        rollout.vjp(bad, right)
    with pytest.raises(ArgumentError, match="by_v"):
        rollout.vjp(right, bad)
    with pytest.raises(ArgumentError, match="dq"):
        rollout.jvp(bad, zero)
    if bad is not None:  # which stands for none
        with pytest.raises(ArgumentError, match="dtau"):
            rollout.jvp(zero, zero, bad)


def test_a_step_that_is_not_known_is_named():
    """It is made all the same: only its derivative is not known."""
    builder = so.TreeBuilder()
    ball = so.Inertia.sphere(0.1, mass=1.0)
    slide = so.Joint("prismatic", axis="z", lower=0.1, upper=2.0)
    builder.add_body("ball", joint=slide, inertia=ball)
    options = {"gain": (5.0, -40.0, -1.0), "dynamics": "filter", "time_constant": 0.02}
    muscle = so.Actuator(name="muscle", joints="ball", **options)
    scene = so.Scene(builder.build(), [], actuators=[muscle])
    simulator = so.Simulator(scene, dt=1e-2, time=EXACT)
    state = so.State(np.array([0.1105]), np.array([-0.2]), activation=np.zeros(1))
    rollout = simulator.linearize_rollout(state, np.zeros((8, 1)))
    assert len(rollout.states) == 9
    with pytest.raises(ContactError, match=r"step \d: linearize: actuators with activations"):
        rollout.jvp([1.0], [0.0])
    # What has failed leaves nothing behind.
    above = so.State(np.array([0.5]), np.zeros(1), activation=np.zeros(1))
    assert simulator.linearize(above).A.shape == (2, 2)


def test_forces_that_are_cut_have_no_effect():
    joint = so.Joint("revolute", axis="y", effort_limit=1.0)
    model = so.TreeBuilder().add_body("rod", joint=joint, inertia=so.Inertia.sphere(0.1, mass=1.0))
    simulator = so.Simulator(so.Scene(model.build(), []), dt=1e-2, clip_effort=True)
    rollout = simulator.linearize_rollout(so.State(np.zeros(1), np.zeros(1)), [[2.0], [0.5]])
    gradient = rollout.vjp(np.zeros((3, 1)), np.ones((3, 1)))
    assert gradient.tau[0, 0] == 0.0
    assert gradient.tau[1, 0] > 0.0
    assert (rollout.jvp([0.0], [0.0], [[1.0], [0.0]]).v == 0.0).all()
