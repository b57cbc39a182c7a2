"""The derivative of a step against differences of fourth order of the step itself."""

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ArgumentError
from tests.support.trees import random_tree, relative_error

TOLERANCE = 1e-7
EXACT = so.TimeStepping(settled=1e-13)  # differences see what is not settled


def differences(simulator, state, tau, steps):
    """A and B of a step: central differences, with steps for q, v and tau."""
    model, nv = simulator.scene.model, simulator.scene.model.nv
    end, _ = simulator.step(state, tau)

    def moved(dq, dv, dtau):
        start = so.State(so.integrate(model, state.q, dq), state.v + dv)
        found, _ = simulator.step(start, tau + dtau)
        return np.concatenate([so.difference(model, end.q, found.q), found.v - end.v])

    columns = []
    for i in range(3 * nv):
        e = np.zeros(3 * nv)
        e[i] = h = steps[i // nv]
        f = [moved(*np.split(c * e, 3)) for c in (-2.0, -1.0, 1.0, 2.0)]
        columns.append((f[0] - 8.0 * f[1] + 8.0 * f[2] - f[3]) / (12.0 * h))
    found = np.stack(columns, axis=1)
    return found[:, : 2 * nv], found[:, 2 * nv :]


def check(simulator, state, tau, steps):
    found = simulator.linearize(state, tau)
    A, B = differences(simulator, state, tau, steps)
    assert relative_error(found.A, A) < TOLERANCE
    assert relative_error(found.B, B) < TOLERANCE
    end, _ = simulator.step(state, tau)
    assert np.allclose(found.state.q, end.q, atol=1e-12)
    assert np.allclose(found.state.v, end.v, atol=1e-9)
    return found


def standing(robot, depth=5e-6):
    """The quadruped at rest, a little in the ground, and forces that hold it there."""
    model = robot.model
    q = robot.state.q.copy()
    v = np.zeros(robot.model.nv)
    q[2] -= depth
    G = np.concatenate([so.jacobian(model, q, [so.Node(foot)])[3:] for foot in robot.feet])
    bias = so.bias(model, q, v)
    forces = np.linalg.lstsq(G.T[:6], bias[:6], rcond=None)[0]
    return so.State(q, v), bias - G.T @ forces


def check_feet(law, integrator, drawn, bars):
    """`check` a standing quadruped whose velocities and torques are drawn: seed and speed."""
    seed, speed = drawn
    robot = so.models.quadruped()
    state, tau = standing(robot)
    rng = np.random.default_rng(seed)
    state = so.State(state.q, speed * rng.normal(size=18))
    scene = robot.scene(friction=0.3)
    simulator = so.Simulator(scene, dt=1e-3, integrator=integrator, law=law, time=EXACT)
    return check(simulator, state, tau + 0.05 * rng.normal(size=18), bars)


@pytest.mark.parametrize("integrator", ["moreau", "semi-implicit"])
def test_free_motion_of_every_fixed_joint(integrator):
    kinds = ("revolute", "ball", "prismatic", "screw", "universal")
    model = random_tree(np.random.default_rng(4), 5, kinds, each=True)
    rng = np.random.default_rng(5)
    simulator = so.Simulator(so.Scene(model, []), dt=2e-3, integrator=integrator, time=EXACT)
    state = so.State(model.random(rng), rng.normal(size=model.nv))
    found = check(simulator, state, rng.normal(size=model.nv), (1e-3, 1e-3, 1e-1))
    assert found.statuses == ()
    assert found.switching == ()


@pytest.mark.parametrize("integrator", ["moreau", "semi-implicit"])
@pytest.mark.parametrize("damping", [1e-3, 1.0, 50.0])
def test_damping_is_fitted_to_inertias_that_change(integrator, damping):
    builder = so.TreeBuilder()
    for name, parent, axis in (("a", "world", "y"), ("b", "a", "z"), ("c", "b", "y")):
        rod = so.Inertia.capsule(0.05, 0.4, mass=1.0).shifted((0.1, 0.0, -0.2))
        joint = so.Joint("revolute", axis=axis, damping=damping if name != "b" else 0.0)
        builder.add_body(name, parent=parent, joint=joint, inertia=rod, position=(0.1, 0.1, -0.3))
    scene = so.Scene(builder.build(), [])
    simulator = so.Simulator(scene, dt=5e-3, integrator=integrator, time=EXACT)
    state = so.State(np.array([0.3, 0.5, -0.8]), np.array([1.0, -2.0, 3.0]))
    check(simulator, state, np.array([0.1, 0.2, 0.3]), (1e-3, 1e-3, 1e-1))


def driven_arm(stiffness):
    """Three joints with springs, a servo near its limit, a motor with back-EMF, and a tendon."""
    builder = so.TreeBuilder()
    for name, parent, axis in (("a", "world", "y"), ("b", "a", "z"), ("c", "b", "y")):
        rod = so.Inertia.capsule(0.05, 0.4, mass=1.0).shifted((0.1, 0.0, -0.2))
        joint = so.Joint("revolute", axis=axis, stiffness=stiffness, damping=0.1)
        builder.add_body(name, parent=parent, joint=joint, inertia=rod, position=(0.1, 0.1, -0.3))
    actuators = [
        so.Actuator.position("servo", "a", kp=20.0, kv=2.0, force_range=(-9.0, 9.0)),
        so.Actuator.velocity("drive", "b", kv=0.5),
        so.Actuator.position("strong", "c", kp=50.0, force_range=(-1.0, 1.0)),  # at its limit
    ]
    factors = {"a": 1.0, "b": -0.5, "c": 2.0}
    tendon = so.Tendon(joints=factors, stiffness=stiffness, damping=0.3)
    return so.Scene(
        builder.build(), [], actuators=actuators, tendons=[tendon], ctrl=[0.5, 1.0, 1.0]
    )


@pytest.mark.parametrize("integrator", ["moreau", "semi-implicit"])
@pytest.mark.parametrize("stiffness", [10.0, 1e5])
def test_springs_and_actuators(integrator, stiffness):
    """Also springs that the step does not resolve, whose damping changes with inertias."""
    scene = driven_arm(stiffness)
    simulator = so.Simulator(scene, dt=5e-3, integrator=integrator, time=EXACT)
    state = so.State(np.array([0.3, 0.5, -0.8]), np.array([1.0, -2.0, 3.0]))
    check(simulator, state, np.array([0.1, 0.2, 0.3]), (1e-4, 1e-3, 1e-1))


@pytest.mark.parametrize("integrator", ["moreau", "semi-implicit"])
def test_gains_of_an_activation_are_those_of_the_beginning(integrator):
    """It follows its control at the end of the step."""
    builder = so.TreeBuilder()
    rod = so.Inertia.capsule(0.05, 0.4, mass=1.0).shifted((0.1, 0.0, -0.2))
    builder.add_body("a", joint=so.Joint("revolute", axis="y"), inertia=rod)
    options = {"gain": (5.0, -40.0, -1.0), "dynamics": "filter", "time_constant": 0.02}
    muscle = so.Actuator(name="muscle", joints="a", **options)
    scene = so.Scene(builder.build(), [], actuators=[muscle], ctrl=[1.0])
    simulator = so.Simulator(scene, dt=5e-3, integrator=integrator, time=EXACT)
    active = np.array([0.2])

    def end(x):
        state = so.State(np.array([0.3 + x[0]]), np.array([1.0 + x[1]]), activation=active)
        found, _ = simulator.step(state, x[2:])
        return np.concatenate([found.q, found.v])

    h = 1e-3
    expected = [
        (end(-2.0 * e) - 8.0 * end(-e) + 8.0 * end(e) - end(2.0 * e)) / (12.0 * h)
        for e in h * np.eye(3)
    ]
    found = simulator.linearize(so.State(np.array([0.3]), np.ones(1), activation=active))
    assert relative_error(np.hstack([found.A, found.B]), np.array(expected).T) < TOLERANCE


@pytest.mark.compiled
def test_a_floating_robot_in_the_air():
    robot = so.models.quadruped()
    rng = np.random.default_rng(6)
    state = so.State(robot.state.q.copy(), rng.normal(size=18))
    state.q[2] += 1.0
    simulator = so.Simulator(robot.scene(), dt=1e-3, integrator="semi-implicit")
    check(simulator, state, rng.normal(size=18), (1e-4, 1e-3, 1e-1))


@pytest.mark.compiled
def test_a_standing_quadruped_sticks():
    """The default step; at rest slips that begin are at a kink that all differences pass alike."""
    robot = so.models.quadruped()
    state, tau = standing(robot)
    simulator = so.Simulator(robot.scene(), dt=1e-3, time=EXACT)
    found = check(simulator, state, tau, (2e-7, 2e-7, 1e-4))
    assert found.statuses == ("sticking",) * 4
    assert len(found.switching) == 4
    assert all("at rest" in text for text in found.switching)


@pytest.mark.compiled
@pytest.mark.parametrize("integrator", ["moreau", "semi-implicit"])
@pytest.mark.parametrize(("seed", "speed"), [(1, 1e-3), (5, 1e-2), (6, 2e-2)])
def test_feet_that_stick_slide_and_lift(integrator, seed, speed):
    robot = so.models.quadruped()
    state, tau = standing(robot)
    rng = np.random.default_rng(seed)
    state = so.State(state.q, speed * rng.normal(size=18))
    simulator = so.Simulator(robot.scene(friction=0.3), dt=1e-3, integrator=integrator, time=EXACT)
    check(simulator, state, tau + 0.05 * rng.normal(size=18), (1e-7, 1e-7, 1e-3))


@pytest.mark.parametrize("shape", ["sphere", "box"])
def test_a_body_that_slides_on_the_floor(shape):
    """Of a box four contacts are redundant; its velocity is determined all the same."""
    solid = so.Sphere(0.1) if shape == "sphere" else so.Box((0.2, 0.2, 0.2))
    inertia = so.Inertia.sphere(0.1, mass=1.0)
    builder = so.TreeBuilder()
    builder.add_body("body", joint=so.Joint("free"), inertia=inertia)
    geoms = [
        so.Geom("floor", "world", so.HalfSpace(), friction=0.4),
        so.Geom("body", "body", solid, friction=0.4),
    ]
    scene = so.Scene(builder.build(), geoms)
    q = np.array([0.0, 0.0, 0.1 - 3e-6, 0.0, 0.0, 0.0, 1.0])
    v = np.array([0.0, 0.0, 0.0, 0.5, 0.2, 0.0])
    simulator = so.Simulator(scene, dt=1e-3, integrator="semi-implicit")
    found = simulator.linearize(so.State(q, v))
    assert set(found.statuses) == {"sliding"}
    if shape == "sphere":
        check(simulator, so.State(q, v), np.zeros(6), (5e-7, 1e-4, 1e-2))


def test_forces_that_are_cut_have_no_effect():
    joint = so.Joint("revolute", axis="y", effort_limit=1.0)
    model = so.TreeBuilder().add_body("rod", joint=joint, inertia=so.Inertia.sphere(0.1, mass=1.0))
    simulator = so.Simulator(so.Scene(model.build(), []), dt=1e-2, clip_effort=True)
    state = so.State(np.zeros(1), np.zeros(1))
    for _ in range(2):
        assert (simulator.linearize(state, np.array([2.0])).B == 0.0).all()
        assert (simulator.linearize(state, np.array([0.5])).B != 0.0).any()


def test_later_calls_look_at_what_they_are_given():
    robot = so.models.quadruped()
    state, tau = standing(robot)
    simulator = so.Simulator(robot.scene(), dt=1e-3)
    first = simulator.linearize(state, tau)

    def as_at_first(q, forces):
        again = simulator.linearize(so.State(q, state.v), forces)
        same = [np.allclose(again.A, first.A, rtol=0.0, atol=1e-10)]
        return all([*same, np.allclose(again.B, first.B, rtol=0.0, atol=1e-12)])

    longer = state.q.copy()
    longer[3:7] *= 3.0  # no unit quaternion
    assert as_at_first(longer, tau)
    assert as_at_first(state.q.tolist(), tau)
    assert as_at_first(state.q, np.repeat(tau, 2)[::2])
    nan = np.full(18, np.nan)
    wrong = [
        (so.State(np.append(state.q[:-1], np.inf), state.v), tau),
        (so.State(state.q, nan), tau),
        (so.State(state.q, state.v, np.nan), tau),
        (so.State(np.where(np.arange(19) < 7, 0.0, state.q), state.v), tau),
        (so.State(state.q[:-1], state.v), tau),
        (so.State(state.q, state.v[:, None]), tau),
        (state, nan),
        (state, tau[:-1]),
        (None, tau),
    ]
    for given in wrong:
        with pytest.raises(ArgumentError):
            simulator.linearize(*given)
    assert as_at_first(state.q, tau)


def test_what_is_not_known_is_refused_in_words():
    pendulum = so.models.pendulum(2)
    simulator = so.Simulator(pendulum.scene(), time=so.EventDriven())
    with pytest.raises(ArgumentError, match="EventDriven"):
        simulator.linearize_parameters(pendulum.state)
