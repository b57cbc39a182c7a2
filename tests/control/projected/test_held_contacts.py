"""Rows of contacts: rolling, sliding, flat and soft ones."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control import (
    Actuation,
    FrictionConeController,
    HeldContact,
    HeldContacts,
    JointTask,
    Motors,
    Tracking,
)
from spatialops.control.projected.dynamics import Projection
from spatialops.control.projected.held_contact import frame_of
from spatialops.experiments.aghili.grasp import Grasp
from spatialops.experiments.aghili.states import grips


@pytest.fixture(scope="module")
def robot():
    return so.models.quadruped()


def test_rolling_feet_have_exact_drift(robot):
    """Difference quotients of a round foot's rows along a motion, its contact below the centre."""
    model = robot.model
    rng = np.random.default_rng(8)
    h = 1e-6
    q = so.integrate(model, robot.state.q, 0.2 * rng.normal(size=model.nv))
    v = rng.normal(size=model.nv)
    grip = grips(robot, range(4), 0.5, [[0.1, 0.2, 1.0]] * 4)
    ends = [grip.jacobian(so.integrate(model, q, s * h * v)) @ v for s in (1.0, -1.0)]
    assert np.allclose((ends[0] - ends[1]) / (2 * h), grip.drift(q, v), atol=1e-6)


def test_sliding_contacts_have_known_friction():
    from spatialops.experiments.aghili.pressing import RADIUS, TIP, arm

    model, motors, start = arm()
    slide = HeldContact(node=TIP, radius=RADIUS, friction=0.4, slide=(0.0, 1.0, 0.3), pressed=12.0)
    grip = HeldContacts(model, [slide])
    tracking = Tracking(JointTask(("joint1", "joint2", "joint3")), np.array(start.q)[:3])
    controller = FrictionConeController(model, [tracking], motors, contacts=grip)
    controller(0.0, start)
    told = controller.explain()
    assert told.status == "solved"
    assert np.isclose(controller.at.dynamics.forces(told.tau)[0], 12.0, atol=1e-9)
    point = HeldContacts(model, [HeldContact(node=TIP, radius=RADIUS)]).jacobian(start.q)
    frame = frame_of((0.0, 0.0, 1.0))
    assert np.allclose(
        grip.sliding_friction(start.q), (frame.T @ point).T @ np.array([0.0, -4.8, 0.0]), atol=1e-10
    )


def test_flat_feet_keep_their_centre_of_pressure():
    """A free block on a flat foot's rows: its weight's moment must fit into the foot ([A] 34)."""
    builder = so.TreeBuilder()
    builder.add_body(
        "body", joint=so.Joint("free"), inertia=so.Inertia.box((0.2, 0.2, 0.2), mass=2.0)
    )
    builder.add_body(
        "arm",
        parent="body",
        joint=so.Joint("prismatic", axis="x", effort_limit=100.0),
        inertia=so.Inertia.sphere(0.05, mass=2.0),
    )
    model = builder.build()
    foot = HeldContact(
        node=so.Node("body", (0.0, 0.0, -0.1)),
        friction=0.8,
        half_lengths=(0.03, 0.05),
        torsion=0.03,
    )
    for travel, inside in ((0.02, True), (0.12, False)):
        q = model.neutral()
        q[7] = travel
        grip = HeldContacts(model, [foot])
        tracking = Tracking(JointTask((model.joint_names[1],)), [travel])
        controller = FrictionConeController(
            model, [tracking], Motors(Actuation(model)), contacts=grip
        )
        controller(0.0, so.State(q, np.zeros(model.nv)))
        told = controller.explain()
        assert (told.status == "solved") == inside
        edges = [margin for name, margin in told.margins.items() if "edge" in name]
        assert min(edges) > 0.0
        if not inside:  # the arm must give way
            assert told.slack > 0.1
            assert any("edge" in name for name in told.conflict)
            continue
        forces = controller.at.dynamics.forces(told.tau)
        assert np.isclose(forces[0], 4.0 * 9.81)
        # Weight of 2 kg, `travel` off the middle along world x: its moment, against the half length
        # on that side.
        assert np.isclose(np.abs(forces[4:6]).max(), 2.0 * 9.81 * travel, atol=1e-9)
        half = 0.03 if np.abs(grip.frames[0, 1, 0]) > 0.5 else 0.05
        assert np.isclose(min(edges), 4.0 * 9.81 * half - 2.0 * 9.81 * travel, atol=1e-8)


def test_soft_palms_on_a_moving_box_have_exact_drift():
    """Differences of rows along a motion on which palms roll and the box turns, both touching."""
    grasp = Grasp(friction=0.6)
    rng = np.random.default_rng(1)
    h = 1e-5
    model, q = grasp.model, grasp.state.q
    A = grasp.grips(0.0, grasp.state).jacobian(q)
    assert Projection(A).rank == 8
    v = Projection(A).P @ rng.normal(size=model.nv)
    ends = []
    for sign in (1.0, -1.0):
        there = so.State(so.integrate(model, q, sign * h * v), v)
        ends.append(grasp.grips(0.0, there).jacobian(there.q) @ v)
    drift = grasp.grips(0.0, grasp.state).drift(q, v)
    assert np.abs(drift).max() > 0.01
    assert np.allclose((ends[0] - ends[1]) / (2.0 * h), drift, atol=1e-7)


def test_soft_contacts_keep_their_torsion():
    """A block turned about the vertical by its flywheel: what torsion allows, and no more."""
    builder = so.TreeBuilder()
    builder.add_body(
        "body", joint=so.Joint("free"), inertia=so.Inertia.box((0.2, 0.2, 0.2), mass=2.0)
    )
    builder.add_body(
        "wheel",
        parent="body",
        joint=so.Joint("revolute", axis="z", effort_limit=50.0, name="spin"),
        inertia=so.Inertia.box((0.1, 0.1, 0.02), mass=1.0),
    )
    model = builder.build()
    corners = [so.Node("body", (x, 0.0, -0.1)) for x in (0.0,)]
    inertia = so.mass_matrix(model, model.neutral())[-1, -1]
    most = 0.01 * 3.0 * 9.81  # torsion times the weight
    for share, solved in ((0.9, True), (1.1, False)):
        grip = HeldContacts(
            model, [HeldContact(node=corners[0], friction=0.5, torsion=0.01, name="foot")]
        )
        path = lambda time, a=share * most / inertia: ([0.0], [0.0], [a])  # noqa: E731
        controller = FrictionConeController(
            model, [Tracking(JointTask(("spin",)), path)], Motors(Actuation(model)), contacts=grip
        )
        controller(0.0, so.State(model.neutral(), np.zeros(model.nv)))
        told = controller.explain()
        assert (told.status == "solved") == solved
        moment = controller.at.dynamics.forces(told.tau)[3]
        assert abs(moment) < most
        if not solved:
            assert any("torsion" in name for name in told.conflict)
