"""Derivatives of steps from event to event in which contacts stay closed, open, slip and stick."""

import numpy as np
import pytest

import spatialops as so
from spatialops.algebra.rotation import from_quaternion
from tests.simulation.linearization import test_closed as closed
from tests.simulation.linearization.test_event_driven import EXACT, bouncing
from tests.simulation.linearization.test_impacts import TAU, above, leg
from tests.simulation.linearization.test_linearize import check
from tests.support.loops import random_loop
from tests.support.trees import random_tree

RADIUS = 0.1
UP = np.array([0.0, 0.0, RADIUS, 0.0, 0.0, 0.0, 1.0])


def ball(friction):
    scene = bouncing(0.0)
    geoms = [so.Geom(g.name, g.body, g.shape, friction=friction) for g in scene.geoms]
    return so.Scene(scene.model, geoms)


def along(simulator, state, tau, directions, h):
    """Changes of the end along directions (2 nv, k) of the state at the start."""
    model, n = simulator.scene.model, simulator.scene.model.nv
    end, _ = simulator.step(state, tau)

    def moved(change):
        start = so.State(so.integrate(model, state.q, change[:n]), state.v + change[n:])
        found, _ = simulator.step(start, tau)
        return np.concatenate([so.difference(model, end.q, found.q), found.v - end.v])

    columns = []
    for d in directions.T:
        f = [moved(bar * h * d) for bar in (-2.0, -1.0, 1.0, 2.0)]
        columns.append((f[0] - 8.0 * f[1] + 8.0 * f[2] - f[3]) / (12.0 * h))
    return np.stack(columns, axis=1)


def check_along(simulator, state, tau, directions, h=1e-5):
    found = simulator.linearize(state, tau)
    expected = along(simulator, state, tau, directions, h)
    assert np.abs(found.A @ directions - expected).max() < 1e-7 * np.abs(expected).max()
    by_tau = along_forces(simulator, state, tau)
    assert np.abs(found.B - by_tau).max() < 1e-7 * np.abs(by_tau).max()


def along_forces(simulator, state, tau, h=1e-3):
    model = simulator.scene.model
    end, _ = simulator.step(state, tau)
    columns = []
    for e in np.eye(model.nv):
        f = []
        for bar in (-2.0, -1.0, 1.0, 2.0):
            found, _ = simulator.step(state, tau + bar * h * e)
            f.append(np.concatenate([so.difference(model, end.q, found.q), found.v - end.v]))
        columns.append((f[0] - 8.0 * f[1] + 8.0 * f[2] - f[3]) / (12.0 * h))
    return np.stack(columns, axis=1)


@pytest.mark.compiled
@pytest.mark.parametrize("law", ["coulomb", "cone", "frictionless"])
def test_a_ball_that_slides_all_along(law):
    simulator = so.Simulator(ball(0.3), dt=5e-3, time=EXACT, law=law)
    state = so.State(UP, np.array([1.0, 2.0, 0.5, 0.5, 0.3, 0.0]))
    free = np.eye(12)[:, [i for i in range(12) if i not in (5, 11)]]
    tau = np.array([0.01, 0.02, 0.01, 0.1, 0.2, -1.0])
    check_along(simulator, state, tau, free)


def test_a_ball_that_rolls():
    simulator = so.Simulator(ball(2.0), dt=5e-3, time=EXACT)
    w = np.array([1.0, 2.0, 0.5])
    state = so.State(UP, np.array([*w, RADIUS * w[1], -RADIUS * w[0], 0.0]))
    rolls = np.zeros((12, 8))
    rolls[:5, :5] = np.eye(5)
    rolls[6:9, 5:] = np.eye(3)
    rolls[9, 6], rolls[10, 5] = RADIUS, -RADIUS
    check_along(simulator, state, np.array([0.01, 0.02, 0.01, 0.1, 0.2, -1.0]), rolls)


