"""Fields of joints and closures are what they are after checking, however they were given."""

import json
from dataclasses import replace

import numpy as np
import pytest

import spatialops as so
from spatialops.errors import ModelError
from spatialops.tree.joint import KINDS, PER_VELOCITY


@pytest.mark.parametrize("kind", list(KINDS))
def test_numbers_are_one_for_each_velocity(kind):
    joint = so.Joint(kind, damping=0.5, armature=2)
    for name in PER_VELOCITY:
        assert getattr(joint, name).shape == (joint.nv,)
        assert joint.values(name) is getattr(joint, name)
    assert joint.damping.tolist() == [0.5] * joint.nv
    assert joint.armature.dtype == np.float64


def test_axes_are_names_or_three_floats():
    assert so.Joint("revolute", axis="y").axis == "y"
    assert so.Joint("revolute", axis=np.array([0, 2, 0])).axis == (0.0, 2.0, 0.0)
    assert so.Joint("universal", second_axis=[1, 0, 1]).second_axis == (1.0, 0.0, 1.0)


def test_a_copy_of_a_joint_is_the_same_joint():
    joint = so.Joint("cylindrical", axis=(1.0, 2.0, 3.0), damping=(0.1, 0.2), lower=-1.0)
    copy = replace(joint, name="other")
    for name in PER_VELOCITY:
        np.testing.assert_array_equal(copy.values(name), joint.values(name))
    np.testing.assert_array_equal(copy.rotations(), joint.rotations())


def test_the_second_axis_must_be_one_for_every_kind():
    with pytest.raises(ModelError, match="second_axis"):
        so.Joint("revolute", second_axis=(0.0, 0.0, 0.0))


def test_frames_of_a_closure_are_numbers_and_can_be_stored():
    loop = so.Loop(
        kind="revolute",
        a="arm",
        position_a=np.array([1, 0, 0]),
        rotation_a=[0, 0, 0, 2],
        axis=np.array([0.0, 3.0, 0.0]),
    )
    assert loop.position_a == (1.0, 0.0, 0.0)
    assert loop.rotation_a.tolist() == [0.0, 0.0, 0.0, 2.0]
    assert loop.axis == (0.0, 3.0, 0.0)
    again = so.Loop.from_data(json.loads(json.dumps(loop.to_data())))
    for side in (0, 1):
        for mine, stored in zip(loop.node_frame(side), again.node_frame(side), strict=True):
            np.testing.assert_array_equal(mine, stored)


def test_a_couplers_factors_and_the_bodies_of_others():
    coupler = so.Loop.mimic("left", of="right", multiplier=2.0)
    assert coupler.factors == {"left": 1.0, "right": -2.0}
    ball = so.Loop(kind="ball", a="arm")
    assert ball.factors == {}
    assert ball.bodies == ("arm", "world")


def test_a_joint_without_a_name_is_not_called_none() -> None:
    with pytest.raises(ModelError, match=r"^joint: kind 'hinge' is unknown"):
        so.Joint("hinge")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=r"^joint \(revolute\): axis: "):
        so.Joint("revolute", axis=(0.0, 0.0, 0.0))
    with pytest.raises(ModelError, match=r"^joint 'pin' \(revolute\): axis: "):
        so.Joint("revolute", name="pin", axis=(0.0, 0.0, 0.0))
