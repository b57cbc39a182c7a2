"""The gait's timing and its splines."""

import numpy as np
import pytest

from spatialops.control import Gait
from spatialops.control.locomotion.gait import hermite, lift
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
    s = np.linspace(0.0, 1.0, 21)
    h = 1e-6
    duration = 0.075
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
