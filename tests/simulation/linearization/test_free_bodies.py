"""Derivatives of the default integrator's steps of bodies and mechanisms that float.

Lone bodies turn by an equation of their own, and floating trees that nothing touches are given
their momentum.
"""

import numpy as np
import pytest

import spatialops as so
from tests.simulation.linearization.test_laws import LAWS, OUTSIDE
from tests.simulation.linearization.test_linearize import EXACT, check

ALL = {"coulomb": "coulomb", **LAWS, **OUTSIDE}
SIZE = (0.2, 0.3, 0.4)
PUSH = np.array([1.0, 2.0, -3.0, 4.0, 5.0, -6.0])


def body(builder, name):
    """A free box whose centre of mass is not its middle."""
    inertia = so.Inertia.box(SIZE, mass=1.5).shifted((0.02, -0.03, 0.05))
    builder.add_body(name, joint="free", inertia=inertia)


def box_on_floor(friction=0.4, restitution=0.0):
    builder = so.TreeBuilder()
    body(builder, "box")
    geoms = [
        so.Geom("floor", "world", so.HalfSpace(), friction=friction, restitution=restitution),
        so.Geom("box", "box", so.Box(SIZE), friction=friction, restitution=restitution),
    ]
    return so.Scene(builder.build(), geoms)


def on_a_corner(depth=1e-6, speed=(0.05, 0.02)):
    """Tilted, with its lowest corner in the floor; the corner slides and comes down slowly."""
    q = np.array([0.0, 0.0, 0.0, 0.2, 0.15, 0.1, 0.95])
    q[3:] /= np.linalg.norm(q[3:])
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * 0.5
    corners *= SIZE
    R = rotation(q[3:])
    corner = corners[np.argmin(corners @ R[2])]
    q[2] = -(R @ corner)[2] - depth
    w = np.array([0.3, -0.4, 0.5])
    v = R.T @ np.array([*speed, -1e-3]) - np.cross(w, corner)
    return so.State(q, np.concatenate([w, v]))


def rotation(quaternion):
    x, y, z, w = quaternion
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


@pytest.mark.parametrize("spin", [1e-3, 3.0, 60.0])
def test_bodies_that_spin_in_the_air(spin):
    """Of one body, and of two of which one has joints beside it."""
    builder = so.TreeBuilder()
    body(builder, "a")
    body(builder, "b")
    rod = so.Inertia.capsule(0.05, 0.4, mass=1.0)
    builder.add_body("c", joint=so.Joint("revolute", axis="y"), inertia=rod)
    model = builder.build()
    rng = np.random.default_rng(3)
    simulator = so.Simulator(so.Scene(model, []), dt=5e-3, time=EXACT)
    v = rng.normal(size=model.nv)
    v[:3] *= spin
    v[6:9] *= spin
    state = so.State(model.random(rng), v)
    check(simulator, state, 0.3 * rng.normal(size=model.nv), (1e-3, 1e-2, 1e-1))


