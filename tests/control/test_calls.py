"""What a warm command costs in calls, which no clock decides: of our functions, and by them.

Bounds are a tenth above what was counted. While contacts that touch were made objects at every
command, and conditions of programs by NumPy, the first three made 810, 601 and 659.
"""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

import spatialops as so
from spatialops.control import FrictionConeController, PoseTask, Tracking, WholeBodyController
from spatialops.experiments.aghili.states import motors_of
from tests.control.cases import quadruped_simulator
from tests.trust.wild_commands import PREDICTIVE

OURS = f"{Path(so.__file__).parent}{os.sep}"
MOST = {"friction cones": 258, "least norm": 223, "whole body": 138, "cone": 84, "no-slip": 84}


def made(name, robot, sim):
    if name in PREDICTIVE:
        return PREDICTIVE[name](sim, lambda time, state: np.zeros(12))
    base = PoseTask(so.Node("base"))
    tasks = [Tracking(base, base.motion(robot.model, robot.state).x)]
    if name == "whole body":
        return WholeBodyController(robot.model, tasks, motors_of(robot))
    least = name == "least norm"
    return FrictionConeController(robot.model, tasks, motors_of(robot), minimum_norm=least)


def calls(command):
    """Number of calls of functions of ours, and of compiled ones by them."""
    count = 0

    def seen(frame, event, _argument):
        nonlocal count
        if event in ("call", "c_call") and frame.f_code.co_filename.startswith(OURS):
            count += 1

    sys.setprofile(seen)
    try:
        command()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.compiled
@pytest.mark.parametrize("name", MOST)
def test_a_warm_command_makes_few_calls(name):
    robot, sim = quadruped_simulator("coulomb")
    own = made(name, robot, sim)
    contacts = sim.step(robot.state)[1].contacts
    for _ in range(3):
        own(0.0, robot.state, contacts)
    counted = [calls(lambda: own(0.0, robot.state, contacts)) for _ in range(2)]
    assert counted[0] == counted[1]
    assert counted[0] <= MOST[name]
