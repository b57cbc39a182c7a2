"""The derivative of a step by controls and activations, against differences of the step."""

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ArgumentError, ContactError
from tests.simulation.linearization.test_linearize import EXACT, TOLERANCE, standing
from tests.support.trees import relative_error

STEPS = (1e-3, 1e-3, 1e-3, 1e-2)  # for q, v, activations and controls


def end_of(simulator, state, ctrl, tau, moved):
    """Where a step ends from the changed state and controls, against where it ends from these."""
    model, nv = simulator.scene.model, simulator.scene.model.nv
    activation = simulator.scene.activations(state)
    dq, dv, dw, du = np.split(moved, np.cumsum([nv, nv, len(activation)]))
    end, _ = simulator.step(state, tau, ctrl=ctrl)
    start = so.State(so.integrate(model, state.q, dq), state.v + dv, state.time, activation + dw)
    found, _ = simulator.step(start, tau, ctrl=ctrl + du)
    change = so.difference(model, end.q, found.q), found.v - end.v, found.activation
    return np.concatenate([*change[:2], change[2] - end.activation])


def check(simulator, state, ctrl, tau=None, steps=STEPS):
    model = simulator.scene.model
    ctrl = np.asarray(ctrl, dtype=float)
    n_states = len(simulator.scene.activations(state))
    sizes = [model.nv, model.nv, n_states, len(ctrl)]
    columns = []
    for i, h in enumerate(np.repeat(steps, sizes)):
        e = np.zeros(sum(sizes))
        e[i] = h
        f = [end_of(simulator, state, ctrl, tau, c * e) for c in (-2.0, -1.0, 1.0, 2.0)]
        columns.append((f[0] - 8.0 * f[1] + 8.0 * f[2] - f[3]) / (12.0 * h))
    expected = np.stack(columns, axis=1)
    found = simulator.linearize_controls(state, ctrl, tau)
    n = len(expected)
    assert relative_error(found.A, expected[:, :n]) < TOLERANCE
    assert relative_error(found.B, expected[:, n:]) < TOLERANCE
    end, _ = simulator.step(state, tau, ctrl=ctrl)
    assert np.allclose(found.state.q, end.q, atol=1e-12)
    assert np.allclose(found.state.activation, end.activation, atol=1e-15)
    return found


def arm():
    builder = so.TreeBuilder()
    for name, parent, axis in (("a", "world", "y"), ("b", "a", "z"), ("c", "b", "y")):
        rod = so.Inertia.capsule(0.05, 0.4, mass=1.0).shifted((0.1, 0.0, -0.2))
        joint = so.Joint("revolute", axis=axis, damping=0.1)
        builder.add_body(name, parent=parent, joint=joint, inertia=rod, position=(0.1, 0.1, -0.3))
    return builder.build()


def driven(model, **options):
    """A servo, a force cut to its range, a filter and an integrator, one of them on two joints."""
    near, far = so.Node("world", (0.5, 0.4, 0.3)), so.Node("c", (-0.2, 0.3, 0.1))
    actuators = [
        so.Actuator.position("servo", "a", kp=200.0, kv=2.0, ctrl_range=(-1.0, 1.0)),
        so.Actuator(name="weak", joints="b", gain=(3.0, 0, 0), force_range=(-1.0, 1.0)),
        so.Actuator(
            name="lag",
            joints={"b": 0.5, "c": -2.0},
            gain=(2.0, 0, 0),
            bias=(0.1, -3.0, -0.2),
            dynamics="filter",
            time_constant=0.02,
        ),
        so.Actuator(
            name="drive",
            joints="c",
            gain=(5.0, 0, 0),
            dynamics="integrator",
            activation_range=(-1.0, 1.0),
        ),
        so.Actuator(name="rope", path=so.TendonPath([[near, far]]), gain=(1.5, 0, 0)),
    ]
    return so.Scene(model, [], actuators=actuators, **options)


@pytest.mark.parametrize("integrator", ["moreau", "semi-implicit"])
def test_servos_forces_filters_integrators_and_paths(integrator):
    scene = driven(arm())
    simulator = so.Simulator(scene, dt=5e-3, integrator=integrator, time=EXACT)
    q, v = np.array([0.3, 0.5, -0.8]), np.array([1.0, -2.0, 3.0])
    state = so.State(q, v, 0.0, np.array([0.4, -0.3]))
    found = check(simulator, state, [0.2, 0.1, 0.7, -0.5, 2.0], np.array([0.1, 0.2, 0.3]))
    assert found.A.shape == (8, 8)
    assert (found.B[:6] != 0.0).all()


def test_what_is_cut_to_a_range_has_no_effect():
    """A control beyond its range, a force at its limit, an activation that comes to its end."""
    simulator = so.Simulator(driven(arm()), dt=5e-3, time=EXACT)
    state = so.State(np.array([0.3, 0.5, -0.8]), np.zeros(3), 0.0, np.array([0.4, 0.999]))
    found = check(simulator, state, [2.0, 1.5, 0.7, 3.0, 2.0])
    assert (found.B[:, [0, 1]] == 0.0).all()
    assert found.B[7, 3] == 0.0
    assert found.A[7, 7] == 0.0
    assert found.B[3, 3] == 0.0


