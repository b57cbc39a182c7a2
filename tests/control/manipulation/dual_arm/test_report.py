"""The report of a part of a task."""

import numpy as np
import pytest

from spatialops.control.manipulation.dual_arm import wheel_removal
from spatialops.control.manipulation.dual_arm.report import (
    report,
)
from spatialops.control.manipulation.dual_arm.run import run_task
from spatialops.simulation.profile import STAGES


@pytest.fixture(scope="module")
def beginning():
    return run_task(wheel_removal.wheel_removal(), stop_after="approach")


@pytest.mark.compiled
def test_the_report_of_a_part(beginning):
    data = report(beginning, {"succeeded": False, "faults": []})
    sizes = data["sizes"]
    assert max(sizes["os"]) == 4 * 6  # four contacts on the hub, of n_f + 2 rows each
    assert all(np.array(sizes["os"]) <= np.array(sizes["mc"]))
    assert all(np.array(sizes["mc"]) <= np.array(sizes["nmc"]))
    assert {*STAGES, "controller", "other", "step"} == set(data["stages_us"])
    assert all(data["stages_us"][name] > 0.0 for name in STAGES)
