"""Derivatives of steps with impacts against differences of the step, and against closed forms."""

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ContactError
from tests.simulation.linearization.test_linearize import EXACT, check, standing

INTEGRATORS = ("moreau", "semi-implicit")
LINK = 0.3  # m
FOOT = 0.03
BEND = 0.5, -0.9  # rad


def leg(friction=0.3, restitution=0.6, feet=1, **joint):
    """A leg of two links on a slide, with round feet."""
    builder = so.TreeBuilder()
    rod = so.Inertia.capsule(FOOT, LINK, mass=0.4).shifted((0.0, 0.0, -0.5 * LINK))
    hub = so.Inertia.sphere(0.05, mass=0.5)
    parent = "world"
    for name in "xz":
        slide = so.Joint("prismatic", axis=name)
        builder.add_body(name, parent=parent, joint=slide, inertia=hub)
        parent = name
    for name, height in (("hip", 0.0), ("knee", -LINK)):
        hinge = so.Joint("revolute", axis="y", **joint)
        builder.add_body(name, parent=parent, joint=hinge, inertia=rod, position=(0.0, 0.0, height))
        parent = name
    touch = {"friction": friction, "restitution": restitution}
    geoms = [so.Geom("floor", "world", so.HalfSpace(), **touch)]
    for i in range(feet):
        place = (0.05 * i, 0.0, -LINK - 0.01 * i)
        geoms.append(so.Geom(f"foot {i}", "knee", so.Sphere(FOOT), position=place, **touch))
    return so.Scene(builder.build(), geoms)


def above(height, v=(0.5, -1.0, 0.3, -0.4)):
    """The leg with its foot so far above the floor."""
    reach = LINK * (np.cos(BEND[0]) + np.cos(sum(BEND))) + FOOT
    return so.State(np.array([0.0, reach + height, *BEND]), np.array(v))


TAU = np.array([0.1, -1.0, 2.0, 0.5])


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize(
    ("friction", "does"), [(0.0, "sliding"), (0.3, "sliding"), (2.0, "sticking")]
)
@pytest.mark.parametrize("restitution", [0.0, 0.6])
def test_an_impact_as_the_step_begins(integrator, friction, does, restitution):
    simulator = so.Simulator(leg(friction, restitution), dt=5e-3, integrator=integrator, time=EXACT)
    found = check(simulator, above(-5e-7), TAU, (3e-8, 1e-4, 1e-3))
    assert found.statuses[0] == does


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("friction", [0.0, 0.3, 2.0])
def test_an_impact_within_the_step_comes_at_another_time(integrator, friction):
    simulator = so.Simulator(leg(friction), dt=5e-3, integrator=integrator, time=EXACT)
    check(simulator, above(2e-3), TAU, (1e-5, 1e-4, 1e-2))


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("stiffness", [10.0, 1e3])
@pytest.mark.filterwarnings("ignore::spatialops.errors.StepSizeWarning")
def test_damping_and_springs_know_the_time_of_a_piece(integrator, stiffness):
    """With 1e3 N m/rad the step does not resolve the springs, and the leg comes down twice."""
    if integrator == "semi-implicit":
        stiffness = 10.0
    scene = leg(0.3, 0.5, stiffness=stiffness, damping=0.1)
    simulator = so.Simulator(scene, dt=5e-3, integrator=integrator, time=EXACT)
    check(simulator, above(3e-3), TAU, (1e-6, 1e-5, 1e-3))


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("lift", [0.0, 5e-5])
def test_a_foot_of_a_standing_quadruped_comes_down(integrator, lift):
    """What stands is struck too; feet bounce, slide and stick in three dimensions."""
    robot = so.models.quadruped()
    state, tau = standing(robot)
    foot = so.jacobian(robot.model, state.q, [so.Node(robot.feet[0])])[3:, 6:]
    up = np.concatenate([np.zeros(6), np.linalg.lstsq(foot, [0.0, 0.0, 1.0], rcond=None)[0]])
    v = 3e-3 * np.random.default_rng(0).normal(size=18) - 0.1 * up
    start = so.State(so.integrate(robot.model, state.q, lift * up), v)
    scene = robot.scene(friction=0.5, restitution=0.5)
    simulator = so.Simulator(scene, dt=1e-3, integrator=integrator, time=EXACT)
    found = check(simulator, start, tau, (1e-7, 1e-6, 1e-3))
    assert "sticking" in found.statuses
    assert "open" in found.statuses


