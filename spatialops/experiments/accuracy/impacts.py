"""Impacts: balls of billiards, Newton's cradle, and many elastic balls at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from spatialops._arrays import Array
from spatialops.algebra.inertia import Inertia
from spatialops.collision.shapes import Box, Geom, Sphere
from spatialops.experiments.accuracy.measures import Figure, swing
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.simulator import Simulator
from spatialops.tree.builder import TreeBuilder
from spatialops.tree.joint import Joint
from spatialops.tree.state import State

_RADIUS = 0.05


def run(count: int = 6, duration: float = 10.0) -> Iterator[Figure]:
    """All figures of this file; `count` ** 3 balls in a box for `duration` seconds."""
    yield billiards()
    yield cradle()
    yield elastic_gas(count, duration)


def billiards() -> Figure:
    """A ball that meets another one off its middle: without friction they part at 90 degrees."""
    offset = _RADIUS
    places = np.array([[-1.0, offset, 0.0], [0.0, 0.0, 0.0]])
    speeds = np.array([[2.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    scene = _balls(places, speeds, restitution=1.0)
    record = Simulator(scene, dt=1e-3).run(duration=1.0)
    line = np.array([np.sqrt(4.0 * _RADIUS**2 - offset**2), -offset, 0.0]) / (2.0 * _RADIUS)
    second = speeds[0] @ line * line
    expected = np.concatenate([speeds[0] - second, second])
    found = np.concatenate([record.v[-1, 3:6], record.v[-1, 9:12]])
    error = float(np.abs(found - expected).max()) / 2.0
    return Figure("billiards: velocities after", "dt 1 ms", error, "1", 1e-9)


def cradle() -> Figure:
    """Five balls in a row, the first one hits, the last one leaves (impacts propagated)."""
    places = np.zeros((5, 3))
    places[:, 0] = 2.0 * _RADIUS * np.arange(5)
    places[0, 0] -= 0.1
    speeds = np.zeros((5, 3))
    speeds[0, 0] = 1.0
    scene = _balls(places, speeds, restitution=1.0)
    record = Simulator(scene, dt=1e-3, impacts="propagated").run(duration=0.3)
    found = record.v[-1].reshape(5, 6)[:, 3]
    error = float(np.abs(found - [0.0, 0.0, 0.0, 0.0, 1.0]).max())
    return Figure("Newton's cradle: velocities after", "dt 1 ms, propagated", error, "1", 1e-9)


def elastic_gas(count: int, duration: float, dt: float = 2e-3) -> Figure:
    """Elastic balls in a box without gravity and friction: their energy after many impacts."""
    rng = np.random.default_rng(3)
    grid = np.stack(np.meshgrid(*3 * [np.arange(count)]), axis=-1).reshape(-1, 3)
    places: Array = np.asarray(4.0 * _RADIUS * (grid - 0.5 * (count - 1)), dtype=np.float64)
    speeds = rng.normal(size=places.shape)
    half = 2.0 * _RADIUS * count
    walls = []
    for axis in range(3):
        for side in (-1.0, 1.0):
            size = np.full(3, 2.0 * half + 2.0)
            size[axis] = 1.0
            place = np.zeros(3)
            place[axis] = side * (half + 0.5)
            walls.append(
                Geom(f"wall {axis} {side:+.0f}", "world", Box(tuple(size)), tuple(place), 0.0, 1.0)
            )
    scene = _balls(places, speeds, restitution=1.0, walls=walls)
    record = Simulator(scene, dt=dt, certify="off").run(duration=duration, record_every=50)
    case = f"{count**3} balls, dt {1e3 * dt:g} ms, {duration:g} s"
    return Figure("elastic balls: energy", case, swing(record.energy, record.energy[0]), "1", 1e-5)


def _balls(
    places: Array, speeds: Array, *, restitution: float, walls: list[Geom] | None = None
) -> Scene:
    builder = TreeBuilder(gravity=(0.0, 0.0, 0.0))
    geoms = list(walls or [])
    for i, place in enumerate(places):
        inertia = Inertia.sphere(_RADIUS, mass=0.2)
        builder.add_body(f"ball {i}", joint=Joint("free"), inertia=inertia, position=tuple(place))
        ball = Sphere(_RADIUS)
        geoms.append(Geom(f"ball {i}", f"ball {i}", ball, friction=0.0, restitution=restitution))
    model = builder.build()
    v = np.zeros((len(places), 6))
    v[:, 3:] = speeds
    return Scene(model, geoms, state=State(model.neutral(), v.ravel()))
