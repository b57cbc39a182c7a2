"""What a sweep gave: one result a task, and all of them as one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from spatialops.errors import MissingLibraryError
from spatialops.sweeps.tasks import Parameters

if TYPE_CHECKING:
    import pandas
    import xarray


@dataclass(frozen=True)
class SweepResult:
    """What one task gave.

    Parameters
    ----------
    parameters : dict
        What the function was called with.
    value : object
        What it returned, as JSON holds it: arrays are lists; None where it failed.
    error : str or None
        What it raised.
    """

    parameters: Parameters
    value: object
    error: str | None


class SweepResults(Sequence[SweepResult]):
    """Results of a sweep, in the order of its parameters.

    Parameters
    ----------
    results : list of SweepResult
        All of them.
    """

    def __init__(self, results: list[SweepResult]) -> None:
        self._results = results

    def __len__(self) -> int:
        return len(self._results)

    def __getitem__(self, index):  # type: ignore[no-untyped-def]  # as of a list
        return self._results[index]

    def __repr__(self) -> str:
        failed = sum(result.error is not None for result in self)
        return f"SweepResults of {len(self)} tasks, {failed} failed"

    @property
    def rows(self) -> list[dict[str, object]]:
        """A table, one flat dict a task: parameters, what was returned, "error".

        A dict that was returned is spread over its names, anything else is "value".
        """
        return [
            {
                **one.parameters,
                **(one.value if isinstance(one.value, dict) else {"value": one.value}),
                "error": one.error,
            }
            for one in self
        ]

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a data frame.

        Returns
        -------
        pandas.DataFrame
            One row a task.

        Raises
        ------
        MissingLibraryError
            Where pandas is not installed.
        """
        return _library("pandas").DataFrame(self.rows)

    def to_xarray(self) -> xarray.Dataset:
        """The table as a dataset over "task", whose coordinates are the parameters.

        Of a grid, ``set_index(task=["length", "angle"]).unstack("task")`` has an axis for each.

        Returns
        -------
        xarray.Dataset
            Arrays of like shape have further axes; where a task gave nothing there is NaN.

        Raises
        ------
        MissingLibraryError
            Where xarray is not installed.
        """
        dataset = _library("xarray").Dataset
        asked = dict.fromkeys(name for one in self for name in one.parameters)
        rows = self.rows
        names = dict.fromkeys(name for row in rows for name in row)
        found = {name: _column(name, [row.get(name) for row in rows]) for name in names}
        given = {name: found.pop(name) for name in asked}
        return dataset(found, coords=given)


def _column(name: str, values: list[object]) -> tuple[list[str], npt.NDArray[np.generic]]:
    """Axes and values of a variable: numbers where every task that gave something gave some."""
    shapes = {_shape(value) for value in values if value is not None}
    if len(shapes) == 1 and (shape := shapes.pop()) is not None:
        full = [np.full(shape, np.nan) if value is None else value for value in values]
        column = np.asarray(full)
        if column.dtype.kind in "biuf":
            return ["task", *(f"{name}_{i}" for i in range(len(shape)))], column
    objects = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        objects[i] = value
    return ["task"], objects


def _shape(value: object) -> tuple[int, ...] | None:
    """Of an array as lists; None where rows differ in length."""
    try:
        return np.asarray(value).shape
    except ValueError:
        return None


def _library(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingLibraryError(
            f"{name} is not installed: pip install spatialops[tables]"
        ) from error
