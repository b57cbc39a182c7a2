"""What a robot observes: poses, slips, and smoothed forces of its fingertips."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import spatialops as so
from spatialops.collision.shapes import HalfSpace, Sphere
from spatialops.control import Observation, Pose
from spatialops.control.manipulation.observation import ContactForceSensor, object_pose
from spatialops.errors import ArgumentError
from spatialops.tree.free_frames import FreeFrame
from tests.support.homes import TURN


def turned(angle, position=(0.0, 0.0, 0.0)):
    return Pose(np.array(position), Rotation.from_euler("z", angle).as_matrix())


def test_forces_of_a_hand_are_those_of_its_tips():
    observation = Observation(touch={"left_thumb": 3.0, "left_finger1": 1.0, "right_thumb": 9.0})
    assert observation.pressing("left") == 1.0
    assert observation.touching("left") == 4.0
    assert observation.touching("nobody") == 0


def test_slip_is_motion_within_the_hand():
    hand, thing = turned(0.3, (1.0, 2.0, 3.0)), turned(0.1, (1.1, 2.0, 3.0))
    observation = Observation(hands={"left": hand}, object=thing)
    observation.marks["left"] = observation.in_hand("left")
    carry = turned(1.0, (5.0, -1.0, 0.0))  # both move alike: nothing slips
    observation.hands, observation.object = {"left": carry @ hand}, carry @ thing
    assert observation.slip("left") == pytest.approx(0.0, abs=1e-12)
    observation.object = carry @ thing @ turned(0.0, (0.0, 0.02, 0.0))
    assert observation.slip("left") == pytest.approx(0.02)


def test_turning_is_told_against_the_beginning():
    observation = Observation(begin=turned(0.2), object=turned(-0.3))
    assert observation.turned() == pytest.approx(0.5)


def test_the_pose_of_a_free_body():
    rotation = Rotation.random(random_state=3)
    coordinates = np.concatenate([[0.1, 0.2, 0.3], rotation.as_quat()])
    pose = object_pose(coordinates, FreeFrame(np.zeros(3), np.eye(3)))
    assert pose.position.tolist() == [0.1, 0.2, 0.3]
    assert pose.rotation == pytest.approx(rotation.as_matrix(), abs=1e-12)
    turned = object_pose(coordinates, FreeFrame(np.array([1.0, 2.0, 3.0]), TURN))
    assert turned.position == pytest.approx([1.0, 2.0, 3.0] + TURN @ [0.1, 0.2, 0.3])
    assert turned.rotation == pytest.approx(TURN @ rotation.as_matrix(), abs=1e-12)


@pytest.fixture
def scene():
    builder = so.TreeBuilder()
    ball = so.Inertia.sphere(0.1, mass=1.0)
    for name in ("finger", "thing"):
        builder.add_body(name, joint=so.Joint("free", name=name), inertia=ball)
    geoms = [
        so.Geom("floor", "world", HalfSpace((0.0, 0.0, 1.0))),
        so.Geom("tip", "finger", Sphere(0.1)),
        so.Geom("thing", "thing", Sphere(0.1)),
    ]
    return so.Scene(builder.build(), geoms)


def contacts(scene, forces, dt):
    """Contacts between named geoms with impulses force * dt along a slanted direction."""
    numbers = [
        next(i for i in range(scene.n_pairs) if set(scene.pair_names(i)) == set(names))
        for names in forces
    ]
    along = np.array([0.6, 0.8, 0.0])
    impulses = np.array([force * dt * along for force in forces.values()]).reshape(-1, 3)
    return SimpleNamespace(pairs=np.array(numbers, dtype=int), impulses=impulses)


class Contacts:
    """As much of a ContactSet as is measured."""

    def __init__(self, found):
        self.pairs, self.impulses = found.pairs, found.impulses

    def __len__(self):
        return len(self.pairs)


def test_forces_are_sorted_and_smoothed(scene):
    dt, observation = 1e-3, Observation()
    sensor = ContactForceSensor(scene, "thing", {"tip": ["tip"]}, dt=dt, smoothing=4e-3)
    forces = {("tip", "thing"): 8.0, ("floor", "thing"): 4.0, ("floor", "tip"): 100.0}
    found = Contacts(contacts(scene, forces, dt))
    sensor.update(found, observation)
    assert observation.touch == pytest.approx({"tip": 2.0})  # a quarter of 8 N
    assert observation.support == pytest.approx(1.0)
    sensor.update(found, observation)
    assert observation.touch["tip"] == pytest.approx(2.0 + 0.25 * 6.0)
    sensor.update(Contacts(contacts(scene, {}, dt)), observation)
    assert observation.support == pytest.approx(0.75 * 1.75)


def test_a_step_needs_a_length(scene):
    with pytest.raises(ArgumentError, match="dt"):
        ContactForceSensor(scene, "thing", {"tip": ["tip"]}, dt=0.0)
