"""Forces and lengths of actuators, as sensors read them."""

from __future__ import annotations

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ArgumentError
from spatialops.sensors import ActuatorForces, ForceTorque, JointTorques, Length, SubtreeMotion
from tests.support.trees import random_tree

INERTIA = so.Inertia.capsule(0.05, 0.5, mass=1.0)


def arm():
    """Two links with a servo, a motor and a line to the world."""
    builder = so.TreeBuilder()
    builder.add_body("a", joint=so.Joint("revolute", axis="y", name="shoulder"), inertia=INERTIA)
    elbow = so.Joint("revolute", axis="x", name="elbow")
    builder.add_body("b", parent="a", joint=elbow, inertia=INERTIA, position=(0, 0, 0.5))
    line = so.TendonPath([[so.Node("world", (0.5, 0.0, 0.0)), so.Node("b", (0.0, 0.1, 0.2))]])
    actuators = [
        so.Actuator.position("servo", "shoulder", kp=100.0, kv=3.0, force_range=(-30.0, 30.0)),
        so.Actuator.motor("motor", "elbow", gear=2.0),
        so.Actuator(name="line", path=line),
    ]
    return so.Scene(builder.build(), actuators=actuators, ctrl=[0.5, 0.3, -4.0])


@pytest.mark.parametrize("integrator", ["moreau", "semi-implicit"])
def test_torques_of_servos_are_those_through_the_joints(integrator):
    """Along its axis a joint transmits what its motors give it, whatever resists implicitly."""
    sensors = [JointTorques("torques"), ForceTorque("a", "a"), ForceTorque("b", "b")]
    simulator = so.Simulator(arm(), dt=2e-3, sensors=sensors, integrator=integrator)
    tau = [0.7, -0.4]
    options = {"controller": lambda time, state, contacts: tau, "ctrl": [0.5, 0.3, 0.0]}
    read = simulator.run(duration=0.2, **options).sensors  # the line goes through no joint
    assert np.nanmax(np.abs(read["torques"])) > 20.0
    np.testing.assert_allclose(read["torques"][1:, 0], read["a"][1:, 4], atol=1e-8)
    np.testing.assert_allclose(read["torques"][1:, 1], read["b"][1:, 3], atol=1e-8)


def test_forces_and_lengths_are_those_of_the_law():
    scene = arm()
    sensors = [ActuatorForces("forces"), Length("line", "line"), Length("servo", "servo")]
    simulator = so.Simulator(scene, dt=1e-4, sensors=sensors, integrator="rk4")
    record = simulator.run(duration=0.05)
    read = record.sensors
    angles, rates = record.q[:, 0], record.v[:, 0]
    expected = np.clip(100.0 * (0.5 - angles) - 3.0 * rates, -30.0, 30.0)
    np.testing.assert_allclose(read["forces"][1:, 0], expected[:-1], atol=1e-9)
    np.testing.assert_allclose(read["forces"][1:, 1:], [[0.3, -4.0]] * 500, atol=1e-12)
    np.testing.assert_allclose(read["servo"], np.column_stack([angles, rates]), atol=1e-12)
    slopes = np.gradient(read["line"][:, 0], record.times)[1:-1]
    np.testing.assert_allclose(read["line"][1:-1, 1], slopes, atol=1e-5)


def test_a_subtree_moves_as_the_whole_does():
    scene = arm()
    state = so.State([0.3, -0.8], [1.0, 2.0])
    simulator = so.Simulator(scene, sensors=[SubtreeMotion("all", "a"), SubtreeMotion("b", "b")])
    read = simulator.run(state, duration=1e-3).sensors
    model = scene.model
    momentum = so.momentum(model, state.q, state.v)  # [angular about the origin; linear]
    center, mass = so.center_of_mass(model, state.q), model.mass
    np.testing.assert_allclose(read["all"][0, :3], center, atol=1e-12)
    np.testing.assert_allclose(read["all"][0, 3:6], momentum[3:] / mass, atol=1e-12)
    spin = momentum[:3] - np.cross(center, momentum[3:])
    np.testing.assert_allclose(read["all"][0, 6:], spin, atol=1e-12)
    tip = so.node_positions(model, state.q, [so.Node("b", INERTIA.center)])[0]
    np.testing.assert_allclose(read["b"][0, :3], tip, atol=1e-12)


def test_a_whole_of_any_joints_moves_as_its_momentum_says(rng):
    model = random_tree(rng, 12, each=True)
    state = so.State(model.random(rng), rng.normal(size=model.nv))
    scene = so.Scene(model, state=state)
    simulator = so.Simulator(scene, sensors=[SubtreeMotion("all", "world")], joint_limits=False)
    read = simulator.run(duration=0.0).sensors["all"][0]
    momentum, center = so.momentum(model, state.q, state.v), so.center_of_mass(model, state.q)
    spin = momentum[:3] - np.cross(center, momentum[3:])
    expected = np.concatenate([center, momentum[3:] / model.mass, spin])
    np.testing.assert_allclose(read, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(
    "sensor",
    [
        ActuatorForces("x", ["none"]),
        ActuatorForces("x", "servo"),
        Length("x", "none"),
        SubtreeMotion("x", "none"),
        so.sensors.Distance("x", "none", "a"),
        so.sensors.FrameAxis("x", "a", "w"),
        so.sensors.FrameVelocity("x", "a", axes="body"),
        so.sensors.Columns("x", so.sensors.IMU("imu", "a"), ("none",)),
        so.sensors.Columns("x", "imu", ("ax",)),
        so.sensors.TouchZone("x", "a", so.HalfSpace()),
    ],
)
def test_what_does_not_fit_is_refused(sensor):
    with pytest.raises(ArgumentError, match="sensor 'x'"):
        so.Simulator(arm(), sensors=[sensor])
