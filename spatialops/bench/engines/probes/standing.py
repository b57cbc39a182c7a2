"""Things that ought to stand: a heavy box on a light one, a tower, a box about to tip."""

from __future__ import annotations

import math

import numpy as np
from scipy.integrate import solve_ivp

from spatialops.bench.engines.engine import FLOOR, Engine
from spatialops.bench.engines.probes.probe import Probe, relative, travel, turned
from spatialops.bench.engines.world import GRAVITY, World, box, slope

_EDGE = 0.1  # m
_TALL = (0.1, 0.1, 0.4)  # m, of what tips


def all_probes() -> list[Probe]:
    """All probes of this file."""
    return [heavy_on_light(), tower(), leaning(), tipping()]


def heavy_on_light(ratio: float = 1000.0) -> Probe:
    """A heavy box on a light one: the floor bears both, and nothing sinks."""
    size = (_EDGE, _EDGE, _EDGE)
    boxes = (box(size, 1.0, (0.0, 0.0, 0.05)), box(size, ratio, (0.0, 0.0, 0.15)))
    world = World(boxes)
    weight = (1.0 + ratio) * GRAVITY
    return Probe(
        f"box of {ratio:g} kg on one of 1 kg",
        "the floor bears both weights, nothing moves",
        world,
        1.0,
        {
            "force of the floor": lambda engine: relative(floor_force(engine), weight),
            "the upper one moves, m": lambda engine: _moved(world, engine, 1),
        },
    )


def floor_force(engine: Engine) -> float:
    """How much the floor bears, N."""
    total = 0.0
    for contact in engine.contacts():
        if contact.second == FLOOR:
            total += float(contact.force[2])
        elif contact.first == FLOOR:
            total -= float(contact.force[2])
    return total


def _moved(world: World, engine: Engine, body: int) -> float:
    return float(np.linalg.norm(travel(world, engine, body)))


def tower(count: int = 10) -> Probe:
    """A tower of boxes stays as it was built."""
    size = (_EDGE, _EDGE, _EDGE)
    boxes = tuple(box(size, 1.0, (0.0, 0.0, _EDGE * (i + 0.5))) for i in range(count))
    world = World(boxes)
    return Probe(
        f"tower of {count} boxes",
        "nothing moves",
        world,
        2.0,
        {"the top moves, m": lambda engine: _moved(world, engine, count - 1)},
    )


def leaning(share: float = 0.98) -> Probe:
    """A tall box on a slope a little below width / height stands."""
    world = _tall(share)
    return Probe(
        f"tall box, slope {share:g} w/h",
        "stands",
        world,
        1.0,
        {"turns by, rad": lean},
    )


def tipping(share: float = 1.1) -> Probe:
    """A little above it the box turns over its lower edge, as a pendulum upside down."""
    duration = 0.5
    expected = tipped(share, duration)
    return Probe(
        f"tall box, slope {share:g} w/h",
        "turns over its edge: d^2 a / dt^2 = (3 g / 4 d) sin a",
        _tall(share),
        duration,
        {"angle": lambda engine: relative(lean(engine), expected)},
    )


def _tall(share: float) -> World:
    wide, _, high = _TALL
    gravity = slope(math.atan(share * wide / high))
    return World((box(_TALL, 1.0, (0.0, 0.0, 0.5 * high)),), True, 1.0, 0.0, gravity)


def lean(engine: Engine) -> float:
    """Angle of the box's long axis from where it was, rad."""
    axis = turned(engine.motion().quaternions[0], np.array([0.0, 0.0, 1.0]))
    return math.atan2(math.hypot(axis[0], axis[1]), axis[2])


def tipped(share: float, time: float) -> float:
    """How far it has turned, rad; a is how far its centre is past its edge, seen along gravity.

    About the edge, at d from the centre, a cuboid has 4/3 m d^2.
    """
    wide, _, high = _TALL
    distance = 0.5 * math.hypot(wide, high)
    begin = math.atan(share * wide / high) - math.atan(wide / high)
    rate = 0.75 * GRAVITY / distance
    found = solve_ivp(
        lambda _, y: (y[1], rate * math.sin(y[0])),
        (0.0, time),
        (begin, 0.0),
        method="DOP853",
        rtol=1e-12,
        atol=1e-14,
    )
    return float(found.y[0, -1]) - begin
