"""Engines by name: those of this folder, and those that other packages bring.

Another package joins by an entry point in its pyproject.toml:

    [project.entry-points."spatialops.engines"]
    rapier = "my_package.rapier:Rapier"
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, version
from typing import NamedTuple, cast

from spatialops.bench.engines.engine import Engine, LeftOut, library
from spatialops.bench.measure import BenchError

GROUP = "spatialops.engines"
_ADAPTERS = "spatialops.bench.engines.adapters"
BUILT_IN = {
    "spatialops": f"{_ADAPTERS}.ours:Ours",
    "mujoco": f"{_ADAPTERS}.mujoco:MuJoCo",
    "bullet": f"{_ADAPTERS}.bullet:Bullet",
    "dart": f"{_ADAPTERS}.dart:Dart",
    "drake": f"{_ADAPTERS}.drake:Drake",
    "newton": f"{_ADAPTERS}.newton:Newton",
    "pinocchio": f"{_ADAPTERS}.pinocchio:Pinocchio",
}


class Field(NamedTuple):
    """Who takes part, and who does not for which reason, by name."""

    engines: dict[str, type[Engine]]
    left_out: dict[str, str]


def names() -> list[str]:
    """All engines that are known, installed or not."""
    return list(dict.fromkeys([*BUILT_IN, *(point.name for point in entry_points(group=GROUP))]))


def engine(name: str) -> type[Engine]:
    """An engine by its name, or by "module:Class" while it has none.

    Raises
    ------
    BenchError
        For a name that nobody has.
    LeftOut
        Where its library is not installed, or its package cannot be loaded.
    """
    point = _point(name)
    try:
        found = cast(type[Engine], point.load())
    except (ImportError, AttributeError) as error:
        raise LeftOut(f"its file cannot be loaded: {error}") from error
    library(found)
    return found


def _point(name: str) -> EntryPoint:
    """Where an engine is written."""
    if name in BUILT_IN:
        return EntryPoint(name, BUILT_IN[name], GROUP)
    joined = list(entry_points(group=GROUP, name=name))
    if joined:
        return joined[0]
    if ":" in name:
        return EntryPoint(name, name, GROUP)
    raise BenchError(f"engine: there is no {name!r}; there are {', '.join(names())}")


def field(chosen: Sequence[str] = ()) -> Field:
    """The engines chosen, or all; those that are not installed are named with the reason.

    Raises
    ------
    BenchError
        For a name that nobody has.
    """
    found = Field({}, {})
    for name in chosen or names():
        try:
            kind = engine(name)
            found.engines[kind.name] = kind
        except LeftOut as error:
            found.left_out[name] = str(error)
    return found


def version_of(kind: type[Engine]) -> str:
    """Version of the package that brings an engine."""
    try:
        return version(kind.distribution)
    except PackageNotFoundError:
        return "unknown"
