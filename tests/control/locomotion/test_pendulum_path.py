"""The centre of mass of a linear inverted pendulum is where its centre of pressure wants it."""

import numpy as np
import pytest

from spatialops.control import PendulumPath
from spatialops.errors import ArgumentError

HEIGHT = 0.7
RATE = np.sqrt(9.81 / HEIGHT)
TIMES = np.arange(0.0, 6.0, 0.005)


def swaying(times=TIMES):
    """From foot to foot between two seconds of rest."""
    p = np.where((times > 2.0) & (times < 4.0), 0.05 * (1.0 - np.cos(2.0 * np.pi * times)), 0.0)
    return p[:, None] * [0.5, 1.0]


def test_the_centre_of_pressure_comes_out_again():
    path = PendulumPath(TIMES, swaying(), height=HEIGHT)
    for time in TIMES[1:-1:7]:
        x, _, acceleration = path(time)
        p = x - acceleration / RATE**2
        np.testing.assert_allclose(p, swaying(np.array([time]))[0], atol=2e-4)


def test_a_step_of_the_pressure_has_its_closed_form():
    middle = TIMES[len(TIMES) // 2] - 0.0025
    path = PendulumPath(TIMES, np.where(middle > TIMES, -0.1, 0.1)[:, None], height=HEIGHT)
    for ahead in (-1.0, -0.3, -0.1, 0.2, 0.8):
        decay = np.exp(-RATE * abs(ahead))
        exact = np.sign(ahead) * 0.1 * (1.0 - decay)
        x, rate, _ = path(middle + ahead)
        assert x[0] == pytest.approx(exact, abs=2e-5)
        assert rate[0] == pytest.approx(0.1 * RATE * decay, rel=1e-3, abs=2e-5)


def test_derivatives_are_those_of_the_path():
    path = PendulumPath(TIMES, swaying(), height=HEIGHT)
    h = 1e-5
    for time in (1.0, 2.3, 3.333):
        _, rate, acceleration = path(time)
        np.testing.assert_allclose(
            (path(time + h)[0] - path(time - h)[0]) / (2.0 * h), rate, atol=1e-7
        )
        np.testing.assert_allclose(
            (path(time + h)[1] - path(time - h)[1]) / (2.0 * h), acceleration, atol=1e-4
        )


def test_there_is_no_jolt_at_the_ends():
    path = PendulumPath(TIMES, swaying(), height=HEIGHT)
    for end, inside in ((TIMES[0], TIMES[2]), (TIMES[-1], TIMES[-3])):
        assert np.abs(path(end)[2]).max() < 1e-9
        assert np.abs(path(inside)[2]).max() < 1e-3
    for outside in (-1.0, 9.0):
        x, rate, acceleration = path(outside)
        np.testing.assert_allclose(x, 0.0, atol=1e-12)
        assert not rate.any()
        assert not acceleration.any()


@pytest.mark.parametrize(
    ("times", "pressure", "height", "message"),
    [
        ([0.0, 0.1, 0.2], np.zeros((3, 2)), 1.0, "at least four"),
        ([0.0, 0.1, 0.2, 0.4], np.zeros((4, 2)), 1.0, "evenly spaced"),
        ([0.3, 0.2, 0.1, 0.0], np.zeros((4, 2)), 1.0, "grow"),
        ([0.0, 0.1, 0.2, 0.3], np.zeros((3, 2)), 1.0, "pressure"),
        ([0.0, 0.1, 0.2, 0.3], np.full((4, 2), np.nan), 1.0, "pressure"),
        ([0.0, 0.1, 0.2, 0.3], np.zeros((4, 2)), 0.0, "height"),
    ],
)
def test_bad_input(times, pressure, height, message):
    with pytest.raises(ArgumentError, match=message):
        PendulumPath(times, pressure, height=height)
