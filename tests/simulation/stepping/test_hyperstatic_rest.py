"""Bodies at rest on more contacts than determine their forces: they stay, forces are central."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import spatialops as so
from spatialops.collision import Box, HalfSpace, Sphere, shape_inertia
from spatialops.contact import Coulomb

G = 9.81


def scene_of(geoms, friction, inertia, gravity, pose):
    builder = so.TreeBuilder(gravity=gravity)
    builder.add_body("body", joint=so.Joint("free"), inertia=inertia)
    made = [
        so.Geom(f"g{i}", body, shape, position=place, friction=friction)
        for i, (body, shape, place) in enumerate(geoms)
    ]
    model = builder.build()
    return so.Scene(model, made, state=so.State(np.array(pose), np.zeros(6)))


def table(rng):
    """Four to eight round legs about the middle, on a floor that leans by half of what mu holds."""
    mu, count = rng.uniform(0.2, 0.9), rng.integers(4, 9)
    angles = 2.0 * np.pi * (np.arange(count) + rng.uniform(-0.3, 0.3, count)) / count
    legs = [
        ("body", Sphere(0.02), (r * np.cos(a), r * np.sin(a), -0.2))
        for a, r in zip(angles, rng.uniform(0.3, 0.6, count), strict=True)
    ]
    lean = np.arctan(0.5 * mu)
    gravity = G * np.array([np.sin(lean), 0.0, -np.cos(lean)])
    inertia = shape_inertia(Box((0.6, 0.6, 0.05)), 500.0)
    floor = ("world", HalfSpace(), (0.0, 0.0, -0.22))
    return scene_of([*legs, floor], mu, inertia, gravity, (0, 0, 0, 0, 0, 0, 1))


def corner(rng):
    """A box pressed into a corner of three planes: twelve contacts."""
    size = rng.uniform(0.1, 0.4, 3)
    planes = [
        ("world", HalfSpace(tuple(normal)), tuple(-0.5 * size * normal)) for normal in np.eye(3)
    ]
    down = -rng.uniform(0.3, 1.0, 3)
    gravity = G * down / np.linalg.norm(down)
    box = Box(tuple(size))
    body = ("body", box, (0.0, 0.0, 0.0))
    mu = rng.uniform(0.1, 0.9)
    return scene_of([body, *planes], mu, shape_inertia(box, 500.0), gravity, (0, 0, 0, 0, 0, 0, 1))


def wedge(rng):
    """A box with an edge down in a groove, which leans along itself and across: eight contacts."""
    size, mu = rng.uniform(0.1, 0.4, 3), rng.uniform(0.2, 0.9)
    turn = Rotation.from_euler("y", -45, degrees=True)
    box = Box(tuple(size))
    planes = []
    for axis, side in ((0, size[0]), (2, size[2])):
        normal = turn.apply(np.eye(3)[axis])
        planes.append(("world", HalfSpace(tuple(normal)), tuple(-0.5 * side * normal)))
    lean = np.arctan(0.5 * mu)
    gravity = Rotation.from_euler("x", rng.uniform(-lean, lean)).apply((0.0, 0.0, -G))
    body = ("body", box, (0.0, 0.0, 0.0))
    pose = (0, 0, 0, *turn.as_quat())
    return scene_of([body, *planes], mu, shape_inertia(box, 500.0), gravity, pose)


KINDS = {"table": table, "corner": corner, "wedge": wedge}


def stays(scene, duration):
    record = so.Simulator(scene, dt=1e-3, certify="raise").run(duration=duration, record_every=10)
    assert np.abs(record.v).max() < 1e-9
    assert np.abs(record.q[-1] - record.q[0]).max() < 1e-9
    assert record.metadata["pivoted"] == 0


def forces_follow(scene, rng):
    """The shortest forces do not depend on the order of contacts, and follow velocities."""
    problem = so.Simulator(scene, dt=1e-3).problem(scene.state)
    found = Coulomb().solve(problem)
    assert found.solved
    order = rng.permutation(problem.n_contacts)
    chosen = ("links", "points", "frames", "friction", "gap_bias", "prior_normal_impulse")
    chosen += ("kinds", "dry", "gaps")
    turned = replace(problem, **{name: getattr(problem, name)[order] for name in chosen})
    size = np.abs(found.impulses).max()
    again = Coulomb().solve(turned)
    assert np.abs(again.impulses - found.impulses[order]).max() < 1e-9 * size
    change = rng.uniform(-1e-6, 1e-6, 6)  # of velocities of 1e-2
    moved = Coulomb().solve(replace(problem, velocity=problem.velocity + change))
    assert np.abs(moved.impulses - found.impulses).max() < 1e-2 * size


@pytest.mark.compiled
@pytest.mark.parametrize("kind", KINDS)
def test_it_stays_at_rest(kind, rng):
    for _ in range(5):
        stays(KINDS[kind](rng), 0.1)


@pytest.mark.compiled
@pytest.mark.parametrize("kind", KINDS)
def test_forces_are_continuous_and_know_no_order(kind, rng):
    for _ in range(10):
        forces_follow(KINDS[kind](rng), rng)


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("kind", KINDS)
def test_a_thousand_rests(kind, rng):
    for _ in range(334):
        scene = KINDS[kind](rng)
        stays(scene, 0.05)
        forces_follow(scene, rng)
