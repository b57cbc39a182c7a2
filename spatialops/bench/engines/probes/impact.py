"""A bouncing ball and Newton's cradle."""

from __future__ import annotations

import math

import numpy as np

from spatialops.bench.engines.engine import Engine
from spatialops.bench.engines.probes.probe import Probe, relative
from spatialops.bench.engines.world import GRAVITY, World, ball

_RADIUS = 0.1


def all_probes() -> list[Probe]:
    """All probes of this file."""
    return [bounce(), cradle(1e-3), cradle(0.0)]


def bounce(restitution: float = 0.8, height: float = 1.0) -> Probe:
    """A ball that falls from h bounces to e^2 h and e^4 h.

    It is stopped about where it is highest for the second time; what its speed would still lift it
    by counts.
    """
    world = World((ball(_RADIUS, 1.0, (0.0, 0.0, height + _RADIUS)),), True, 0.5, restitution)
    fall = math.sqrt(2.0 * height / GRAVITY)
    highest = fall * (1.0 + restitution) ** 2

    def error(engine: Engine) -> float:
        motion = engine.motion()
        lift = motion.velocities[0, 2] ** 2 / (2.0 * GRAVITY)
        reached = float(motion.positions[0, 2] - _RADIUS + lift)
        return relative(reached, restitution**4 * height)

    return Probe(
        f"ball that bounces, e = {restitution:g}",
        "second height e^4 h",
        world,
        round(highest, 2),
        {"height": error},
    )


def cradle(gap: float, count: int = 5) -> Probe:
    """Equal elastic balls in a row: the first one's velocity ends up in the last one."""
    pitch = 2.0 * _RADIUS + gap
    balls = [ball(_RADIUS, 1.0, (pitch * i, 0.0, 0.0)) for i in range(1, count)]
    first = ball(_RADIUS, 1.0, (-0.1, 0.0, 0.0), velocity=(1.0, 0.0, 0.0))
    world = World((first, *balls), False, 0.0, 1.0, (0.0, 0.0, 0.0))
    expected = np.zeros(count)
    expected[-1] = 1.0

    def error(engine: Engine) -> float:
        return float(np.abs(engine.motion().velocities[:, 0] - expected).max())

    apart = f"{1e3 * gap:g} mm apart" if gap else "touching"
    return Probe(
        f"Newton's cradle, {apart}",
        "the last ball leaves with v, the others rest",
        world,
        0.5,
        {"velocities, of v": error},
    )
