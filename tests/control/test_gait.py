"""The gait's timing, its splines, legs and their inverse kinematics, and waypoints."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control import Gait, Legs, Trot, Waypoints
from spatialops.control.gait import hermite, lift
from spatialops.errors import ArgumentError


def test_trot_timing():
    gait = Gait()
    assert gait.stance_time == pytest.approx(0.225)
    assert gait.standing(0.076).all()
    assert gait.standing(0.01).tolist() == [False, True, True, False]
    assert gait.standing(0.16).tolist() == [True, False, False, True]
    with pytest.raises(ArgumentError):
        Gait(duty=1.0)


def test_splines_are_clamped_and_their_rates_are_their_derivatives():
    rng = np.random.default_rng(0)
    ends = rng.normal(size=(4, 1, 2))
    s, h, duration = np.linspace(0.0, 1.0, 21), 1e-6, 0.075
    x, v = hermite(s, duration, *ends)
    assert x[0] == pytest.approx(ends[0, 0])
    assert x[-1] == pytest.approx(ends[1, 0])
    assert v[0] == pytest.approx(ends[2, 0])
    assert v[-1] == pytest.approx(ends[3, 0])
    ahead, back = (hermite(s[1:-1] + step, duration, *ends)[0] for step in (h, -h))
    assert (ahead - back) / (2 * h * duration) == pytest.approx(v[1:-1], rel=1e-6, abs=1e-6)
    z, rate = lift(s, duration, 0.015)
    assert z.max() == pytest.approx(0.015)
    assert np.abs([z[0], z[-1], rate[0], rate[-1]]).max() < 1e-15
    ahead, back = (lift(s[1:-1] + step, duration, 0.015)[0] for step in (h, -h))
    assert (ahead - back) / (2 * h * duration) == pytest.approx(rate[1:-1], abs=1e-6)


def test_inverse_kinematics_and_out_of_reach():
    robot = so.models.quadruped()
    legs = Legs(robot.model, robot.feet)
    angles = robot.state.q[legs.angles]
    wanted = legs.positions(angles) + np.random.default_rng(1).uniform(-0.02, 0.02, (4, 3))
    found, left = legs.inverse(wanted, angles)
    assert left < 1e-13
    assert legs.positions(found) == pytest.approx(wanted, abs=1e-12)
    far, left = legs.inverse(wanted + [0.0, 0.0, -0.5], angles)
    assert left > 0.1
    assert np.isfinite(far).all()


def test_standing_feet_move_with_the_ground():
    robot, dt = so.models.quadruped(), 1e-3
    legs = Legs(robot.model, robot.feet)
    trot = Trot(legs, robot.state.q[legs.angles], lambda time, state: (0.2, 0.0, 0.3), dt=dt, change=1e6)
    before = None
    for k in range(150):
        reference = trot(k * dt, robot.state)
        feet = legs.positions(reference.q)
        if before is not None:
            rates, down = (feet - before) / dt, trot.gait.standing((k - 1) * dt) & trot.gait.standing(k * dt)
            middle = 0.5 * (feet + before)
            ground = np.column_stack([0.3 * middle[:, 1] - 0.2, -0.3 * middle[:, 0], 0.0 * middle[:, 0]])
            if k > 2:
                assert rates[down] == pytest.approx(ground[down], abs=1e-6)
        before = feet
    assert trot.missed < 1e-12


def test_waypoints_are_met_in_turn():
    way, robot = Waypoints([(0.0, 0.0), (1.0, 0.0)]), so.models.quadruped()
    forward, sideways, turning = way(0.0, robot.state)
    assert way.reached == 1
    assert (forward, sideways, turning) == pytest.approx((0.2, 0.0, 0.0))
