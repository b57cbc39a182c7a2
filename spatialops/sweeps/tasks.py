"""What a sweep is made of: a function with one set of parameters each, under a name of its own."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import TypeAlias

import numpy as np

from spatialops.errors import ArgumentError
from spatialops.simulation.records.builder import versions

Function: TypeAlias = Callable[..., object]
Parameters: TypeAlias = dict[str, object]
Row: TypeAlias = dict[str, object]  # key, parameters, value, error

_SEED_DIGITS = 15  # hexadecimal ones of a key that make a task's seed: it fits into 64 bits


def plain(value: object) -> object:
    """The same as JSON holds it, to the bit: arrays as lists.

    Raises
    ------
    TypeError
        For what JSON cannot hold.
    """
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"a sweep keeps numbers, text, lists and dicts, got {type(value).__name__}")


def listed(parameters: Mapping[str, Sequence[object]] | Sequence[Parameters]) -> list[Parameters]:
    """One dict a task; a mapping of names to values is their grid.

    Raises
    ------
    ArgumentError
    """
    if isinstance(parameters, Mapping):
        values = product(*parameters.values())
        parameters = [dict(zip(parameters, row, strict=True)) for row in values]
    found: list[Parameters] = []
    for i, item in enumerate(parameters):
        if not isinstance(item, Mapping):
            raise ArgumentError(f"parameters: expected dicts, got {item!r} at index {i}")
        try:
            found.append({str(name): plain(value) for name, value in item.items()})
        except TypeError as error:
            raise ArgumentError(f"parameters: at index {i}: {error}") from error
    return found


def key_of(function: Function, parameters: Parameters, seed: int | None) -> str:
    """What names a result: a hash of function, parameters, versions and seed."""
    name = f"{function.__module__}.{function.__qualname__}"
    text = json.dumps([name, parameters, versions(), seed], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def run_task(function: Function, key: str, parameters: Parameters, seed: int | None) -> Row:
    """The row of one task; what it raises is a value."""
    more = {} if seed is None else {"seed": int(key[:_SEED_DIGITS], 16)}
    begin = time.perf_counter()
    row: Row = {"key": key, "parameters": parameters, "value": None, "error": None}
    try:
        row["value"] = plain(function(**parameters, **more))
    except Exception as error:  # whatever a user's function raises
        row["error"] = f"{type(error).__name__}: {error}"
    row["seconds"] = time.perf_counter() - begin
    return row
