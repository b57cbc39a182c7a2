"""Splines of feet that swing, and feet that stand on ground that turns."""

import numpy as np
import pytest

from spatialops.control.locomotion.foot_paths import Strides, feet_ahead, hermite, lift


def test_splines_are_clamped_and_their_rates_are_their_derivatives():
    rng = np.random.default_rng(0)
    ends = rng.normal(size=(4, 1, 2))
    s = np.linspace(0.0, 1.0, 21)
    h = 1e-6
    duration = 0.075
    x, v = hermite(s[:, None], duration, *ends)
    assert x[0] == pytest.approx(ends[0, 0])
    assert x[-1] == pytest.approx(ends[1, 0])
    assert v[0] == pytest.approx(ends[2, 0])
    assert v[-1] == pytest.approx(ends[3, 0])
    ahead, back = (hermite(s[1:-1, None] + step, duration, *ends)[0] for step in (h, -h))
    assert (ahead - back) / (2 * h * duration) == pytest.approx(v[1:-1], rel=1e-6, abs=1e-6)
    raised = np.vectorize(lift)
    z, rate = raised(s, duration, 0.015)
    assert z.max() == pytest.approx(0.015)
    assert np.abs([z[0], z[-1], rate[0], rate[-1]]).max() < 1e-15
    ahead, back = (raised(s[1:-1] + step, duration, 0.015)[0] for step in (h, -h))
    assert (ahead - back) / (2 * h * duration) == pytest.approx(rate[1:-1], abs=1e-6)


REST = np.array([[0.3, 0.2, -0.4], [0.3, -0.2, -0.4]])


def walked(count, swing_of, pace):
    """Feet and velocities after so many steps of a millisecond, and where swings end."""
    feet, velocities = REST.copy(), np.zeros((2, 3))
    ends = REST[:, :2].copy()
    strides = Strides(1e-3, 0.2, 0.1, 0.05, pace)
    for k in range(count):
        feet_ahead(strides, swing_of(k), REST, ends, feet, velocities)
    return feet, velocities, ends


def test_feet_that_stand_go_round_with_the_ground():
    """A base that turns on the spot by 0.1 rad: feet on circles, the other way."""
    feet, velocities, _ = walked(100, lambda k: np.full(2, -1.0), (0.0, 0.0, 1.0))
    cosine, sine = np.cos(0.1), np.sin(0.1)
    there = REST[:, :2] @ np.array([[cosine, -sine], [sine, cosine]])
    assert feet[:, :2] == pytest.approx(there, abs=1e-8)
    assert velocities[:, 0] == pytest.approx(feet[:, 1])
    assert velocities[:, 1] == pytest.approx(-feet[:, 0])


def test_feet_that_swing_land_half_a_stance_ahead_with_the_ground():
    """One foot; the other stands."""
    pace = (0.5, 0.0, 0.0)
    swing_of = lambda k: np.array([min((k + 1) / 100, 1.0), -1.0])  # noqa: E731
    feet, velocities, ends = walked(100, swing_of, pace)
    assert ends[0] == pytest.approx([0.35, 0.2])
    assert feet[0] == pytest.approx([0.35, 0.2, -0.4], abs=1e-3)
    assert velocities[0] == pytest.approx([-0.5, 0.0, 0.0], abs=1e-2)
    assert walked(50, swing_of, pace)[0][0, 2] == pytest.approx(-0.35)
    assert feet[1] == pytest.approx([0.25, -0.2, -0.4])
