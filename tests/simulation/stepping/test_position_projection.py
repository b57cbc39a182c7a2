"""Overlaps: pushed apart where joints allow it, left alone where they do not, and never flung."""

import numpy as np
import pytest

import spatialops as so
from spatialops.bench.contacts.engines import Ours
from spatialops.simulation import _layout as at

SIZE = (0.3, 0.2, 0.1)
LEG = (0.06, 0.06, 0.3)


def legged(height, overlap, aside, limit, lean):
    """A trunk with four limp legs whose boxes reach into it, though no joint moves them out."""
    builder = so.TreeBuilder()
    builder.add_body("trunk", joint=so.Joint("free"), inertia=so.Inertia.box(SIZE, mass=2.0))
    geoms = [
        so.Geom("floor", "world", so.HalfSpace(), friction=0.6),
        so.Geom("trunk", "trunk", so.Box(SIZE), friction=0.6),
    ]
    for i, (x, y) in enumerate([(1, 1), (1, -1), (-1, 1), (-1, -1)]):
        builder.add_body(
            f"shoulder{i}",
            parent="trunk",
            joint=so.Joint("revolute", axis=(1.0, 0.0, 0.0), lower=-limit, upper=limit),
            position=(0.1 * x, aside * y, 0.0),
            inertia=so.Inertia.sphere(0.02, mass=0.1),
        )
        builder.add_body(
            f"leg{i}",
            parent=f"shoulder{i}",
            joint=so.Joint("revolute", axis=(0.0, 1.0, 0.0), lower=-limit, upper=limit),
            inertia=so.Inertia.box(LEG, mass=0.3),
        )
        down = (0.0, 0.0, -0.2 + overlap)
        geoms.append(so.Geom(f"leg{i}", f"leg{i}", so.Box(LEG), position=down, friction=0.6))
    model = builder.build()
    q = model.neutral()
    q[2] = height
    q[3:7] = np.array([lean, 0.3 * lean, 0.0, 1.0]) / np.sqrt(1.0 + 1.09 * lean**2)
    return so.Scene(model, geoms, state=so.State(q, np.zeros(model.nv)))


# Overlap (m), distance of the legs from the middle (m), range of the joints (rad), lean.
CASES = [(0.01, 0.06, 3.0, 0.3), (0.04, 0.02, 0.0, 0.3), (0.08, 0.02, 3.0, 0.0)]


@pytest.mark.compiled
@pytest.mark.parametrize("case", CASES)
def test_what_overlaps_for_good_falls_like_anything_else(case):
    # All velocities between its parts are roundings of the fall: none of them may ask for a force.
    steps, dt = 40, 1e-3
    ours = Ours(legged(1.0, *case), dt)
    ours.run(steps)
    fallen = 0.5 * 9.81 * (steps * dt) ** 2
    assert ours.state.q[2] == pytest.approx(1.0 - fallen, abs=1e-9)
    assert ours.residual < 1e-9


@pytest.mark.compiled
@pytest.mark.parametrize("case", CASES)
def test_it_lands_without_being_flung(case):
    ours = Ours(legged(0.6, *case), 1e-3)
    before = ours.state.q
    for _ in range(500):
        ours.run(1)
        assert np.abs(ours.state.q[:3] - before[:3]).max() < 0.02
        before = ours.state.q
    assert ours.residual <= 1e-9
    assert 0.0 < before[2] < 0.6


@pytest.mark.compiled
@pytest.mark.parametrize("case", CASES)
def test_what_cannot_be_opened_is_tried_again_only_when_it_changes(case):
    ours = Ours(legged(1.0, *case), 1e-3)
    ours.run(5)
    tried = int(ours.tables.control[at.PROJECTIONS])
    ours.run(50)
    assert int(ours.tables.control[at.PROJECTIONS]) == tried
    ours.tables.monitor[at.IN_VAIN] *= 1.01
    ours.run(1)
    assert (int(ours.tables.control[at.PROJECTIONS]) > tried) == (tried > 0)


