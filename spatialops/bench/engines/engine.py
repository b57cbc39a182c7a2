"""What an engine has to do to take part: be built from a `World`, step, and say where things are.

docs/benchmark.md shows a whole one.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import NamedTuple, Protocol

from spatialops._arrays import Array
from spatialops.bench.engines.world import World
from spatialops.bench.measure import BenchError
from spatialops.bench.peers import LibraryObject

FLOOR = -1  # number of the floor where bodies are numbered


class LeftOut(BenchError):
    """An engine is not here, or lacks what a scene or a metric asks for; the message says what."""


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


class Engine(Protocol):
    """A simulation of a world with an engine's own defaults.

    Attributes
    ----------
    name : str
        What tables and the command line call it.
    module : str
        Python module that must be there.
    distribution : str
        Package that brings it, for its version.
    """

    name: str
    module: str
    distribution: str

    def __init__(self, world: World, dt: float) -> None:
        """Everything in its place; `dt` in s. Raises `LeftOut` for what the engine lacks."""

    def step(self, count: int) -> None:
        """Go on by so many steps of dt."""

    def motion(self) -> Motion:
        """Where everything is and how it moves."""

    def contacts(self) -> Sequence[Contact]:
        """Contacts of the last step with their mean forces. Raises `LeftOut` if not known."""


def library(engine: type[Engine]) -> LibraryObject:
    """The module that an engine stands on.

    Raises
    ------
    LeftOut
        If it is not installed.
    """
    try:
        return import_module(engine.module)
    except ImportError as error:
        raise LeftOut(f"not installed: pip install {engine.distribution}") from error
