"""A record as tables of other libraries: columns by name, with their units."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from spatialops._arrays import Array
from spatialops.errors import MissingLibraryError
from spatialops.tree.coordinate_names import Named, coordinate_names, velocity_names

if TYPE_CHECKING:
    from spatialops.simulation.records.record import Record


Table: TypeAlias = Any  # Of an optional library.


class Column(NamedTuple):
    """One number a row."""

    name: str
    unit: str
    values: Array


def columns(record: Record) -> Iterator[Column]:
    """Everything that a record has once a row: coordinates "q.hip", velocities, sensors, checks."""
    model = record.scene.model
    yield from _of_named("q", coordinate_names(model), record.q)
    yield from _of_named("v", velocity_names(model), record.v)
    for sensor in record.metadata.get("sensors", ()):
        named = Named(tuple(sensor["labels"]), tuple(sensor["units"]))
        yield from _of_named(sensor["name"], named, record.sensors[sensor["name"]])
    for name, unit, values in (
        ("kinetic", "J", record.kinetic),
        ("potential", "J", record.potential),
        ("contacts", "1", record.contact_counts),
        ("impacts", "1", record.impact_counts),
        ("penetration", "m", record.penetrations),
        ("residual", "1", record.residuals),
    ):
        yield Column(name, unit, values)


def to_pandas(record: Record) -> Table:
    """A `pandas.DataFrame` over time; `attrs["units"]` has the units by column."""
    pandas = _library("pandas")
    found = list(columns(record))
    index = pandas.Index(record.times, name="time")
    frame = pandas.DataFrame({one.name: one.values for one in found}, index=index)
    frame.attrs["units"] = {"time": "s", **{one.name: one.unit for one in found}}
    return frame


def to_xarray(record: Record) -> Table:
    """An `xarray.Dataset` over time; every variable's `attrs["units"]` is its unit."""
    xarray = _library("xarray")
    time = ("time", record.times, {"units": "s"})
    variables = {one.name: ("time", one.values, {"units": one.unit}) for one in columns(record)}
    return xarray.Dataset(variables, coords={"time": time})


def _of_named(prefix: str, named: Named, values: Array) -> Iterator[Column]:
    for label, unit, column in zip(named.labels, named.units, values.T, strict=True):
        yield Column(f"{prefix}.{label}", unit, column)


def _library(name: str) -> Table:
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingLibraryError(
            f"{name} is not installed: pip install spatialops[tables]"
        ) from error
