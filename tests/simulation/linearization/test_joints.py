"""Derivatives of steps in which stops and dry friction of joints act, against differences."""

import numpy as np
import pytest

import spatialops as so
from spatialops.contact import Convex, MaxDissipation
from spatialops.errors import ContactError
from tests.simulation.linearization.test_closed import Course
from tests.simulation.linearization.test_closed import check as check_closed
from tests.simulation.linearization.test_closed_impacts import timed
from tests.simulation.linearization.test_impacts import TAU, above, leg
from tests.simulation.linearization.test_linearize import EXACT, check
from tests.simulation.linearization.test_parameters import ends, slope
from tests.support.trees import relative_error

SCHEMES = ("moreau", "semi-implicit", "rk4")
LAWS = {name: name for name in ("coulomb", "cone", "no-slip", "frictionless", "viscous")}
LAWS |= {"convex": Convex(tolerance=1e-10), "dissipation": MaxDissipation(tolerance=1e-12)}
ROUGH = "convex", 2e-3  # its tolerance is more than differences allow
STEPS = (1e-7, 1e-6, 1e-3)
AT = 0.3, 0.5, -0.8  # rad


def arm(mass=1.0, gap=None, **joint):
    """Three rods, the first of which may have its upper limit so far from AT."""
    builder = so.TreeBuilder()
    parent = "world"
    for name, axis in zip("abc", "yzy", strict=True):
        rod = so.Inertia.capsule(0.05, 0.4, mass=mass if name == "b" else 1.0)
        limit = {"upper": AT[0] + gap} if gap is not None and name == "a" else {}
        builder.add_body(
            name,
            parent=parent,
            joint=so.Joint("revolute", axis=axis, **limit, **joint),
            inertia=rod.shifted((0.1, 0.0, -0.2)),
            position=(0.1, 0.1, -0.3),
        )
        parent = name
    return so.Scene(builder.build(), [])


def moving(v):
    return so.State(np.array(AT), np.array(v))


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", SCHEMES)
@pytest.mark.parametrize(
    ("v", "does"),
    [
        ((1.0, -2.0, 3.0), ("sliding", "sliding", "sliding")),
        ((0.0, 0.0, 0.0), ("sticking", "sticking", "sticking")),
        ((1.0, 0.0, -1.0), ("sliding", "sticking", "sliding")),
    ],
)
def test_dry_friction(integrator, v, does):
    friction = 8.0 if 0.0 in v else 0.3
    simulator = so.Simulator(arm(dry_friction=friction), dt=2e-3, integrator=integrator, time=EXACT)
    steps = (1e-6, 1e-6, 1e-2)
    found = check(simulator, moving(v), np.array([0.1, 0.2, 0.3]), steps)
    assert found.statuses == does
    assert found.switching == ()


def test_a_joint_that_sticks_does_not_move():
    simulator = so.Simulator(arm(dry_friction=100.0), dt=2e-3)
    found = simulator.linearize(moving((0.0, 0.0, 0.0)))
    assert np.abs(found.B).max() < 1e-15
    assert np.abs(found.A - np.diag([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])).max() < 2e-3


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", SCHEMES)
@pytest.mark.parametrize("gap", [-1e-6, 1e-5])
@pytest.mark.parametrize("friction", [0.0, 0.3])
def test_a_stop_that_presses(integrator, gap, friction):
    """At the limit, beyond it, and reached slowly within the step."""
    scene = arm(gap=gap, dry_friction=friction)
    options = {"integrator": integrator, "time": EXACT, "impact_threshold": 1.0}
    simulator = so.Simulator(scene, dt=2e-3, **options)
    rate = 750.0 * gap if gap > 0.0 else 1e-3  # there in two thirds of the step
    found = check(simulator, moving((rate, -2.0, 3.0)), np.array([20.0, 0.2, 0.3]), STEPS)
    assert found.statuses[0] == "stopped"
    # What the stop holds slides at no speed.
    assert len(found.switching) == (1 if friction > 0.0 and gap < 0.0 else 0)


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", SCHEMES)
def test_a_stop_that_is_left_is_open(integrator):
    simulator = so.Simulator(arm(gap=1e-6), dt=2e-3, integrator=integrator, time=EXACT)
    found = check(simulator, moving((-0.2, 0.1, 0.1)), np.array([-20.0, 0.2, 0.3]), STEPS)
    assert set(found.statuses) <= {"open"}


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", SCHEMES)
@pytest.mark.parametrize("restitution", ["poisson", "newton"])
@pytest.mark.parametrize("bounce", [0.0, 0.6])
@pytest.mark.parametrize("gap", [-5e-7, 1e-3])
def test_an_impact_at_a_stop(integrator, restitution, bounce, gap):
    """As the step begins and within it, beside joints with dry friction."""
    scene = arm(gap=gap, dry_friction=0.3)
    options = {"integrator": integrator, "time": EXACT, "restitution": restitution}
    simulator = so.Simulator(scene, dt=2e-3, stop_restitution=bounce, **options)
    found = check(simulator, moving((1.5, -2.0, 3.0)), np.array([0.1, 0.2, 0.3]), STEPS)
    assert "stopped" in found.statuses


