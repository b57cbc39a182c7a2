"""Hands move as springs and their own inertia say, whatever else the robot does."""

from dataclasses import replace

import numpy as np
import pytest

import spatialops as so
from spatialops.control.manipulation.impedance import Impedance, ImpedanceGains
from spatialops.control.trajectory import Pose, Sample, turned_by
from spatialops.errors import ArgumentError
from spatialops.forces.passive import passive_forces

PALMS = ["left_palm", "right_palm"]


@pytest.fixture(scope="module")
def robot():
    return so.models.dual_arm()


def _targets(control, q, error):
    still = np.zeros(6)
    poses = control.observe(q)
    return [
        Sample(Pose(p.position + e[3:], turned_by(e[:3]) @ p.rotation), still, still)
        for p, e in zip(poses, error, strict=True)
    ]


def test_hands_accelerate_as_their_own_inertia_says(robot):
    """Lambda^-1 a = K e + W at rest: gravity, the posture and the fingers' weight do not show."""
    model = robot.model
    q = robot.state.q
    v = np.zeros(26)
    rng = np.random.default_rng(0)
    gains = ImpedanceGains(stiffness=900.0, turn_stiffness=50.0)
    control = Impedance(model, PALMS, q + 0.2 * rng.normal(size=26), gains=gains)
    error, wrench = 0.02 * rng.normal(size=(2, 6)), rng.normal(size=(2, 6))
    tau = control.torques(q, v, _targets(control, q, error), wrench)
    nodes = [so.Node(name) for name in PALMS]
    a = so.node_accelerations(model, q, v, so.forward_dynamics(model, q, v, tau), nodes).ravel()
    springs = np.tile([50.0] * 3 + [900.0] * 3, 2)
    expected = so.compliance(model, q, nodes) @ (springs * error.ravel() + wrench.ravel())
    assert np.allclose(a, expected, rtol=0.0, atol=1e-9 * np.abs(expected).max())


def test_hands_follow_accelerations_while_moving(robot):
    model, q = robot.model, robot.state.q
    rng = np.random.default_rng(1)
    v = 0.2 * rng.normal(size=26)
    control = Impedance(model, PALMS, q)
    nodes = [so.Node(name) for name in PALMS]
    speeds = so.node_velocities(model, q, v, nodes)
    wanted = rng.normal(size=(2, 6))
    targets = [
        Sample(pose, s, a) for pose, s, a in zip(control.observe(q), speeds, wanted, strict=True)
    ]
    tau = control.torques(q, v, targets, np.zeros((2, 6))) + passive_forces(model, q, v)
    a = so.node_accelerations(model, q, v, so.forward_dynamics(model, q, v, tau), nodes)
    assert np.allclose(a, wanted, rtol=0.0, atol=1e-8)


@pytest.mark.parametrize("dry_friction", [0.0, 0.3])
def test_what_joints_do_by_themselves_does_not_show(dry_friction):
    """A step of an arm with damping, springs and dry friction gives hands what was asked."""
    rod = so.Inertia.capsule(0.05, 0.4, mass=1.5)
    builder = so.TreeBuilder()
    parent = "world"
    for i, axis in enumerate("zyyzyx"):
        joint = so.Joint("revolute", axis=axis, damping=2.0, stiffness=3.0, reference=0.4)
        joint = replace(joint, dry_friction=dry_friction)
        place = (0.0, 0.0, 0.4 if i else 0.0)
        builder.add_body(f"link{i}", parent=parent, joint=joint, inertia=rod, position=place)
        parent = f"link{i}"
    model = builder.build()
    rng = np.random.default_rng(2)
    q, v = rng.uniform(0.3, 0.9, 6), rng.normal(size=6)
    nodes = [so.Node("link5")]
    control = Impedance(model, ["link5"], q)
    wanted = rng.normal(size=(1, 6))
    speed = so.node_velocities(model, q, v, nodes)[0]
    target = [Sample(control.observe(q)[0], speed, wanted[0])]
    dt = 1e-5
    simulator = so.Simulator(so.Scene(model), dt=dt)
    after, _ = simulator.step(so.State(q, v), control.torques(q, v, target, np.zeros((1, 6))))
    a = so.node_accelerations(model, q, v, (after.v - v) / dt, nodes)
    assert np.allclose(a, wanted, rtol=0.0, atol=2e-3)


def test_the_posture_moves_the_elbows_only(robot):
    model = robot.model
    q = robot.state.q
    v = np.zeros(26)
    control = Impedance(model, PALMS, q + 0.3)
    tau = control.torques(q, v, _targets(control, q, np.zeros((2, 6))), np.zeros((2, 6)))
    a = so.forward_dynamics(model, q, v, tau)
    nodes = [so.Node(name) for name in PALMS]
    assert np.abs(so.node_accelerations(model, q, v, a, nodes)).max() < 1e-8
    assert np.abs(a).max() > 1.0


def test_damping_has_no_direction_that_swings(robot):
    """D is symmetric and positive, and with K and Lambda every mode decays."""
    q = robot.state.q
    control = Impedance(robot.model, PALMS, q)
    control.torques(q, np.zeros(26), _targets(control, q, np.zeros((2, 6))), np.zeros((2, 6)))
    D, inertia = control._damping, control._inertia
    assert np.allclose(D, D.T)
    assert np.linalg.eigvalsh(D)[0] > 0.0
    n = len(D)
    K = np.diag(control._springs)
    motion = np.block(
        [
            [np.zeros((n, n)), np.eye(n)],
            [-np.linalg.solve(inertia, K), -np.linalg.solve(inertia, D)],
        ]
    )
    modes = np.linalg.eigvals(motion)
    assert modes.real.max() < 0.0
    assert (-modes.real / np.abs(modes)).min() > 0.7


def test_bad_options(robot):
    with pytest.raises(ArgumentError, match="posture"):
        Impedance(robot.model, PALMS, np.zeros(3))
    with pytest.raises(ArgumentError, match="stiffness"):
        ImpedanceGains(stiffness=-1.0)
    with pytest.raises(ArgumentError, match="no body"):
        Impedance(robot.model, ["tail"], robot.state.q)