def hub_and_ball():
    """A leg whose hub reaches 5 mm into the trunk near the axes of its joints, and a ball.

    Rolling the leg opens that by a lever, 4 mm for 50 mm aside, and only on one side of the axis.
    The ball starts 2 cm inside the floor.
    """
    builder = so.TreeBuilder()
    builder.add_body("trunk", joint=so.Joint("free"), inertia=so.Inertia.box(SIZE, mass=10.0))
    builder.add_body(
        "shoulder",
        parent="trunk",
        joint=so.Joint("revolute", axis=(1.0, 0.0, 0.0)),
        position=(0.0, 0.15, 0.0),
        inertia=so.Inertia.sphere(0.02, mass=0.1),
    )
    builder.add_body(
        "leg",
        parent="shoulder",
        joint=so.Joint("revolute", axis=(0.0, 1.0, 0.0)),
        inertia=so.Inertia.box(LEG, mass=1.0),
    )
    builder.add_body("ball", joint=so.Joint("free"), inertia=so.Inertia.sphere(0.1, mass=1.0))
    geoms = [
        so.Geom("floor", "world", so.HalfSpace(), friction=0.6),
        so.Geom("trunk", "trunk", so.Box(SIZE), friction=0.6),
        so.Geom("hub", "leg", so.Box((0.02, 0.02, 0.008)), position=(0.0, -0.045, 0.0)),
        so.Geom("ball", "ball", so.Sphere(0.1), friction=0.6),
    ]
    model = builder.build()
    q = model.neutral()
    q[2] = 1.0
    q[model.q_slice("ball")][:3] = (2.0, 0.0, 0.08)
    return so.Scene(model, geoms, state=so.State(q, np.zeros(model.nv)))


@pytest.mark.compiled
def test_what_only_a_lever_opens_keeps_nothing_else_from_being_pushed_apart():
    scene = hub_and_ball()
    ours = Ours(scene, 1e-3)
    before = ours.state.q
    ours.run(1)
    after = ours.state.q
    height = scene.model.q_slice("ball").start + 2
    assert ours.depth == pytest.approx(0.02, abs=1e-9)
    assert after[height] == pytest.approx(0.1, abs=2e-5)
    assert np.abs(after[:3] - before[:3]).max() < 1e-4  # the robot is not moved for it
    pushes = int(ours.tables.control[at.PROJECTIONS])
    ours.run(20)
    assert ours.depth == pytest.approx(0.02, abs=1e-9)
    assert int(ours.tables.control[at.PROJECTIONS]) == pushes  # nothing is sought for the hub


def test_a_start_inside_another_is_pushed_apart():
    builder = so.TreeBuilder()
    for name in ("low", "high"):
        builder.add_body(name, joint=so.Joint("free"), inertia=so.Inertia.box(SIZE, mass=1.0))
    model = builder.build()
    geoms = [so.Geom("floor", "world", so.HalfSpace(), friction=0.5)]
    geoms += [so.Geom(name, name, so.Box(SIZE), friction=0.5) for name in ("low", "high")]
    q = model.neutral()
    q[2], q[9] = 0.045, 0.135
    scene = so.Scene(model, geoms, state=so.State(q, np.zeros(model.nv)))
    final = so.separate(scene)
    assert final.q[2] == pytest.approx(0.05, abs=1e-6)
    assert final.q[9] == pytest.approx(0.15, abs=1e-6)


def test_stops_are_left_beside_what_rolls():
    """Moments of the step's own problem are none of that of gaps, whose last rows they were."""
    builder, inertia = so.TreeBuilder(), so.Inertia.sphere(0.1, mass=1.0)
    builder.add_body("ball", joint=so.Joint("free"), inertia=inertia)
    hinge = so.Joint("revolute", axis="z", lower=-1.0, upper=0.2)
    builder.add_body("flap", parent="ball", joint=hinge, inertia=inertia)
    floor = so.Geom("floor", "world", so.HalfSpace(), torsion=0.002, rolling=0.001)
    ball = so.Geom("ball", "ball", so.Sphere(0.1), torsion=0.002, rolling=0.001)
    model = builder.build()
    q = model.neutral()
    q[2] = 0.1
    q[7] = 0.2 + 5e-4
    simulator = so.Simulator(so.Scene(model, [floor, ball]), dt=2e-3)
    state, _ = simulator.step(so.State(q, np.zeros(7)))
    assert state.q[7] == pytest.approx(0.2, abs=1e-9)