def test_a_force_that_yields_may_begin_beyond_its_range():
    """A stiff servo: with what it yields it pulls with less than it begins with."""
    servo = so.Actuator.position("servo", "a", kp=2e4, kv=200.0, force_range=(-200.0, 200.0))
    simulator = so.Simulator(so.Scene(arm(), [], actuators=[servo]), dt=5e-3, time=EXACT)
    state = so.State(np.array([0.3, 0.5, -0.8]), np.zeros(3))
    found = check(simulator, state, [0.315], steps=(1e-5, 1e-3, 1e-3, 1e-5))
    assert abs(2e4 * (0.315 - 0.3)) > 200.0
    assert found.B[3, 0] != 0.0


@pytest.mark.compiled
@pytest.mark.parametrize(("speed", "does"), [(1e-5, "sticking"), (0.02, "sliding")])
def test_feet_under_servos(speed, does):
    robot = so.models.quadruped()
    state, tau = standing(robot)
    names = robot.model.joint_names[1:]
    servos = [so.Actuator.position(name, name, kp=3.0, kv=0.1) for name in names]
    scene = so.Scene(robot.model, robot.scene(friction=0.5).geoms, actuators=servos)
    rng = np.random.default_rng(3)
    state = so.State(state.q, speed * rng.normal(size=18))
    simulator = so.Simulator(scene, dt=1e-3, time=EXACT)
    ctrl = state.q[7:] + 0.01 * rng.normal(size=len(names))
    found = check(simulator, state, ctrl, tau, (1e-7, 1e-6, 1e-3, 1e-5))
    assert does in found.statuses


@pytest.mark.parametrize("integrator", ["moreau", "rk4"])
def test_closed_mechanisms(integrator):
    bar = so.models.four_bar()
    crank = bar.model.joint_names[0]
    motor = so.Actuator(name="motor", joints=crank, gain=(2.0, 0, 0), bias=(0.0, -1.0, -0.1))
    scene = so.Scene(bar.model, [], loops=bar.loops, actuators=[motor], state=bar.state)
    simulator = so.Simulator(scene, dt=1e-3, integrator=integrator, time=EXACT)
    found = simulator.linearize_controls(bar.state, [0.7])
    by_force = [simulator.step(bar.state, ctrl=[u])[0].v for u in (0.6, 0.8)]
    expected = (by_force[1] - by_force[0]) / 0.2
    assert relative_error(found.B[len(expected) :, 0], expected) < TOLERANCE


def test_impacts_within_the_step():
    builder = so.TreeBuilder()
    slide = so.Joint("prismatic", axis="z")
    builder.add_body("ball", joint=slide, inertia=so.Inertia.sphere(0.1, mass=1.0))
    geoms = [
        so.Geom("floor", "world", so.HalfSpace(), restitution=0.5),
        so.Geom("ball", "ball", so.Sphere(0.1), restitution=0.5),
    ]

    def dropped(**options):
        motor = so.Actuator(name="motor", joints=builder.build().joint_names[0], **options)
        scene = so.Scene(builder.build(), geoms, actuators=[motor])
        return so.Simulator(scene, dt=5e-3, time=EXACT)

    state = so.State(np.array([0.102]), np.array([-1.0]))
    check(dropped(gain=(2.0, 0, 0)), state, [0.7], steps=(1e-5, 1e-3, 1e-3, 1e-2))
    limited = dropped(gain=(2.0, 0, 0), force_range=(-3.0, 3.0))
    with pytest.raises(ContactError, match="'motor': activations, ranges of force"):
        limited.linearize_controls(state, [0.7])


def test_what_is_not_known_is_refused():
    model = arm()
    bent = so.Actuator(name="bent", joints="a", gain=(1.0, 0.5, 0.0))
    simulator = so.Simulator(so.Scene(model, [], actuators=[bent]), dt=1e-3)
    with pytest.raises(ArgumentError, match="'bent': gains that change"):
        simulator.linearize_controls(simulator.scene.state)
    simulator = so.Simulator(driven(model), dt=1e-3, integrator="rk4")
    with pytest.raises(ArgumentError, match="under 'rk4'"):
        simulator.linearize_controls(simulator.scene.state)
    simulator = so.Simulator(driven(model), time=so.EventDriven())
    with pytest.raises(ArgumentError, match="linearize_controls"):
        simulator.linearize_controls(simulator.scene.state)


def test_other_linearizations_keep_the_scenes_controls():
    simulator = so.Simulator(driven(arm(), ctrl=[0.1, 0.0, 0.2, 0.0, 0.3]), dt=5e-3, time=EXACT)
    state = simulator.scene.state
    before = simulator.linearize(state)
    simulator.linearize_controls(state, [0.5, 0.2, 1.0, 1.0, 1.0])
    after = simulator.linearize(state)
    np.testing.assert_allclose(before.state.v, after.state.v, rtol=0, atol=1e-12)
    own = simulator.linearize_controls(state)
    np.testing.assert_allclose(own.state.v, after.state.v, rtol=0, atol=1e-12)
    np.testing.assert_allclose(own.A[:6, :6], after.A, rtol=0, atol=1e-12)
