"""What two parallel jaws grip stays where it was gripped: lifted, held, by every law of friction.

With friction the motion is not unique: a gripped box may also turn and fall, and both obey the
complementarity problem. Sticking is possible, so it sticks.
"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import spatialops as so
from spatialops.collision import Box, ConvexHull, Cylinder

G = 9.81
MASS = 0.2
HALF = 0.02  # half the width that the jaws close on
HEXAGON = [
    (x, 0.02 * np.cos(a), 0.02 * np.sin(a)) for a in np.arange(6) * np.pi / 3 for x in (-HALF, HALF)
]
# What a mesh of a turned part becomes when it moves: its hull, with 24 sides.
TURNED = [
    (x, 0.02 * np.cos(a), 0.02 * np.sin(a))
    for a in np.arange(24) * np.pi / 12
    for x in (-HALF, HALF)
]
UPRIGHT = Rotation.identity()
THINGS = {
    "box": (Box((2 * HALF, 0.04, 0.06)), UPRIGHT),
    "box, tilted about the jaws' axis": (
        Box((2 * HALF, 0.04, 0.06)),
        Rotation.from_euler("x", 20, degrees=True),
    ),
    "standing cylinder": (Cylinder(HALF, 0.06), UPRIGHT),
    "lying cylinder": (Cylinder(0.02, 2 * HALF), Rotation.from_euler("y", 90, degrees=True)),
    "hull": (ConvexHull(HEXAGON), UPRIGHT),
    "hull of a mesh": (ConvexHull(TURNED), UPRIGHT),
}


def grip(thing, friction):
    """A hand that moves up and down, with two jaws that close on a thing of 0.2 kg."""
    shape, turn = THINGS[thing]
    pad = Box((0.02, 0.06, 0.05))
    ball = so.Inertia.sphere(0.02, mass=MASS)
    builder = so.TreeBuilder(gravity=(0.0, 0.0, -G))
    builder.add_body("hand", joint=so.Joint("prismatic", axis="z"), inertia=ball)
    for name, axis in (("left", "x"), ("right", "x")):
        builder.add_body(name, parent="hand", joint=so.Joint("prismatic", axis=axis), inertia=ball)
    builder.add_body("thing", joint=so.Joint("free"), inertia=ball)
    geoms = [
        so.Geom("left", "left", pad, position=(-HALF - 0.01, 0.0, 0.0), friction=friction),
        so.Geom("right", "right", pad, position=(HALF + 0.01, 0.0, 0.0), friction=friction),
        so.Geom("thing", "thing", shape, friction=friction),
    ]
    model = builder.build()
    q = np.concatenate([np.zeros(3), [0.0, 0.003, 0.004], turn.as_quat()])
    return so.Scene(model, geoms, state=so.State(q, np.zeros(model.nv)))


def lifted(thing, friction, force, duration, **options):
    """How far the thing has moved and turned in the hand, m and rad, and the record."""
    scene = grip(thing, friction)

    def height(time):  # 0.1 m up in the first half
        s = min(2.0 * time / duration, 1.0)
        return 0.1 * s * s * (3.0 - 2.0 * s)

    def controller(time, state, contacts):
        wanted = height(time)
        rate = (height(time + 1e-4) - height(time - 1e-4)) / 2e-4
        tau = np.zeros(scene.model.nv)
        tau[0] = 4 * MASS * G + 400.0 * (wanted - state.q[0]) + 40.0 * (rate - state.v[0])
        tau[1], tau[2] = force, -force
        return tau

    simulator = so.Simulator(scene, dt=1e-3, certify="raise", **options)
    record = simulator.run(duration=duration, controller=controller, record_every=20)
    start, end = record.q[0], record.q[-1]
    shift = (end[3:6] - end[0] * np.array([0.0, 0.0, 1.0])) - (start[3:6] - [0.0, 0.0, start[0]])
    turn = Rotation.from_quat(end[6:]) * Rotation.from_quat(start[6:]).inv()
    return np.linalg.norm(shift), turn.magnitude(), record


def least(friction):
    """The force of the jaws that just holds the weight."""
    return MASS * G / (2.0 * friction)


def holds(thing, friction, times, duration, **options):
    moved, turned, record = lifted(thing, friction, times * least(friction), duration, **options)
    assert record.q[-1, 0] > 0.09
    assert moved < 1e-6
    assert turned < 1e-6
    return record


@pytest.mark.compiled
@pytest.mark.parametrize("thing", THINGS)
def test_a_gripped_thing_is_lifted(thing):
    record = holds(thing, 0.3, 15.0, 0.5)
    assert record.metadata["pivoted"] == 0
    assert record.metadata["warm_started"] > 0.9 * record.metadata["contact_problems"]


FORMULATIONS = ("mc", "nmc", "rmc", "nmc/os", "trinkle")
LAWS = ("cone", "convex", "no-slip", "max-dissipation")


@pytest.mark.compiled
@pytest.mark.parametrize("formulation", ["mc", "nmc"])
def test_formulations_hold_it(formulation):
    holds("box", 0.3, 15.0, 0.1, formulation=formulation)


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("thing", ["box", "standing cylinder", "hull"])
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_every_formulation_holds_it(thing, formulation):
    holds(thing, 0.3, 15.0, 0.2, formulation=formulation)


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("thing", ["box", "standing cylinder", "hull"])
@pytest.mark.parametrize("law", LAWS)
def test_every_law_holds_it(thing, law):
    holds(thing, 0.3, 15.0, 0.2, law=law)


@pytest.mark.slow
@pytest.mark.compiled
def test_drag_alone_holds_nothing():
    moved, _, _ = lifted("box", 0.3, 15.0 * least(0.3), 0.2, law="viscous")
    assert moved > 0.1


@pytest.mark.compiled
def test_too_weak_a_grip_slips():
    moved, _, _ = lifted("box", 0.3, 0.9 * least(0.3), 0.3)
    assert moved > 1e-2


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("friction", [0.1, 0.3, 0.5, 0.8])
@pytest.mark.parametrize("thing", THINGS)
def test_grips_of_all_strengths_hold_for_ten_seconds(thing, friction):
    for times in (2.0, 10.0, 50.0):
        holds(thing, friction, times, 10.0)
