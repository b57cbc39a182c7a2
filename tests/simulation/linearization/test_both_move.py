"""Derivatives of steps where two bodies touch that both move: spheres, and spheres on boxes."""

import numpy as np
import pytest

import spatialops as so
from tests.simulation.linearization.test_linearize import EXACT, check

INTEGRATORS = ("moreau", "semi-implicit")
BOX = (0.4, 0.3, 0.2)
RADIUS = 0.05
ACROSS = 0.03  # m: where the pusher touches


def pushed(thing, friction=0.1, restitution=0.0):
    """A round pusher in the plane, and a box or a ball that may turn in it too."""
    builder = so.TreeBuilder(gravity=(0.0, 0.0, 0.0))
    hub = so.Inertia.sphere(RADIUS, mass=0.5)
    for names in (("to", "pusher"), ("x", "y")):
        parent = "world"
        for name, axis in zip(names, "xy", strict=True):
            slide = so.Joint("prismatic", axis=axis)
            builder.add_body(name, parent=parent, joint=slide, inertia=hub)
            parent = name
    hinge = so.Joint("revolute", axis="z")
    builder.add_body("thing", parent="y", joint=hinge, inertia=so.Inertia.box(BOX, mass=1.0))
    touch = {"friction": friction, "restitution": restitution}
    shape = so.Box(BOX) if thing == "box" else so.Sphere(0.2)
    geoms = [
        so.Geom("pusher", "pusher", so.Sphere(RADIUS), **touch),
        so.Geom("thing", "thing", shape, **touch),
    ]
    return so.Scene(builder.build(), geoms)


def beside(thing, gap, v):
    reach = 0.2 + RADIUS if thing == "box" else np.sqrt((0.2 + RADIUS) ** 2 - ACROSS**2)
    return so.State(np.array([-reach - gap, ACROSS, 0.0, 0.0, 0.0]), np.array(v))


TAU = np.array([5.0, 0.3, 0.0, 0.0, 0.1])


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("thing", ["box", "ball"])
@pytest.mark.parametrize("friction", [0.0, 0.1])
def test_a_pusher_that_slides_along(integrator, thing, friction):
    simulator = so.Simulator(pushed(thing, friction), dt=1e-3, integrator=integrator, time=EXACT)
    state = beside(thing, -1e-6, (0.02, 0.02, 0.02, 0.0, 0.3))
    found = check(simulator, state, TAU, (1e-7, 1e-5, 1e-2))
    assert found.statuses == ("sliding",)


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("thing", ["box", "ball"])
def test_a_pusher_that_sticks_and_rolls(integrator, thing):
    simulator = so.Simulator(pushed(thing, 2.0), dt=1e-3, integrator=integrator, time=EXACT)
    state = beside(thing, -1e-6, (0.02, 0.1, 0.02, 0.1, 0.0))
    state.v[1] = state.v[3] - 0.2 * state.v[4]  # no slip at first
    found = check(simulator, state, TAU, (1e-7, 1e-6, 1e-2))
    assert found.statuses == ("sticking",)


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("thing", ["box", "ball"])
@pytest.mark.parametrize(("friction", "restitution"), [(0.0, 0.6), (0.1, 0.0), (2.0, 0.6)])
@pytest.mark.parametrize("gap", [-1e-7, 1e-4])
def test_a_pusher_that_strikes(integrator, thing, friction, restitution, gap):
    scene = pushed(thing, friction, restitution)
    simulator = so.Simulator(scene, dt=1e-3, integrator=integrator, time=EXACT)
    state = beside(thing, gap, (0.3, 0.3, 0.02, 0.05, 0.2))
    found = check(simulator, state, TAU, (1e-8 if gap < 0.0 else 1e-6, 1e-5, 1e-2))
    assert len(found.statuses) > 0


@pytest.mark.compiled
@pytest.mark.parametrize("thing", ["box", "ball"])
@pytest.mark.parametrize("speed", [0.0, -0.3])
@pytest.mark.parametrize("swapped", [False, True])
def test_two_free_bodies_in_space(thing, speed, swapped):
    """Sliding along and striking; whichever comes first in the scene."""
    turn = np.array([0.4, -0.3, 0.7])
    shapes = {"ball": so.Sphere(0.1), "thing": so.Box(BOX) if thing == "box" else so.Sphere(0.1)}
    order = ("thing", "ball") if swapped else ("ball", "thing")
    builder = so.TreeBuilder(gravity=(0.0, 0.0, 0.0))
    for name in order:
        inertia = so.Inertia.box((0.2, 0.3, 0.4), mass=1.5)
        builder.add_body(name, joint=so.Joint("free"), inertia=inertia)
    model = builder.build()
    touch = {"friction": 0.4, "restitution": 0.5}
    scene = so.Scene(model, [so.Geom(name, name, shapes[name], **touch) for name in order])
    still = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    both = np.concatenate([still, still])
    move = np.tile([*turn, 0.0, 0.0, 0.0], 2)
    ball = 6 * order.index("ball")
    q = so.integrate(model, both, move)
    place = np.zeros(12)  # above the thing, in the axes that both have turned to
    place[ball + 3 : ball + 6] = (0.02, -0.03, 0.2 - 1e-6)
    if thing == "ball":
        place[ball + 3 : ball + 6] *= (0.2 - 1e-6) / np.linalg.norm(place[ball + 3 : ball + 6])
    q = so.integrate(model, q, place)
    up = place[ball + 3 : ball + 6] / np.linalg.norm(place[ball + 3 : ball + 6])
    up = np.array([0.0, 0.0, 1.0]) if thing == "box" else up
    v = 1e-3 * np.random.default_rng(1).normal(size=12)
    v[ball + 3 : ball + 6] += np.cross(up, [0.2, 0.1, -0.1]) + (speed - 4e-3) * up
    tau = np.zeros(12)
    tau[ball + 3 : ball + 6] = -5.0 * up
    simulator = so.Simulator(scene, dt=1e-3, integrator="semi-implicit")
    found = check(simulator, so.State(q, v), tau, (1e-8, 1e-6, 1e-2))
    assert "sliding" in found.statuses


@pytest.mark.compiled
@pytest.mark.parametrize("thing", ["box", "ball"])
@pytest.mark.parametrize("friction", [0.1, 0.8])
def test_newtons_restitution_along_normals_that_turn(thing, friction):
    scene = pushed(thing, friction, 0.6)
    simulator = so.Simulator(scene, dt=1e-3, time=EXACT, restitution="newton")
    state = beside(thing, 6e-5, (0.3, 0.3, 0.02, 0.05, 0.2))
    check(simulator, state, TAU, (1e-6, 1e-5, 1e-2))