@pytest.mark.compiled
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("friction", [0.1, 2.0])
def test_a_box_on_its_corner(name, friction):
    simulator = so.Simulator(box_on_floor(friction), dt=1e-3, law=ALL[name], time=EXACT)
    found = check(simulator, on_a_corner(), PUSH, (1e-7, 1e-5, 1e-2))
    assert found.statuses != ("open",)


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["coulomb", "cone"])
def test_a_ball_on_a_box_that_floats(name):
    """Two lone bodies against each other."""
    builder = so.TreeBuilder()
    body(builder, "box")
    ball = so.Inertia.sphere(0.1, mass=0.7)
    builder.add_body("ball", joint="free", inertia=ball)
    geoms = [
        so.Geom("box", "box", so.Box(SIZE), friction=0.3),
        so.Geom("ball", "ball", so.Sphere(0.1), friction=0.3),
    ]
    scene = so.Scene(builder.build(), geoms)
    q = np.array([0.0, 0.0, 0.0, 0.1, 0.2, 0.3, 0.9, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    q[3:7] /= np.linalg.norm(q[3:7])
    R = rotation(q[3:7])
    q[7:10] = R @ np.array([0.02, 0.03, 0.3 - 1e-6])
    v = np.array([0.3, 0.2, -0.1, 0.1, 0.0, 0.2, 0.5, -0.2, 0.3, 0.0, 0.0, 0.0])
    w, at = R @ v[:3], q[7:10] - 0.1 * R[:, 2]
    v[9:] = R @ v[3:6] + np.cross(w, at) + R @ [0.05, 0.03, -1e-3]
    v[9:] += np.cross(v[6:9], 0.1 * R[:, 2])
    tau = np.concatenate([np.zeros(9), -20.0 * R[:, 2]])
    simulator = so.Simulator(scene, dt=1e-3, law=name, time=EXACT)
    found = check(simulator, so.State(q, v), tau, (1e-7, 1e-5, 1e-2))
    assert found.statuses == ("sliding",)


@pytest.mark.compiled
def test_products_along_a_box_that_slides():
    """Tangents are differences of the rollout, and adjoints their transpose."""
    simulator = so.Simulator(box_on_floor(), dt=1e-3, time=EXACT)
    state, rng = on_a_corner(), np.random.default_rng(0)
    forces = np.tile(PUSH, (8, 1)) + 0.1 * rng.normal(size=(8, 6))
    rollout = simulator.linearize_rollout(state, forces)
    dq, dv = rng.normal(size=(2, 6))
    dtau = rng.normal(size=(8, 6))
    by_q, by_v = rng.normal(size=(2, 9, 6))
    ahead, back = rollout.jvp(dq, dv, dtau), rollout.vjp(by_q, by_v)
    forwards = np.sum(by_q * ahead.q) + np.sum(by_v * ahead.v)
    assert np.isclose(forwards, back.q @ dq + back.v @ dv + np.sum(back.tau * dtau), rtol=1e-10)
    change = np.concatenate([dq, dv])
    for k, (step, tau) in enumerate(zip(rollout.states, forces, strict=False)):
        found = simulator.linearize(step, tau)
        change = found.A @ change + found.B @ dtau[k]
        assert np.allclose(change, np.concatenate([ahead.q[k + 1], ahead.v[k + 1]]), rtol=1e-9)


@pytest.mark.parametrize("alone", [True, False])
def test_a_floating_tree_in_the_air(alone):
    """Its momentum is what gravity and forces at its root make of it."""
    builder = so.TreeBuilder()
    if not alone:
        body(builder, "other")
    body(builder, "trunk")
    for name, parent, axis in (("thigh", "trunk", "y"), ("shank", "thigh", "x")):
        rod = so.Inertia.capsule(0.05, 0.4, mass=1.0).shifted((0.1, 0.0, -0.2))
        joint = so.Joint("revolute", axis=axis, damping=0.1)
        builder.add_body(name, parent=parent, joint=joint, inertia=rod, position=(0.1, 0.1, -0.3))
    model = builder.build()
    rng = np.random.default_rng(7)
    simulator = so.Simulator(so.Scene(model, []), dt=5e-3, time=EXACT)
    state = so.State(model.random(rng), 2.0 * rng.normal(size=model.nv))
    check(simulator, state, rng.normal(size=model.nv), (1e-3, 1e-2, 1e-1))


@pytest.mark.compiled
def test_a_quadruped_in_the_air_and_along_many_steps():
    robot = so.models.quadruped()
    simulator = so.Simulator(robot.scene(), dt=1e-3, time=EXACT)
    rng = np.random.default_rng(0)
    q = so.integrate(robot.model, robot.state.q, [0.3, 0.2, 0.1, 0.0, 0.0, 0.5, *np.zeros(12)])
    state = so.State(q, rng.normal(size=18))
    forces = rng.normal(size=(5, 18))
    check(simulator, state, forces[0], (1e-3, 1e-2, 1e-1))
    rollout = simulator.linearize_rollout(state, forces)
    dq, dv = rng.normal(size=(2, 18))
    by_q, by_v = rng.normal(size=(2, 6, 18))
    ahead, back = rollout.jvp(dq, dv), rollout.vjp(by_q, by_v)
    forwards = np.sum(by_q * ahead.q) + np.sum(by_v * ahead.v)
    assert np.isclose(forwards, back.q @ dq + back.v @ dv, rtol=1e-10)


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["coulomb", "cone", "no-slip"])
@pytest.mark.parametrize("height", [-1e-6, 2e-3])
@pytest.mark.parametrize("friction", [0.1, 2.0])
def test_a_box_that_strikes_with_its_corner(name, height, friction):
    """It spins fast enough that k of its equation counts; the impact comes within the step."""
    simulator = so.Simulator(box_on_floor(friction, 0.6), dt=5e-3, law=name, time=EXACT)
    state = on_a_corner(-height)
    state.v[3:] += rotation(state.q[3:]).T @ np.array([0.2, 0.0, -0.6])
    state.v[:3] *= 10.0
    steps = (3e-8, 1e-5, 1e-2) if height < 0.0 else (1e-5, 1e-4, 1e-2)
    found = check(simulator, state, PUSH, steps)
    assert found.statuses != ()


@pytest.mark.compiled
@pytest.mark.parametrize("law", ["coulomb", "cone"])
def test_a_quadruped_that_bounces_off_and_floats(law):
    """The piece after the impact is untouched, and given its momentum."""
    robot = so.models.quadruped()
    scene = robot.scene(friction=0.5, restitution=0.6)
    simulator = so.Simulator(scene, dt=1e-3, law=law, time=EXACT)
    rng = np.random.default_rng(0)
    lifted = so.integrate(robot.model, robot.state.q, [0.2, 0.1, 0.0, 0.0, 0.0, 0.0, *np.zeros(12)])
    feet = [so.Node(foot) for foot in robot.feet]
    radius = so.node_positions(robot.model, robot.state.q, feet)[:, 2].min()
    lifted[2] += 5e-5 + radius - so.node_positions(robot.model, lifted, feet)[:, 2].min()
    v = 0.05 * rng.normal(size=18)
    v[3:6] = 0.0, 0.0, -0.3
    check(simulator, so.State(lifted, v), 0.3 * rng.normal(size=18), (2.5e-6, 1e-4, 1e-2))
