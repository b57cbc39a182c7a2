"""Piles of free bodies as nature has them: towers, walls and what stands on something light."""

import numpy as np
import pytest

import spatialops as so
from spatialops.bench.contacts.piles import BRICK, EDGE, bodies_scene, tower, wall
from spatialops.collision import Box

G = 9.81  # m/s^2


def boxes_on_each_other(masses, lean=0.0):
    """Boxes on the floor of an incline of so many radians, and the state in which they stand."""
    builder = so.TreeBuilder(gravity=(G * np.sin(lean), 0.0, -G * np.cos(lean)))
    for i, mass in enumerate(masses):
        inertia = so.Inertia.box((EDGE,) * 3, mass=float(mass))
        builder.add_body(f"b{i}", joint=so.Joint("free"), inertia=inertia)
    plain = tower(len(masses)).scene
    return so.Scene(builder.build(), plain.geoms, state=plain.state)


def places(scene, q):
    return q.reshape(scene.model.n_bodies, 7)[:, :3]


@pytest.mark.compiled
def test_a_tower_begins_to_fall_without_a_problem_that_is_hard():
    """Gaps of 1e-13 m between its boxes, which are roundings, open no single corners."""
    simulator = so.Simulator(boxes_on_each_other([4.0] * 50, 1.01 * np.arctan(1 / 50)))
    record = simulator.run(duration=0.3)
    assert simulator.fallbacks == 0
    assert record.pivots[100:].mean() < 4.0
    assert record.residuals.max() < 1e-9


@pytest.mark.compiled
@pytest.mark.slow
@pytest.mark.parametrize("n", [10, 50])
def test_a_tower_tips_at_its_angle(n):
    """As one body whose centre of mass is above its edge: tan = width / height."""
    tips = np.arctan(1.0 / n)
    for share, falls in ((0.999, False), (1.001, True)):
        scene = boxes_on_each_other([4.0] * n, share * tips)
        record = so.Simulator(scene, dt=5e-3).run(duration=7.0, record_every=100)
        away = np.abs(places(scene, record.q[-1]) - places(scene, scene.state.q)).max()
        assert (away > 0.1) if falls else (away < 1e-10)


@pytest.mark.compiled
@pytest.mark.slow
def test_a_wall_of_100_bricks_stands_for_a_minute():
    scene = wall(100).scene
    simulator = so.Simulator(scene, dt=5e-3)
    record = simulator.run(duration=60.0, record_every=1000)
    away = np.abs(places(scene, record.q[-1]) - places(scene, scene.state.q)).max()
    assert away < 1e-9 * BRICK[0]
    assert simulator.fallbacks == 0
    assert record.residuals.max() < 1e-9


@pytest.mark.compiled
@pytest.mark.parametrize("masses", [(1.0, 1e3), (1e3, 1.0), (1.0, 1e3) * 5])
def test_what_is_heavy_stands_on_what_is_light(masses):
    scene = boxes_on_each_other(masses)
    simulator = so.Simulator(scene, dt=5e-3)
    record = simulator.run(duration=10.0, record_every=100)
    assert np.abs(places(scene, record.q[-1]) - places(scene, scene.state.q)).max() < 1e-11
    _, info = simulator.step(so.State(record.q[-1], record.v[-1]))
    on_floor = info.contacts.impulses[info.contacts.links[:, 1] < 0, 0]
    assert on_floor.sum() == pytest.approx(sum(masses) * G * 5e-3, rel=1e-9)


@pytest.mark.compiled
def test_the_order_of_bodies_does_not_matter():
    """Bricks that fall on each other, listed in another order, do the same to 1e-9."""
    rng = np.random.default_rng(3)
    n = 12
    at = np.column_stack([0.15 * rng.normal(size=(n, 2)), 0.11 * np.arange(n) + 0.06])
    shapes = [Box((0.2, 0.1, 0.1))] * n
    order = rng.permutation(n)
    ends = []
    for listed in (np.arange(n), order):
        scene = bodies_scene(shapes, at[listed])
        record = so.Simulator(scene, dt=2e-3).run(duration=0.1)
        end = np.empty((n, 7))
        end[listed] = record.q[-1].reshape(n, 7)
        ends.append(end)
    assert np.abs(ends[0] - ends[1]).max() < 1e-9
