"""What a friction-cone controller says of itself, against the equations and differences."""

from dataclasses import replace

import numpy as np
import pytest

import spatialops as so
from spatialops.control import (
    CenterOfMassTask,
    FrictionConeController,
    HeldContacts,
    PointTask,
    Tracking,
)
from spatialops.experiments.aghili.states import base_task, grips, motors_of
from tests.control.cases import command, controller_of


@pytest.fixture(scope="module")
def robot():
    return so.models.quadruped()


def test_a_task_beyond_friction_gives_way_and_says_why(robot):
    asked = np.array([0.0, 0.0, 0.0, 8.0, 0.0, 0.0])  # 8 m/s^2 forward with mu = 0.4
    controller = controller_of(robot, asked, friction=0.4)
    controller(0.0, robot.state)
    told = controller.explain()
    assert told.status == "nearest"
    assert told.slack > 1.0
    assert told.conflict
    assert all("cone" in name or "normal force" in name for name in told.conflict)
    assert min(told.margins.values()) > 0.0
    assert any("could not be met exactly" in note for note in told.notes)
    # As far forward as friction lets it, and no farther: legs may swing, but the centre of mass is
    # pushed by feet alone.
    com = CenterOfMassTask().motion(robot.model, robot.state)
    x, _, z = com.J @ told.predicted + com.drift
    assert told.predicted[3] > 0.3 * 9.81
    assert 0.9 * 0.4 * (9.81 + z) < x < 0.4 * (9.81 + z)


def test_without_contact_nothing_holds_the_centre_of_mass(robot):
    """In the air legs can turn the base against themselves, but not move the centre of mass."""
    center = CenterOfMassTask()
    tracking = Tracking(center, center.motion(robot.model, robot.state).x)
    controller = FrictionConeController(
        robot.model, [tracking], motors_of(robot), contacts=HeldContacts(robot.model, [])
    )
    controller(0.0, robot.state)
    told = controller.explain()
    assert told.status == "nearest"
    assert any("[A] 15" in reason for reason in told.consistency.reasons)


def test_a_task_that_contacts_forbid_is_explained(robot):
    foot = PointTask(so.Node(robot.feet[0]))
    path = foot.motion(robot.model, robot.state).x + np.array([0.0, 0.0, 0.1])
    controller = FrictionConeController(
        robot.model, [Tracking(foot, path)], motors_of(robot), contacts=grips(robot, range(4), 0.6)
    )
    controller(0.0, robot.state)
    told = controller.explain()
    assert told.status == "nearest"
    assert any("[A] 10" in reason for reason in told.consistency.reasons)


def test_multipliers_are_what_one_unit_more_would_save(robot):
    """Differences of the power when a motor's limit, or a foot's least force, gives a little."""

    plain = command(robot, motors_of(robot), grips(robot, range(4), 0.6)).explain()
    strongest, pressed = np.abs(plain.tau).max(), plain.forces[0, 0]

    def power(limit=0.0, least=0.0):
        motors = motors_of(robot)
        motors.actuation.limits[:] = 0.95 * strongest + limit
        feet = grips(robot, range(4), 0.6).contacts
        first = replace(feet[0], least=pressed + 1.0 + least, name="pressed")
        return command(robot, motors, HeldContacts(robot.model, [first, *feet[1:]])).explain()

    told, h = power(), 1e-5
    assert told.status == "solved"
    motors = [name for name in told.binding if name.startswith("motor")]
    assert motors
    assert "pressed: normal force" in told.binding
    saved = (power(limit=-h).power - power(limit=h).power) / (2.0 * h)
    everything = sum(value for name, value in told.multipliers.items() if name.startswith("motor"))
    assert np.isclose(saved, everything, rtol=1e-4)
    cost = (power(least=h).power - power(least=-h).power) / (2.0 * h)
    assert np.isclose(cost, told.multipliers["pressed: normal force"], rtol=1e-4)
    for name in told.binding:
        assert 0.0 < told.margins[name] < 1e-3
    free = [name for name, margin in told.margins.items() if margin > 0.1]
    assert max(told.multipliers[name] for name in free) < 1e-6 * max(told.multipliers.values())


def test_a_cones_multiplier_is_what_more_friction_force_would_save(robot):
    """mu n + s - |t| >= 0: a cone's multiplier, over mu, is the rate at which s saves power."""
    asked = np.array([0.0, 0.0, 0.0, 2.2, 0.0, 0.0])
    controller = command(robot, motors_of(robot), grips(robot, range(4), 0.3), asked)
    told, program = controller.explain(), controller.answer[0]
    assert any(name.endswith("cone") for name in told.binding)
    h, costs = 1e-5, []
    for sign in (1.0, -1.0):
        k = program.k.copy()
        k[::3] += sign * h / program.mu
        costs.append(controller.solver.solve(replace(program, k=k)))
    saved = (program.cost(costs[1].x) - program.cost(costs[0].x)) / (2.0 * h)
    assert np.isclose(
        saved,
        sum(told.multipliers[name] / 0.3 for name in told.multipliers if "cone" in name),
        rtol=1e-4,
    )


def test_too_little_drive_is_explained(robot):
    """Two feet down, two that must stay up: no motor turns the base about the first two."""
    up = [PointTask(so.Node(robot.feet[foot])) for foot in (1, 2)]
    tasks = [Tracking(task, task.motion(robot.model, robot.state).x) for task in up]
    tasks.append(base_task(robot, robot.state, np.ones(6)))
    controller = FrictionConeController(
        robot.model, tasks, motors_of(robot), contacts=grips(robot, (0, 3), 0.6)
    )
    controller(0.0, robot.state)
    told = controller.explain()
    assert told.status == "nearest"
    assert told.consistency[:5] == (12, 12, 12, 11, 11)
    assert any("[A] 15" in reason for reason in told.consistency.reasons)
