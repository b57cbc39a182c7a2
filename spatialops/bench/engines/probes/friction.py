"""Blocks and a ball that slide: what Coulomb's law says of them."""

from __future__ import annotations

import numpy as np

from spatialops.bench.engines.probes.probe import Probe, relative, travel
from spatialops.bench.engines.world import GRAVITY, World, ball, box, slope

_BLOCK = (0.4, 0.4, 0.1)  # m: low enough not to tip


def all_probes() -> list[Probe]:
    """All probes of this file."""
    return [staying(), sliding(), stopping(), bowling()]


def staying(friction: float = 0.5, share: float = 0.98) -> Probe:
    """A block on a slope a little below the angle of friction stays where it is."""
    gravity = slope(np.arctan(share * friction))
    world = World((box(_BLOCK, 1.0, (0.0, 0.0, 0.05)),), True, friction, 0.0, gravity)
    return Probe(
        f"block, slope {share:g} mu",
        "stays",
        world,
        1.0,
        {"creep, m": lambda engine: float(np.linalg.norm(travel(world, engine)))},
    )


def sliding(friction: float = 0.5, share: float = 1.1) -> Probe:
    """A little above it the block slides: x = (sin a - mu cos a) g t^2 / 2."""
    gravity = slope(np.arctan(share * friction))
    world = World((box(_BLOCK, 1.0, (0.0, 0.0, 0.05)),), True, friction, 0.0, gravity)
    duration = 1.0
    way = 0.5 * (gravity[0] + friction * gravity[2]) * duration**2
    return Probe(
        f"block, slope {share:g} mu",
        "x = (sin a - mu cos a) g t^2 / 2",
        world,
        duration,
        {"distance": lambda engine: relative(float(travel(world, engine)[0]), way)},
    )


def stopping(friction: float = 0.5, speed: float = 2.0) -> Probe:
    """A block that slides on a level floor stops after v^2 / (2 mu g)."""
    block = box(_BLOCK, 1.0, (0.0, 0.0, 0.05), velocity=(speed, 0.0, 0.0))
    world = World((block,), True, friction)
    way = speed**2 / (2.0 * friction * GRAVITY)
    return Probe(
        "sliding block",
        "x = v^2 / (2 mu g)",
        world,
        0.5,
        {"distance": lambda engine: relative(float(travel(world, engine)[0]), way)},
    )


def bowling(friction: float = 0.2, speed: float = 1.0) -> Probe:
    """A ball that slides comes to roll at 5/7 of its speed, after 2 v / (7 mu g)."""
    rolling = ball(0.1, 2.0, (0.0, 0.0, 0.1), velocity=(speed, 0.0, 0.0))
    world = World((rolling,), True, friction)
    final = 5.0 / 7.0 * speed
    return Probe(
        "bowling ball",
        "rolls at v 5/7",
        world,
        0.3,  # twice as long as it slides
        {"speed": lambda engine: relative(float(engine.motion().velocities[0, 0]), final)},
    )
