"""TSID, with the same tasks, commands what our whole-body controller commands."""

import importlib.util

import numpy as np
import pytest

from spatialops.bench.humanoid import humanoid
from spatialops.errors import MissingLibraryError
from spatialops.experiments.plants.tsid_controller import TsidController

HAS_TSID = importlib.util.find_spec("tsid") is not None


@pytest.fixture(scope="module")
def robot():
    try:
        return humanoid()
    except MissingLibraryError as error:
        pytest.skip(str(error))


def planned(robot):
    plan = robot.footsteps(0)
    return plan, plan.center_of_mass(robot.height)


@pytest.mark.skipif(not HAS_TSID, reason="tsid is not installed")
def test_both_stand_by_nearly_the_same_torques(robot):
    plan, path = planned(robot)
    ours = robot.controller(plan, path)(0.0, robot.state)
    theirs = TsidController(robot, plan, path)(0.0, robot.state)
    # What no task decides, which is how the feet push apart, is chosen by other costs.
    assert np.abs(ours - theirs).max() < 0.05 * np.abs(ours).max()


@pytest.mark.skipif(HAS_TSID, reason="tsid is installed")
def test_without_tsid_it_says_so(robot):
    with pytest.raises(MissingLibraryError, match="tsid"):
        TsidController(robot, *planned(robot))
