"""Bodies that spin freely: energy, momentum, and how errors fall with the step."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array
from spatialops.algebra.inertia import Inertia
from spatialops.dynamics.energy import momentum
from spatialops.dynamics.jacobian import body_poses
from spatialops.errors import SpatialOpsError
from spatialops.experiments.accuracy.measures import Figure, order, swing, trend
from spatialops.experiments.accuracy.references import GRAVITY
from spatialops.models.quadruped import quadruped
from spatialops.simulation.records.record import Record
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.simulator import Simulator
from spatialops.tree.builder import TreeBuilder
from spatialops.tree.joint import Joint
from spatialops.tree.model import Model
from spatialops.tree.state import State

ENERGY_BAR = 1e-4
MOMENTUM_BAR = 1e-9
_ROWS = 2000  # of the record of a run


def run(duration: float = 60.0) -> Iterator[Figure]:
    """All figures of this file; `duration` in seconds."""
    axis = np.array([1.0, 2.0, 3.0]) / np.sqrt(14.0)
    flip = np.array([1e-3, 1.0, 1e-3])
    for dt in (1e-3, 2e-3):
        for speed in (30.0, 100.0):
            yield from _kept(f"free box, {speed:g} rad/s", free_box(speed * axis), dt, duration)
        yield from _kept("Dzhanibekov's flip, 30 rad/s", free_box(30.0 * flip), dt, duration)
        yield from _kept("quadruped afloat", floating_quadruped(), dt, duration)
        yield from _kept("heavy top, 150 rad/s", heavy_top(150.0), dt, duration, alone=False)
    yield Figure(
        "free box, 30 rad/s: order short of 2",
        "dt 0.5 to 0.25 ms",
        2.0 - attitude_order(),
        "1",
        0.1,
    )


def free_box(omega: Array) -> Scene:
    """A box without gravity that turns at `omega` (3,), body axes, rad/s."""
    builder = TreeBuilder(gravity=(0.0, 0.0, 0.0))
    inertia = Inertia.box((0.1, 0.2, 0.3), mass=1.0)
    model = builder.add_body("box", joint=Joint("free"), inertia=inertia).build()
    return Scene(model, state=State(model.neutral(), np.concatenate([omega, np.zeros(3)])))


def heavy_top(speed: float) -> Scene:
    """A top on a ball joint under gravity, inclined by 30 degrees, that turns about its axis."""
    builder = TreeBuilder(gravity=(0.0, 0.0, -GRAVITY))
    inertia = Inertia(0.5, np.array([0.0, 0.0, 0.05]), np.diag([4e-4, 4e-4, 8e-4]))
    builder.add_body("top", joint=Joint("ball"), inertia=inertia)
    model = builder.build()
    q = np.array([np.sin(np.pi / 12.0), 0.0, 0.0, np.cos(np.pi / 12.0)])
    return Scene(model, state=State(q, np.array([0.0, 0.0, speed])))


def floating_quadruped() -> Scene:
    """A quadruped without gravity and ground whose trunk and legs move at random."""
    robot = quadruped()
    arrays = robot.model.to_arrays()
    links = np.array(arrays["links"])
    links[:, layout.GRAVITY : layout.GRAVITY + 3] = 0.0
    model = Model.from_arrays(arrays | {"links": links})
    v = np.random.default_rng(7).normal(size=model.nv)
    return Scene(model, state=State(robot.state.q, v))


def _kept(
    probe: str, scene: Scene, dt: float, duration: float, *, alone: bool = True
) -> Iterator[Figure]:
    steps = round(duration / dt)
    simulator = Simulator(scene, dt=dt, certify="off", joint_limits=False)
    case = f"dt {1e3 * dt:g} ms, {duration:g} s"
    try:
        record = simulator.run(duration=duration, record_every=max(steps // _ROWS, 1))
    except SpatialOpsError:
        yield Figure(f"{probe}: energy", case, np.inf, "1", ENERGY_BAR)
        return
    scale = float(record.kinetic[0])
    yield Figure(f"{probe}: energy", case, swing(record.energy, scale), "1", ENERGY_BAR)
    yield Figure(f"{probe}: trend of energy", case, trend(record.energy, scale), "1", ENERGY_BAR)
    if alone:
        found = momenta(record)
        size = float(np.linalg.norm(found[0, :3]))
        worst = float(np.linalg.norm(found[:, :3] - found[0, :3], axis=1).max()) / size
        yield Figure(f"{probe}: angular momentum", case, worst, "1", MOMENTUM_BAR)


def momenta(record: Record) -> Array:
    """Momentum (T, 6) about the centre of mass, world axes, of every recorded row."""
    model = record.scene.model
    return np.array([momentum(model, q, v) for q, v in zip(record.q, record.v, strict=True)])


def attitude_order() -> float:
    """How the error of a tumbling box's attitude after 0.5 s falls with the step."""
    axis = np.array([1.0, 2.0, 3.0]) / np.sqrt(14.0)
    scene = free_box(30.0 * axis)
    turns = []
    for dt in (2e-3, 1e-3, 5e-4, 2.5e-4):
        record = Simulator(scene, dt=dt, certify="off").run(duration=0.5)
        turns.append(body_poses(scene.model, record.q[-1]).rotations[0])
    errors = [float(np.abs(a - b).max()) for a, b in pairwise(turns)]
    return order(errors)
