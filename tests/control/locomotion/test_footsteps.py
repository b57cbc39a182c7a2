"""Plans of footsteps: feet arrive where they shall, and something always stands."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control import Footstep, Footsteps, HeldContact, PointTask
from spatialops.errors import ArgumentError


@pytest.fixture(scope="module")
def robot():
    return so.models.quadruped()


def plan_of(robot, steps, **options):
    nodes = [so.Node(name) for name in robot.feet]
    feet = [HeldContact(node=node, name=node.body) for node in nodes]
    places = [PointTask(node).motion(robot.model, robot.state).x for node in nodes]
    return Footsteps(robot.model, feet, places, steps, **options)


def step(foot, start, end, place=(0.0, 0.0, 0.0)):
    return Footstep(foot=foot, start=start, end=end, place=place)


def test_feet_go_from_place_to_place(robot):
    there = [[0.4, 0.2, 0.0], [0.5, 0.2, 0.1]]
    plan = plan_of(robot, [step(0, 1.0, 1.4, there[0]), step(0, 2.0, 2.4, there[1])], height=0.06)
    path = plan.foot(0)
    np.testing.assert_array_equal(path(0.5)[0], plan.places[0])
    np.testing.assert_array_equal(path(1.7)[0], there[0])
    np.testing.assert_array_equal(path(9.0)[0], there[1])
    assert path(1.2)[0][2] == pytest.approx(0.5 * plan.places[0][2] + 0.06)
    for time in (1.0, 1.4, 2.0, 2.4):
        for edge in (time - 1e-9, time + 1e-9):
            assert np.abs(path(edge)[1]).max() < 1e-6
            assert np.abs(path(edge)[2]).max() < 1e-5


def test_rates_are_those_of_the_path(robot):
    path = plan_of(robot, [step(1, 1.0, 1.5, [0.4, 0.2, 0.05])]).foot(1)
    h = 1e-6
    for time in (1.05, 1.2, 1.33, 1.49):
        _, rate, acceleration = path(time)
        np.testing.assert_allclose(
            (path(time + h)[0] - path(time - h)[0]) / (2.0 * h), rate, atol=1e-8
        )
        np.testing.assert_allclose(
            (path(time + h)[1] - path(time - h)[1]) / (2.0 * h), acceleration, atol=1e-6
        )


def test_feet_that_swing_bear_nothing(robot):
    plan = plan_of(robot, [step(0, 1.0, 1.4), step(3, 1.2, 1.6)], ramp=0.1)
    shares = {time: plan.schedule.share(time) > 0.0 for time in (0.5, 1.1, 1.3, 1.5, 1.7)}
    assert [int(share.sum()) for share in shares.values()] == [4, 3, 2, 3, 4]
    assert not shares[1.1][0]
    assert not shares[1.5][3]


def test_the_centre_of_mass_ends_between_the_feet(robot):
    start = plan_of(robot, []).places
    steps = [
        step(foot, 1.0 + 0.5 * foot, 1.4 + 0.5 * foot, start[foot] + [0.2, 0, 0])
        for foot in range(4)
    ]
    plan = plan_of(robot, steps)
    path = plan.center_of_mass(0.3)
    middle = start[:, :2].mean(axis=0)
    np.testing.assert_allclose(path(0.0)[0], middle, atol=1e-9)
    np.testing.assert_allclose(path(plan.duration)[0], middle + [0.2, 0.0], atol=1e-9)
    # It is away from a foot that swings.
    away = middle - start[0, :2]
    assert (path(1.2)[0] - middle) @ away > 0.0


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([step(4, 1.0, 1.4)], "foot"),
        ([step(0, 0.5, 1.4)], "swings from 0.5"),
        ([step(0, 1.4, 1.4)], "swings from 1.4"),
        ([step(0, 1.0, 1.4), step(0, 1.3, 1.6)], "swings from 1.3"),
        ([step(0, 1.0, 1.4, [0.0, 0.0])], "place"),
        ([step(0, 1.0, 1.4, [0.0, 0.0, np.nan])], "place"),
    ],
)
def test_bad_steps(robot, steps, message):
    with pytest.raises(ArgumentError, match=message):
        plan_of(robot, steps)


def test_something_has_to_stand(robot):
    plan = plan_of(robot, [step(foot, 1.0, 1.4) for foot in range(4)])
    with pytest.raises(ArgumentError, match="no foot is on the ground at 1"):
        plan.center_of_mass(0.3)
