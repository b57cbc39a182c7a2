"""Bodies that are asked to run into each other keep their distance."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control import (
    Actuation,
    Clearance,
    HeldContacts,
    JointTask,
    Motors,
    Tracking,
    WholeBodyController,
)
from spatialops.control.whole_body.joint_bounds import stopping
from spatialops.errors import ArgumentError

SHAPES = {
    "spheres": so.Sphere(0.05),
    "capsules": so.Capsule(0.05, 0.2),
    "boxes": so.Box((0.08, 0.1, 0.2)),
}
HANDS = [("left_hand", "right_hand")]


def two_arms(shape):
    """Two arms that turn about y and x, with a shape at the end of each, 0.6 m apart."""
    builder = so.TreeBuilder()
    ball = so.Inertia.sphere(0.1, mass=1.0)
    for side, x in (("left", -0.3), ("right", 0.3)):
        builder.add_body(
            f"{side}_arm",
            joint=so.Joint("revolute", axis="y"),
            position=(x, 0.0, 0.0),
            inertia=ball,
        )
        builder.add_body(
            f"{side}_hand",
            parent=f"{side}_arm",
            joint=so.Joint("revolute", axis="x"),
            position=(0.0, 0.0, -0.3),
            inertia=ball,
        )
    geoms = [
        so.Geom(f"{side}_end", f"{side}_hand", shape, position=(0.0, 0.0, -0.2))
        for side in ("left", "right")
    ]
    return so.Scene(builder.build(), geoms)


def nearest_of(scene, clearance):
    """Distance of the hands over a run that is asked to cross the arms, at each step."""
    model = scene.model
    control = WholeBodyController(
        model,
        [Tracking(JointTask(model.joint_names), [-1.2, 0.0, 1.2, 0.3], stiffness=100.0)],
        Motors(Actuation(model)),
        contacts=HeldContacts(model, []),
        clearance=clearance,
    )
    start = so.State(np.zeros(model.nq), np.zeros(model.nv))
    record = so.Simulator(so.Scene(model), dt=2e-3).run(start, 1.0, controller=control)
    return np.array([so.distances(scene, q, HANDS).distances[0] for q in record.q])


@pytest.mark.compiled
@pytest.mark.parametrize("name", SHAPES)
def test_hands_that_are_to_cross_keep_their_distance(name):
    scene = two_arms(SHAPES[name])
    apart = nearest_of(scene, Clearance(scene, HANDS, least=0.03))
    assert 0.03 - 1e-3 <= apart.min() <= 0.03 + 1e-3  # as near as they may


@pytest.mark.compiled
def test_without_clearance_they_run_into_each_other():
    assert nearest_of(two_arms(SHAPES["spheres"]), None).min() < 0.0


@pytest.mark.parametrize("name", SHAPES)
def test_a_row_is_the_rate_of_the_distance(name):
    scene = two_arms(SHAPES[name])
    clearance = Clearance(scene, HANDS)
    rng = np.random.default_rng(3)
    for _ in range(5):
        q = 0.3 * rng.standard_normal(scene.model.nq)
        v = rng.standard_normal(scene.model.nv)
        rate = clearance.limits(so.State(q, v)).J[0] @ v
        ends = [so.distances(scene, q + h * v, HANDS).distances[0] for h in (-1e-6, 1e-6)]
        assert rate == pytest.approx((ends[1] - ends[0]) / 2e-6, abs=1e-6)


def test_bodies_that_turn_faster_come_nearer_by_themselves():
    """Points on a circle drift to its middle by omega^2 r: the bound counts on it."""
    scene = two_arms(SHAPES["spheres"])
    clearance = Clearance(scene, HANDS, horizon=1.0)
    q = np.array([-0.5 * np.pi, 0.0, 0.0, 0.0])  # the left arm points to the right hand's side
    bounds = [clearance.limits(so.State(q, v)) for v in np.array([[2.0, 0, 0, 0], [0.0, 0, 0, 0]])]
    found = so.distances(scene, q, HANDS)
    pivot = np.array([-0.3, 0.0, 0.0])
    inward = -4.0 * found.normals[0] @ (found.points_a[0] - pivot)
    left = found.distances[0] - clearance.least
    rate = bounds[0].J[0] @ [2.0, 0.0, 0.0, 0.0]
    for own, speed, drift in zip(bounds, (rate, 0.0), (inward, 0.0), strict=True):
        most = stopping(left, -speed, 1.0, clearance.braking)
        assert own.low[0] == pytest.approx(-most - drift, abs=1e-12)


def test_what_cannot_be_is_refused():
    scene = two_arms(SHAPES["spheres"])
    with pytest.raises(ArgumentError, match="no geom"):
        Clearance(scene, [("left_hand", "tail")])
    with pytest.raises(ArgumentError, match="braking"):
        Clearance(scene, HANDS, braking=0.0)
    other = two_arms(SHAPES["spheres"])
    with pytest.raises(ArgumentError, match="another model"):
        WholeBodyController(
            other.model, [], Motors(Actuation(other.model)), clearance=Clearance(scene, HANDS)
        )
