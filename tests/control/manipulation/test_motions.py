"""Motions about an object, and guards, against hand-made observations."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from spatialops.control import Observation, Pose
from spatialops.control.manipulation import motions


def pose(x, y, z, yaw=0.0):
    return Pose(np.array([x, y, z]), Rotation.from_euler("z", yaw).as_matrix())


@pytest.fixture
def observation():
    hands = {"left": pose(0.0, 1.0, 0.0), "right": pose(0.0, -1.0, 0.0, 0.5)}
    return Observation(
        hands=dict(hands), references=dict(hands), object=pose(1.0, 0.0, 0.0, np.pi / 2)
    )


def test_a_palm_points_and_squeezes_as_asked():
    palm = motions.palm_pose((1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 1.0), 0.2)
    assert palm.position == pytest.approx([1.0, 0.2, 0.0])
    assert palm.rotation @ [0.0, 0.0, 0.2] + palm.position == pytest.approx([1.0, 0.0, 0.0])
    assert palm.rotation[:, 0].tolist() == [0.0, 0.0, 1.0]
    assert np.linalg.det(palm.rotation) == pytest.approx(1.0)


def test_hands_go_to_the_object_and_back(observation):
    grasp = {"left": pose(0.5, 0.0, 0.0)}
    found = motions.to_object(grasp)(observation)["left"]
    assert found.position == pytest.approx([1.0, 0.5, 0.0])  # the object is turned to the left
    before = motions.to_object(grasp, back=0.1)(observation)["left"]
    assert before.position == pytest.approx([1.0, 0.5, -0.1])
    away = motions.back_off(("right",), 0.3)(observation)
    assert set(away) == {"right"}
    assert away["right"].position == pytest.approx([0.0, -1.0, -0.3])
    assert away["right"].rotation is not None


def test_carrying_moves_hands_as_the_object(observation):
    goal = pose(1.0, 0.0, 2.0, np.pi / 2 + 0.4)
    moved = motions.object_to(("left", "right"), lambda _: goal)(observation)
    for side, reference in observation.references.items():
        before = observation.object.inverse() @ reference
        after = goal.inverse() @ moved[side]
        assert after.position == pytest.approx(before.position, abs=1e-12)
        assert after.rotation == pytest.approx(before.rotation, abs=1e-12)


def test_remembering_moves_nothing(observation):
    assert motions.remember(("left",))(observation) == {}
    assert set(observation.marks) == {"left"}
    assert observation.slip("left") == 0.0


@pytest.mark.parametrize(
    ("guard", "changes", "holds"),
    [
        (motions.arrived(0.01), {"lag": 0.005}, True),
        (motions.arrived(0.01), {"lag": 0.02}, False),
        (motions.arrived(0.01), {"lag": 0.0, "moving": True}, False),
        (motions.presses("left", 5.0), {"touch": {"left_a": 6.0, "left_b": 4.0}}, False),
        (motions.presses("left", 5.0), {"touch": {"left_a": 6.0, "left_b": 5.0}}, True),
        (motions.lets_go("left"), {"touch": {"left_a": 0.05, "left_b": 0.06}}, False),
        (motions.lets_go("left"), {"touch": {"left_a": 0.05, "right_a": 7.0}}, True),
        (motions.rests(3.0), {"support": 3.0}, True),
        (motions.is_free(), {"support": 0.06}, False),
        (motions.is_free(), {"support": 0.0}, True),
        (motions.turned_less(0.2), {"begin": pose(0, 0, 0, np.pi / 2 - 0.1)}, True),
        (motions.turned_less(0.2), {"begin": pose(0, 0, 0, np.pi / 2 - 0.3)}, False),
    ],
)
def test_guards(observation, guard, changes, holds):
    for name, value in changes.items():
        setattr(observation, name, value)
    assert guard.holds(observation) == holds
    assert guard.words in guard.told(observation)


def test_slip_is_told_in_millimetres(observation):
    motions.remember(("left",))(observation)
    observation.object = pose(1.0, 0.003, 0.0, np.pi / 2)
    guard = motions.slips_less("left", 2e-3)
    assert not guard.holds(observation)
    assert guard.told(observation) == "slip in the left hand below 2 mm (now 0.003 m)"
