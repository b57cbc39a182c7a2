"""Products of the derivative of many steps against differences, and with each other."""

import numpy as np
import pytest

import spatialops as so
from tests.simulation.linearization.test_linearize import driven_arm, standing


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
    simulator = so.Simulator(driven_arm(10.0), dt=5e-3, integrator=integrator)
    state = so.State(np.array([0.3, 0.5, -0.8]), np.array([1.0, -2.0, 3.0]))
    check(simulator, state, np.full((8, 3), 0.1), 1e-4, 1e-7)


@pytest.mark.compiled
def test_two_hundred_steps_on_four_feet():
    """A quadruped whose feet slide until they stick, under joint forces that hold it."""
    robot = so.models.quadruped()
    state, tau = standing(robot)
    simulator = so.Simulator(robot.scene(friction=0.3), dt=1e-3)
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


def test_a_step_that_is_not_known_is_named():
    robot = so.models.pendulum(2)
    simulator = so.Simulator(robot.scene(), dt=1e-2)
    rollout = simulator.linearize_rollout(robot.state, np.zeros((3, 2)))
    with pytest.raises(so.errors.ArgumentError, match="by_q"):
        rollout.vjp(np.zeros((3, 2)), np.zeros((4, 2)))
