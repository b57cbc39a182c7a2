"""Friction pyramids cost more than cones, and approach them."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control import (
    WholeBodyController,
)
from tests.control.cases import controller_of


@pytest.fixture(scope="module")
def robot():
    return so.models.quadruped()


def test_pyramids_cost_more_and_approach_the_cone(robot):
    # Hard enough for the cones to bind, and between the corners of the pyramids.
    asked = np.array([0.0, 0.0, 0.0, 1.6, 1.0, 0.0])
    exact = controller_of(robot, asked, friction=0.3)
    exact(0.0, robot.state)
    powers = []
    for sides in (4, 8, 64):
        linear = controller_of(robot, asked, friction=0.3, kind=WholeBodyController, sides=sides)
        linear(0.0, robot.state)
        told = linear.explain()
        assert told.residual < 1e-9
        powers.append(told.power)
    best = exact.explain().power
    assert powers[0] > powers[1] > powers[2] >= best * (1.0 - 1e-6)
    assert powers[2] < best * (1.0 + 2e-3)