@pytest.mark.compiled
def test_from_event_to_event():
    """A stop is met at its time; what stays at it, or rubs, is not known there."""
    options = {"dt": 2e-3, "time": so.EventDriven(tolerance=1e-12), "stop_restitution": 0.5}
    state, tau = moving((1.5, -2.0, 3.0)), np.array([0.1, 0.2, 0.3])
    check(so.Simulator(arm(gap=1e-3), **options), state, tau, (1e-5, 1e-4, 1e-2))
    with pytest.raises(ContactError, match="rest at a stop, or rub"):
        so.Simulator(arm(dry_friction=0.3), **options).linearize(state, tau)
    pressed = so.State(state.q, np.zeros(3))
    with pytest.raises(ContactError, match="rest at a stop, or rub"):
        so.Simulator(arm(gap=0.0), **options).linearize(pressed, [50.0, 0.0, 0.0])


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", SCHEMES)
@pytest.mark.parametrize("height", [-5e-7, 2e-3])
def test_dry_friction_knows_the_time_of_a_piece(integrator, height):
    """A foot that comes down cuts the step: limits of friction are impulses of its pieces."""
    scene = leg(0.3, 0.6, dry_friction=0.2)
    simulator = so.Simulator(scene, dt=5e-3, integrator=integrator, time=EXACT)
    found = check(simulator, above(height), TAU, (3e-8 if height < 0.0 else 1e-6, 1e-5, 1e-3))
    assert "sliding" in found.statuses


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", SCHEMES[:2])
@pytest.mark.parametrize(
    ("law", "height"),
    [(law, height) for law in LAWS for height in (-1e-6, 2e-3) if (law, height) != ROUGH],
)
def test_a_leg_with_stops_under_every_law(integrator, law, height):
    """The foot slides, is dragged or sticks while the knee is at its stop and the hip rubs."""
    scene = leg(0.3, 0.5, dry_friction=0.05, lower=-0.9 + 5e-6)
    options = {"integrator": integrator, "time": EXACT, "law": LAWS[law]}
    simulator = so.Simulator(scene, dt=2e-3, **options)
    v = (0.3, -1.2, 0.0, 0.0) if height > 0.0 else (0.02, 0.0, 0.0, -1e-4)
    steps = (1e-6, 1e-5, 1e-2) if height > 0.0 else STEPS
    found = check(simulator, above(height, v), np.array([0.1, -20.0, 2.0, -9.0]), steps)
    assert "stopped" in found.statuses


