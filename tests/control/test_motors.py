"""Losses of motors in closed form, and names of their limits."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control import Actuation, Motors
from spatialops.errors import ArgumentError


@pytest.fixture
def actuation():
    return Actuation(so.models.pendulum(3).model)


def test_losses_are_those_of_the_currents(actuation):
    motors = Motors(actuation, torque_constant=[0.1, 0.2, 0.1], resistance=0.5, gear=[10, 1, 20])
    u = np.array([2.0, -0.4, 1.0])
    i = motors.currents(u)
    assert i == pytest.approx([2.0, -2.0, 0.5])
    assert motors.power(u) == pytest.approx(0.5 * (i @ i))
    assert motors.power(u) == pytest.approx(u @ np.diag(motors.weights) @ u)


def test_one_number_counts_for_all(actuation):
    motors = Motors(actuation, resistance=2.0)
    assert motors.resistance.tolist() == [2.0, 2.0, 2.0]
    assert motors.weights.tolist() == [2.0, 2.0, 2.0]


def test_finite_limits_have_names(actuation):
    actuation.limits[:] = (np.inf, 3.0, np.inf)
    strong, labels = Motors(actuation).strong
    assert strong.tolist() == [1]
    assert len(labels) == 1
    assert "motor 1 of" in labels[0]
    assert [end.rsplit(": ")[1] for end in Motors(actuation).ends] == ["upper", "lower"]


def test_bad_numbers_are_refused(actuation):
    with pytest.raises(ArgumentError, match="torque_constant: expected positive"):
        Motors(actuation, torque_constant=0.0)
    with pytest.raises(ArgumentError, match="gear: expected shape"):
        Motors(actuation, gear=[1.0, 2.0])
    with pytest.raises(ArgumentError, match="resistance: holds NaN"):
        Motors(actuation, resistance=[1.0, np.nan, 1.0])
    with pytest.raises(ArgumentError, match="forces: expected shape"):
        Motors(actuation).power([1.0])
