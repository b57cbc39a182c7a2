"""A trotting robot's state from its own sensors."""

from functools import cache

import numpy as np
import pytest

import spatialops as so
from spatialops.algebra.rotation import rotation_matrix
from spatialops.control import (
    ConeController,
    ContactAidedFilter,
    FilterNoise,
    JointTracking,
    Legs,
    Trot,
)
from spatialops.errors import ArgumentError
from spatialops.models.quadruped import FOOT_RADIUS
from spatialops.sensors import IMU, JointPositions, JointVelocities, Noise, Touch
from tests.support.homes import elsewhere

DT = 1e-3
PLACE = (0.1, 0.02, 0.05)
TURN = (0.1, -0.2, 0.3, 0.9)


@cache
def trotted():
    """A robot that trots a curve, its record with sensors, and the filter's states."""
    robot = so.models.quadruped()
    scene = robot.scene(friction=0.8)
    names = [geom.name for geom in scene.geoms if geom.name in robot.feet]
    joints = robot.model.joint_names[1:]
    inertial = np.array([0.1, 0.1, 0.1, 0.01, 0.01, 0.01])
    sensors = [
        IMU("imu", so.Node("base", PLACE), TURN, Noise(inertial, 0.5 * inertial, seed=1)),
        JointPositions("q", joints, noise=Noise(1e-3, seed=2)),
        JointVelocities("v", joints, noise=Noise(0.05, seed=3)),
        *(Touch(name, name) for name in names),
    ]
    sim = so.Simulator(
        scene, dt=DT, law="cone", impact_threshold=100.0, certify="off", sensors=sensors
    )
    legs = Legs(robot.model, robot.feet)
    stance = robot.state.q[legs.angles]
    trot = Trot(legs, stance, lambda time, state: (0.3, 0.0, 0.3), dt=DT)
    control = ConeController(
        sim, JointTracking(robot.model, trot, dt=DT), standing=trot.standing, horizon=0.02
    )
    return robot, names, sim.run(robot.state, 2.0, controller=control)


def followed(start, *, ground=None, **options):
    """Errors of velocity, tilt and place at every step of the record, and the filter."""
    robot, names, record = trotted()
    feet = [so.Node(name) for name in names]
    found = ContactAidedFilter(
        robot.model,
        feet,
        imu=so.Node("base", PLACE),
        rotation=TURN,
        radius=FOOT_RADIUS,
        ground=ground,
        **options,
    )
    found.start(start)
    errors = []
    within = []
    for k in range(1, len(record.q)):
        told = record.sensors
        touching = [told[name][k, 0] > 1.0 for name in names]
        state = found(DT, told["imu"][k], told["q"][k], told["v"][k], touching)
        R = rotation_matrix(record.q[k, 3:7])
        up = rotation_matrix(state.q[3:7])[2] - R[2]
        v = R @ (state.v[3:6] - record.v[k, 3:6])
        errors.append(np.concatenate([v, up, state.q[:3] - record.q[k, :3]]))
        deviation = np.sqrt(found.covariance[3:6, 3:6].diagonal())
        within.append((np.abs(v) < 3.0 * deviation).all())
    return np.array(errors), np.array(within), found


@pytest.mark.compiled
def test_velocity_and_tilt_are_those_of_the_robot():
    robot, _, record = trotted()
    errors, within, found = followed(robot.state)
    late = errors[1000:]
    size = np.sqrt((late**2).mean(axis=0))
    assert size[:3].max() < 0.01  # m/s
    # What tilts it is an accelerometer's bias against gravity, of 0.05 m/s^2 and more: see `noise`.
    assert size[3:6].max() < 2.0 * 0.05 / 9.81  # rad
    assert within[1000:].mean() > 0.8
    gone = np.linalg.norm(record.q[-1, :2] - record.q[0, :2])
    assert gone > 0.3
    assert np.abs(errors[-1, 6:]).max() < 0.05 * gone
    bias = Noise(0.0, np.array([0.05, 0.05, 0.05, 0.005, 0.005, 0.005]), seed=1).at("imu", 1, 6)
    left = found.gyroscope_bias - bias[3:]
    assert np.linalg.norm(left[:3]) < 0.5 * np.linalg.norm(bias[3:])


@pytest.mark.compiled
def test_ground_keeps_height_and_levels():
    robot, _, _ = trotted()
    errors, _, _ = followed(robot.state, ground=0.0)
    late = np.abs(errors[1000:])
    assert late[:, 8].max() < 5e-4
    assert late[:, 3:6].max() < 2e-3
    without = np.abs(followed(robot.state)[0][1000:])
    assert late[:, 8].max() < 0.3 * without[:, 8].max()


@pytest.mark.compiled
def test_a_wrong_beginning_is_forgotten():
    robot, _, _ = trotted()
    q = so.integrate(robot.model, robot.state.q, np.eye(18)[0] * 0.05)
    v = robot.state.v.copy()
    v[3] = 0.2
    errors, _, _ = followed(so.State(q, v), ground=0.0)
    assert np.abs(errors[5, 3:6]).max() > 0.02
    assert np.abs(errors[1500:, 3:6]).max() < 3e-3
    assert np.abs(errors[1500:, :3]).max() < 0.02