def walker(height, friction=0.3):
    """A trunk that floats on two legs with round feet; a hip at its stop, all joints rub."""
    builder = so.TreeBuilder()
    trunk = so.Inertia.box((0.3, 0.2, 0.1), mass=2.0)
    builder.add_body("trunk", joint="free", inertia=trunk)
    geoms = [so.Geom("floor", "world", so.HalfSpace(), friction=friction, restitution=0.5)]
    for side in (-1.0, 1.0):
        limit = {"upper": 0.2 + 1e-6} if side > 0.0 else {}
        hip = so.Joint("revolute", axis="y", dry_friction=0.2, **limit)
        rod = so.Inertia.capsule(0.02, 0.2, mass=0.3).shifted((0.0, 0.0, -0.1))
        name = f"leg {side}"
        place = (0.1 * side, 0.05, -0.05)
        builder.add_body(name, parent="trunk", joint=hip, inertia=rod, position=place)
        foot = so.Sphere(0.03)
        touch = {"friction": friction, "restitution": 0.5}
        geoms.append(so.Geom(name, name, foot, position=(0.0, 0.0, -0.2), **touch))
    scene = so.Scene(builder.build(), geoms)
    q = np.array([0.0, 0.0, 0.05 + 0.2 * np.cos(0.2) + 0.03 + height, 0.0, 0.0, 0.0, 1.0, 0.2, 0.2])
    return scene, q


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", SCHEMES)
@pytest.mark.parametrize("height", [-6e-6, 1.0])
def test_a_trunk_on_legs_and_in_the_air(integrator, height):
    """In the air the default gives it the momentum that outer forces make."""
    scene, q = walker(height)
    simulator = so.Simulator(scene, dt=1e-3, integrator=integrator, time=EXACT)
    v = np.array([0.1, -0.2, 0.3, 0.02, 0.01, 0.0, 0.01, 0.015])
    v *= 0.1  # slower than impacts
    tau = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.1, 3.0])
    found = check(simulator, so.State(q, v), tau, (1e-7, 1e-7, 1e-3))
    assert "stopped" in found.statuses


def pinned(gap, friction=(0.0, 0.0, 0.0)):
    """Three rods whose end keeps its distance, the first so far from its lower limit, if any."""
    builder = so.TreeBuilder()
    rod = so.Inertia.capsule(0.03, 0.5, mass=1.0).shifted((0.1, 0.0, -0.25))
    parent, q = "world", np.array([0.3, -0.8, 0.4])
    for name, rubs in zip("abc", friction, strict=True):
        limit = {"lower": q[0] - gap} if gap is not None and name == "a" else {}
        joint = so.Joint("revolute", axis="y", dry_friction=rubs, **limit)
        place = (0.1, 0.0, -0.5)
        builder.add_body(name, parent=parent, joint=joint, inertia=rod, position=place)
        parent = name
    model = builder.build()
    end = so.node_positions(model, q, [so.Node("c", (0.0, 0.0, -0.5))])[0]
    ends = {"position_a": (0.0, 0.0, -0.5), "position_b": end + 0.2}
    pin = so.Loop(kind="distance", a="c", distance=0.2 * np.sqrt(3.0), **ends)
    return so.Scene(model, [], loops=[pin]), q


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", SCHEMES[:2])
@pytest.mark.parametrize(
    ("friction", "gap", "does"),
    [
        ((0.3, 0.2, 0.1), None, ("sliding",) * 3),
        ((0.3, 100.0, 0.1), None, ("sliding", "sticking", "sliding")),
        ((0.0, 0.2, 0.1), -1e-6, ("stopped", "sliding", "sliding")),
    ],
)
def test_closed_mechanisms(integrator, friction, gap, does):
    scene, q = pinned(gap, friction)
    simulator = so.Simulator(scene, dt=2e-3, integrator=integrator, time=EXACT)
    v = np.array([1.0, 0.0 if "sticking" in does else -2.0, 0.5])
    v *= 1.0 if gap is None else 1e-3
    tau = np.array([0.1 if gap is None else -40.0, 0.2, -0.3])
    found = check_closed(simulator, Course(scene, q, v), tau, (1e-6, 1e-2))
    assert found.statuses == does


