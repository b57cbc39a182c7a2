"""Inverse kinematics: what can be reached is, within limits; what cannot is said."""

import warnings

import numpy as np
import pytest

import spatialops as so
from spatialops.kinematics.targets import errors_at
from tests.dynamics.test_references import urdf_path


def robot(name, free=False):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return so.load_model(urdf_path(name), floating_base=free)


def frame_at(model, q, name):
    poses = so.body_poses(model, q)
    frame = model.frame(name)
    turn = poses.rotations[frame.body]
    return poses.positions[frame.body] + turn @ frame.position, turn @ frame.rotation


def within_limits(model, q):
    plain = q if model.nq == model.nv else q[7:]
    lower, upper = model.lower[-len(plain) :], model.upper[-len(plain) :]
    return (plain >= lower - 1e-12).all() and (plain <= upper + 1e-12).all()


def test_poses_of_an_arm_are_reached_within_its_limits():
    model = robot("ur_description/urdf/ur5_robot.urdf")
    rng = np.random.default_rng(1)
    for _ in range(5):
        place, turn = frame_at(model, model.random(rng), "ee_link")
        found = so.inverse_kinematics(model, so.Target("ee_link", place, turn))
        assert found.reached, found.message
        assert within_limits(model, found.q)
        there, turned = frame_at(model, found.q, "ee_link")
        assert abs(there - place).max() < 1e-9
        assert abs(turned - turn).max() < 1e-8


def test_several_targets_of_a_floating_robot_hold_at_once():
    model = robot("anymal_b_simple_description/robots/anymal.urdf", free=True)
    rng = np.random.default_rng(2)
    feet = [name for name in model.frames if name.endswith("_FOOT")]
    q = model.neutral()
    q[7:] = 0.3 * rng.normal(size=12)
    targets = [so.Target(foot, frame_at(model, q, foot)[0]) for foot in feet]
    targets.append(so.Target("base", *frame_at(model, q, "base")))
    found = so.inverse_kinematics(model, targets)
    assert len(feet) == 4
    assert found.reached, found.message
    assert found.distances.max() < 1e-9


def test_what_is_out_of_reach_is_said_and_come_near_to():
    model = so.models.pendulum(3).model  # 12 m long, from (0, 0, 10)
    tip = so.Node("link3", (0.0, 0.0, -4.0))
    lengths = np.linalg.norm(so.node_positions(model, [0, 0, 0], [tip])[0] - [0, 0, 10])
    found = so.inverse_kinematics(model, so.Target(tip, (20.0, 0.0, 10.0)), restarts=2)
    assert not found.reached
    assert "target 0" in found.message
    assert found.distances[0] == pytest.approx(20.0 - lengths, abs=1e-6)


def test_limits_bind_and_are_named():
    builder = so.TreeBuilder()
    inertia = so.Inertia.sphere(0.1, mass=1.0)
    builder.add_body(
        "arm",
        joint=so.Joint("revolute", name="pin", axis="z", lower=-1.0, upper=0.5),
        inertia=inertia,
    )
    model = builder.build()
    tip = so.Node("arm", (1.0, 0.0, 0.0))
    found = so.inverse_kinematics(model, so.Target(tip, (0.0, 1.0, 0.0)))
    assert not found.reached
    assert found.q == pytest.approx([0.5], abs=1e-9)
    assert "at their limits: pin" in found.message


def test_fixed_joints_stay_and_free_ones_stay_near_rest():
    model = so.models.pendulum(6).model
    tip = so.Node("link6")
    rest = np.array([0.3, 0.2, 0.1, -0.1, 0.2, 0.1])
    place = so.node_positions(model, rest, [tip])[0] + [0.4, 0.0, 0.5]
    target = so.Target(tip, place)
    found = so.inverse_kinematics(model, target, rest, rest=rest, fixed=["pin1"])
    assert found.reached
    assert found.q[0] == 0.3
    free = so.inverse_kinematics(model, target, rest + [0.0, 1.0, -1.0, 1.0, -1.0, 0.0])
    assert np.linalg.norm(found.q - rest) < 0.5 * np.linalg.norm(free.q - rest)


def test_a_nan_leaves_a_coordinate_free():
    model = so.models.pendulum(1).model
    tip = so.Node("link1", (0.0, 0.0, -1.0))
    found = so.inverse_kinematics(model, so.Target(tip, (0.5, np.nan, np.nan)))
    assert so.node_positions(model, found.q, [tip])[0, 0] == pytest.approx(0.5, abs=1e-9)


def test_slopes_are_derivatives_of_the_errors():
    model = robot("ur_description/urdf/ur5_robot.urdf")
    rng = np.random.default_rng(3)
    q, goal = model.random(rng), model.random(rng)
    targets = (so.Target("ee_link", *frame_at(model, goal, "ee_link"), 2.0, 0.5),)
    slopes = errors_at(model, q, targets).slopes
    h = 1e-6
    for k in range(model.nv):
        dv = h * np.eye(model.nv)[k]
        ends = [errors_at(model, so.integrate(model, q, s * dv), targets).rows for s in (1, -1)]
        assert abs((ends[0] - ends[1]) / (2 * h) - slopes[:, k]).max() < 1e-7


@pytest.mark.parametrize(
    ("targets", "text"),
    [
        ([], "there is none"),
        ([1.0], r"targets\[0\]"),
        ([so.Target("nothing", (0, 0, 0))], "no body 'nothing'"),
    ],
)
def test_wrong_targets_are_refused_in_words(targets, text):
    with pytest.raises(so.errors.ArgumentError, match=text):
        so.inverse_kinematics(so.models.pendulum(1).model, targets)


def test_a_target_asks_for_something():
    with pytest.raises(so.errors.ArgumentError, match="neither"):
        so.Target("link1")
