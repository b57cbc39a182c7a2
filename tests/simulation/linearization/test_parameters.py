"""The derivative of a step by masses and friction against differences of other models' steps."""

from dataclasses import replace

import numpy as np
import pytest

import spatialops as so
from spatialops import _layout as layout
from tests.simulation.linearization.test_impacts import TAU, above, leg
from tests.simulation.linearization.test_linearize import EXACT, standing
from tests.support.trees import relative_error


def ends(scenes, state, tau, origin, **options):
    """States at the end of one step in each scene, on the tangent space of `origin`."""
    found = []
    for scene in scenes:
        end, _ = so.Simulator(scene, **options).step(state, tau)
        found.append(np.concatenate([so.difference(scene.model, origin.q, end.q), end.v]))
    return found


def slope(f, h):
    return (f[0] - 8.0 * f[1] + 8.0 * f[2] - f[3]) / (12.0 * h)


def block(mass, friction):
    builder = so.TreeBuilder()
    solid = so.Inertia.box((0.2, 0.2, 0.1), mass=mass)
    builder.add_body("box", joint="free", inertia=solid, position=(0.0, 0.0, 0.05 - 1e-6))
    geoms = [
        so.Geom("floor", "world", so.HalfSpace(), friction=friction),
        so.Geom("box", "box", so.Box((0.2, 0.2, 0.1)), friction=friction),
    ]
    return so.Scene(builder.build(), geoms)


@pytest.mark.parametrize("pushed", [2.0, 6.0])
def test_a_block_that_sticks_or_slides(pushed):
    options = {"dt": 2e-3, "integrator": "semi-implicit"}
    scene = block(1.0, 0.4)
    state, tau = scene.state, np.array([0.0, 0.0, 0.0, pushed, 0.0, 0.0])
    found = so.Simulator(scene, **options).linearize_parameters(state, tau)
    origin, _ = so.Simulator(scene, **options).step(state, tau)
    h = 1e-3
    steps = np.array([-2.0, -1.0, 1.0, 2.0]) * h
    by_friction = slope(
        ends([block(1.0, 0.4 + c) for c in steps], state, tau, origin, **options), h
    )
    assert np.allclose(found.friction.sum(axis=1), by_friction, atol=1e-9)
    by_mass = slope(ends([block(1.0 + c, 0.4) for c in steps], state, tau, origin, **options), h)
    per_mass = so.inertial_parameters(scene.model)  # a box of mass 1: all scale with it
    assert np.allclose(found.inertial @ per_mass, by_mass, atol=1e-9)
    assert (np.abs(by_friction).max() > 1e-3) == (pushed > 4.0)


def test_an_arm():
    options = {"dt": 5e-3, "time": EXACT}

    def arm(mass):
        builder = so.TreeBuilder()
        for name, parent, axis in (("a", "world", "y"), ("b", "a", "z"), ("c", "b", "y")):
            rod = so.Inertia.capsule(0.05, 0.4, mass=mass if name == "b" else 1.0)
            rod = rod.shifted((0.1, 0.0, -0.2))
            joint = so.Joint("revolute", axis=axis)
            builder.add_body(
                name, parent=parent, joint=joint, inertia=rod, position=(0.1, 0.1, -0.3)
            )
        return so.Scene(builder.build(), [])

    state = so.State(np.array([0.3, 0.5, -0.8]), np.array([1.0, -2.0, 3.0]))
    tau = np.array([0.1, 0.2, 0.3])
    found = so.Simulator(arm(1.0), **options).linearize_parameters(state, tau)
    origin, _ = so.Simulator(arm(1.0), **options).step(state, tau)
    h = 1e-3
    steps = np.array([-2.0, -1.0, 1.0, 2.0]) * h
    expected = slope(ends([arm(1.0 + c) for c in steps], state, tau, origin, **options), h)
    theta = so.inertial_parameters(arm(1.0).model)[10:20]
    assert relative_error(found.inertial[:, 10:20] @ theta, expected) < 1e-7


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", ["moreau", "semi-implicit"])
def test_friction_of_feet_that_slide(integrator):
    robot = so.models.quadruped()
    state, tau = standing(robot)
    rng = np.random.default_rng(6)
    state = so.State(state.q, 2e-2 * rng.normal(size=18))
    tau = tau + 0.05 * rng.normal(size=18)
    options = {"dt": 1e-3, "integrator": integrator, "time": EXACT}
    simulator = so.Simulator(robot.scene(friction=0.3), **options)
    assert "sliding" in simulator.linearize(state, tau).statuses
    found = simulator.linearize_parameters(state, tau).friction.sum(axis=1)
    origin, _ = simulator.step(state, tau)
    h = 1e-5
    scenes = [robot.scene(friction=0.3 + c * h) for c in (-2.0, -1.0, 1.0, 2.0)]
    expected = slope(ends(scenes, state, tau, origin, **options), h)
    assert relative_error(found, expected) < 1e-7


