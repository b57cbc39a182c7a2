"""The driver's task as it is made, before it is run."""

import numpy as np
import pytest

from spatialops.control import Squeeze
from spatialops.control.manipulation.dual_arm.driver_handoff import (
    MASS,
    driver_handoff,
    grasps,
    phases,
)
from spatialops.control.manipulation.dual_arm.task import REACH, Variation


def test_one_hand_takes_what_the_other_gives():
    found = phases()
    names = [phase.name for phase in found]
    assert names.index("second squeezes") < names.index("hand over") < names.index("first opens")
    loads = [phase.loads(None) for phase in found if phase.loads]
    assert [sum(load.values()) for load in loads] == pytest.approx([9.81 * MASS] * 2)
    assert loads[0] == {"left": 9.81 * MASS}
    assert loads[1]["left"] == 0.0
    assert all(
        isinstance(grip, Squeeze) or grip.angle < 0.0 for p in found for grip in p.grips.values()
    )


def test_palms_are_a_reach_away_from_what_they_hold():
    left, right = grasps()["left"], grasps()["right"]
    for palm in (left, right):
        assert np.linalg.det(palm.rotation) == pytest.approx(1.0)
    assert (left.position + REACH * left.rotation[:, 2])[1] == pytest.approx(0.0)
    assert left.rotation[:, 2] @ right.rotation[:, 2] == pytest.approx(-1.0)  # from both sides


def test_the_driver_stands_where_the_variation_puts_it():
    task = driver_handoff(Variation(shift=(0.004, -0.003, 0.005), turn=(0.0, 0.0, 0.1), mass=1.1))
    q = task.scene.state.q[task.scene.model.q_slice("driver")]
    nominal = driver_handoff().scene.state.q[task.scene.model.q_slice("driver")]
    assert q[:2] - nominal[:2] == pytest.approx([0.004, -0.003], abs=1e-3)
    assert q[2] == pytest.approx(nominal[2])  # it stands on the bench wherever it is put
    assert 2.0 * np.arctan2(q[5], q[6]) - 2.0 * np.arctan2(nominal[5], nominal[6]) == pytest.approx(
        0.1
    )
