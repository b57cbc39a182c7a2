"""Derivatives of steps of closed mechanisms beside free bodies on their own."""

import numpy as np
import pytest

import spatialops as so
from tests.simulation.linearization.test_closed import INTEGRATORS, Course, check
from tests.simulation.linearization.test_closed_impacts import BALL, approaching, timed
from tests.simulation.linearization.test_free_bodies import SIZE, body, on_a_corner
from tests.simulation.linearization.test_linearize import EXACT

PLACE = (0.2, 0.02, -0.1)
TAU = np.array([0.3, -0.2, 0.1, 0.4, 0.5, -0.6, 0.7, -0.8, 0.9])


def bar_and_box(friction=0.3, restitution=0.6, reach=None):
    """A four-bar with a ball on its coupler, and a loose box above the same floor.

    The ball is so far above the floor, or the floor far below.
    """
    rod = so.Inertia.capsule(0.03, 0.5, mass=1.0)
    hinge = so.Joint("revolute", axis="y")
    builder = so.TreeBuilder()
    for name, parent, place in (
        ("crank", "world", (0.0, 0.0, 1.0)),
        ("coupler", "crank", (0.3, 0.0, 0.0)),
        ("rocker", "world", (0.9, 0.0, 1.0)),
    ):
        builder.add_body(name, parent=parent, joint=hinge, inertia=rod, position=place)
    body(builder, "box")
    model, q = builder.build(), np.array([0.4, 0.3, 1.2, 0.0, 3.0, 2.0, 0.0, 0.0, 0.0, 1.0])
    places = {"position_a": (0.8, 0.0, 0.0), "position_b": (0.6, 0.0, 0.0)}
    pin = so.Loop(kind="ball", a="coupler", b="rocker", **places)
    q = so.close_loops(model, [pin], q)
    low = so.node_positions(model, q, [so.Node("coupler", PLACE)])[0][2] - BALL
    height = low - reach if reach is not None else -5.0
    touch = {"friction": friction, "restitution": restitution}
    floor = so.Geom("floor", "world", so.HalfSpace(), position=(0.0, 0.0, height), **touch)
    geoms = [floor, so.Geom("ball", "coupler", so.Sphere(BALL), position=PLACE, **touch)]
    geoms.append(so.Geom("box", "box", so.Box(SIZE), **touch))
    return so.Scene(model, geoms, loops=[pin]), q, height


def moving(scene, q, speed):
    """Velocities with which the ball goes down and the box spins."""
    v = approaching(scene, q, so.Node("coupler", PLACE), speed)
    v[3:] = 1.0, -2.0, 3.0, 0.4, -0.3, 0.2
    return v


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("dt", [1e-3, 1e-2])
def test_a_box_that_spins_in_the_air(integrator, dt):
    scene, q, _ = bar_and_box()
    simulator = so.Simulator(scene, dt=dt, integrator=integrator, time=EXACT)
    check(simulator, Course(scene, q, moving(scene, q, 1.0)), TAU)


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("gap", [-2e-6, 2e-3])
def test_an_impact_of_the_linkage(integrator, gap):
    scene, q, _ = bar_and_box(0.0, reach=gap)
    course = Course(scene, q, moving(scene, q, 1.0))
    check(timed(scene, integrator=integrator), course, TAU, (1e-7 if gap < 0.0 else 3e-6, 1e-3))


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("law", ["coulomb", "cone"])
@pytest.mark.parametrize("depth", [1e-6, -1e-3])
def test_a_corner_of_the_box_on_the_floor(integrator, law, depth):
    """It slides, or comes down and bounces while the linkage moves on."""
    scene, q, height = bar_and_box(restitution=0.5)
    corner = on_a_corner(depth, (0.2, 0.1))
    q[3:] = corner.q + np.array([3.0, 2.0, height, 0.0, 0.0, 0.0, 0.0])
    v = moving(scene, q, 1.0)
    v[3:] = corner.v
    if depth < 0.0:
        v[3:6] *= 0.3
        turned = so.jacobian(scene.model, q, [so.Node("box")])[3:, 6:].T
        v[6:] += turned @ np.array([0.2, 0.0, -0.8])
    dt = {"dt": 1e-3} if depth > 0.0 else {}
    simulator = timed(scene, integrator=integrator, law=law, **dt)
    course = Course(scene, q, v)
    found = check(simulator, course, TAU, (1e-7 if depth > 0.0 else 1e-5, 1e-3))
    assert found.statuses[0] == ("sliding" if depth > 0.0 else "sticking")


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("friction", [0.3, 2.0])
@pytest.mark.parametrize("speed", [1e-3, 0.8])
def test_a_ball_of_the_linkage_on_the_box(integrator, friction, speed):
    """What touches ties the two: closures answer to the box, which floats."""
    scene, q, _ = bar_and_box(friction)
    model = scene.model
    top = so.node_positions(model, q, [so.Node("coupler", PLACE)])[0]
    q[3:6] = top + np.array([0.02, 0.03, -BALL - 0.5 * SIZE[2] + 5e-7])
    v = moving(scene, q, 0.0)
    v[3:] = 0.1, -0.2, 0.1, 0.0, 0.0, 0.0
    against = so.jacobian(model, q, [so.Node("coupler", PLACE)])[3:] @ v
    arm = np.array([-0.02, -0.03, 0.5 * SIZE[2]])
    v[6:] = against + np.array([0.2, 0.1, speed]) * (1.0, 1.0, 1.0) - np.cross(v[3:6], arm)
    simulator = timed(scene, integrator=integrator, **({"dt": 1e-3} if speed < 0.1 else {}))
    found = check(simulator, Course(scene, q, v), TAU, (1e-7, 1e-3))
    assert found.statuses
