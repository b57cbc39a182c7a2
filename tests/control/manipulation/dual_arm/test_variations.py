"""The same task many times over."""

import pytest

from spatialops.control.manipulation.dual_arm import driver_handoff, wheel_removal
from spatialops.control.manipulation.dual_arm.variations import run_variations

TASKS = {"wheel-removal": wheel_removal, "driver-handoff": driver_handoff}


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("name", TASKS)
def test_most_variations_succeed(name):
    """The command takes more: `spatialops wheel-removal --variations 50`."""
    outcomes = list(run_variations(name, 8, processes=2))
    assert sum(outcome["succeeded"] for outcome in outcomes) >= 7
    for outcome in outcomes:
        assert outcome["succeeded"] or outcome["faults"][0]  # and each failure is explained
        assert outcome["penetration_max"] <= 1e-3
