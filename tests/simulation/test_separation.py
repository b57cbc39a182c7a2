"""Overlaps at the start are named, and `separate` takes them away."""

import warnings

import numpy as np
import pytest

import spatialops as so
from spatialops.collision.shapes import Box
from spatialops.errors import ArgumentError, ContactError
from spatialops.simulation.runs.overlaps import overlaps
from spatialops.simulation.simulator import Simulator

RADIUS = 0.1
SUNK = 0.005


def balls(*middles, extra=(), radius=RADIUS):
    """Free balls above a floor."""
    builder = so.TreeBuilder()
    geoms = [so.Geom("floor", "world", so.HalfSpace()), *extra]
    for i in range(len(middles)):
        inertia = so.Inertia.sphere(radius, mass=1.0)
        builder.add_body(f"body{i}", joint=so.Joint("free"), inertia=inertia)
        geoms.append(so.Geom(f"ball{i}", f"body{i}", so.Sphere(radius)))
    model = builder.build()
    q = model.neutral()
    q.reshape(-1, 7)[:, :3] = middles
    return so.Scene(model, geoms, state=so.State(q, np.zeros(model.nv), 3.0))


@pytest.mark.parametrize("time", [so.TimeStepping(), so.EventDriven()])
def test_an_overlap_at_the_start_is_named_with_its_depth_and_the_way_out(time):
    scene = balls((0.0, 0.0, RADIUS - SUNK), (1.0, 0.0, 1.0))
    simulator = so.Simulator(scene, time=time)
    for begin in (lambda: simulator.step(scene.state), lambda: simulator.run(duration=2.0)):
        with pytest.raises(ContactError, match="separate") as caught:
            begin()
        assert "'ball0' is 5.00e-03 m in 'floor'" in str(caught.value)
        assert "ball1" not in str(caught.value)
        assert np.array_equal(caught.value.state.q, scene.state.q)


def test_the_way_out_by_warning_goes_on():
    scene = balls((0.0, 0.0, RADIUS - SUNK))
    with pytest.warns(UserWarning, match="ball0 on floor"):
        record = so.Simulator(scene, certify="warn").run(duration=0.005)
    assert record.final.q[2] == pytest.approx(RADIUS, abs=1e-5)


def test_separated_bodies_start():
    scene = balls((0.0, 0.0, RADIUS - SUNK))
    state = so.separate(scene)
    assert state.q == pytest.approx([0.0, 0.0, RADIUS, 0.0, 0.0, 0.0, 1.0], abs=2e-6)
    assert state.time == 3.0
    assert not state.v.any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        so.Simulator(scene).run(state, duration=0.003)


def test_the_motion_is_the_least_in_the_metric_of_the_masses():
    """Two balls of masses 1 and 3 part along their line by 3 to 1."""
    builder = so.TreeBuilder()
    for name, mass in (("light", 1.0), ("heavy", 3.0)):
        inertia = so.Inertia.sphere(RADIUS, mass=mass)
        builder.add_body(name, joint=so.Joint("free"), inertia=inertia)
    model = builder.build()
    geoms = [so.Geom(name, name, so.Sphere(RADIUS)) for name in ("light", "heavy")]
    q = model.neutral()
    q[7] = 0.16
    found = so.separate(so.Scene(model, geoms), so.State(q, np.zeros(12))).q
    assert found[7] - found[0] == pytest.approx(2.0 * RADIUS, abs=2e-6)
    assert -found[0] == pytest.approx(3.0 * (found[7] - 0.16), rel=1e-6)


