"""Derivatives by masses, friction and restitution of closed mechanisms, and under "rk4"."""

from dataclasses import replace

import numpy as np
import pytest

import spatialops as so
from spatialops import _layout as layout
from tests.simulation.linearization.test_closed import INTEGRATORS, TOE, standing_leg
from tests.simulation.linearization.test_closed_impacts import approaching
from tests.simulation.linearization.test_impacts import TAU, above, leg
from tests.simulation.linearization.test_linearize import EXACT, driven_arm
from tests.simulation.linearization.test_parameters import ends, slope
from tests.support.trees import relative_error

pytestmark = pytest.mark.compiled  # many steps, of code that others run uncompiled

STEPS = np.array([-2.0, -1.0, 1.0, 2.0])


def heavier(scene, body, share):
    """A scene whose body has so much more of its mass."""
    model = scene.model
    links = model.links.copy()
    link = np.flatnonzero(model.tree[:, layout.BODY] == body)[-1]
    links[link, [layout.MASS, *range(layout.INERTIA, layout.INERTIA + 6)]] *= 1.0 + share
    model = replace(model, links=links)
    loops = so.Loops(model, scene.loops.items)
    given = {"actuators": scene.actuators, "tendons": scene.tendons, "ctrl": scene.ctrl}
    return so.Scene(model, scene.geoms, loops=loops, **given)


def check_masses(scene, state, tau, options, h=1e-3):
    """Of every body that is known to the model."""
    found = so.Simulator(scene, **options).linearize_parameters(state, tau)
    origin, _ = so.Simulator(scene, **options).step(state, tau)
    theta = so.inertial_parameters(scene.model).reshape(-1, 10)
    for body, own in enumerate(theta):
        scenes = [heavier(scene, body, c * h) for c in STEPS]
        expected = slope(ends(scenes, state, tau, origin, **options), h)
        by = found.inertial[:, 10 * body : 10 * body + 10] @ own
        scale = np.abs(found.inertial @ theta.ravel()).max() + np.abs(expected).max()
        assert np.abs(by - expected).max() < 1e-7 * scale
    return found


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("name", ["four_bar", "slider_crank"])
@pytest.mark.parametrize("dt", [1e-3, 1e-2])
def test_masses_of_linkages(integrator, name, dt):
    linkage = getattr(so.models, name)()
    rng = np.random.default_rng(2)
    nv = linkage.model.nv
    v = 3.0 * rng.normal(size=nv)
    G = so.loop_jacobian(linkage.model, linkage.loops, linkage.state.q)
    v -= np.linalg.lstsq(G, G @ v, rcond=1e-10)[0]
    options = {"dt": dt, "integrator": integrator, "time": EXACT}
    check_masses(linkage.scene(), so.State(linkage.state.q, v), rng.normal(size=nv), options)


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("law", ["coulomb", "cone"])
@pytest.mark.parametrize(("height", "speed"), [(-1e-6, 1e-3), (0.0, 0.8), (2e-3, 0.8)])
def test_a_leg_with_rods_on_its_toe(integrator, law, height, speed):
    """It slides, or lands and bounces."""
    scene, q = standing_leg(0.3, 0.5)
    q[2] += 1.5e-6 + height
    v = approaching(scene, q, so.Node("foot", TOE), speed)
    tau = np.random.default_rng(1).normal(size=scene.model.nv)
    tau[5] = -60.0
    state, dt = so.State(q, v), 1e-3 if speed < 0.1 else 5e-3
    options = {"dt": dt, "integrator": integrator, "law": law, "time": EXACT}
    found = check_masses(scene, state, tau, options)
    origin, _ = so.Simulator(scene, **options).step(state, tau)
    h = 1e-4
    scenes = [standing_leg(0.3 + c * h, 0.5)[0] for c in STEPS]
    expected = slope(ends(scenes, state, tau, origin, **options), h)
    assert np.abs(expected).max() > 1e-4
    assert relative_error(found.friction.sum(axis=1), expected) < 1e-7
    scenes = [standing_leg(0.3, 0.5 + c * h)[0] for c in STEPS]
    expected = slope(ends(scenes, state, tau, origin, **options), h)
    assert np.abs(found.restitution.sum(axis=1) - expected).max() < 1e-7 * max(
        np.abs(expected).max(), 1e-2
    )


@pytest.mark.compiled
@pytest.mark.parametrize("law", ["coulomb", "cone"])
@pytest.mark.parametrize("friction", [0.3, 2.0])
@pytest.mark.parametrize("height", [-5e-7, 2e-3])
def test_a_leg_that_lands_by_the_fourth_order_rule(law, friction, height):
    options = {"dt": 5e-3, "integrator": "rk4", "law": law, "time": EXACT}
    scene, state = leg(friction, damping=0.1), above(height)
    found = check_masses(scene, state, TAU, options)
    origin, _ = so.Simulator(scene, **options).step(state, TAU)
    h = 1e-4
    scenes = [leg(friction, 0.6 + c * h, damping=0.1) for c in STEPS]
    expected = slope(ends(scenes, state, TAU, origin, **options), h)
    assert relative_error(found.restitution.sum(axis=1), expected) < 1e-7


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("stiffness", [0.0, 10.0, 1e5])
@pytest.mark.filterwarnings("ignore::spatialops.errors.StepSizeWarning")
def test_springs_servos_and_a_tendon(integrator, stiffness):
    """Armature that is fitted to damping, and that of springs that a step does not resolve."""
    stiffness = min(stiffness, 100.0) if integrator == "rk4" else stiffness
    state = so.State(np.array([0.3, 0.5, -0.8]), np.array([1.0, -2.0, 3.0]))
    options = {"dt": 5e-3, "integrator": integrator, "time": EXACT}
    check_masses(driven_arm(stiffness), state, np.array([0.1, 0.2, 0.3]), options)


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("height", [-5e-7, 3e-3])
def test_a_damped_leg_on_springs_that_lands(integrator, height):
    scene = leg(0.3, 0.6, stiffness=10.0, damping=0.1)
    options = {"dt": 4e-3, "integrator": integrator, "time": EXACT}
    check_masses(scene, above(height), TAU, options)


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_damped_leg_with_rods_whose_slip_turns(integrator):
    scene, q = standing_leg(0.3, damping=20.0)
    q[2] += 5e-7
    v = approaching(scene, q, so.Node("foot", TOE), 1e-3)
    tau = np.random.default_rng(1).normal(size=scene.model.nv)
    tau[5] = -60.0
    options = {"dt": 1e-3, "integrator": integrator, "time": EXACT}
    check_masses(scene, so.State(q, v), tau, options)


@pytest.mark.compiled
@pytest.mark.parametrize("height", [0.5, 2e-3])
def test_a_quadruped_in_the_air(height):
    """It is given its momentum at the end of the step, also after feet have struck."""
    robot = so.models.quadruped()
    scene = robot.scene(friction=0.3, restitution=0.5)
    rng = np.random.default_rng(0)
    q, v = robot.state.q.copy(), 0.1 * rng.normal(size=18)
    q[2] += height
    v[5] = -1.0
    state, options = so.State(q, v), {"dt": 5e-3, "time": EXACT}
    _, info = so.Simulator(scene, **options).step(state)
    assert bool(len(info.events)) == (height < 0.1)
    check_masses(scene, state, rng.normal(size=18), options)