@pytest.mark.parametrize("friction", [0.3, 2.0])
def test_a_leg_that_lands_and_stays(friction):
    simulator = so.Simulator(leg(friction, 0.0), dt=5e-3, time=EXACT)
    assert check(simulator, above(3e-3), TAU, (1e-5, 1e-4, 1e-3)).statuses


def test_a_ball_that_lands_and_rolls():
    """It slides at first, and sticks within the step: its spin goes along its way."""
    simulator = so.Simulator(ball(0.3), dt=0.05, time=EXACT)
    q = UP + np.array([0.0, 0.0, 0.005, 0.0, 0.0, 0.0, 0.0])
    state = so.State(q, np.array([0.0, 2.0, 0.0, 0.5, 0.0, -1.0]))
    plane = [1, 3, 5, 7, 9, 11]
    found = simulator.linearize(state)
    expected = along(simulator, state, np.zeros(6), np.eye(12)[:, plane], 1e-6)
    error = np.abs(found.A[:, plane] - expected).max()
    assert error < 1e-7 * np.abs(expected).max()


def sprung(stiffness=200.0, friction=0.3):
    """A block on the floor, and a weight on springs above and beside it."""
    builder = so.TreeBuilder()
    solid = so.Inertia.sphere(RADIUS, mass=1.0)
    slides = (("x", "world", "x", 0.0), ("block", "x", "z", 0.0))
    slides += (("weight", "block", "z", stiffness), ("side", "block", "x", stiffness))
    for name, parent, axis, spring in slides:
        joint = so.Joint("prismatic", axis=axis, stiffness=spring, damping=0.1 * bool(spring))
        builder.add_body(name, parent=parent, joint=joint, inertia=solid)
    geoms = [so.Geom("floor", "world", so.HalfSpace(), friction=friction)]
    geoms.append(so.Geom("block", "block", so.Sphere(RADIUS), friction=friction))
    return so.Scene(builder.build(), geoms)


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("v", "stretch", "friction", "kind"),
    [
        ((0.0, 0.0, 3.0, 0.0), (0.0, 0.0), 0.0, "separation"),
        ((0.3, 0.0, 3.0, 0.0), (0.0, 0.1), 0.1, "separation"),
        ((0.0, 0.0, 0.0, 1.5), (-0.1, 0.05), 0.3, "slip"),
        ((0.1, 0.0, 0.0, 0.0), (-0.1, 0.0), 0.3, "stick"),
    ],
)
def test_a_block_that_lifts_off_begins_to_slide_or_stops(v, stretch, friction, kind):
    simulator = so.Simulator(sprung(friction=friction), dt=0.05, time=EXACT)
    state = so.State(np.array([0.0, RADIUS, *stretch]), np.array(v))
    log = simulator.run(state, duration=0.05).log
    assert kind in {event.kind for event in log}
    sticks = v[0] == 0.0 and friction > 0.0
    free = [i for i in range(8) if i != 1 and i != 5 and not (sticks and i == 4)]
    check_along(simulator, state, np.zeros(4), np.eye(8)[:, free])


@pytest.mark.compiled
def test_springs_damping_and_actuators():
    scene = leg(0.3, 0.6, damping=0.1, stiffness=3.0)
    servo = so.Actuator.position("servo", "knee", kp=20.0, kv=1.0)
    scene = so.Scene(scene.model, scene.geoms, actuators=[servo], ctrl=[-0.5])
    simulator = so.Simulator(scene, dt=5e-3, time=EXACT)
    assert len(check(simulator, above(3e-3), TAU, (1e-5, 1e-4, 1e-2)).statuses) == 1