def bounced(h, u, dt, e, g=9.81):
    """Height and speed of a ball after dt, that falls from h with the speed u and bounces once."""
    time = (u + np.sqrt(u * u + 2.0 * g * h)) / g
    speed = e * (g * time - u)
    left = dt - time
    return np.array([speed * left - 0.5 * g * left * left, speed - g * left])


def test_a_bouncing_ball_is_that_of_the_closed_form():
    builder = so.TreeBuilder()
    ball, slide = so.Inertia.sphere(0.1, mass=1.0), so.Joint("prismatic", axis="z")
    builder.add_body("ball", joint=slide, inertia=ball)
    geoms = [
        so.Geom("floor", "world", so.HalfSpace(), restitution=0.7),
        so.Geom("ball", "ball", so.Sphere(0.1), restitution=0.7),
    ]
    simulator = so.Simulator(so.Scene(builder.build(), geoms), dt=0.02, time=EXACT)
    found = simulator.linearize(so.State(np.array([0.101]), np.array([-0.3])))
    step = 1e-20  # complex: exact
    by_h = np.imag(bounced(1e-3 + 1j * step, -0.3, 0.02, 0.7)) / step
    by_u = np.imag(bounced(1e-3, -0.3 + 1j * step, 0.02, 0.7)) / step
    # The time of impact is found to a nanometre of the gap, 1e-6 of its height here.
    assert np.allclose(found.A, np.stack([by_h, by_u], axis=1), rtol=1e-6)


def test_the_threshold_of_impacts_is_named():
    scene = leg(0.3, 0.6)
    threshold = 0.05
    # So short that what is no impact is not so deep at its end that it would be corrected.
    simulator = so.Simulator(scene, dt=1e-4, impact_threshold=threshold, time=EXACT)
    for speed, words in ((threshold, "taken as none"), (threshold + 1e-10, "taken as an impact")):
        state = above(-5e-7, (0.1, -speed, 0.0, 0.0))
        assert any(words in text for text in simulator.linearize(state, TAU).switching)


def test_feet_that_land_together_are_named():
    scene = leg(0.3, 0.6, feet=2)
    simulator = so.Simulator(scene, dt=5e-3, time=EXACT)
    # The second foot lies 0.05 m ahead and 0.01 m below: as low as the first where the shank leans.
    lean = np.arctan2(-0.01, 0.05) - BEND[0]
    reach = LINK * (np.cos(BEND[0]) + np.cos(BEND[0] + lean)) + FOOT
    q = np.array([0.0, reach + 2e-3, BEND[0], lean])
    found = simulator.linearize(so.State(q, np.array([0.0, -1.0, 0.0, 0.0])))
    assert any("arrives with others" in text for text in found.switching)


@pytest.mark.parametrize(("gap", "told"), [(-1e-6, False), (0.0, True), (1e-6, False)])
def test_what_touches_as_the_step_begins_and_meets_is_named(gap, told):
    """From farther off it meets later: half of the differences are of the other side."""
    builder = so.TreeBuilder()
    ball = so.Inertia.sphere(0.1, mass=1.0)
    builder.add_body("ball", joint=so.Joint("prismatic", axis="z"), inertia=ball)
    geoms = [so.Geom("floor", "world", so.HalfSpace()), so.Geom("ball", "ball", so.Sphere(0.1))]
    simulator = so.Simulator(so.Scene(builder.build(), geoms), dt=1e-3)
    found = simulator.linearize(so.State(np.array([0.1 + gap]), np.array([-0.3])))
    assert any("ball on floor: touches as" in text for text in found.switching) == told


