"""Derivatives of steps where what slides parts, and where the ground gives way."""

import numpy as np
import pytest

import spatialops as so
from spatialops.contact import Compliant, Convex, MaxDissipation
from tests.simulation.linearization.test_both_move import TAU as PUSH
from tests.simulation.linearization.test_both_move import beside, pushed
from tests.simulation.linearization.test_impacts import TAU, above, leg
from tests.simulation.linearization.test_linearize import EXACT, check, check_feet
from tests.simulation.linearization.test_parameters import ends, slope
from tests.simulation.linearization.test_runge_kutta import on_the_floor

ALL = ("moreau", "semi-implicit", "rk4")
TWO = ALL[:2]
MOST = {"tolerance": 1e-11, "shortest": False}
PARTS = {
    "convex": Convex(tolerance=1e-12),
    "four sides": MaxDissipation(**MOST),
    "eight sides": MaxDissipation(n_f=8, **MOST),
}
GIVES = {
    "spring": Compliant(stiffness=2e4, damping=30.0, viscosity=1e3, tolerance=1e-12),
    "hunt": Compliant(stiffness=2e4, damping=10.0, dissipation=0.7, viscosity=1e3, tolerance=1e-12),
}
LAWS = {**PARTS, **GIVES}


@pytest.fixture(params=LAWS)
def law(request):
    return LAWS[request.param]


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", ALL)
@pytest.mark.parametrize("friction", [0.3, 2.0])
def test_a_leg_on_the_floor(law, integrator, friction):
    simulator = so.Simulator(
        leg(friction, 0.0), dt=5e-3, integrator=integrator, law=law, time=EXACT
    )
    found = check(simulator, on_the_floor(2e-3), TAU, (3e-8, 1e-4, 1e-3))
    assert found.statuses == ("sliding" if friction < 1.0 else "sticking",)


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", ALL)
@pytest.mark.parametrize("thing", ["box", "ball"])
def test_two_that_move_against_each_other(law, integrator, thing):
    scene = pushed(thing, 0.1)
    simulator = so.Simulator(scene, dt=1e-3, integrator=integrator, law=law, time=EXACT)
    state = beside(thing, -1e-6, (0.02, 0.02, 0.02, 0.0, 0.3))
    assert check(simulator, state, PUSH, (1e-7, 1e-5, 1e-2)).statuses == ("sliding",)


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", TWO)
@pytest.mark.parametrize(("seed", "speed"), [(1, 1e-3), (6, 2e-2)])
def test_feet_of_a_quadruped(law, integrator, seed, speed):
    check_feet(law, integrator, (seed, speed), (2e-8, 2e-8, 1e-4))


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", TWO)
@pytest.mark.parametrize("thing", ["box", "ball"])
@pytest.mark.parametrize("gap", [-1e-7, 6e-5])
@pytest.mark.parametrize("name", PARTS)
def test_a_pusher_that_strikes(name, integrator, thing, gap):
    """The convex law knows no restitution."""
    scene = pushed(thing, 0.1, 0.6)
    simulator = so.Simulator(scene, dt=1e-3, integrator=integrator, law=PARTS[name], time=EXACT)
    state = beside(thing, gap, (0.3, 0.3, 0.02, 0.05, 0.2))
    check(simulator, state, PUSH, (1e-8 if gap < 0.0 else 1e-6, 1e-5, 1e-2))


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", TWO)
@pytest.mark.parametrize("friction", [0.3, 2.0])
@pytest.mark.parametrize("name", PARTS)
def test_a_leg_that_strikes_the_floor(name, integrator, friction):
    scene, law = leg(friction), PARTS[name]
    simulator = so.Simulator(scene, dt=5e-3, integrator=integrator, law=law, time=EXACT)
    check(simulator, above(-5e-7), TAU, (3e-8, 1e-4, 1e-2))


@pytest.mark.compiled
@pytest.mark.parametrize("name", [*PARTS, "spring"])
@pytest.mark.parametrize("strikes", [False, True])
def test_friction_of_what_slides(name, strikes):
    """By the coefficient: the line along which it parts leans by that too."""
    options = {"dt": 5e-3, "law": LAWS[name], "time": EXACT}
    state = above(-5e-7) if strikes else on_the_floor(2e-3)
    mu, h = 0.3, 1e-4
    found = so.Simulator(leg(mu, 0.0), **options)
    by_friction = found.linearize_parameters(state, TAU).friction.sum(axis=1)
    origin, _ = found.step(state, TAU)
    scenes = [leg(mu + c * h, 0.0) for c in (-2.0, -1.0, 1.0, 2.0)]
    expected = slope(ends(scenes, state, TAU, origin, **options), h)
    assert np.abs(by_friction - expected).max() < 1e-7 * np.abs(expected).max()


@pytest.mark.compiled
def test_products_of_a_rollout_are_each_others_transpose(law):
    simulator = so.Simulator(leg(), dt=5e-3, law=law, time=EXACT)
    rng = np.random.default_rng(0)
    rollout = simulator.linearize_rollout(above(4e-3), 0.1 * rng.normal(size=(6, 4)))
    dq, dv = rng.normal(size=(2, 4))
    by_q, by_v = rng.normal(size=(7, 4)), rng.normal(size=(7, 4))
    ahead, back = rollout.jvp(dq, dv), rollout.vjp(by_q, by_v)
    forwards = np.sum(by_q * ahead.q) + np.sum(by_v * ahead.v)
    assert np.isclose(forwards, back.q @ dq + back.v @ dv, rtol=1e-10)
