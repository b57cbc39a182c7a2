"""What controllers remember: runs that are resumed go on as if they had never ended."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control import (
    CoulombController,
    JointTracking,
    Legs,
    MpcTrotController,
    NoSlipController,
    PIDController,
    Trot,
    Waypoints,
)
from spatialops.errors import ArgumentError
from spatialops.experiments.aghili.states import motors_of
from tests.support.runs import differing

DT = 1e-3
STEPS = 120


def planner(robot, course):
    legs = Legs(robot.model, robot.feet)
    return Trot(legs, robot.state.q[legs.angles], course, dt=DT)


def walker(name, robot, sim):
    """A controller that follows a course whose first point it meets at once."""
    course = Waypoints([(0.0, 0.0), (1.0, 0.5)])
    if name == "mpc":
        pytest.importorskip("daqp")
        return MpcTrotController(robot.model, robot.feet, motors_of(robot), robot.state, course)
    trot = planner(robot, course)
    if name == "pid":
        return PIDController(robot.model, trot, dt=DT)
    demand = JointTracking(robot.model, trot, dt=DT)
    if name == "no-slip":
        return NoSlipController(sim, demand, standing=trot.standing)
    return CoulombController(sim, demand, choice="nearest")


def parts(name):
    robot = so.models.quadruped()
    sim = so.Simulator(robot.scene(friction=0.8), dt=DT, law="cone", impact_threshold=100.0)
    return robot, sim, walker(name, robot, sim)


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["pid", "no-slip", "nearest", "mpc"])
def test_a_walk_that_is_resumed_is_the_walk(tmp_path, name):
    robot, sim, control = parts(name)
    whole = sim.run(robot.state, STEPS * DT, controller=control)
    robot, sim, control = parts(name)
    sim.run_to_disk(tmp_path, robot.state, 0.0, controller=control)
    for cut in (1, 50, STEPS):
        robot, sim, control = parts(name)
        sim.resume(tmp_path, cut * DT, controller=control)
    assert differing(so.load_record(tmp_path), whole) == []


def test_waypoints_that_were_met_stay_so():
    robot = so.models.quadruped()
    course, again = Waypoints(), Waypoints()
    before = course(0.0, robot.state)
    assert course.reached == 1
    again.restore(course.save())
    assert again.reached == 1
    assert np.array_equal(again(0.0, robot.state), before)


def test_an_estimate_goes_on_where_it_was():
    robot = so.models.quadruped()
    feet = [so.Node(name) for name in robot.feet]
    imu = np.array([0.1, -0.2, 9.7, 0.01, 0.02, -0.01])
    given = DT, imu, robot.state.q[7:], np.zeros(12), np.ones(4)
    found = so.control.ContactAidedFilter(robot.model, feet)
    found.start(robot.state)
    for _ in range(5):
        found(*given)
    again = so.control.ContactAidedFilter(robot.model, feet)
    again.restore(found.save())
    assert np.array_equal(again(*given).q, found(*given).q)
    assert np.array_equal(again.covariance, found.covariance)


def test_what_is_not_of_the_same_parts_is_refused():
    robot = so.models.quadruped()
    trot = planner(robot, Waypoints())
    control = PIDController(robot.model, trot, dt=DT)
    kept = control.save()
    assert "tracking.reference.reference.command.reached" in kept
    for name in kept:
        fewer = {other: kept[other] for other in kept if other != name}
        with pytest.raises(ArgumentError, match=name.rpartition(".")[2]):
            control.restore(fewer)
        with pytest.raises(ArgumentError, match=name.rpartition(".")[2]):
            control.restore({**kept, name: np.zeros((7, 7, 7))})
