"""Derivatives of steps at whose end a penetration is corrected, against differences."""

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ContactError
from tests.simulation.linearization.test_closed import INTEGRATORS
from tests.simulation.linearization.test_closed_impacts import striking_bar
from tests.simulation.linearization.test_free_bodies import (
    PUSH,
    box_on_floor,
    on_a_corner,
    rotation,
)
from tests.simulation.linearization.test_impacts import TAU, above, leg
from tests.simulation.linearization.test_linearize import EXACT, check, standing
from tests.simulation.linearization.test_lone_parameters import (
    ball_and_box,
    ball_on_box,
    check_coefficients,
    check_inertial,
)
from tests.simulation.linearization.test_pair_laws import PUSH as PUSH_OF_TABLE
from tests.simulation.linearization.test_pair_laws import on_its_feet, table

pytestmark = pytest.mark.compiled  # many steps, of code that others run uncompiled

DEPTH = 8e-5  # m: beyond what contacts may have, which is a hundredth of it
STEPS = (1e-7, 1e-5, 1e-2)


def is_corrected(simulator, state, tau):
    end, info = simulator.step(state, tau)
    left = -simulator.step(end, tau)[1].contacts.gaps.min()
    return -info.contacts.gaps.min() > 0.5 * DEPTH and left < 0.1 * DEPTH


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("friction", [0.1, 2.0])
def test_a_box_on_its_corner(integrator, friction):
    options = {"dt": 1e-3, "time": EXACT, "integrator": integrator}
    scene, state = box_on_floor(friction), on_a_corner(DEPTH)
    simulator = so.Simulator(scene, **options)
    assert is_corrected(simulator, state, PUSH)
    check(simulator, state, PUSH, STEPS)
    check_inertial(scene, state, PUSH, **options)
    check_coefficients(lambda c, e: box_on_floor(friction + c, 0.3 + e), state, PUSH, **options)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_foot_of_a_leg(integrator):
    options = {"dt": 1e-3, "time": EXACT, "integrator": integrator}
    state = above(-DEPTH)
    state.v[:] *= 1e-2
    simulator = so.Simulator(leg(0.3), **options)
    assert is_corrected(simulator, state, TAU)
    check(simulator, state, TAU, STEPS)
    check_inertial(leg(0.3), state, TAU, **options)


@pytest.mark.parametrize("integrator", ["moreau", "semi-implicit"])
def test_several_feet(integrator):
    simulator = so.Simulator(table((None, None, None)), dt=1e-3, time=EXACT, integrator=integrator)
    state = on_its_feet(1e-2, DEPTH)
    assert is_corrected(simulator, state, PUSH_OF_TABLE)
    check(simulator, state, PUSH_OF_TABLE, STEPS)


@pytest.mark.parametrize("integrator", ["moreau", "semi-implicit"])
def test_a_quadruped(integrator):
    """Links answer to pushes on their feet."""
    robot = so.models.quadruped()
    state, tau = standing(robot, DEPTH)
    state = so.State(state.q, 2e-2 * np.random.default_rng(1).normal(size=18))
    simulator = so.Simulator(robot.scene(friction=0.3), dt=1e-3, time=EXACT, integrator=integrator)
    assert is_corrected(simulator, state, tau)
    check(simulator, state, tau, (1e-7, 1e-5, 1e-4))


def test_two_bodies_whose_normal_turns():
    """A ball that is in the box that floats."""
    scene, (state, tau) = ball_and_box(0.3, 0.0), ball_on_box(1e-3)
    state.q[7:10] -= DEPTH * rotation(state.q[3:7])[:, 2]
    simulator = so.Simulator(scene, dt=1e-3, time=EXACT)
    assert is_corrected(simulator, state, tau)
    check(simulator, state, tau, STEPS)
    check_inertial(scene, state, tau, dt=1e-3, time=EXACT)


def test_along_steps():
    """Products make such a step again."""
    simulator = so.Simulator(box_on_floor(0.3), dt=1e-3, time=EXACT)
    state, rng = on_a_corner(DEPTH), np.random.default_rng(0)
    rollout = simulator.linearize_rollout(state, np.tile(PUSH, (3, 1)))
    dq, dv = rng.normal(size=(2, 6))
    by_q, by_v = rng.normal(size=(2, 4, 6))
    ahead, back = rollout.jvp(dq, dv), rollout.vjp(by_q, by_v)
    change = simulator.linearize(state, PUSH).A @ np.concatenate([dq, dv])
    assert np.allclose(np.concatenate([ahead.q[1], ahead.v[1]]), change, rtol=1e-9)
    forwards = np.sum(by_q * ahead.q) + np.sum(by_v * ahead.v)
    assert np.isclose(forwards, back.q @ dq + back.v @ dv, rtol=1e-10)


def test_closed_mechanisms_are_refused_in_words():
    scene, q, _ = striking_bar(-DEPTH, 0.3, 0.0)
    simulator = so.Simulator(scene, dt=1e-3)
    with pytest.raises(ContactError, match="a penetration of a closed mechanism"):
        simulator.linearize(so.State(q, np.zeros(scene.model.nv)))
