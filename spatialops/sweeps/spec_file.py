"""A sweep as a TOML file: which function, or which robot, and over which parameters."""

from __future__ import annotations

import math
import tomllib
import zlib
from collections.abc import Callable, Mapping
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from spatialops._arrays import scalar, whole
from spatialops._files import opened
from spatialops.errors import ArgumentError, AssetError
from spatialops.sweeps.scene_run import drop
from spatialops.sweeps.tasks import Function, Parameters

_NAMES = {"function", "scene", "parameters", "samples", "seed"}
_RANGE = {"from", "to", "count", "log"}
_RANDOM = {"low", "high", "log"}
_MOST_BYTES = 1_000_000
_MOST_TASKS = 10_000_000


class Spec(NamedTuple):
    """A sweep that is asked for.

    Attributes
    ----------
    function : callable
        What is called.
    parameters : list of dict
        One call each.
    """

    function: Function
    parameters: list[Parameters]


def read_spec(path: Path) -> Spec:
    """The sweep of a TOML file.

    ``function = "module:function"`` is imported, and so runs the code of that module;
    ``scene = "robot.urdf"`` is `sweeps.scene_run.drop` with that file. Under ``[parameters]`` stand
    values (``2.0``), lists, ranges (``{from = 0, to = 1, count = 5}``, both ends included) and
    random numbers (``{low = 0, high = 1}``, ``samples`` of them, drawn from ``seed`` and the name).
    Ranges and random numbers with ``log = true`` are even in the logarithm. There is a task for
    each combination of all lists and ranges with each sample.

    Parameters
    ----------
    path : Path
        The file.

    Raises
    ------
    AssetError
        For a file that is no such sweep; the text says what is wrong in it.
    """
    try:
        return _spec(_parsed(path), path.parent)
    except ArgumentError as error:
        raise AssetError(f"{path}: {error}") from error


def _parsed(path: Path) -> dict[str, object]:
    try:
        with opened(path) as file:
            text = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise AssetError(f"{path}: cannot be read: {error.strerror or error}") from error
    if len(text) > _MOST_BYTES:
        raise ArgumentError(f"larger than {_MOST_BYTES} bytes")
    try:
        return tomllib.loads(text.decode())
    except (ValueError, RecursionError) as error:  # of TOML, UTF-8, and numbers of too many digits
        raise ArgumentError(f"not TOML: {error}") from error


def _spec(asked: Mapping[str, object], folder: Path) -> Spec:
    _known(asked, _NAMES, "the file")
    parameters = asked.get("parameters", {})
    if not isinstance(parameters, dict):
        raise ArgumentError("parameters: expected a table [parameters]")
    if ("function" in asked) == ("scene" in asked):
        raise ArgumentError('expected either function = "module:function" or scene = "FILE"')
    if "function" in asked:
        return Spec(_function(asked["function"]), _tasks(asked, parameters))
    file = asked["scene"]
    if not isinstance(file, str) or not (folder / file).is_file():
        raise ArgumentError(f"scene: no such file: {file!r}")
    found = [{"file": str(folder / file), **one} for one in _tasks(asked, parameters)]
    return Spec(drop, found)


def _function(text: object) -> Function:
    """What "module:function" names."""
    module, colon, name = text.partition(":") if isinstance(text, str) else ("", "", "")
    if not (module and colon and name.isidentifier()) or module.startswith("."):
        raise ArgumentError(f"function: expected 'module:function', got {text!r}")
    try:
        found: object = getattr(import_module(module), name, None)
    except Exception as error:  # whatever the code of a user's module raises
        raise ArgumentError(
            f"function: {module} cannot be imported: {type(error).__name__}: {error}"
        ) from error
    if not isinstance(found, Callable):  # type: ignore[arg-type]
        raise ArgumentError(f"function: {module} has no function {name}")
    return found  # type: ignore[return-value]


def _tasks(asked: Mapping[str, object], parameters: Mapping[str, object]) -> list[Parameters]:
    """All combinations of values, with each sample."""
    seed = whole(asked.get("seed", 0), "seed", low=0)
    samples = whole(asked.get("samples", 1), "samples", low=1, high=_MOST_TASKS)
    random = {n: v for n, v in parameters.items() if isinstance(v, dict) and "low" in v}
    if "samples" in asked and not random:
        raise ArgumentError("samples: there is no random parameter, such as {low = 0, high = 1}")
    counts = {n: _count(n, v) for n, v in parameters.items() if n not in random}
    if samples * math.prod(counts.values()) > _MOST_TASKS:
        raise ArgumentError(f"parameters: more than {_MOST_TASKS} tasks")
    grid = {name: _values(name, parameters[name]) for name in counts}
    drawn = {name: _drawn(name, entry, samples, seed) for name, entry in random.items()}
    rows = [dict(zip(drawn, row)) for row in zip(*drawn.values())] if drawn else [{}]
    return [
        {**dict(zip(grid, row)), **sample} for sample in rows for row in product(*grid.values())
    ]


def _count(name: str, entry: object) -> int:
    """How many values there are, before any is made."""
    if isinstance(entry, list):
        return len(entry)
    if not isinstance(entry, dict):
        return 1
    _known(entry, _RANGE, f"parameters.{name}")
    return whole(entry.get("count"), f"parameters.{name}.count", low=1, high=_MOST_TASKS)


def _values(name: str, entry: object) -> list[object]:
    if isinstance(entry, list):
        return entry
    if not isinstance(entry, dict):
        return [entry]
    begin, end = _ends(name, entry, "from", "to")
    spread = np.geomspace if _logarithmic(name, entry, begin, end) else np.linspace
    return list(spread(begin, end, int(entry["count"])).tolist())


def _drawn(name: str, entry: Mapping[str, object], samples: int, seed: int) -> list[object]:
    """Random numbers, whatever other parameters there are."""
    _known(entry, _RANDOM, f"parameters.{name}")
    low, high = _ends(name, entry, "low", "high")
    if low > high:
        raise ArgumentError(f"parameters.{name}: low is above high")
    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
    if _logarithmic(name, entry, low, high):
        return list(np.exp(rng.uniform(np.log(low), np.log(high), samples)).tolist())
    return list(rng.uniform(low, high, samples).tolist())


def _ends(name: str, entry: Mapping[str, object], first: str, last: str) -> tuple[float, float]:
    found = [scalar(entry.get(end), f"parameters.{name}.{end}") for end in (first, last)]
    return found[0], found[1]


def _logarithmic(name: str, entry: Mapping[str, object], begin: float, end: float) -> bool:
    """Whether numbers between two ends are even in their logarithm."""
    log = entry.get("log", False)
    if not isinstance(log, bool):
        raise ArgumentError(f"parameters.{name}.log: expected true or false, got {log!r}")
    if log and not min(begin, end) > 0.0:
        raise ArgumentError(f"parameters.{name}: with log both ends are positive")
    return log


def _known(given: Mapping[str, object], names: set[str], where: str) -> None:
    for name in given:
        if name not in names:
            raise ArgumentError(
                f"{where}: {name!r} is unknown; there are {', '.join(sorted(names))}"
            )
