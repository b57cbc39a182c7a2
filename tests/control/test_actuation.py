import numpy as np
import pytest

import spatialops as so
from spatialops.control import Actuation
from spatialops.errors import ArgumentError


@pytest.fixture
def model():
    builder, ball = so.TreeBuilder(), so.Inertia.sphere(0.1, mass=1.0)
    builder.add_body("base", joint=so.Joint("free"), inertia=ball)
    builder.add_body(
        "wrist", parent="base", joint=so.Joint("universal", effort_limit=(2.0, 3.0)), inertia=ball
    )
    builder.add_body("slide", parent="wrist", joint=so.Joint("prismatic", axis="x"), inertia=ball)
    return builder.build()


def test_all_but_free_joints_by_default(model):
    motors = Actuation(model)
    assert motors.joints == ("wrist", "slide")
    assert motors.rows.tolist() == [6, 7, 8]
    assert motors.limits.tolist() == [2.0, 3.0, np.inf]


def test_clips_and_spreads(model):
    motors = Actuation(model, ["wrist"])
    assert motors.spread([1.0, -1.0]).tolist() == [0.0] * 6 + [1.0, -1.0, 0.0]
    assert motors.clipped(np.full(9, -9.0)).tolist() == [0.0] * 6 + [-2.0, -3.0, 0.0]


@pytest.mark.parametrize(
    ("joints", "message"),
    [(["elbow"], "no joint 'elbow'"), ("wrist", "expected several names, got one")],
)
def test_wrong_joints_are_refused(model, joints, message):
    with pytest.raises(ArgumentError, match=message):
        Actuation(model, joints)


def test_a_scene_is_not_a_model(model):
    with pytest.raises(ArgumentError, match="expected a Model, got Scene"):
        Actuation(so.Scene(model))
