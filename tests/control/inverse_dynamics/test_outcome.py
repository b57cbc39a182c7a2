"""What a command comes to, against numpy."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control import Actuation
from spatialops.control.inverse_dynamics.answer import Answer
from spatialops.control.inverse_dynamics.outcome import Judge
from spatialops.control.inverse_dynamics.remembered import Remembered
from spatialops.errors import ArgumentError

DT = 0.02


def answer_of(before, after, tau):
    return Answer(before, after, tau, np.zeros((0, 3)), Remembered.nothing(), 0.0, 0, False)


@pytest.fixture
def motors():
    """Of a quadruped, one of them weak."""
    actuation = Actuation(so.models.quadruped().model)
    actuation.limits[:] = 10.0
    actuation.limits[3] = 0.5
    return actuation


@pytest.mark.parametrize("cuts", [True, False])
@pytest.mark.parametrize("size", [0.1, 30.0])
def test_forces_are_cut_and_accelerations_compared(motors, cuts, size):
    rng = np.random.default_rng(0)
    nv = 18
    n, rows = len(motors), motors.rows
    effort = np.full(nv, 5.0)
    judge = Judge(motors, effort, DT)
    before, after, base = rng.normal(size=(3, nv))
    base[rows] = 0.0
    demand = rng.normal(size=n)
    tau = np.zeros(nv)
    tau[rows] = size * rng.uniform(0.5, 1.0, n)
    found = judge(answer_of(before, after, tau), base, demand, cuts)
    cut = np.minimum(tau[rows], motors.limits)
    assert found.tau[rows] == pytest.approx(cut if cuts else tau[rows])
    assert np.delete(found.tau, rows) == pytest.approx(np.delete(base, rows))
    assert found.binds == (size > 1.0)
    assert found.demanded[rows] == pytest.approx(demand)
    assert not np.delete(found.demanded, rows).any()
    accelerations = (after - before) / DT
    assert found.predicted == pytest.approx(accelerations)
    assert found.missed == pytest.approx(np.abs(accelerations[rows] - demand).max())
    assert found.largest == pytest.approx(np.abs(demand).max())


def test_what_is_not_finite_is_told(motors):
    judge = Judge(motors, np.full(18, np.inf), DT)
    still, demand = np.zeros(18), np.zeros(12)
    far = np.full(18, 1e308)
    with np.errstate(over="ignore"):
        found = judge(answer_of(-far, far, still), still, demand, True)
    assert np.isnan(found.missed)
    assert np.isinf(found.predicted).all()
    wrong = still.copy()
    wrong[7] = np.nan
    with pytest.raises(ArgumentError, match="the predicted forces are not finite"):
        judge(answer_of(still, still, wrong), still, demand, True)
