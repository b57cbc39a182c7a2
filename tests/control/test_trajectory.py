"""Motions keep their bounds, start and end at rest, and turn about one axis."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from spatialops.control.trajectory import (
    Bounds,
    Pose,
    PoseTrajectory,
    shortest_time,
    turn_between,
    turned_by,
)
from spatialops.errors import ArgumentError


def _pose(rng):
    return Pose(rng.normal(size=3), Rotation.random(random_state=rng).as_matrix())


@pytest.mark.parametrize("seed", range(5))
def test_bounds_are_kept_and_one_is_reached(seed):
    rng = np.random.default_rng(seed)
    bounds = Bounds(
        speed=0.3, acceleration=0.8, jerk=6.0, turn_speed=0.9, turn_acceleration=2.0, turn_jerk=15.0
    )
    motion = PoseTrajectory(_pose(rng), _pose(rng), bounds, begin=0.4)
    times = np.linspace(motion.begin, motion.finish, 2001)
    velocities = np.array([motion.at(t).velocity for t in times])
    accelerations = np.array([motion.at(t).acceleration for t in times])
    jerks = np.diff(accelerations, axis=0) / np.diff(times)[:, None]
    limits = np.array([[0.9, 2.0, 15.0], [0.3, 0.8, 6.0]])
    shares = [
        np.linalg.norm(values[:, part], axis=1).max() / limits[i, k]
        for k, values in enumerate((velocities, accelerations, jerks))
        for i, part in enumerate((slice(0, 3), slice(3, 6)))
    ]
    assert max(shares) <= 1.0 + 1e-9
    assert max(shares) > 0.99  # no slower than it has to be


def test_derivatives_are_those_of_the_pose():
    rng = np.random.default_rng(1)
    motion = PoseTrajectory(_pose(rng), _pose(rng), Bounds(), begin=0.0)
    t, h = 0.37 * motion.duration, 1e-5
    before, now, after = (motion.at(t + shift) for shift in (-h, 0.0, h))
    line = (after.pose.position - before.pose.position) / (2.0 * h)
    turn = turn_between(before.pose.rotation, after.pose.rotation) / (2.0 * h)
    assert np.allclose(np.concatenate([turn, line]), now.velocity, rtol=1e-6, atol=1e-8)
    assert np.allclose(
        (after.velocity - before.velocity) / (2.0 * h), now.acceleration, rtol=1e-6, atol=1e-6
    )


def test_it_stands_before_and_after():
    rng = np.random.default_rng(2)
    start, end = _pose(rng), _pose(rng)
    motion = PoseTrajectory(start, end, Bounds(), begin=1.0, duration=9.0)
    assert motion.duration == 9.0
    assert np.allclose(motion.at(0.0).pose.position, start.position)
    assert not motion.at(0.0).velocity.any()
    assert np.allclose(motion.at(9.99999).pose.rotation, end.rotation, atol=1e-6)
    assert motion.at(11.0).pose is end
    assert not motion.at(11.0).acceleration.any()
    assert PoseTrajectory(start, start, Bounds()).at(0.0).pose is start


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-4, 1.0, 3.0, np.pi - 1e-7, np.pi])
def test_turns_there_and_back(angle):
    rng = np.random.default_rng(3)
    axis = rng.normal(size=3)
    vector = angle * axis / np.linalg.norm(axis)
    turn = turned_by(vector)
    assert np.allclose(turn, Rotation.from_rotvec(vector).as_matrix(), rtol=0.0, atol=1e-12)
    found = turn_between(np.eye(3), turn)
    assert np.allclose(turned_by(found), turn, rtol=0.0, atol=1e-7)
    assert np.isclose(np.linalg.norm(found), angle, rtol=0.0, atol=1e-7)


def test_poses_compose():
    rng = np.random.default_rng(4)
    a, b = _pose(rng), _pose(rng)
    back = a.inverse() @ (a @ b)
    assert np.allclose(back.position, b.position)
    assert np.allclose(back.rotation, b.rotation)


def test_bad_bounds():
    with pytest.raises(ArgumentError, match="jerk"):
        Bounds(jerk=0.0)
    assert shortest_time(0.0, 1.0, 1.0, 1.0) == 0.0