def test_boxes_that_lie_in_one_another_part():
    builder = so.TreeBuilder()
    for name in ("a", "b"):
        inertia = so.Inertia.box((0.2, 0.2, 0.2), mass=1.0)
        builder.add_body(name, joint=so.Joint("free"), inertia=inertia)
    model = builder.build()
    geoms = [so.Geom(name, name, Box((0.2, 0.2, 0.2))) for name in ("a", "b")]
    q = model.neutral()
    q[7:10] = 0.15, 0.01, 0.04
    q[10:14] = np.array([0.1, 0.2, 0.05, 1.0]) / np.linalg.norm([0.1, 0.2, 0.05, 1.0])
    scene = so.Scene(model, geoms, state=so.State(q, np.zeros(12)))
    setup = Simulator(scene).setup
    assert overlaps(setup, scene.state, 1e-3)
    assert not overlaps(setup, so.separate(scene), 2e-6)


def test_joints_go_back_into_their_limits():
    builder = so.TreeBuilder()
    joint = so.Joint("revolute", axis=(0.0, 1.0, 0.0), lower=-0.5, upper=0.5)
    builder.add_body("arm", joint=joint, inertia=so.Inertia.sphere(0.1, mass=1.0))
    scene = so.Scene(builder.build())
    state = so.separate(scene, so.State(np.array([0.6]), np.zeros(1)))
    assert state.q == pytest.approx([0.5], abs=2e-6)


def test_a_state_without_overlaps_is_left_alone():
    scene = balls((0.0, 0.0, RADIUS), (0.0, 0.0, 1.0))
    state = so.separate(scene)
    assert np.array_equal(state.q, scene.state.q)


def test_bodies_without_room_are_refused_by_name():
    roof = so.Geom("roof", "world", so.HalfSpace((0.0, 0.0, -1.0)), position=(0.0, 0.0, 0.15))
    with pytest.raises(ContactError, match="no room") as caught:
        so.separate(balls((0.0, 0.0, 0.1), extra=[roof]))
    assert "'ball0'" in str(caught.value)
    assert "'roof'" in str(caught.value)
    with pytest.raises(ArgumentError, match="scene"):
        so.separate(roof)


def test_going_on_step_by_step_looks_only_at_new_states(monkeypatch):
    scene = balls((0.0, 0.0, RADIUS))
    looked = []
    monkeypatch.setattr(
        "spatialops.simulation.runs.stepping_run.refuse_overlaps",
        lambda setup, state: looked.append(state.time),
    )
    simulator, state = so.Simulator(scene), scene.state
    for _ in range(3):
        state, _ = simulator.step(state)
    simulator.step(scene.state)
    assert looked == [3.0, 3.0]


@pytest.mark.parametrize(("angle", "depth"), [(0.5, 0.6), (2.0, 0.3), (2.8, 0.1)])
def test_closures_stay_closed_however_far_bodies_are_pushed(angle, depth):
    """Two rods on a ball joint that is a closure, the upper one deep in the floor."""
    rod = so.Inertia.capsule(0.05, 0.6, mass=1.0)
    builder = so.TreeBuilder()
    for name in ("lower", "upper"):
        builder.add_body(name, joint="free", inertia=rod)
    model = builder.build()
    ends = {"position_a": (0.0, 0.0, 0.3), "position_b": (0.0, 0.0, -0.3)}
    tie = so.Loop(kind="ball", a="lower", b="upper", **ends)
    geoms = [
        so.Geom("floor", "world", so.HalfSpace()),
        so.Geom("rod", "upper", so.Capsule(0.05, 0.6)),
    ]
    turn = np.array([np.sin(0.5 * angle), 0.0, 0.0, np.cos(0.5 * angle)])
    along = np.array([0.0, -np.sin(angle), np.cos(angle)])
    sunk = np.array([0.0, 0.0, -0.3 * abs(along[2]) - depth])
    q = np.concatenate([sunk, turn, sunk + 0.6 * along, turn])
    v = so.close_loops(model, [tie], q, 0.1 * np.arange(12.0))[1]
    scene = so.Scene(model, geoms, loops=[tie])
    found = so.separate(scene, so.State(q, v))
    assert np.abs(so.loop_errors(model, [tie], found.q)).max() < 1e-12
    assert np.abs(so.loop_velocities(model, [tie], found.q, found.v)).max() < 1e-12
    assert not overlaps(Simulator(scene).setup, found, 2e-6)