def test_products_of_a_rollout_with_impacts_are_each_others_transpose():
    simulator = so.Simulator(leg(), dt=5e-3, time=EXACT)
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
@pytest.mark.parametrize("integrator", [*INTEGRATORS, "rk4"])
@pytest.mark.parametrize(
    ("friction", "does"), [(0.0, "sliding"), (0.3, "sliding"), (2.0, "sticking")]
)
def test_newtons_restitution_as_the_step_begins_and_within_it(integrator, friction, does):
    options = {"integrator": integrator, "time": EXACT, "restitution": "newton"}
    simulator = so.Simulator(leg(friction), dt=5e-3, **options)
    found = check(simulator, above(-5e-7), TAU, (3e-8, 1e-4, 1e-3))
    assert found.statuses[0] == does
    check(simulator, above(2e-3), TAU, (1e-5, 1e-4, 1e-2))


@pytest.mark.compiled
@pytest.mark.parametrize("law", ["cone", "no-slip", "frictionless"])
def test_newtons_restitution_under_other_laws(law):
    simulator = so.Simulator(leg(), dt=5e-3, law=law, time=EXACT, restitution="newton")
    check(simulator, above(2e-3), TAU, (1e-5, 1e-4, 1e-2))


def test_newtons_restitution_is_not_poissons():
    """Where friction sticks and the foot is bent both give another velocity."""
    ends = []
    for restitution in ("newton", "poisson"):
        simulator = so.Simulator(leg(2.0), dt=5e-3, time=EXACT, restitution=restitution)
        ends.append(simulator.linearize(above(2e-3), TAU).A)
    assert np.abs(ends[0] - ends[1]).max() > 1e-2 * np.abs(ends[1]).max()


@pytest.mark.compiled
def test_a_foot_comes_down_with_newtons_restitution():
    robot = so.models.quadruped()
    state, tau = standing(robot)
    foot = so.jacobian(robot.model, state.q, [so.Node(robot.feet[0])])[3:, 6:]
    up = np.concatenate([np.zeros(6), np.linalg.lstsq(foot, [0.0, 0.0, 1.0], rcond=None)[0]])
    v = 3e-3 * np.random.default_rng(0).normal(size=18) - 0.1 * up
    start = so.State(so.integrate(robot.model, state.q, 5e-5 * up), v)
    scene = robot.scene(friction=0.5, restitution=0.5)
    simulator = so.Simulator(scene, dt=1e-3, time=EXACT, restitution="newton")
    found = check(simulator, start, tau, (1e-7, 1e-6, 1e-3))
    assert "sticking" in found.statuses
    assert "open" in found.statuses


def of_pair(restitution, kind):
    """The leg, whose foot bounces by a coefficient of its own kind."""
    scene = leg(0.3, restitution)
    pair = so.Pair(a="foot 0", b="floor", restitution=kind)
    return so.Scene(scene.model, scene.geoms, pair_laws=[pair])


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("restitution", "kind"), [(0.6, "newton"), (0.0, "poisson"), (0.6, "poisson")]
)
def test_a_pair_has_a_kind_of_restitution_of_its_own(restitution, kind):
    other = "poisson" if kind == "newton" else "newton"
    scene = of_pair(restitution, kind)
    simulator = so.Simulator(scene, dt=5e-3, time=EXACT, restitution=other)
    check(simulator, above(2e-3), TAU, (1e-5, 1e-4, 1e-2))


def test_propagated_impacts_are_refused():
    with pytest.raises(ContactError, match="one after the other"):
        so.Simulator(leg(), dt=5e-3, impacts="propagated").linearize(above(2e-3))
