"""Controllers are copied, and sent to other processes: their copies command the same."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import spatialops as so
from spatialops import control

ROBOT = so.models.quadruped()
ARM = so.models.pendulum(3)


def crouch(time, state):
    """Demanded accelerations."""
    return np.tile([0.5, 2.0, -4.0], 4)


def reference(time, state):
    """Where legs are to be."""
    return control.Reference(ROBOT.state.q[7:] + time, np.zeros(12), np.ones(12))


def by_forces(kind):
    simulator = so.Simulator(ROBOT.scene(friction=0.8), law="cone", impact_threshold=100.0)
    return kind(simulator, crouch), ROBOT.state


def pid():
    return control.PIDController(ROBOT.model, reference), ROBOT.state


def by_tasks(kind, **options):
    tip = control.PointTask(so.Node("link3"), axes=(0, 2))
    tasks = [control.Tracking(tip, np.zeros(2))]
    return kind(ARM.model, tasks, **options), so.State([0.1, 0.2, 0.3], np.zeros(3))


def whole_body():
    motors = control.Motors(control.Actuation(ARM.model))
    held = control.HeldContacts(ARM.model, [])
    return by_tasks(control.WholeBodyController, motors=motors, contacts=held)


@pytest.mark.parametrize(
    "made",
    [
        lambda: by_forces(control.ConeController),
        lambda: by_forces(control.CoulombController),
        lambda: by_forces(control.NoSlipController),
        lambda: by_forces(control.DissipationController),
        pid,
        lambda: by_tasks(control.OperationalSpaceController),
        whole_body,
    ],
)
@pytest.mark.parametrize("again", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_commands_the_same(made, again):
    one, state = made()
    one(0.0, state)
    other = again(one)
    for time in (1e-3, 2e-3):
        assert np.array_equal(one(time, state), other(time, state))
