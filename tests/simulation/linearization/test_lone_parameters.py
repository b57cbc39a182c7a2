"""Derivatives of the default integrator's steps of lone bodies by masses, friction, restitution.

All ten numbers of a body, its centre of mass and inertia among them, each by itself.
"""

from dataclasses import replace

import numpy as np
import pytest

import spatialops as so
from spatialops import _layout as layout
from spatialops.derivatives.inertial_regressor import body_turns
from tests.simulation.linearization.test_closed_beside_free import PLACE, TAU, bar_and_box, moving
from tests.simulation.linearization.test_closed_impacts import BALL
from tests.simulation.linearization.test_free_bodies import (
    ALL,
    PUSH,
    SIZE,
    body,
    box_on_floor,
    on_a_corner,
    rotation,
)
from tests.simulation.linearization.test_linearize import EXACT
from tests.simulation.linearization.test_pair_laws import KINDS, LANDING, on_its_feet, table
from tests.simulation.linearization.test_pair_laws import PUSH as PUSH_OF_TABLE
from tests.simulation.linearization.test_parameters import ends, slope

STEPS = np.array([-2.0, -1.0, 1.0, 2.0])
TOLERANCE = 1e-7


def with_parameters(scene, theta):
    """The scene with other inertial parameters."""
    model, links = scene.model, scene.model.links.copy()
    for turn, k, ten in zip(body_turns(model), model.body_links, theta.reshape(-1, 10)):
        inertia = turn @ ten[[4, 5, 6, 5, 7, 8, 6, 8, 9]].reshape(3, 3) @ turn.T
        links[k, layout.MASS] = ten[0]
        links[k, layout.COM : layout.COM + 3] = turn @ ten[1:4] / ten[0]
        links[k, layout.INERTIA : layout.INERTIA + 6] = inertia[np.triu_indices(3)]
    model = replace(model, links=links)
    loops = so.Loops(model, scene.loops.items)
    return so.Scene(model, scene.geoms, loops=loops, pair_laws=scene.pair_laws)


def check_inertial(scene, state, tau, h=1e-4, **options):
    """Every number of every body, beside the largest change that one of its body makes.

    Of light bodies differences are rounding, beside what the others do.
    """
    found = so.Simulator(scene, **options).linearize_parameters(state, tau)
    origin, _ = so.Simulator(scene, **options).step(state, tau)
    theta = so.inertial_parameters(scene.model)
    expected = np.zeros_like(found.inertial)
    for j in range(theta.size):
        first = j // 10 * 10
        size = h * theta[first if j - first < 4 else first + 4]
        unit = size * np.eye(theta.size)[j]
        scenes = [with_parameters(scene, theta + c * unit) for c in STEPS]
        expected[:, j] = slope(ends(scenes, state, tau, origin, **options), size)
    for first in range(0, theta.size, 10):
        own = slice(first, first + 10)
        scale = max(np.abs(expected[:, own]).max(), 0.01 * np.abs(expected).max())
        assert np.abs(found.inertial[:, own] - expected[:, own]).max() < TOLERANCE * scale
    return found


def check_coefficients(scene_of, state, tau, h=1e-4, **options):
    """By friction and restitution of all pairs together, given scenes of both."""
    found = so.Simulator(scene_of(0.0, 0.0), **options).linearize_parameters(state, tau)
    origin, _ = so.Simulator(scene_of(0.0, 0.0), **options).step(state, tau)
    scale = np.abs(found.friction).max() + np.abs(found.restitution).max()
    for by, scenes in (
        (found.friction, [scene_of(c * h, 0.0) for c in STEPS]),
        (found.restitution, [scene_of(0.0, c * h) for c in STEPS]),
    ):
        expected = slope(ends(scenes, state, tau, origin, **options), h)
        assert np.abs(by.sum(axis=1) - expected).max() < TOLERANCE * max(scale, 1e-2)
    return found


@pytest.mark.parametrize("spin", [1e-3, 3.0, 60.0])
def test_bodies_that_spin_in_the_air(spin):
    """Two of them, beside one on a joint."""
    builder = so.TreeBuilder()
    body(builder, "a")
    body(builder, "b")
    rod = so.Inertia.capsule(0.05, 0.4, mass=1.0)
    builder.add_body("c", joint=so.Joint("revolute", axis="y"), inertia=rod)
    model = builder.build()
    rng = np.random.default_rng(3)
    v = rng.normal(size=model.nv)
    v[:3] *= spin
    v[6:9] *= spin
    state, tau = so.State(model.random(rng), v), 0.3 * rng.normal(size=model.nv)
    check_inertial(so.Scene(model, []), state, tau, dt=5e-3, time=EXACT)