def standing():
    """A robot at rest, what its IMU reads, and a filter that starts there."""
    robot = so.models.quadruped()
    feet = [so.Node(name) for name in robot.feet]
    found = ContactAidedFilter(robot.model, feet, noise=FilterNoise(foot=1e-3))
    found.start(robot.state)
    return robot, np.array([0.0, 0.0, 9.81, 0.0, 0.0, 0.0]), found


def test_a_foot_that_slides_tells_nothing():
    robot, imu, found = standing()
    legs = Legs(robot.model, robot.feet)
    angles = robot.state.q[legs.angles]
    place = legs.positions(angles)
    q = robot.state.q.copy()
    for _ in range(300):
        found(DT, imu, q[7:], np.zeros(12), np.ones(4, dtype=bool))
    for k in range(200):
        place[0] += [5e-4, 0.0, 0.0]  # 0.5 m/s, although it touches
        angles, _ = legs.inverse(place, angles)
        q[legs.angles] = angles
        state = found(DT, imu, q[7:], np.zeros(12), np.ones(4, dtype=bool))
        assert np.abs(state.v[3:6]).max() < 5e-3, k
    assert np.abs(state.q[:3] - robot.state.q[:3]).max() < 1e-3


def test_without_feet_it_is_the_imu_alone():
    robot, _, found = standing()
    free = np.zeros(6)
    for _ in range(100):
        state = found(DT, free, robot.state.q[7:], np.zeros(12), np.zeros(4, dtype=bool))
    assert state.v[5] == pytest.approx(-9.81 * 0.1, abs=1e-9)
    assert state.q[2] - robot.state.q[2] == pytest.approx(-0.5 * 9.81 * 0.01, abs=1e-9)


def test_what_does_not_fit_is_refused():
    robot, imu, found = standing()
    with pytest.raises(ArgumentError, match="imu"):
        found(DT, imu[:5], robot.state.q[7:], np.zeros(12), np.ones(4))
    with pytest.raises(ArgumentError, match="touching"):
        found(DT, imu, robot.state.q[7:], np.zeros(12), np.ones(3))
    for i in range(4):
        given = [imu, robot.state.q[7:], np.zeros(12), np.ones(4)]
        given[i] = given[i] * np.nan
        with pytest.raises(ArgumentError, match="NaN"):
            found(DT, *given)
    assert np.isfinite(found.covariance).all()
    with pytest.raises(ArgumentError, match="on the base"):
        ContactAidedFilter(robot.model, [], imu=so.Node(robot.feet[0]))
    with pytest.raises(ArgumentError, match="foot"):
        FilterNoise(foot=0.0)


def test_numbers_that_overflow_leave_the_estimate_as_it_was():
    robot, imu, found = standing()
    both = np.ones(4)
    joints, still = robot.state.q[7:], np.zeros(12)
    found(DT, imu, joints, still, both)
    before = found.covariance.copy()
    for given in (
        (DT, 1e300 * np.ones(6), joints, still, both),
        (1e300, imu, joints, still, both),
    ):
        with pytest.raises(ArgumentError, match="so large"):
            found(*given)
    assert np.array_equal(found.covariance, before)
    state = found(DT, imu, joints, still, both)
    assert np.abs(state.q - robot.state.q).max() < 1e-9


def test_ball_joints_give_quaternions_and_feet_hang_on_the_base():
    builder = so.TreeBuilder()
    inertia = so.Inertia.sphere(0.1, mass=1.0)
    builder.add_body("base", joint="free", inertia=inertia)
    builder.add_body("leg", parent="base", joint="ball", inertia=inertia)
    builder.add_body("ball", joint="free", inertia=inertia)
    model = builder.build()
    with pytest.raises(ArgumentError, match="hang on the base"):
        ContactAidedFilter(model, [so.Node("ball")])
    found = ContactAidedFilter(model, [so.Node("leg", (0.0, 0.0, -1.0))])
    imu = np.array([0.0, 0.0, 9.81, 0.0, 0.0, 0.0])
    q = model.neutral()[7:]
    q[3] = 2.0  # as an encoder rounds it, and worse
    state = found(DT, imu, q, np.zeros(9), [True])
    assert state.q[7:11] == pytest.approx([0.0, 0.0, 0.0, 1.0])
    with pytest.raises(ArgumentError, match="index 7 is zero"):
        found(DT, imu, np.zeros(len(q)), np.zeros(9), [True])


def test_where_the_bases_joint_is_at_home_changes_nothing():
    robot = so.models.quadruped()
    state = so.State(robot.model.random(np.random.default_rng(0)), 0.1 * np.ones(18))
    feet, poses = [so.Node(name) for name in robot.feet], []
    for model, start in ((robot.model, state), elsewhere(robot.model, state)):
        found = ContactAidedFilter(model, feet, imu=so.Node("base", PLACE), rotation=TURN)
        found.start(start)
        after = found(DT, np.ones(6), state.q[7:], state.v[6:], [True, False, True, True])
        poses.append(so.body_poses(model, after.q).positions)
        poses.append(after.v)
    assert poses[2] == pytest.approx(poses[0], abs=1e-10)
    assert poses[3] == pytest.approx(poses[1], abs=1e-10)
