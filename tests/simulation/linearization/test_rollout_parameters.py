"""Products along many steps with changes of masses, friction and restitution."""

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ArgumentError
from tests.simulation.linearization.test_free_bodies import PUSH, box_on_floor, on_a_corner
from tests.simulation.linearization.test_linearize import EXACT, driven_arm, standing
from tests.simulation.linearization.test_lone_parameters import STEPS, with_parameters
from tests.simulation.linearization.test_parameters import slope


def check(scene_of, state, forces, h, tolerance, **options):
    """Tangents by parameters are differences, and adjoints the transpose of tangents."""
    simulator = so.Simulator(scene_of(0.0, 0.0), **options)
    model, n = simulator.scene.model, len(forces)
    rollout = simulator.linearize_rollout(state, forces)
    rng, pairs = np.random.default_rng(5), simulator.scene.n_pairs
    theta = so.inertial_parameters(model)
    inertial = 0.1 * theta * rng.normal(size=theta.size)
    zero = np.zeros(model.nv)
    given = {"inertial": inertial, "friction": np.ones(pairs), "restitution": -np.ones(pairs)}
    ahead = rollout.jvp(zero, zero, **given)

    def moved(c):
        scene = with_parameters(scene_of(c, -c), theta + c * inertial)
        ends = so.Simulator(scene, **options).linearize_rollout(state, forces).states
        return np.array(
            [
                np.concatenate([so.difference(model, at.q, end.q), end.v - at.v])
                for at, end in zip(rollout.states, ends)
            ]
        )

    expected = slope([moved(c * h) for c in STEPS], h)
    found = np.hstack([ahead.q, ahead.v])
    assert np.abs(found - expected).max() < tolerance * np.abs(expected).max()
    dq, dv = rng.normal(size=(2, model.nv))
    dtau = rng.normal(size=forces.shape)
    ahead = rollout.jvp(dq, dv, dtau, **given)
    by_q, by_v = rng.normal(size=(2, n + 1, model.nv))
    gradient = rollout.vjp_parameters(by_q, by_v)
    across = gradient.q @ dq + gradient.v @ dv + np.sum(gradient.tau * dtau)
    across += sum(getattr(gradient, name) @ value for name, value in given.items())
    terms = np.abs(by_q * ahead.q).sum() + np.abs(by_v * ahead.v).sum()
    assert abs(across - np.sum(by_q * ahead.q) - np.sum(by_v * ahead.v)) < 1e-11 * terms
    return rollout


def test_an_arm_in_stretches():
    """Steps are made again from one state in three."""
    simulator = so.Simulator(driven_arm(10.0), dt=5e-3, time=EXACT)
    state = so.State(np.array([0.3, 0.5, -0.8]), np.array([1.0, -2.0, 3.0]))
    rng = np.random.default_rng(0)
    forces, by_q, by_v = rng.normal(size=(8, 3)), *rng.normal(size=(2, 9, 3))
    gradients = [
        simulator.linearize_rollout(state, forces, every=every).vjp_parameters(by_q, by_v)
        for every in (1, 3)
    ]
    for one, other in zip(*gradients, strict=True):
        assert np.allclose(one, other, rtol=0.0, atol=1e-9 * np.abs(one).max(initial=0.0))
    assert np.abs(gradients[0].inertial).max() > 1e-3


@pytest.mark.compiled
@pytest.mark.parametrize("law", ["coulomb", "cone"])
@pytest.mark.parametrize("friction", [0.1, 0.4])
def test_a_box_that_slides_and_bounces(law, friction):
    """The case of identification, under default options: it lands, bounces on, and slides."""
    options = {"dt": 2e-3, "law": law, "time": EXACT}
    state = on_a_corner(-5e-3, (0.8, 0.4))
    forces = np.tile([0.0, 0.0, 0.0, 1.0, 0.5, 0.0], (70, 1))
    rollout = check(
        lambda c, e: box_on_floor(friction + c, 0.5 + e), state, forces, 1e-7, 1e-5, **options
    )
    simulator = so.Simulator(box_on_floor(friction, 0.5), **options)
    events = [len(simulator.step(at, forces[0])[1].events) for at in rollout.states[:-1]]
    assert sum(events) > 2


@pytest.mark.compiled
def test_a_box_that_is_pushed_on_its_corner():
    forces = np.tile(PUSH, (40, 1))
    options = {"dt": 1e-3, "time": EXACT}
    check(lambda c, e: box_on_floor(0.4 + c, 0.5 + e), on_a_corner(), forces, 1e-5, 1e-6, **options)


@pytest.mark.compiled
def test_a_quadruped_whose_feet_slide():
    robot = so.models.quadruped()
    state, tau = standing(robot)
    state = so.State(state.q, 2e-2 * np.random.default_rng(6).normal(size=18))

    def scene_of(c, e):
        return robot.scene(friction=0.3 + c, restitution=0.5 + e)

    check(scene_of, state, np.tile(tau, (20, 1)), 1e-6, 1e-5, dt=1e-3, time=EXACT)


def test_what_is_not_known_is_refused_in_words():
    pendulum = so.models.pendulum(2)
    simulator = so.Simulator(pendulum.scene(), time=so.EventDriven())
    rollout = simulator.linearize_rollout(pendulum.state, np.zeros((1, 2)))
    with pytest.raises(ArgumentError, match=r"vjp_parameters: EventDriven"):
        rollout.vjp_parameters(np.zeros((2, 2)), np.zeros((2, 2)))
    with pytest.raises(ArgumentError, match=r"jvp: EventDriven"):
        rollout.jvp(np.zeros(2), np.zeros(2), inertial=np.zeros(20))
    rollout = so.Simulator(pendulum.scene()).linearize_rollout(pendulum.state, np.zeros((1, 2)))
    with pytest.raises(ArgumentError, match="inertial"):
        rollout.jvp(np.zeros(2), np.zeros(2), inertial=np.zeros(3))