@pytest.mark.compiled
@pytest.mark.parametrize(("friction", "height"), [(0.3, -5e-7), (0.3, 2e-3), (2.0, 2e-3)])
def test_newtons_restitution(friction, height):
    options = {"dt": 5e-3, "time": EXACT, "restitution": "newton"}
    state = above(height)
    found = so.Simulator(leg(friction), **options).linearize_parameters(state, TAU)
    origin, _ = so.Simulator(leg(friction), **options).step(state, TAU)
    h = 1e-4
    steps = np.array([-2.0, -1.0, 1.0, 2.0]) * h
    scenes = [leg(friction, 0.6 + c) for c in steps]
    expected = slope(ends(scenes, state, TAU, origin, **options), h)
    assert np.abs(expected).max() > 1e-2
    assert relative_error(found.restitution.sum(axis=1), expected) < 1e-7


IMPACTS = [(0.0, -5e-7), (0.3, -5e-7), (0.3, 2e-3), (2.0, 2e-3)]


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", ["moreau", "semi-implicit"])
@pytest.mark.parametrize("law", ["coulomb", "cone"])
@pytest.mark.parametrize(("friction", "height"), IMPACTS)
def test_through_an_impact(friction, height, law, integrator):
    """By restitution, friction and the mass of the foot's link, as a leg comes down and bounces."""
    options = {"dt": 5e-3, "integrator": integrator, "law": law, "time": EXACT}
    state = above(height)
    found = so.Simulator(leg(friction), **options).linearize_parameters(state, TAU)
    origin, _ = so.Simulator(leg(friction), **options).step(state, TAU)
    h = 1e-4
    steps = np.array([-2.0, -1.0, 1.0, 2.0]) * h
    expected = slope(
        ends([leg(friction, 0.6 + c) for c in steps], state, TAU, origin, **options), h
    )
    assert np.abs(expected).max() > 1e-2
    assert relative_error(found.restitution.sum(axis=1), expected) < 1e-7
    if friction > 0.0:
        scenes = [leg(friction + c) for c in steps]
        expected = slope(ends(scenes, state, TAU, origin, **options), h)
        scale = max(np.abs(expected).max(), 1e-2)
        assert np.abs(found.friction.sum(axis=1) - expected).max() < 1e-7 * scale
    scenes = [heavier(leg(friction), c) for c in steps]
    expected = slope(ends(scenes, state, TAU, origin, **options), h)
    theta = so.inertial_parameters(scenes[0].model).reshape(-1, 10)[-1] / (1.0 + steps[0])
    assert relative_error(found.inertial[:, -10:] @ theta, expected) < 1e-7


def heavier(scene, share):
    """The leg whose last link has so much more of its mass."""
    model = scene.model
    links = model.links.copy()
    links[-1, [layout.MASS, *range(layout.INERTIA, layout.INERTIA + 6)]] *= 1.0 + share
    return so.Scene(replace(model, links=links), scene.geoms)
