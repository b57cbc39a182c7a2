"""Derivatives of steps under every law of the loop against differences of the step itself."""

import numpy as np
import pytest

import spatialops as so
from spatialops.contact import ConeCoulomb, Convex, MaxDissipation, NoSlip, Viscous
from spatialops.errors import ArgumentError
from tests.simulation.linearization.test_both_move import TAU as PUSH
from tests.simulation.linearization.test_both_move import beside, pushed
from tests.simulation.linearization.test_impacts import TAU, above, leg
from tests.simulation.linearization.test_linearize import EXACT, check, check_feet, standing
from tests.simulation.linearization.test_parameters import ends, slope

INTEGRATORS = ("moreau", "semi-implicit")
LAWS = {
    "cone": "cone",
    "no-slip": "no-slip",
    "frictionless": "frictionless",
    "weak drag": "viscous",
    "strong drag": Viscous(coefficient=50.0),
}
# Solved outside of the loop.
OUTSIDE = {
    "convex": Convex(tolerance=1e-12),
    "cone outside": ConeCoulomb(tolerance=1e-12),
    "all held": NoSlip(hold="all"),
    "drag outside": Viscous(coefficient=50.0, tolerance=1e-11),
}
PRESSES = {"no-slip": "sticking", "frictionless": "sliding"}


@pytest.fixture(params=LAWS)
def law(request):
    return LAWS[request.param]


def statuses_of(law):
    """What contacts that press may do."""
    if law == "cone":
        return {"sticking", "sliding"}
    return {PRESSES.get(law, "dragged")} if isinstance(law, str) else {"dragged"}


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize(("seed", "speed"), [(1, 1e-3), (6, 2e-2)])
def test_feet_of_a_quadruped(law, integrator, seed, speed):
    found = check_feet(law, integrator, (seed, speed), (1e-7, 1e-7, 1e-3))
    assert set(found.statuses) <= statuses_of(law) | {"open"}


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("thing", ["box", "ball"])
@pytest.mark.parametrize("friction", [0.1, 2.0])
def test_two_that_move_against_each_other(law, integrator, thing, friction):
    simulator = so.Simulator(
        pushed(thing, friction), dt=1e-3, integrator=integrator, law=law, time=EXACT
    )
    state = beside(thing, -1e-6, (0.02, 0.02, 0.02, 0.0, 0.3))
    found = check(simulator, state, PUSH, (1e-7, 1e-5, 1e-2))
    assert set(found.statuses) <= statuses_of(law)


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("thing", ["box", "ball"])
def test_what_parts_within_a_film_is_dragged(integrator, thing):
    law = Viscous(coefficient=300.0)
    simulator = so.Simulator(pushed(thing), dt=1e-3, integrator=integrator, law=law, time=EXACT)
    state = beside(thing, 5e-5, (0.0, 0.02, 0.02, 0.0, 0.3))
    found = check(simulator, state, -PUSH, (1e-6, 1e-5, 1e-2))
    assert found.statuses == ("dragged",)


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("thing", ["box", "ball"])
@pytest.mark.parametrize("gap", [-1e-7, 6e-5])
def test_a_pusher_that_strikes(law, integrator, thing, gap):
    scene = pushed(thing, 0.1, 0.6)
    simulator = so.Simulator(scene, dt=1e-3, integrator=integrator, law=law, time=EXACT)
    state = beside(thing, gap, (0.3, 0.3, 0.02, 0.05, 0.2))
    check(simulator, state, PUSH, (1e-8 if gap < 0.0 else 1e-6, 1e-5, 1e-2))


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("friction", [0.3, 2.0])
@pytest.mark.parametrize("height", [-5e-7, 3e-3])
def test_a_leg_that_comes_down(law, integrator, friction, height):
    simulator = so.Simulator(leg(friction), dt=5e-3, integrator=integrator, law=law, time=EXACT)
    check(simulator, above(height), TAU, (3e-8 if height < 0.0 else 1e-5, 1e-4, 1e-2))


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("lift", [0.0, 5e-5])
def test_a_foot_of_a_standing_quadruped_comes_down(law, integrator, lift):
    """Feet that are struck slide in three dimensions, and friction turns with them."""
    robot = so.models.quadruped()
    state, tau = standing(robot)
    foot = so.jacobian(robot.model, state.q, [so.Node(robot.feet[0])])[3:, 6:]
    up = np.concatenate([np.zeros(6), np.linalg.lstsq(foot, [0.0, 0.0, 1.0], rcond=None)[0]])
    v = 3e-3 * np.random.default_rng(0).normal(size=18) - 0.1 * up
    start = so.State(so.integrate(robot.model, state.q, lift * up), v)
    scene = robot.scene(friction=0.5, restitution=0.5)
    simulator = so.Simulator(scene, dt=1e-3, integrator=integrator, law=law, time=EXACT)
    # Over shorter steps the difference shows how exactly times of impact are found.
    far = integrator == "semi-implicit" and lift > 0.0
    found = check(simulator, start, tau, (1e-6 if far else 1e-7, 1e-6, 1e-3))
    assert "open" in found.statuses


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("name", ["coulomb", *LAWS, *OUTSIDE])
def test_a_ball_on_a_ball_of_the_world(name, swapped):
    """The normal turns though one of the two does not move, whichever comes first."""
    builder = so.TreeBuilder()
    inertia = so.Inertia.box((0.2, 0.3, 0.4), mass=1.5)
    builder.add_body("ball", joint=so.Joint("free"), inertia=inertia)
    geoms = [
        so.Geom("ground", "world", so.Sphere(0.2), friction=0.3),
        so.Geom("ball", "ball", so.Sphere(0.1), friction=0.3),
    ]
    scene = so.Scene(builder.build(), geoms[::-1] if swapped else geoms)
    up = np.array([0.3, 0.2, 0.9]) / np.linalg.norm([0.3, 0.2, 0.9])
    q = np.array([*(0.3 - 1e-6) * up, 0.0, 0.0, 0.0, 1.0])
    v = np.array([0.1, -0.2, 0.3, *np.cross(up, [0.2, 0.1, -0.1]) - 4e-3 * up])
    law = OUTSIDE.get(name) or LAWS.get(name, name)
    simulator = so.Simulator(scene, dt=1e-3, integrator="semi-implicit", law=law)
    tau = np.array([0.0, 0.0, 0.0, *(-5.0 * up)])
    found = check(simulator, so.State(q, v), tau, (1e-8, 1e-6, 1e-2))
    assert found.statuses != ("open",)


