"""Derivatives of steps with torsional and rolling friction against differences of the step."""

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ContactError
from tests.simulation.linearization.test_free_bodies import rotation
from tests.simulation.linearization.test_linearize import EXACT, TOLERANCE, check, differences
from tests.support.trees import relative_error

INTEGRATORS = ("moreau", "semi-implicit", "rk4")
# Friction, torsion and rolling: what slides, rolls and spins; what spins; what rolls; what sticks.
COEFFICIENTS = {
    "all move": (0.3, 0.01, 0.02),
    "slips not": (2.0, 0.01, 0.02),
    "spins not": (0.3, 1.0, 0.02),
    "rolls not": (0.3, 0.01, 1.0),
    "none moves": (2.0, 1.0, 1.0),
    "torsion alone": (0.5, 0.01, 0.0),
    "rolling alone": (0.5, 0.0, 0.02),
}
SIZE = (0.4, 0.5, 0.3)


def geom(name, body, shape, kind):
    friction, torsion, rolling = COEFFICIENTS[kind]
    return so.Geom(name, body, shape, friction=friction, torsion=torsion, rolling=rolling)


def on_floor(kind, swapped=False):
    builder = so.TreeBuilder()
    inertia = so.Inertia.box((0.2, 0.15, 0.1), mass=1.0)
    builder.add_body("ball", joint="free", inertia=inertia)
    geoms = [
        geom("floor", "world", so.HalfSpace(), kind),
        geom("ball", "ball", so.Sphere(0.1), kind),
    ]
    return so.Scene(builder.build(), geoms[::-1] if swapped else geoms)


def rolling(speed=1.0):
    """A ball a little in the floor that rolls, spins and slips."""
    q = np.array([0.1, 0.2, 0.1 - 1e-6, 0.1, 0.2, 0.3, 0.9])
    q[3:] /= np.linalg.norm(q[3:])
    v = speed * np.array([0.3, 0.2, 0.4, 0.02, 0.01, 0.0])
    R = rotation(q[3:])
    v = np.concatenate([R.T @ v[:3], R.T @ v[3:]])
    v[3:] += R.T @ [0.0, 0.0, -1e-3]
    return so.State(q, v)


TAU = np.array([0.1, 0.2, 0.3, 1.0, 2.0, -5.0])


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("law", ["coulomb", "cone"])
@pytest.mark.parametrize("kind", COEFFICIENTS)
def test_a_ball_on_the_floor(kind, law, integrator):
    simulator = so.Simulator(on_floor(kind), dt=1e-3, law=law, integrator=integrator, time=EXACT)
    if kind == "none moves":  # no force does anything
        found = simulator.linearize(rolling(), TAU)
        A, B = differences(simulator, rolling(), TAU, (1e-7, 1e-5, 1e-3))
        assert relative_error(found.A, A) < TOLERANCE
        assert np.abs(found.B - B).max() < TOLERANCE * simulator.dt
        return
    found = check(simulator, rolling(), TAU, (1e-7, 1e-5, 1e-3))
    assert found.statuses == ("sticking" if COEFFICIENTS[kind][0] == 2.0 else "sliding",)


@pytest.mark.compiled
@pytest.mark.parametrize("law", ["coulomb", "cone"])
def test_either_side_may_come_first(law):
    simulator = so.Simulator(on_floor("all move", True), dt=1e-3, law=law, time=EXACT)
    check(simulator, rolling(), TAU, (1e-7, 1e-5, 1e-3))


def against(thing, kind):
    """A ball on a box or a ball that moves on joints, and the state at which they touch."""
    builder = so.TreeBuilder()
    inertia = so.Inertia.box(SIZE, mass=2.0).shifted((0.02, -0.03, 0.05))
    slide = so.Joint("prismatic", axis="x")
    builder.add_body("cart", joint=slide, inertia=so.Inertia.sphere(0.1, mass=1.0))
    builder.add_body("thing", parent="cart", joint="ball", inertia=inertia)
    builder.add_body("ball", joint="free", inertia=so.Inertia.sphere(0.1, mass=0.7))
    shape = so.Box(SIZE) if thing == "box" else so.Sphere(0.15)
    geoms = [
        geom("thing", "thing", shape, kind),
        geom("ball", "ball", so.Sphere(0.1), kind),
    ]
    q = np.array([0.1, 0.1, 0.2, 0.3, 0.9, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    q[1:5] /= np.linalg.norm(q[1:5])
    R = rotation(q[1:5])
    q[5:8] = R @ np.array([0.02, 0.03, 0.25]) if thing == "box" else R @ [0.0, 0.0, 0.25]
    q[5:8] += np.array([0.1, 0.0, 0.0]) - 1e-6 * R[:, 2]
    v = np.array([0.2, 0.3, 0.2, -0.4, 0.5, -0.2, 0.3, 0.0, 0.0, 0.0])
    at = q[5:8] - 0.1 * R[:, 2] - [0.1, 0.0, 0.0]
    v[7:] = [0.2, 0.0, 0.0] + np.cross(R @ v[1:4], at) + R @ [0.05, 0.03, -1e-3]
    v[7:] += np.cross(v[4:7], 0.1 * R[:, 2])
    tau = np.concatenate([[1.0], [0.3, 0.1, 0.2], np.zeros(3), -20.0 * R[:, 2]])
    return so.Scene(builder.build(), geoms), so.State(q, v), tau


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("law", ["coulomb", "cone"])
@pytest.mark.parametrize("thing", ["box", "ball"])
@pytest.mark.parametrize("kind", ["all move", "none moves"])
def test_two_that_move_against_each_other(kind, thing, law, integrator):
    scene, state, tau = against(thing, kind)
    simulator = so.Simulator(scene, dt=1e-3, law=law, integrator=integrator, time=EXACT)
    check(simulator, state, tau, (1e-7, 1e-5, 1e-2))


@pytest.mark.compiled
@pytest.mark.parametrize("law", ["coulomb", "cone"])
def test_products_along_a_ball_that_rolls(law):
    simulator = so.Simulator(on_floor("slips not"), dt=1e-3, law=law, time=EXACT)
    rng = np.random.default_rng(0)
    forces = TAU + 0.1 * rng.normal(size=(6, 6))
    rollout = simulator.linearize_rollout(rolling(), forces)
    dq, dv = rng.normal(size=(2, 6))
    dtau = rng.normal(size=(6, 6))
    by_q, by_v = rng.normal(size=(2, 7, 6))
    ahead, back = rollout.jvp(dq, dv, dtau), rollout.vjp(by_q, by_v)
    forwards = np.sum(by_q * ahead.q) + np.sum(by_v * ahead.v)
    assert np.isclose(forwards, back.q @ dq + back.v @ dv + np.sum(back.tau * dtau), rtol=1e-9)
    found = simulator.linearize(rollout.states[0], forces[0])
    first = found.A @ np.concatenate([dq, dv]) + found.B @ dtau[0]
    assert np.allclose(first, np.concatenate([ahead.q[1], ahead.v[1]]), rtol=1e-9, atol=1e-9)


@pytest.mark.compiled
def test_impacts_with_moments_are_refused_in_words():
    state = rolling()
    state.v[3:] -= rotation(state.q[3:]).T @ [0.0, 0.0, 1.0]
    with pytest.raises(ContactError, match="impacts with torsional or rolling"):
        so.Simulator(on_floor("all move"), dt=1e-3).linearize(state)
