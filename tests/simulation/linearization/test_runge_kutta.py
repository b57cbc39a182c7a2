"""Derivatives of steps by the classical fourth-order rule against differences of the step."""

import numpy as np
import pytest

import spatialops as so
from tests.simulation.linearization.test_both_move import TAU as PUSH
from tests.simulation.linearization.test_both_move import beside, pushed
from tests.simulation.linearization.test_free_bodies import box_on_floor, on_a_corner, rotation
from tests.simulation.linearization.test_impacts import TAU, above, leg
from tests.simulation.linearization.test_laws import LAWS, OUTSIDE
from tests.simulation.linearization.test_linearize import EXACT, check, driven_arm, standing
from tests.support.trees import random_tree

ALL = {"coulomb": "coulomb", **LAWS, **OUTSIDE}


def on_the_floor(speed, height=-5e-7):
    """The leg with its foot on the floor, which moves down with less than an impact."""
    state, model = above(height, (0.5, 0.0, 0.3, -0.4)), leg().model
    foot = so.jacobian(model, state.q, [so.Node("knee", (0.0, 0.0, -0.3))])[5]
    state.v[1] = -foot @ state.v - speed
    return state


@pytest.mark.compiled
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("friction", [0.3, 2.0])
def test_a_leg_on_the_floor(name, friction):
    scene = leg(friction, 0.0)
    simulator = so.Simulator(scene, dt=5e-3, integrator="rk4", law=ALL[name], time=EXACT)
    found = check(simulator, on_the_floor(2e-3), TAU, (3e-8, 1e-4, 1e-3))
    assert found.statuses != ("open",)


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["coulomb", "cone"])
def test_a_gap_that_closes_within_the_step(name):
    """Half of it is left to close it: contacts' impulses enter positions with half a step."""
    scene = leg(0.3, 0.0)
    simulator = so.Simulator(scene, dt=5e-3, integrator="rk4", law=ALL[name], time=EXACT)
    found = check(simulator, on_the_floor(5e-4, 1e-6), TAU, (3e-8, 1e-5, 1e-3))
    assert found.statuses == ("sliding",)


@pytest.mark.compiled
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("thing", ["box", "ball"])
def test_two_that_move_against_each_other(name, thing):
    simulator = so.Simulator(pushed(thing), dt=1e-3, integrator="rk4", law=ALL[name], time=EXACT)
    check(simulator, beside(thing, -1e-6, (0.02, 0.02, 0.02, 0.0, 0.3)), PUSH, (1e-7, 1e-5, 1e-2))


@pytest.mark.parametrize("dt", [1e-3, 1e-2])
@pytest.mark.parametrize(
    "kinds",
    [("revolute", "ball", "prismatic", "screw", "universal"), ("free",), ("free", "ball")],
    ids=str,
)
def test_joints_that_turn_every_way(kinds, dt):
    """Quaternions of the evaluations are not of unit length."""
    rng = np.random.default_rng(4)
    model = random_tree(rng, max(len(kinds), 3), kinds, each=True)
    simulator = so.Simulator(so.Scene(model, []), dt=dt, integrator="rk4", time=EXACT)
    state = so.State(model.random(rng), 3.0 * rng.normal(size=model.nv))
    check(simulator, state, rng.normal(size=model.nv), (1e-3, 1e-2, 1e-1))


@pytest.mark.compiled
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("moves", [False, True])
def test_feet_of_a_quadruped(name, moves):
    robot = so.models.quadruped()
    state, tau = standing(robot)
    if moves:
        state.v[:6] = 0.0, 0.0, 0.2, 0.3, 0.1, -1e-3
        state.v[6:] = 0.05 * np.random.default_rng(0).normal(size=12)
    scene = robot.scene(friction=0.3 if moves else 0.7)
    simulator = so.Simulator(scene, dt=1e-3, integrator="rk4", law=ALL[name], time=EXACT)
    check(simulator, state, tau, (1e-8, 1e-5, 1e-3))


def test_in_the_air_and_along_many_steps():
    simulator = so.Simulator(leg(), dt=5e-3, integrator="rk4", time=EXACT)
    check(simulator, above(0.5), TAU, (1e-4, 1e-3, 1e-2))
    rng = np.random.default_rng(0)
    rollout = simulator.linearize_rollout(above(0.5), rng.normal(size=(5, 4)))
    dq, dv = rng.normal(size=(2, 4))
    by_q, by_v = rng.normal(size=(2, 6, 4))
    ahead, back = rollout.jvp(dq, dv), rollout.vjp(by_q, by_v)
    forwards = np.sum(by_q * ahead.q) + np.sum(by_v * ahead.v)
    assert np.isclose(forwards, back.q @ dq + back.v @ dv, rtol=1e-12)


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["coulomb", "cone", "no-slip"])
@pytest.mark.parametrize("friction", [0.3, 2.0])
@pytest.mark.parametrize("height", [-5e-7, 3e-3])
def test_a_leg_that_comes_down(name, friction, height):
    """An impact where the step begins, and one within it."""
    scene = leg(friction, damping=0.1)
    simulator = so.Simulator(scene, dt=5e-3, integrator="rk4", law=name, time=EXACT)
    steps = (3e-8 if height < 0.0 else 1e-5, 1e-4, 1e-2)
    assert check(simulator, above(height), TAU, steps).statuses != ()


@pytest.mark.compiled
@pytest.mark.parametrize("law", ["coulomb", "cone"])
@pytest.mark.parametrize("height", [-1e-6, 2e-3])
def test_a_box_that_strikes_with_its_corner(law, height):
    """A free joint in pieces of the rule."""
    scene = box_on_floor(0.3, 0.6)
    simulator = so.Simulator(scene, dt=5e-3, integrator="rk4", law=law, time=EXACT)
    state = on_a_corner(-height)
    state.v[3:] += rotation(state.q[3:]).T @ np.array([0.2, 0.0, -0.6])
    steps = (1e-8, 1e-5, 1e-2) if height < 0.0 else (1e-5, 1e-4, 1e-2)
    check(simulator, state, np.array([1.0, 2.0, -3.0, 4.0, 5.0, -6.0]), steps)


@pytest.mark.parametrize("stiffness", [0.0, 5.0, 100.0])
def test_springs_servos_and_a_tendon(stiffness):
    """Damping and gains as they are, at each of the four evaluations; a servo is at its limit."""
    simulator = so.Simulator(driven_arm(stiffness), dt=2e-3, integrator="rk4", time=EXACT)
    state = so.State(np.array([0.3, 0.5, -0.8]), np.array([1.0, -2.0, 3.0]))
    check(simulator, state, np.array([0.1, 0.2, 0.3]), (1e-3, 1e-3, 1e-1))


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["coulomb", "cone"])
@pytest.mark.parametrize("friction", [0.3, 2.0])
def test_a_damped_leg_on_the_floor(name, friction):
    scene = leg(friction, 0.0, damping=0.5)
    simulator = so.Simulator(scene, dt=5e-3, integrator="rk4", law=name, time=EXACT)
    found = check(simulator, on_the_floor(2e-3), TAU, (3e-8, 1e-4, 1e-3))
    assert found.statuses != ("open",)
