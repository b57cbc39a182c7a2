"""Points are met in turn."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control import Waypoints
from spatialops.errors import ArgumentError


def test_waypoints_are_met_in_turn():
    way, robot = Waypoints([(0.0, 0.0), (1.0, 0.0)]), so.models.quadruped()
    forward, sideways, turning = way(0.0, robot.state)
    assert way.reached == 1
    assert (forward, sideways, turning) == pytest.approx((0.2, 0.0, 0.0))


def state(x=0.0, y=0.0, heading=0.0):
    half = 0.5 * heading
    pose = [x, y, 0.3, 0.0, 0.0, np.sin(half), np.cos(half)]
    return so.State(np.array(pose), np.zeros(6))


def test_it_turns_before_it_walks():
    way = Waypoints([(1.0, 0.0)], speed=0.2, turn=0.8)
    assert way(0.0, state(heading=np.pi / 2)) == pytest.approx([0.0, 0.0, -0.8], abs=1e-12)
    assert way(0.0, state(heading=-0.1)) == pytest.approx([0.2 * np.cos(0.1) ** 2, 0.0, 0.3])
    assert way(0.0, state(x=2.0))[0] == 0.0  # the point is behind


def test_it_slows_down_and_begins_again():
    way = Waypoints([(1.0, 0.0), (0.0, 0.0)], speed=0.2, reach=0.01)
    assert way(0.0, state(x=0.98))[0] == pytest.approx(0.2 * 0.02 / 0.05)
    way(0.0, state(x=0.995))
    way(0.0, state(x=0.005))
    assert way.reached == 2
    assert way(0.0, state())[0] == pytest.approx(0.2)  # back to the first point


def test_bad_points_are_refused():
    with pytest.raises(ArgumentError, match="points: expected shape"):
        Waypoints([1.0, 2.0])
    with pytest.raises(ArgumentError, match="points: holds NaN"):
        Waypoints([(np.nan, 0.0)])
