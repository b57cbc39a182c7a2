"""Tolerances that are lengths and speeds shrink with the things that move."""

import numpy as np
import pytest

import spatialops as so
from spatialops.simulation.scales import scales_of
from tests.simulation.test_separation import balls

GRAVITY = 9.81
MICRO = 2e-6


@pytest.mark.parametrize("radius", [1e-3, 0.1, 30.0])
def test_scenes_of_human_size_keep_their_defaults(radius):
    simulator = so.Simulator(balls((0.0, 0.0, 1.0), radius=radius))
    assert scales_of(simulator.scene) == (1.0, 1.0)
    own = simulator.options
    assert (own.margin, own.depth_limit, own.impact_threshold) == (1e-4, 1e-3, 0.01)


def test_a_point_on_a_long_rod_is_no_small_thing():
    builder = so.TreeBuilder()
    builder.add_body("rod", joint=so.Joint("free"), inertia=so.Inertia.sphere(0.5, mass=1.0))
    tip = so.Geom("tip", "rod", so.Sphere(1e-6), (0.5, 0.0, 0.0))
    assert scales_of(so.Scene(builder.build(), [tip])) == (1.0, 1.0)


def test_small_things_have_small_tolerances_but_for_those_given():
    scene = balls((0.0, 0.0, 1.0), radius=MICRO)
    own = so.Simulator(scene).options
    assert own.margin == pytest.approx(1e-4 * 2e-3)
    assert own.depth_limit == pytest.approx(2e-6)
    assert own.impact_threshold == pytest.approx(0.01 * np.sqrt(2e-3))
    given = so.Simulator(scene, margin=1e-4, depth_limit=1e-3, impact_threshold=0.01).options
    assert (given.margin, given.depth_limit, given.impact_threshold) == (1e-4, 1e-3, 0.01)


def bounces(radius, restitution):
    """Times (in units of sqrt(r / g)) and heights (in radii) of a ball that falls by its radius."""
    scene = balls((0.0, 0.0, 2.0 * radius), radius=radius)
    geoms = [
        so.Geom(geom.name, geom.body, geom.shape, restitution=restitution) for geom in scene.geoms
    ]
    unit = np.sqrt(radius / GRAVITY)
    start = so.State(scene.state.q, scene.state.v)
    scene = so.Scene(scene.model, geoms, state=start)
    return so.Simulator(scene, dt=0.02 * unit).run(duration=6.0 * unit), unit


def test_a_ball_of_micrometres_bounces_as_one_of_a_millimetre_does():
    """Lengths by 2e-3, times by its root: the same motion, impacts and all."""
    large, large_unit = bounces(1e-3, 0.5)
    small, small_unit = bounces(MICRO, 0.5)
    assert len(small.events) == len(large.events) >= 3
    np.testing.assert_allclose(
        small.events[:, 0] / small_unit, large.events[:, 0] / large_unit, rtol=1e-6
    )
    first = np.sqrt(2.0)
    assert small.events[0, 0] / small_unit == pytest.approx(first, rel=1e-5)
    np.testing.assert_allclose(small.q[:, 2] / MICRO, large.q[:, 2] / 1e-3, atol=1e-6)
    assert small.penetrations.max() < 1e-2 * MICRO


def test_balls_of_micrometres_come_to_rest_on_one_another():
    radius = MICRO
    scene = balls((0.0, 0.0, radius), (0.0, 0.0, 3.0 * radius), radius=radius)
    unit = np.sqrt(radius / GRAVITY)
    record = so.Simulator(scene, dt=0.05 * unit).run(duration=5.0 * unit)
    assert np.abs(record.q - record.q[0]).max() < 1e-6 * radius
    assert record.contact_counts[1:].min() == 2


def test_an_event_driven_ball_of_micrometres_bounces():
    radius, e = MICRO, 0.5
    scene = balls((0.0, 0.0, 2.0 * radius), radius=radius)
    geoms = [so.Geom(geom.name, geom.body, geom.shape, restitution=e) for geom in scene.geoms]
    unit = np.sqrt(radius / GRAVITY)
    scene = so.Scene(scene.model, geoms, state=so.State(scene.state.q, scene.state.v))
    time = so.EventDriven(tolerance=1e-15)
    record = so.Simulator(scene, dt=0.1 * unit, time=time).run(duration=4.0 * unit)
    times = np.sqrt(2.0) * np.array([1.0, 1.0 + 2.0 * e, 1.0 + 2.0 * e + 2.0 * e * e])
    np.testing.assert_allclose(record.events[: len(times), 0] / unit, times, rtol=1e-6)
