"""Derivatives of steps in which closed mechanisms strike, against differences of the step."""

import numpy as np
import pytest

import spatialops as so
from spatialops.simulation import _layout as at
from tests.simulation.linearization.test_closed import (
    INTEGRATORS,
    TOE,
    Course,
    check,
    standing_leg,
)
from tests.simulation.linearization.test_linearize import EXACT
from tests.support.loops import onto

BALL = 0.05


def timed(scene, **options):
    """A simulator that finds times of impact ten times as exactly as by default.

    They are found to a thousandth of the distance that touches, in whole steps of a search: what is
    left of the gap changes with the state, and differences see 1e-7 of it.
    """
    simulator = so.Simulator(scene, **{"dt": 5e-3, "time": EXACT, **options})
    simulator.stepping.settings[at.TOUCH] *= 0.1
    return simulator


def striking_bar(gap, friction, restitution, linkage=None, body="coupler"):
    """A linkage, by default a four-bar, with a ball on a body that is so far above the floor."""
    linkage = linkage or so.models.four_bar()
    model, q = linkage.model, linkage.state.q
    place = (0.3, 0.02, -0.1)
    height = so.node_positions(model, q, [so.Node(body, place)])[0][2]
    touch = {"friction": friction, "restitution": restitution}
    floor = (0.0, 0.0, height - BALL - gap)
    geoms = [so.Geom("floor", "world", so.HalfSpace(), position=floor, **touch)]
    geoms.append(so.Geom("ball", body, so.Sphere(BALL), position=place, **touch))
    return so.Scene(model, geoms, loops=linkage.loops), q, so.Node(body, place)


def approaching(scene, q, node, speed, seed=0):
    """Velocities that keep the closures, with which a node goes down."""
    model = scene.model
    G = so.loop_jacobian(model, scene.loops, q)
    down = -so.jacobian(model, q, [node])[5]
    v = onto(G, np.random.default_rng(seed).normal(size=model.nv))
    way = onto(G, down)
    return v + (speed - down @ v) / (down @ way) * way


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("friction", [0.0, 0.3])
@pytest.mark.parametrize("gap", [-5e-7, 2e-3])
def test_a_four_bar_that_hits_the_floor(integrator, friction, gap):
    """As the step begins, and within it; without restitution nothing is left of its motion."""
    scene, q, node = striking_bar(gap, friction, 0.6)
    course = Course(scene, q, approaching(scene, q, node, 1.0))
    simulator = timed(scene, integrator=integrator)
    tau = np.array([0.3, -0.2, 0.1])
    # Differences go as far as the ball stays in the floor: the larger, the less their roundings.
    found = check(simulator, course, tau, (2.2e-7 if gap < 0.0 else 1e-5, 1e-3))
    assert len(simulator.step(course.at(0.0), tau)[1].events) == 1
    assert found.statuses


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("friction", [0.3, 2.0])
@pytest.mark.parametrize("law", ["coulomb", "cone", "no-slip"])
@pytest.mark.parametrize("restitution", [0.0, 0.5])
@pytest.mark.parametrize("height", [0.0, 2e-3])
def test_a_leg_with_rods_that_lands_and_bounces(integrator, friction, law, restitution, height):
    """In three dimensions: friction turns with the slip."""
    scene, q = standing_leg(friction, restitution)
    q[2] += 1.5e-6 + height
    wish = approaching(scene, q, so.Node("foot", TOE), 0.8)
    simulator = timed(scene, integrator=integrator, law=law)
    tau = np.random.default_rng(1).normal(size=scene.model.nv)
    course = Course(scene, q, wish)
    check(simulator, course, tau, (1e-7 if height == 0.0 else 1e-5, 1e-3))


def floating_bricard(friction, restitution, kind="revolute"):
    """Bricard's linkage, of which a row is redundant, on a free body; a ball is on a rod.

    Closed by a ball joint it is a linkage of which none is.
    """
    corners = np.array([[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1]])
    axes = np.eye(3)[[1, 2, 0, 1, 2, 0]]
    builder = so.TreeBuilder()
    builder.add_body("base", joint="free", inertia=so.Inertia.box((0.3, 0.3, 1.0), mass=1.0))
    for i in range(5):
        line = np.append(corners, [[0, 0, 0]], axis=0)[i + 1] - corners[i]
        rod = so.Inertia.box(0.1 + np.abs(line), mass=1.0).shifted(0.5 * line)
        builder.add_body(
            f"rod{i}",
            parent="base" if i == 0 else f"rod{i - 1}",
            joint=so.Joint("revolute", axis=tuple(axes[i])),
            inertia=rod,
            position=tuple(corners[i] - corners[max(i - 1, 0)]),
        )
    model = builder.build()
    q = model.neutral()
    places = {"point": corners[5].astype(float), "axis": axes[5], "name": "last hinge"}
    loop = so.loop_at(model, q, kind, "rod4", "base", **places)
    q = so.close_loops(model, [loop], so.integrate(model, q, [0.4, 0.2, -0.3, 0, 0, 0] + 5 * [0.0]))
    touch = {"friction": friction, "restitution": restitution}
    low = so.node_positions(model, q, [so.Node("rod2", (0.1, 0.0, 0.2))])[0][2] - BALL
    geoms = [so.Geom("floor", "world", so.HalfSpace(), position=(0.0, 0.0, low), **touch)]
    place = (0.1, 0.0, 0.2)
    geoms.append(so.Geom("ball", "rod2", so.Sphere(BALL), position=place, **touch))
    return so.Scene(model, geoms, loops=[loop]), q, so.Node("rod2", place)


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("friction", [0.3, 2.0])
@pytest.mark.parametrize("gap", [-5e-7, 2e-3])
def test_rows_that_others_imply(integrator, friction, gap):
    scene, q, node = floating_bricard(friction, 0.6)
    q[2] += gap
    course = Course(scene, q, approaching(scene, q, node, 1.0))
    simulator = timed(scene, integrator=integrator)
    tau = np.linspace(-0.3, 0.3, scene.model.nv)
    check(simulator, course, tau, (1e-7 if gap < 0.0 else 1e-5, 1e-3))


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("dt", [1e-3, 5e-3])
@pytest.mark.parametrize("kind", ["revolute", "ball"])
@pytest.mark.parametrize("status", ["sliding", "sticking"])
def test_a_fast_linkage_on_the_floor(integrator, dt, kind, status):
    """Friction turns with the slip that closures leave, of which some rows may imply others."""
    scene, q, node = floating_bricard(0.3 if status == "sliding" else 5.0, 0.0, kind)
    q[2] -= 2e-6
    model = scene.model
    v = approaching(scene, q, node, 1e-3, 1)
    if status == "sticking":
        G = so.loop_jacobian(model, scene.loops, q)
        point = so.jacobian(model, q, [node])[3:]
        wanted = np.append(np.zeros(len(G) + 2), -1e-3)
        v = onto(np.concatenate([G, point]), v, wanted)
    course = Course(scene, q, v)
    simulator = so.Simulator(scene, dt=dt, time=EXACT, integrator=integrator)
    tau = np.linspace(-0.3, 0.3, model.nv)
    found = check(simulator, course, tau, (1e-7, 1e-3))
    assert found.statuses == (status,)