@pytest.mark.compiled
@pytest.mark.parametrize("gap", [1e-4, 4e-3])
def test_rollouts_along_stops_and_dry_friction(gap):
    """Tangents equal differences, and adjoints are their transpose: also through impacts."""
    simulator = so.Simulator(
        arm(gap=gap, dry_friction=0.3), dt=2e-3, stop_restitution=0.5, time=EXACT
    )
    rng = np.random.default_rng(0)
    state, forces = moving((1.5, -2.0, 3.0)), 0.3 * rng.normal(size=(8, 3))
    rollout = simulator.linearize_rollout(state, forces)
    dq, dv = rng.normal(size=(2, 3))
    dtau = rng.normal(size=(8, 3))
    ahead = rollout.jvp(dq, dv, dtau)

    def end(c):
        h = 1e-6 * c
        made = so.State(state.q + h * dq, state.v + h * dv)
        for row in forces + h * dtau:
            made, _ = simulator.step(made, row)
        return np.concatenate([made.q, made.v])

    f = [end(c) for c in (-2.0, -1.0, 1.0, 2.0)]
    expected = slope(f, 1e-6)
    assert relative_error(np.concatenate([ahead.q[-1], ahead.v[-1]]), expected) < 1e-6
    by_q, by_v = rng.normal(size=(9, 3)), rng.normal(size=(9, 3))
    back = rollout.vjp(by_q, by_v)
    forwards = np.sum(by_q * ahead.q) + np.sum(by_v * ahead.v)
    backwards = back.q @ dq + back.v @ dv + np.sum(back.tau * dtau)
    assert np.isclose(forwards, backwards, rtol=1e-10)


@pytest.mark.compiled
@pytest.mark.parametrize("gap", [-1e-6, -5e-7, 1e-3])
def test_masses(gap):
    """A stop that presses, one that is struck as the step begins, and within it."""
    options = {"dt": 2e-3, "time": EXACT, "stop_restitution": 0.5}
    state = moving((1e-3 if gap == -1e-6 else 1.5, -2.0, 3.0))
    tau = np.array([20.0, 0.2, 0.3])
    scene = arm(gap=gap, dry_friction=0.3)
    found = so.Simulator(scene, **options).linearize_parameters(state, tau)
    origin, _ = so.Simulator(scene, **options).step(state, tau)
    h = 1e-3
    steps = np.array([-2.0, -1.0, 1.0, 2.0]) * h
    scenes = [arm(1.0 + c, gap=gap, dry_friction=0.3) for c in steps]
    expected = slope(ends(scenes, state, tau, origin, **options), h)
    theta = so.inertial_parameters(scene.model)[10:20]
    assert relative_error(found.inertial[:, 10:20] @ theta, expected) < 1e-7
    assert found.friction.shape == found.restitution.shape == (6, 0)


def test_what_is_about_to_change_is_named():
    limited, rubbing = arm(gap=0.0), arm(dry_friction=0.3)
    still = moving((0.0, 0.0, 0.0))
    held = np.array([20.0, 0.2, 0.3])
    words = so.Simulator(limited, dt=2e-3).linearize(still, held).switching
    assert any(text.startswith("joint 'a', upper limit: its gap is none") for text in words)
    at_threshold = moving((0.05, 0.0, 0.0))
    simulator = so.Simulator(limited, dt=1e-5, impact_threshold=0.05)
    words = simulator.linearize(at_threshold, held).switching
    assert any("at the threshold of impacts" in text for text in words)
    # Just held: the force that gravity leaves to dry friction is its limit.
    bias = so.inverse_dynamics(rubbing.model, still.q, still.v, np.zeros(3))
    for share, words in ((1.0 - 1e-8, "taken as sticking"), (1.0, "slides at no speed")):
        push = bias + share * np.array([0.3, 0.0, 0.0])
        found = so.Simulator(rubbing, dt=2e-3).linearize(still, push)
        assert any("dry friction" in text and words in text for text in found.switching)


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", SCHEMES)
@pytest.mark.parametrize("gap", [-5e-7, 1e-3])
def test_closed_mechanisms_strike_their_stops(integrator, gap):
    scene, q = pinned(gap)
    options = {"dt": 2e-3, "integrator": integrator, "stop_restitution": 0.5}
    simulator = timed(scene, **options)
    tau = np.array([0.1, 0.2, -0.3])
    course = Course(scene, q, np.array([-1.5, 1.0, 0.5]))
    found = check_closed(simulator, course, tau, (1e-7 if gap < 0.0 else 1e-5, 1e-3))
    assert len(simulator.step(course.at(0.0), tau)[1].events) == 1
    assert found.statuses
