"""Predicted contact forces on robots read from files: Solo12 kneels, a Panda swings a box."""

from dataclasses import replace

import numpy as np
import pytest

import spatialops as so
from spatialops.algebra.inertia import Inertia
from spatialops.algebra.rotation import to_quaternion
from spatialops.collision.shapes import Box, Geom, HalfSpace, Sphere
from spatialops.control import ConeController, CoulombController, JointTracking, Legs, Reference
from spatialops.dynamics.jacobian import body_poses
from spatialops.io import build, read
from spatialops.io.description import BodySpec
from spatialops.simulation.scene.scene import Scene
from tests.support.files import example_robots

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.skipif(example_robots() is None, reason="example-robot-data is not installed"),
]
STEPS = 150  # a sixth of a second
EXACT = so.TimeStepping(settled=1e-13)  # as commands are computed


def swinging(q0, directions, *, rate):
    """q0 + d (1 - cos(rate t)) / 2 with its derivatives: at rest at first."""

    def reference(time, state):
        angle = rate * time
        shapes = (
            0.5 * (1.0 - np.cos(angle)),
            0.5 * rate * np.sin(angle),
            0.5 * rate**2 * np.cos(angle),
        )
        return Reference(
            q0 + directions * shapes[0], directions * shapes[1], directions * shapes[2]
        )

    return reference


def prediction_error(sim, control, state):
    """Worst relative errors of normal forces and of accelerations, and that of the last joints."""
    forces, accelerations = 0.0, 0.0
    rows = control.actuation.rows
    for _ in range(STEPS):
        tau = control(state.time, state, None)
        said = control.explain()
        assert said.status == "solved", said.notes
        after, info = sim.step(state, tau)
        measured = float(info.contacts.impulses[:, 0].sum()) / sim.dt
        forces = max(forces, abs(float(said.forces[:, 0].sum()) - measured) / measured)
        missed = np.abs((after.v - state.v)[rows] / sim.dt - said.demanded[rows]).max()
        accelerations = max(accelerations, float(missed) / max(np.abs(said.demanded).max(), 1.0))
        state = after
    return forces, accelerations, float(np.abs(control.demand.errors).max())


def solo12(law):
    model = build(
        read(example_robots() / "solo_description/robots/solo12.urdf"), floating_base=True
    )
    feet, radius = [f"{leg}_FOOT" for leg in ("FL", "FR", "HL", "HR")], 0.015
    q = model.neutral()
    legs = Legs(model, feet, base="root_joint")
    q[legs.angles] = [0.0, 0.8, -1.6]
    base = model.q_slice("root_joint")
    q[base.start + 2] = radius - legs.positions(q[legs.angles])[:, 2].min()
    geoms = [Geom(foot, foot, Sphere(radius), friction=0.8) for foot in feet]
    geoms.append(Geom("ground", "world", HalfSpace((0.0, 0.0, 1.0)), friction=0.8))
    scene = Scene(model, geoms, state=so.State(q, np.zeros(model.nv)))
    sim = so.Simulator(scene, law=law, impact_threshold=100.0, certify="off", time=EXACT)
    return sim, q[7:].copy(), np.tile([0.0, 0.1, -0.2], 4)


def panda(law):
    """Its tray hangs level on the flange; a free box lies on it."""
    description = read(example_robots() / "panda_description/urdf/panda.urdf")
    cube = BodySpec(
        name="cube",
        parent="world",
        joint=so.Joint("free", name="cube"),
        inertia=Inertia.box((0.06, 0.06, 0.04), mass=0.5),
    )
    model = build(replace(description, bodies=(*description.bodies, cube)))
    q = model.neutral()
    for i, angle in enumerate((0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785)):
        q[model.q_slice(f"panda_joint{i + 1}")] = angle
    poses = body_poses(model, q)
    at = model.body_names.index("panda_link7")
    turn, origin = np.asarray(poses.rotations[at]), np.asarray(poses.positions[at])
    tray = origin + np.array([0.15, 0.0, 0.0])
    q[model.q_slice("cube")] = [*(tray + [0.0, 0.0, 0.025]), *to_quaternion(np.eye(3))]
    geoms = [
        Geom(
            "tray",
            "panda_link7",
            Box((0.2, 0.2, 0.01)),
            turn.T @ (tray - origin),
            rotation=turn.T,
            friction=0.8,
        ),
        Geom("cube", "cube", Box((0.06, 0.06, 0.04)), friction=0.8),
    ]
    sim = so.Simulator(
        Scene(model, geoms, state=so.State(q, np.zeros(model.nv))),
        law=law,
        impact_threshold=100.0,
        certify="off",
        time=EXACT,
    )
    swing = np.array([0.1, 0.05, 0.05, 0.05, 0.05, 0.05, 0.1, 0.0, 0.0])
    return sim, q[:9].copy(), swing


@pytest.mark.parametrize(
    ("make", "kind", "law", "off"),
    [
        # A residual of 5e-14, where roundings end on some processors, lets light feet be off by
        # 2e-8, 4e5 times as much; on others 2e-14 is reached, and 1e-9.
        (solo12, ConeController, so.contact.ConeCoulomb(tolerance=2e-13), 4e5 * 2e-13),
        (solo12, CoulombController, "coulomb", 1e-8),
        (panda, CoulombController, "coulomb", 1e-8),
    ],
)
def test_forces_on_a_robot_of_a_file_are_those_predicted(make, kind, law, off):
    sim, q0, directions = make(law)
    track = JointTracking(sim.scene.model, swinging(q0, directions, rate=12.0), dt=sim.dt)
    control = kind(sim, track, choice="nearest", horizon=sim.dt)
    forces, accelerations, tracking = prediction_error(sim, control, sim.scene.state)
    assert forces < 1e-9
    assert accelerations < off
    assert tracking < 1e-3


def test_soles_of_a_humanoid_are_placed():
    model = build(
        read(example_robots() / "talos_data/robots/talos_reduced.urdf"), floating_base=True
    )
    legs = Legs(model, ["left_sole_link", "right_sole_link"], base="root_joint", soles=True)
    bent = np.tile([0.0, 0.0, -0.4, 0.8, -0.4, 0.0], (2, 1))
    wanted = legs.positions(bent) + [[0.03, 0.01, 0.05], [-0.05, 0.0, 0.0]]
    found, left = legs.inverse(wanted, bent)
    assert left < 1e-12
    assert legs.positions(found) == pytest.approx(wanted, abs=1e-12)
    assert legs.attitudes(found) == pytest.approx(legs.attitudes(bent), abs=1e-12)
    assert np.abs(found - bent).max() < 0.5
