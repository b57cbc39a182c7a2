"""Feet that carry the base along."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control import Legs, Trot


def test_standing_feet_move_with_the_ground():
    robot, dt = so.models.quadruped(), 1e-3
    legs = Legs(robot.model, robot.feet)
    trot = Trot(
        legs, robot.state.q[legs.angles], lambda time, state: (0.2, 0.0, 0.3), dt=dt, change=1e6
    )
    before = None
    for k in range(150):
        reference = trot(k * dt, robot.state)
        feet = legs.positions(reference.q)
        if before is not None:
            rates, down = (
                (feet - before) / dt,
                trot.gait.standing((k - 1) * dt) & trot.gait.standing(k * dt),
            )
            middle = 0.5 * (feet + before)
            ground = np.column_stack(
                [0.3 * middle[:, 1] - 0.2, -0.3 * middle[:, 0], 0.0 * middle[:, 0]]
            )
            if k > 2:
                assert rates[down] == pytest.approx(ground[down], abs=1e-6)
        before = feet
    assert trot.missed < 1e-12
