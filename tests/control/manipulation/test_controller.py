"""A robot whose hands follow a script: its commands and its words, without a simulation."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control import ManipulationController
from spatialops.control.manipulation.controller import palms
from spatialops.control.manipulation.dual_arm.driver_handoff import driver_handoff
from spatialops.errors import ArgumentError
from tests.support.homes import elsewhere


class NoContacts:
    """As much of a ContactSet as is measured."""

    def __len__(self):
        return 0


@pytest.fixture(scope="module")
def task():
    return driver_handoff()


def test_names_of_palms():
    assert palms(("left", "right")) == ["left_palm", "right_palm"]


def test_the_first_command_holds_the_arms_and_begins_the_script(task):
    controller = task.controller()
    with pytest.raises(ArgumentError, match="no command"):
        controller.explain()
    state = task.scene.state
    tau = controller(0.0, state, NoContacts())
    robot = task.robot.model
    assert tau.shape == (task.scene.model.nv,)
    assert not tau[robot.nv :].any()  # nothing pulls the driver
    assert (np.abs(tau[: robot.nv]) <= robot.effort_limit).all()
    told = controller.explain()
    assert told.notes[0] == "phase: approach"
    assert told.slack < 1e-12  # hands are where they begin
    assert not controller.finished
    assert controller.observation.begin.position == pytest.approx(state.q[-7:-4])
    assert [row[1] for row in controller.log] == ["approach"]


def test_gravity_is_carried(task):
    """The first command, with references at rest, leaves the palms where they are."""
    controller = task.controller()
    state, model = task.scene.state, task.robot.model
    tau = controller(0.0, state, NoContacts())[: model.nv]
    q, v = state.q[: model.nq], np.zeros(model.nv)
    a = so.forward_dynamics(model, q, v, tau)
    nodes = [so.Node(name) for name in palms(("left", "right"))]
    assert np.abs(so.node_accelerations(model, q, v, a, nodes)).max() < 1e-6


def test_a_load_comes_at_its_rate_and_pushes_up(task):
    controller = task.controller()
    controller(0.0, task.scene.state, NoContacts())
    controller._wanted = np.array([20.0, 0.0])
    for call in range(1, 9):
        controller(call * 5e-4, task.scene.state, NoContacts())
    step = 150.0 * 5e-4 * 4  # N in the four calls from one observation to the next
    assert controller._loads == pytest.approx([2 * step, 0.0])
    wrenches = controller._wrenches()
    assert wrenches[0, 3:] == pytest.approx([0.0, 0.0, 2 * step])
    assert not wrenches[1].any()


def test_an_object_at_home_elsewhere_is_where_it_is(task):
    """Coordinates of a free joint are in its own frame: the hands go where the driver is."""
    model, state = elsewhere(task.scene.model, task.scene.state)
    there = so.Scene(model, task.scene.geoms, state=state)
    here, other = task.controller(), task.controller()
    other.go_on_in(there)
    expected = here(0.0, task.scene.state, NoContacts())
    assert other(0.0, state, NoContacts()) == pytest.approx(expected, abs=1e-9)
    found, pose = other.observation.begin, here.observation.begin
    assert found.position == pytest.approx(pose.position, abs=1e-12)
    assert found.rotation == pytest.approx(pose.rotation, abs=1e-12)


def test_a_scene_must_begin_with_the_robot(task):
    controller = task.controller()
    with pytest.raises(ArgumentError, match="the robot's joints before all others"):
        ManipulationController(
            so.Scene(so.models.pendulum(2).model),
            task.robot.model,
            "driver",
            impedance=controller.impedance,
            hands=controller.hands,
            script=controller.script,
            dt=5e-4,
        )


def test_what_is_not_finite_is_braked_against_and_not_remembered(task):
    controller = task.controller()
    state = task.scene.state
    controller(0.0, state, NoContacts())
    log = list(controller.log)
    broken = so.State(np.full(len(state.q), np.nan), state.v)
    tau = controller(1e-3, broken, NoContacts())
    assert np.isfinite(tau).all()
    assert controller.explain().status == "damped"
    assert controller.log == log
    controller(2e-3, state, NoContacts())
    assert controller.explain().status in ("solved", "nearest")
