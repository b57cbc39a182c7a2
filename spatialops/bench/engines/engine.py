"""What an engine has to do to take part: be built from a `World`, step, and say where things are.

docs/benchmark.md shows a whole one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from spatialops._arrays import Array
from spatialops.bench.engines.entrant import Entrant
from spatialops.bench.engines.world import World

FLOOR = -1  # number of the floor where bodies are numbered


class Motion(NamedTuple):
    """Of n bodies in the order of the world, world axes.

    Positions (n, 3) of the centres, m; quaternions (n, 4), as (x, y, z, w); spins (n, 3), rad/s;
    velocities (n, 3) of the centres, m/s.
    """

    positions: Array
    quaternions: Array
    spins: Array
    velocities: Array


class Contact(NamedTuple):
    """Bodies by number, `FLOOR` for the floor, and the force (3,) on the first one, N."""

    first: int
    second: int
    force: Array


class Engine(Entrant, Protocol):
    """A simulation of a world with an engine's own defaults; the class is the entrant."""

    def __init__(self, world: World, dt: float) -> None:
        """Everything in its place; `dt` in s. Raises `LeftOut` for what the engine lacks."""

    def step(self, count: int) -> None:
        """Go on by so many steps of dt."""

    def motion(self) -> Motion:
        """Where everything is and how it moves."""

    def contacts(self) -> Sequence[Contact]:
        """Contacts of the last step with their forces. Raises `LeftOut` where they are unknown."""
