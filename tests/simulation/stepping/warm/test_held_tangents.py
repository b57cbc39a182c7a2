"""Legs that spread stand, or slip, however they are turned about the vertical."""

import numpy as np
import pytest

import spatialops as so

HALF = np.radians(30.0)  # of the angle between the legs
RADIUS = 0.02
# Two legs of one weight each: friction N tan(a) / 2 holds the feet, by moments about the hinge.
NEEDED = 0.5 * np.tan(HALF)


def legs(azimuth, friction):
    """Two rods hinged at the top, a ball at each end, spread along a horizontal direction."""
    builder = so.TreeBuilder()
    inertia = {}
    for name, side in (("left", -1.0), ("right", 1.0)):
        center = 0.5 * np.array([side * np.sin(HALF), 0.0, -np.cos(HALF)])
        inertia[name] = so.Inertia(1.0, center, np.diag([0.08, 0.08, 0.08]))
    builder.add_body("left", joint=so.Joint("free"), inertia=inertia["left"])
    hinge = so.Joint("revolute", axis=(0.0, 1.0, 0.0))
    builder.add_body("right", parent="left", joint=hinge, inertia=inertia["right"])
    geoms = [so.Geom("floor", "world", so.HalfSpace(), friction=friction)]
    for name, side in (("left", -1.0), ("right", 1.0)):
        for across in (0.0, 0.3):
            place = (side * np.sin(HALF), across, -np.cos(HALF))
            foot = so.Sphere(RADIUS)
            geoms.append(so.Geom(f"{name} {across}", name, foot, position=place, friction=friction))
    model = builder.build()
    q = np.zeros(model.nq)
    q[2] = np.cos(HALF) + RADIUS
    q[5:7] = np.sin(0.5 * azimuth), np.cos(0.5 * azimuth)
    return so.Scene(model, geoms, state=so.State(q, np.zeros(model.nv)))


def angle(record):
    """By which the legs have spread."""
    return float(abs(record.q[-1][-1]))


@pytest.mark.parametrize("azimuth", [0.0, 10.0, 20.0, 45.0, 100.0])
@pytest.mark.parametrize("factor", [1.02, 1.3])
def test_legs_stand_where_friction_holds_them(azimuth, factor):
    scene = legs(np.radians(azimuth), factor * NEEDED)
    record = so.Simulator(scene, dt=1e-3).run(duration=0.1)
    assert angle(record) < 1e-9
    assert np.abs(record.v[-1]).max() < 1e-9


@pytest.mark.parametrize("azimuth", [0.0, 45.0])
def test_legs_slip_where_friction_does_not_hold_them(azimuth):
    """As the exact cone has it."""
    scene = legs(np.radians(azimuth), 0.9 * NEEDED)
    record = so.Simulator(scene, dt=1e-3).run(duration=0.1)
    exact = so.Simulator(scene, dt=1e-3, law="cone").run(duration=0.1)
    assert angle(record) > 1e-3
    assert angle(record) == pytest.approx(angle(exact), rel=1e-6)


@pytest.mark.parametrize("speed", [1e-6, 1e-3, 0.1])
def test_legs_that_are_nudged_come_to_rest(speed):
    scene = legs(np.radians(20.0), 1.1 * NEEDED)
    v = np.zeros(scene.model.nv)
    v[-1] = -speed
    record = so.Simulator(scene, dt=1e-3).run(so.State(scene.state.q, v), duration=0.3)
    assert np.abs(record.v[-1]).max() < 1e-8


def test_legs_stand_with_problems_that_are_solved_outside():
    scene = legs(np.radians(20.0), 1.1 * NEEDED)
    record = so.Simulator(scene, dt=1e-3, solver="lemke").run(duration=0.05)
    assert angle(record) < 1e-9
