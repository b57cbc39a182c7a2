"""The last resort brakes, and does nothing where not even a velocity is known."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control import Actuation
from spatialops.control.safe_command import damped


@pytest.fixture
def actuation():
    return Actuation(so.models.pendulum(4).model)


def test_motors_brake_with_the_share_that_their_speed_is_of_ten(actuation):
    actuation.limits[:] = (4.0, 4.0, 4.0, np.inf)
    state = so.State(np.zeros(4), np.array([5.0, -20.0, 0.0, 2.0]))
    told = damped(4, actuation, state, ("because",))
    assert told.tau == pytest.approx([-2.0, 4.0, 0.0, -0.2])
    assert told.status == "damped"
    assert told.notes == ("because",)
    assert np.isnan(told.residual)


@pytest.mark.parametrize(
    "state",
    [
        None,
        so.State(np.zeros(4), np.full(4, np.nan)),
        so.State(np.zeros(4), np.full(4, np.inf)),
        so.State(np.zeros(2), np.ones(2)),
    ],
)
def test_what_is_not_known_is_not_braked(actuation, state):
    assert not damped(4, actuation, state, ()).tau.any()
