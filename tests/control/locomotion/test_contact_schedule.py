"""Contacts come and go when they are told to, and their forces without a jump."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control import (
    ContactSchedule,
    Gait,
    HeldContact,
    PointTask,
    Tracking,
    WholeBodyController,
)
from spatialops.errors import ArgumentError
from tests.control.cases import controller_of


@pytest.fixture(scope="module")
def robot():
    return so.models.quadruped()


def feet(robot):
    return [HeldContact(node=so.Node(name), friction=0.6, name=name) for name in robot.feet]


def test_ramps_are_smooth_and_meet_their_ends(robot):
    name = robot.feet[0]
    schedule = ContactSchedule(robot.model, feet(robot), {name: [(0.0, 1.0)]}, ramp=0.2)
    times = np.linspace(-0.1, 1.1, 1201)
    share = np.array([schedule.share(time)[0] for time in times])
    assert share[times < -1e-9].max() == 0.0
    assert share[times >= 1.0].max() == 0.0
    assert share[np.abs(times - 0.5) < 0.29].min() == 1.0
    assert np.abs(np.diff(share)).max() < 1.6 * 1e-3 / 0.2  # the ramp's rate is 1.5 / ramp at most
    assert np.all(schedule.share(0.5)[1:] == 1.0)  # those that are not named always hold


def test_a_schedule_begins_again(robot):
    name = robot.feet[1]
    schedule = ContactSchedule(robot.model, feet(robot), {name: [(0.4, 0.7)]}, ramp=0.0, period=0.5)
    holds = [bool(schedule.share(time)[1]) for time in (0.1, 0.3, 0.45, 10.1, 10.3, 10.45)]
    assert holds == [True, False, True, True, False, True]


def test_a_gait_is_a_schedule(robot):
    gait = Gait()
    schedule = ContactSchedule.of_gait(robot.model, feet(robot), gait, ramp=0.0)
    for time in np.linspace(0.001, 2.0, 173):
        assert np.array_equal(schedule.share(time) > 0.0, gait.standing(time))


def test_bounds_follow_the_ramps(robot):
    schedule = ContactSchedule(
        robot.model, feet(robot), {robot.feet[0]: [(0.0, 1.0)]}, ramp=0.2, full=40.0
    )
    held = schedule(0.1, robot.state)
    assert held.contacts[0].most == pytest.approx(20.0)
    assert np.isinf(held.contacts[1].most)
    assert schedule(0.5, robot.state).contacts[0].most == np.inf
    _, offsets, names = held.limits
    assert offsets[names.index(f"{robot.feet[0]}: largest force")] == pytest.approx(20.0)


def commands(robot, ramp):
    """Torques of a quadruped that stands, with a foot that is let go after 0.2 s, and stays."""
    foot = PointTask(so.Node(robot.feet[0]))
    stays = Tracking(foot, foot.motion(robot.model, robot.state).x)
    schedule = ContactSchedule(
        robot.model, feet(robot), {robot.feet[0]: [(-np.inf, 0.2)]}, ramp=ramp
    )
    control = controller_of(robot, kind=WholeBodyController)
    control.contacts = schedule
    control.levels = (*control.levels, (stays,))
    return np.array([control(time, robot.state) for time in np.arange(0.0, 0.3, 1e-3)])


@pytest.mark.compiled
def test_torques_do_not_jump_where_a_foot_is_let_go(robot):
    sudden = np.abs(np.diff(commands(robot, 0.0), axis=0)).max()
    smooth = np.abs(np.diff(commands(robot, 0.1), axis=0)).max()
    assert smooth < 0.1 * sudden


@pytest.mark.parametrize(
    ("intervals", "message"),
    [
        ({"nobody": [(0.0, 1.0)]}, "nobody"),
        ({"here": [(1.0, 0.0)]}, "end after"),
        ({"here": [(np.nan, 1.0)]}, "end after"),
        ({"here": [(0.0, 3.0)]}, "longer than the period"),
    ],
)
def test_what_makes_no_schedule_is_refused(robot, intervals, message):
    foot = HeldContact(node=so.Node(robot.feet[0]), name="here")
    with pytest.raises(ArgumentError, match=message):
        ContactSchedule(robot.model, [foot], intervals, period=2.0)


def test_names_must_differ(robot):
    foot = HeldContact(node=so.Node(robot.feet[0]), name="here")
    with pytest.raises(ArgumentError, match="names of their own"):
        ContactSchedule(robot.model, [foot, foot], {})
    with pytest.raises(ArgumentError, match="4 of the gait"):
        ContactSchedule.of_gait(robot.model, [foot], Gait())