def test_a_rollout_from_event_to_event():
    """Tangents of steps in which the leg falls, lands and slides; adjoints are their transpose."""
    simulator = so.Simulator(leg(0.3, 0.0, damping=0.1), dt=2e-3, time=EXACT)
    forces = np.tile(TAU, (5, 1))
    rollout = simulator.linearize_rollout(above(3e-3), forces)
    rng = np.random.default_rng(0)
    change, dtau = rng.normal(size=8), rng.normal(size=(5, 4))
    ahead = rollout.jvp(change[:4], change[4:], dtau)
    state, expected = above(3e-3), change
    for k in range(5):
        step = simulator.linearize(state, forces[k])
        expected = step.A @ expected + step.B @ dtau[k]
        state = step.state
        found = np.concatenate([ahead.q[k + 1], ahead.v[k + 1]])
        assert np.allclose(found, expected, rtol=1e-9, atol=1e-9)
    weights = rng.normal(size=(2, 6, 4))
    back = rollout.vjp(*weights)
    one = weights[0].ravel() @ ahead.q.ravel() + weights[1].ravel() @ ahead.v.ravel()
    other = back.q @ change[:4] + back.v @ change[4:] + back.tau.ravel() @ dtau.ravel()
    assert np.isclose(one, other, rtol=1e-10)


@pytest.mark.compiled
def test_a_box_that_lands_on_a_corner_and_slides():
    """Shapes move as `contact_motion` says."""
    builder = so.TreeBuilder()
    inertia = so.Inertia.box((0.2, 0.2, 0.2), mass=1.0)
    builder.add_body("box", joint=so.Joint("free"), inertia=inertia)
    geoms = [so.Geom("box", "box", so.Box((0.2, 0.2, 0.2)), friction=0.2)]
    geoms.append(so.Geom("table", "world", so.Box((1.0, 1.0, 0.1)), friction=0.2))
    turn = np.array([0.1, 0.2, 0.05, 0.95])
    turn /= np.linalg.norm(turn)
    model = builder.build()
    q = np.array([0.0, 0.0, 1.0, *turn])
    simulator = so.Simulator(so.Scene(model, geoms), dt=3e-3, time=EXACT)
    q[2] = 0.05 + 0.1 * np.abs(from_quaternion(turn)[2]).sum() + 2e-4
    state = so.State(q, np.array([0.1, 0.2, 0.3, 0.4, 0.1, -0.5]))
    assert check(simulator, state, np.zeros(6), (1e-6, 1e-5, 1e-3)).statuses


@pytest.mark.compiled
def test_a_box_that_slides_on_a_face():
    """Four contacts, of which three would do."""
    builder = so.TreeBuilder()
    inertia = so.Inertia.box((0.2, 0.2, 0.2), mass=1.0)
    builder.add_body("box", joint=so.Joint("free"), inertia=inertia)
    geoms = [so.Geom("box", "box", so.Box((0.2, 0.2, 0.2)), friction=0.2)]
    geoms.append(so.Geom("floor", "world", so.HalfSpace(), friction=0.2))
    simulator = so.Simulator(so.Scene(builder.build(), geoms), dt=5e-3, time=EXACT)
    state = so.State(UP, np.array([0.0, 0.0, 0.0, 0.3, 0.1, 0.0]))
    tau = np.array([0.0, 0.0, 0.01, 0.1, 0.05, 0.0])
    check_along(simulator, state, tau, np.eye(12)[:, [2, 3, 4, 8, 9, 10]])
    assert simulator.linearize(state, tau).statuses == ("sliding",) * 4


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["four_bar", "slider_crank"])
def test_planar_linkages(name):
    linkage = getattr(so.models, name)()
    nv = linkage.model.nv
    rng = np.random.default_rng(2)
    course = closed.Course(linkage.scene(), linkage.state.q, 3.0 * rng.normal(size=nv))
    closed.check(so.Simulator(linkage.scene(), dt=5e-3, time=EXACT), course, rng.normal(size=nv))


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("kind", "seed"), [("distance", 0), ("ball", 1), ("revolute", 3), ("coupler", 5)]
)
def test_closures_of_random_trees(kind, seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 7, ("revolute", "ball", "universal", "prismatic"), each=True)
    q = model.random(rng)
    scene = so.Scene(model, [], loops=[random_loop(rng, model, q, kind, "loop")])
    course = closed.Course(scene, q, rng.normal(size=model.nv))
    closed.check(so.Simulator(scene, dt=2e-3, time=EXACT), course, rng.normal(size=model.nv))