@pytest.mark.compiled
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("friction", [0.1, 2.0])
def test_a_box_on_its_corner(name, friction):
    options = {"dt": 1e-3, "law": ALL[name], "time": EXACT}
    state = on_a_corner()
    check_inertial(box_on_floor(friction), state, PUSH, **options)
    check_coefficients(lambda c, e: box_on_floor(friction + c, 0.3 + e), state, PUSH, **options)


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["coulomb", "cone", "no-slip"])
@pytest.mark.parametrize("height", [-1e-6, 2e-3])
@pytest.mark.parametrize("friction", [0.1, 2.0])
@pytest.mark.parametrize("restitution", ["poisson", "newton"])
def test_a_box_that_strikes_with_its_corner(name, height, friction, restitution):
    """It spins fast enough that k of its equation counts; the impact comes within the step."""
    state = on_a_corner(-height)
    state.v[3:] += rotation(state.q[3:]).T @ np.array([0.2, 0.0, -0.6])
    state.v[:3] *= 10.0
    options = {"dt": 5e-3, "law": name, "time": EXACT, "restitution": restitution}
    check_inertial(box_on_floor(friction, 0.6), state, PUSH, **options)
    found = check_coefficients(
        lambda c, e: box_on_floor(friction + c, 0.6 + e), state, PUSH, **options
    )
    assert np.abs(found.restitution).max() > 0.1
    assert (np.abs(found.friction).max() > 0.1) == (friction < 1.0 and name != "no-slip")


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["coulomb", "cone"])
@pytest.mark.parametrize("speed", [1e-3, 0.5])
@pytest.mark.parametrize("friction", [0.3, 2.0])
def test_a_ball_on_a_box_that_floats(name, speed, friction):
    """Two lone bodies slide along or stick to each other, or strike."""
    scene = ball_and_box(friction, 0.6)
    state, tau = ball_on_box(speed)
    options = {"dt": 1e-3, "law": name, "time": EXACT}
    check_inertial(scene, state, tau, **options)
    check_coefficients(lambda c, e: ball_and_box(friction + c, 0.6 + e), state, tau, **options)


def ball_and_box(friction, restitution):
    builder = so.TreeBuilder()
    body(builder, "box")
    ball = so.Inertia.sphere(0.1, mass=0.7).shifted((0.01, 0.02, -0.03))
    builder.add_body("ball", joint="free", inertia=ball)
    touch = {"friction": friction, "restitution": restitution}
    geoms = [so.Geom("box", "box", so.Box(SIZE), **touch)]
    geoms.append(so.Geom("ball", "ball", so.Sphere(0.1), **touch))
    return so.Scene(builder.build(), geoms)


