"""The gait's timing."""

import pytest

from spatialops.control import Gait
from spatialops.errors import ArgumentError


def test_trot_timing():
    gait = Gait()
    assert gait.stance_time == pytest.approx(0.225)
    assert gait.standing(0.076).all()
    assert gait.standing(0.01).tolist() == [False, True, True, False]
    assert gait.standing(0.16).tolist() == [True, False, False, True]
    with pytest.raises(ArgumentError):
        Gait(duty=1.0)
