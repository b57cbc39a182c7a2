"""Joints that are asked to leave their limits stop at them, and never go too fast."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control import (
    Actuation,
    HeldContacts,
    JointBounds,
    JointTask,
    Motors,
    Tracking,
    WholeBodyController,
)
from spatialops.errors import ArgumentError

DT = 1e-3


def arm(**limits):
    builder, ball = so.TreeBuilder(), so.Inertia.sphere(0.1, mass=1.0)
    for name, parent in (("upper", "world"), ("fore", "upper")):
        builder.add_body(
            name,
            parent=parent,
            joint=so.Joint("revolute", axis="y", **limits),
            position=(0.0, 0.0, -0.3),
            inertia=ball,
        )
    return builder.build()


def states_of(model, goal, **bounds):
    """A run that is asked to put both joints at `goal`."""
    control = WholeBodyController(
        model,
        [Tracking(JointTask(model.joint_names), goal, stiffness=400.0)],
        Motors(Actuation(model)),
        contacts=HeldContacts(model, []),
        **bounds,
    )
    state = so.State(np.zeros(2), np.zeros(2))
    return so.Simulator(so.Scene(model), dt=DT).run(state, 1.0, controller=control), control


def test_a_joint_stops_at_its_limit():
    record, _ = states_of(arm(lower=-1.0, upper=0.5), [2.0, -3.0])
    assert record.q[:, 0].max() <= 0.5 + 1e-3
    assert record.q[:, 1].min() >= -1.0 - 1e-3
    np.testing.assert_allclose(record.q[-1], [0.5, -1.0], atol=2e-3)


def test_without_bounds_it_leaves_its_limit():
    model = arm(lower=-1.0, upper=0.5)
    control = WholeBodyController(
        model,
        [Tracking(JointTask(model.joint_names), [2.0, -3.0], stiffness=400.0)],
        Motors(Actuation(model)),
        contacts=HeldContacts(model, []),
        bounds=None,
    )
    state = so.State(np.array([0.499, 0.0]), np.array([3.0, 0.0]))
    control(0.0, state)
    free = control.explain().predicted[0]
    bounded = WholeBodyController(
        model, control.levels, control.motors, contacts=HeldContacts(model, [])
    )
    bounded(0.0, state)
    assert free > 0.0 > bounded.explain().predicted[0]
    assert bounded.explain().status == "nearest"


def test_a_joint_keeps_its_speed():
    record, _ = states_of(arm(velocity_limit=1.5), [2.0, -2.0])
    assert np.abs(record.v).max() <= 1.5 + 1e-6
    assert np.abs(record.v).max() > 1.49


def test_motors_that_cannot_keep_the_bounds_say_so():
    model = arm(lower=-1.0, upper=0.5, effort_limit=0.01)
    control = WholeBodyController(
        model,
        [Tracking(JointTask(model.joint_names), [0.0, 0.0])],
        Motors(Actuation(model)),
        contacts=HeldContacts(model, []),
    )
    tau = control(0.0, so.State(np.array([0.6, 0.0]), np.array([5.0, 0.0])))
    assert "give way" in control.explain().notes[0]
    assert np.abs(tau).max() <= 0.01


def test_a_range_narrower_than_the_horizon_is_no_contradiction():
    model = arm(lower=-1e-4, upper=1e-4)
    state = so.State(np.array([5e-5, 0.0]), np.array([0.0, 3.0]))
    _, low, high = JointBounds().accelerations(model, state)
    assert np.all(low <= high)


@pytest.mark.parametrize(
    ("name", "value"), [("horizon", 0.0), ("braking", -1.0), ("margin", -0.1), ("horizon", np.nan)]
)
def test_numbers_out_of_range_are_refused(name, value):
    with pytest.raises(ArgumentError, match=name):
        JointBounds(**{name: value})
