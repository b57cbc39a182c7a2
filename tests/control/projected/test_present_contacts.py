"""Contacts that a controller takes as held."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control.projected.present_contacts import PresentContacts
from spatialops.errors import ArgumentError
from spatialops.experiments.aghili.states import grips


@pytest.fixture(scope="module")
def robot():
    return so.models.quadruped()


def test_contacts_of_the_simulator(robot):
    scene = robot.scene(friction=0.7)
    state, info = so.Simulator(scene, dt=1e-3).step(robot.state)
    grip = PresentContacts(robot.model)(None, 0.0, state, info.contacts)
    assert len(grip) == 4
    assert np.allclose(grip.mu, 0.7)
    assert np.allclose(grip.frames[:, 0], [0.0, 0.0, 1.0])
    round_feet = grips(robot, range(4), 0.7)
    bodies = [robot.model.body_names[contact.node.body] for contact in grip.contacts]
    order = [bodies.index(f"{leg}_shank") for leg in ("lf", "rf", "lh", "rh")]
    ours = grip.jacobian(state.q).reshape(4, 3, -1)[order]
    theirs = round_feet.jacobian(state.q).reshape(4, 3, -1)
    v = np.random.default_rng(0).normal(size=18)
    assert np.allclose(
        np.linalg.norm(ours @ v, axis=1), np.linalg.norm(theirs @ v, axis=1), atol=1e-3
    )


def test_a_controllers_own_contacts_come_first(robot):
    own = grips(robot, range(2), 0.5)
    present = PresentContacts(robot.model)
    assert present(own, 0.0, robot.state, None) is own
    asked = []

    def schedule(time, state):
        asked.append((time, state))
        return own

    assert present(schedule, 1.5, robot.state, None) is own
    assert asked == [(1.5, robot.state)]
    with pytest.raises(ArgumentError, match="none were given"):
        present(None, 0.0, robot.state, None)


def test_contacts_without_friction_or_apart_are_not_held(robot):
    state, info = so.Simulator(robot.scene(friction=0.7), dt=1e-3).step(robot.state)
    contacts = info.contacts
    present = PresentContacts(robot.model)
    assert len(present(None, 0.0, state, contacts)) == 4
    contacts.frictions[0] = 0.0
    contacts.gaps[1] = 1e-3
    held = present(None, 0.0, state, contacts)
    assert [contact.name[:9] for contact in held.contacts] == ["contact 2", "contact 3"]
    wider = PresentContacts(robot.model, touching=2e-3)
    assert len(wider(None, 0.0, state, contacts)) == 3