@pytest.mark.compiled
@pytest.mark.parametrize("name", LAWS)
def test_products_of_a_rollout_are_each_others_transpose(name):
    """Through an impact, and sliding after it."""
    simulator = so.Simulator(leg(), dt=5e-3, law=LAWS[name], time=EXACT)
    rng = np.random.default_rng(0)
    rollout = simulator.linearize_rollout(above(4e-3), 0.1 * rng.normal(size=(6, 4)))
    dq, dv = rng.normal(size=(2, 4))
    dtau = rng.normal(size=(6, 4))
    by_q, by_v = rng.normal(size=(7, 4)), rng.normal(size=(7, 4))
    ahead, back = rollout.jvp(dq, dv, dtau), rollout.vjp(by_q, by_v)
    forwards = np.sum(by_q * ahead.q) + np.sum(by_v * ahead.v)
    backwards = back.q @ dq + back.v @ dv + np.sum(back.tau * dtau)
    assert np.isclose(forwards, backwards, rtol=1e-10)


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("name", OUTSIDE)
@pytest.mark.parametrize("friction", [0.1, 2.0])
def test_laws_that_are_solved_outside(name, integrator, friction):
    """A pusher against a box: what slides under the convex law leaves it."""
    scene, law = pushed("box", friction), OUTSIDE[name]
    simulator = so.Simulator(scene, dt=1e-3, integrator=integrator, law=law, time=EXACT)
    state = beside("box", -1e-6, (0.02, 0.02, 0.02, 0.0, 0.3))
    found = check(simulator, state, PUSH, (1e-7, 1e-5, 1e-2))
    assert found.statuses == (
        {"all held": "sticking", "drag outside": "dragged"}.get(name, "sliding"),
    )


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_feet_under_the_convex_law(integrator):
    robot = so.models.quadruped()
    state, tau = standing(robot)
    rng = np.random.default_rng(6)
    state = so.State(state.q, 2e-2 * rng.normal(size=18))
    options = {"dt": 1e-3, "integrator": integrator, "time": EXACT}
    simulator = so.Simulator(robot.scene(friction=0.3), law=OUTSIDE["convex"], **options)
    found = check(simulator, state, tau + 0.05 * rng.normal(size=18), (1e-7, 1e-7, 1e-3))
    assert "sliding" in found.statuses


def test_laws_that_are_not_known_are_refused():
    scene, state = leg(), above(2e-3)
    with pytest.raises(ArgumentError, match="not known yet"):
        so.Simulator(scene, law=MaxDissipation(regularization=1e-6)).linearize(state)


def test_the_edge_of_a_film_is_named():
    """Semi-implicit steps look at the gap where they begin."""
    law = Viscous(coefficient=300.0, film=5e-5)
    simulator = so.Simulator(pushed("box"), dt=1e-3, integrator="semi-implicit", law=law)
    for gap, wet in ((5e-5 + 1e-12, False), (5e-5 - 1e-12, True)):
        found = simulator.linearize(beside("box", gap, (0.0, 0.02, 0.02, 0.0, 0.3)), -PUSH)
        assert found.statuses == ("dragged" if wet else "open",)
        assert any("film" in text for text in found.switching)


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_parameters_of_feet(law, integrator):
    """By masses and by coefficients; that of a drag of all contacts is no pair's."""
    robot = so.models.quadruped()
    state, tau = standing(robot)
    rng = np.random.default_rng(6)
    state = so.State(state.q, 2e-2 * rng.normal(size=18))
    tau = tau + 0.05 * rng.normal(size=18)
    options = {"dt": 1e-3, "integrator": integrator, "law": law}
    coefficient = 0.3
    found = so.Simulator(robot.scene(friction=coefficient), **options)
    by_friction = found.linearize_parameters(state, tau).friction.sum(axis=1)
    origin, _ = found.step(state, tau)
    h = 1e-3
    steps = np.array([-2.0, -1.0, 1.0, 2.0]) * h
    scenes = [robot.scene(friction=coefficient + c) for c in steps]
    expected = slope(ends(scenes, state, tau, origin, **options), h)
    scale = max(np.abs(expected).max(), 1e-3)
    assert np.abs(by_friction - expected).max() < 1e-7 * scale
    acts = law in ("cone", "viscous")
    assert (np.abs(by_friction).max() > 1e-7) == acts
