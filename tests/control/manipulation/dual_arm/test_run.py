"""A task that is run: a part of it quickly, the whole as slow tests."""

import numpy as np
import pytest

from spatialops.control.manipulation.dual_arm import driver_handoff, wheel_removal
from spatialops.control.manipulation.dual_arm.report import (
    contact_kinds,
    energy_balance,
    problem_sizes,
)
from spatialops.control.manipulation.dual_arm.run import joined, run_task
from spatialops.control.manipulation.dual_arm.task import DT, Variation
from spatialops.control.manipulation.dual_arm.variations import task_module
from spatialops.errors import ArgumentError

TASKS = {"wheel-removal": wheel_removal, "driver-handoff": driver_handoff}


def _certified(run):
    facts = run.record.summary()
    assert run.error == ""
    assert facts["penetration_max"] <= 1e-3
    assert facts["residual_max"] <= 1e-9
    assert facts["collision_energy_gain_max"] <= 1e-9
    balance = energy_balance(run)
    assert balance["friction_and_impacts"] >= -1e-3 * abs(
        balance["motors"]
    )  # contacts only take energy


@pytest.fixture(scope="module")
def beginning():
    return run_task(wheel_removal.wheel_removal(), stop_after="approach")


@pytest.mark.compiled
def test_hands_approach_without_touching(beginning):
    run = beginning
    assert run.stopped
    assert not run.reason
    assert not run.succeeded
    assert [passed.name for passed in run.controller.script.passed] == ["approach"]
    _certified(run)
    assert set(contact_kinds(run)) == {"wheel on world"}
    assert (
        np.abs(run.controller.impedance.errors).max() < 0.01
    )  # m and rad: hands are where they are meant to be
    limits, used = run.task.robot.model, run.record.q[:, :26]
    assert np.all((limits.lower <= used) & (used <= limits.upper))
    explained = run.controller.explain()
    assert explained.notes[0] == "phase: enclose"
    assert np.all(np.abs(explained.tau[:26]) <= limits.effort_limit)
    assert not explained.tau[26:].any()  # nothing pulls the wheel by magic


@pytest.mark.compiled
def test_a_record_of_two_is_that_of_one(beginning):
    record = beginning.record
    assert np.all(np.diff(record.times) > 0.0)
    assert record.metadata["steps"] == round(record.times[-1] / DT)
    with pytest.raises(ArgumentError, match="none"):
        joined([])
    with pytest.raises(ArgumentError, match="there is no phase 'juggle'"):
        run_task(beginning.task, stop_after="juggle")


@pytest.mark.compiled
def test_a_failed_phase_says_why():
    """A wheel that is bolted on, as far as the robot can tell: its mass is that of the car."""
    run = run_task(wheel_removal.wheel_removal(Variation(mass=60.0)), limit=0.3)
    assert not run.succeeded
    assert "time was up" in run.reason
    assert wheel_removal.judge(run) == {"succeeded": False, "faults": [run.reason]}


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("name", TASKS)
def test_the_whole_task(name):
    make, judge = task_module(name)
    run = run_task(make())
    _certified(run)
    verdict = judge(run)
    assert verdict["faults"] == []
    assert verdict["slip"] < 2e-3
    assert not verdict["supported"]
    if name == "wheel-removal":
        assert verdict["distance_from_hub"] >= 0.25
        assert verdict["tilt"] <= 5.0
        assert verdict["held"] >= 2.0 - 1e-9
    sizes = problem_sizes(run, count=10)
    assert max(sizes["nmc"]) > max(sizes["os"])
    begin, end = run.span("hold")
    assert not run.supported(begin, end)
    assert run.supported(0.0, 1.0)  # it has stood or hung there before


@pytest.mark.slow
@pytest.mark.compiled
def test_mc_and_os_take_the_wheel_off_alike():
    """The same phases; where they end the wheel stands where it stands with OS, to 0.1 mm."""
    ends = {}
    for formulation in ("os", "mc"):
        run = run_task(wheel_removal.wheel_removal(), formulation=formulation, stop_after="lift")
        _certified(run)
        assert not run.reason
        ends[formulation] = run.task.object_poses(run.record)[run.rows("lift")[-1]].position
    assert np.abs(ends["os"] - ends["mc"]).max() < 1e-4