def ball_on_box(speed):
    """The ball comes down at a speed on the top of the box, which floats and spins."""
    q = np.array([0.0, 0.0, 0.0, 0.1, 0.2, 0.3, 0.9, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    q[3:7] /= np.linalg.norm(q[3:7])
    R = rotation(q[3:7])
    q[7:10] = R @ np.array([0.02, 0.03, 0.3 - 1e-6])
    v = np.array([0.3, 0.2, -0.1, 0.1, 0.0, 0.2, 0.5, -0.2, 0.3, 0.0, 0.0, 0.0])
    w, at = R @ v[:3], q[7:10] - 0.1 * R[:, 2]
    v[9:] = R @ v[3:6] + np.cross(w, at) + R @ [0.05, 0.03, -speed]
    v[9:] += np.cross(v[6:9], 0.1 * R[:, 2])
    return so.State(q, v), np.concatenate([np.zeros(9), -20.0 * R[:, 2]])


LAWS_OF_FEET = [("cone", None, "frictionless"), ("viscous", "cone", None), (None, None, None)]


@pytest.mark.compiled
@pytest.mark.parametrize("laws", LAWS_OF_FEET)
@pytest.mark.parametrize("speed", [1e-2, 0.2])
def test_a_table_on_three_feet(laws, speed):
    """Several contacts of one body; the feet have laws of their own."""
    options = {"dt": 1e-3, "time": EXACT}
    state = on_its_feet(speed)
    check_inertial(table(laws, 0.3, 0.2), state, PUSH_OF_TABLE, **options)
    check_coefficients(lambda c, e: table(laws, 0.3 + c, 0.2 + e), state, PUSH_OF_TABLE, **options)


@pytest.mark.compiled
@pytest.mark.parametrize("kinds", [KINDS, ("poisson", "newton", "poisson")])
def test_newtons_and_poissons_restitution_in_one_impact(kinds):
    options = {"dt": 1e-3, "time": EXACT}
    laws = (None, None, None)
    state = so.State(on_its_feet(0.0, 5e-7).q, np.array(LANDING))
    check_inertial(table(laws, 0.3, 0.5, kinds), state, PUSH_OF_TABLE, **options)
    check_coefficients(
        lambda c, e: table(laws, 0.3 + c, 0.5 + e, kinds), state, PUSH_OF_TABLE, **options
    )


@pytest.mark.compiled
@pytest.mark.parametrize("speed", [1e-3, 0.8])
def test_a_box_that_a_linkage_pushes(speed):
    """Closures answer to the box, which floats, and the other way round."""
    scene, q, _ = bar_and_box(0.3)
    model = scene.model
    top = so.node_positions(model, q, [so.Node("coupler", PLACE)])[0]
    q[3:6] = top + np.array([0.02, 0.03, -BALL - 0.5 * SIZE[2] + 5e-7])
    v = moving(scene, q, 0.0)
    v[3:] = 0.1, -0.2, 0.1, 0.0, 0.0, 0.0
    against = so.jacobian(model, q, [so.Node("coupler", PLACE)])[3:] @ v
    arm = np.array([-0.02, -0.03, 0.5 * SIZE[2]])
    v[6:] = against + np.array([0.2, 0.1, speed]) - np.cross(v[3:6], arm)
    check_inertial(scene, so.State(q, v), TAU, dt=1e-3, time=EXACT)


@pytest.mark.compiled
@pytest.mark.parametrize("damping", [0.0, 2.0])
@pytest.mark.parametrize("speed", [1e-3, 0.5])
def test_a_finger_that_pushes_a_box(damping, speed):
    """A robot, whose joints resist, against a lone body that slides over the floor on a corner."""
    scene, state = finger_and_box(damping, speed)
    tau = np.concatenate([[0.5, 5.0], PUSH])
    options = {"dt": 1e-3, "time": EXACT}
    check_inertial(scene, state, tau, **options)


def finger_and_box(damping, speed):
    """A slide and a hinge with a round tip on the side of the box, which is on its corner."""
    start = on_a_corner()
    R = rotation(start.q[3:])
    side = start.q[:3] + R @ np.array([-0.5 * SIZE[0], 0.03, 0.02])
    away = -R[:, 0]
    rod = so.Inertia.capsule(0.02, 0.3, mass=0.4).shifted((0.0, 0.0, 0.1))
    builder = so.TreeBuilder()
    slide = so.Joint("prismatic", axis="y", damping=damping)
    hinge = so.Joint("revolute", axis="y", damping=damping)
    center = side + (0.02 - 1e-6) * away
    builder.add_body("slide", joint=slide, inertia=so.Inertia.sphere(0.02, mass=0.2))
    builder.add_body(
        "finger", parent="slide", joint=hinge, inertia=rod, position=center + [0.0, 0.0, 0.3]
    )
    body(builder, "box")
    touch = {"friction": 0.4, "restitution": 0.5}
    geoms = [so.Geom("floor", "world", so.HalfSpace(), **touch)]
    geoms.append(so.Geom("box", "box", so.Box(SIZE), **touch))
    geoms.append(so.Geom("tip", "finger", so.Sphere(0.02), position=(0.0, 0.0, -0.3), **touch))
    v = np.concatenate([[0.0, 0.0], start.v])
    at = R.T @ (side - start.q[:3])
    arrives = R @ (start.v[3:] + np.cross(start.v[:3], at)) - speed * away
    # The finger turns about y, 0.3 m above its tip.
    v[1] = -arrives[0] / 0.3
    return so.Scene(builder.build(), geoms), so.State(np.concatenate([[0.0, 0.0], start.q]), v)
