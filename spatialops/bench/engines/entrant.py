"""What is known of everybody who takes part, and how to say that something is missing."""

from __future__ import annotations

from importlib import import_module
from typing import Protocol

from spatialops.bench.measure import BenchError
from spatialops.bench.peers import LibraryObject


class LeftOut(BenchError):
    """Somebody is not here, or lacks what a scene or a metric asks for; the message says what."""


class Entrant(Protocol):
    """An engine or a solver.

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


def library(entrant: Entrant | type[Entrant]) -> LibraryObject:
    """The module that an entrant stands on.

    Raises
    ------
    LeftOut
        If it is not installed.
    """
    try:
        return import_module(entrant.module)
    except ImportError as error:
        raise LeftOut(f"not installed: pip install {entrant.distribution}") from error
