"""Records as files: one .npz of arrays, the model's among them, and a header of plain data.

A run on disk is a folder of such files, numbered as they follow one another; see
`simulation.runs.run_folder`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from spatialops._arrays import Array, array, scalar, whole
from spatialops._files import load_arrays, save_arrays
from spatialops.errors import AssetError, RecordError, SpatialOpsError
from spatialops.simulation.event_log import EventLog
from spatialops.simulation.plain_data import PlainData
from spatialops.simulation.records.stored_rows import checked_rows
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.model import Model
from spatialops.tree.state import State

FORMAT = 1
COUNTS = (
    "steps",
    "contact_problems",
    "warm_started",
    "solver_fallbacks",
    "position_projections",
)
_RENAMED = {"hits": "contact_records"}  # in records of version 0.1


_RESUME = "resume."  # begins the names of what the next step needs

Kept: TypeAlias = Mapping[str, npt.NDArray[np.generic]]


class Stored(NamedTuple):
    """What a file holds.

    Of a run on disk also what the next step needs, see `simulation.runs.snapshot`.
    """

    scene: Scene
    metadata: PlainData
    arrays: dict[str, Array]
    resume: Kept = MappingProxyType({})


def numbered_files(folder: Path) -> list[Path]:
    """Files of a run on disk in their order, 000000.npz and so on.

    Raises
    ------
    RecordError
        If there is none, or one is missing between others.
    """
    try:
        found = {int(path.stem): path for path in folder.glob("*.npz") if path.stem.isdecimal()}
    except OSError as error:
        raise RecordError(f"{folder}: cannot be read: {error}") from error
    if not found:
        raise RecordError(f"{folder}: holds no run: there is no {file_name(0)}")
    if max(found) != len(found) - 1:
        missing = next(number for number in range(len(found)) if number not in found)
        raise RecordError(f"{folder}: the run is not whole: {file_name(missing)} is missing")
    return [found[number] for number in range(len(found))]


def file_name(number: int) -> str:
    """Of a file of a run on disk."""
    return f"{number:06d}.npz"


def write_record(path: str | os.PathLike[str], stored: Stored) -> Path:
    """Write a record to one .npz file, whole or not at all.

    Raises
    ------
    RecordError
        If the file cannot be written.
    """
    model = stored.scene.model.to_arrays()
    tables = {f"model.{key}": item for key, item in model.items() if isinstance(item, np.ndarray)}
    names = {key: list(item) for key, item in model.items() if not isinstance(item, np.ndarray)}
    header = {
        "format": FORMAT,
        "metadata": stored.metadata,
        "scene": stored.scene.to_data(),
        "names": names,
    }
    try:
        resume = {_RESUME + name: item for name, item in stored.resume.items()}
        arrays = {"header": np.array(json.dumps(header)), **stored.arrays, **tables, **resume}
        return save_arrays(path, arrays)
    except AssetError as error:
        raise RecordError(str(error)) from error


def read_record(
    path: str | os.PathLike[str], names: Collection[str], optional: Collection[str]
) -> Stored:
    """Read the named arrays of a record, with its scene; older files lack the optional ones.

    Raises
    ------
    RecordError
        If the file is missing, damaged or of another format.
    """
    try:
        return _read(path, names, optional)
    except RecordError:
        raise
    except AssetError as error:
        raise RecordError(str(error)) from error
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, SpatialOpsError) as error:
        raise RecordError(
            f"{path}: not a readable record: {type(error).__name__}: {error}"
        ) from error


def _read(
    path: str | os.PathLike[str], names: Collection[str], optional: Collection[str]
) -> Stored:
    arrays: dict[str, Any] = {
        _RENAMED.get(name, name): value for name, value in load_arrays(path, "record").items()
    }
    header = _parsed(str(arrays.pop("header")))
    if header["format"] != FORMAT:
        raise RecordError(
            f"{path}: format {header['format']} is not {FORMAT}; use the version that wrote it"
        )
    tables = {
        key.removeprefix("model."): value
        for key, value in arrays.items()
        if key.startswith("model.")
    }
    model = Model.from_arrays(tables | header["names"])
    values = {name: arrays[name] for name in names if name in arrays or name not in optional}
    metadata = _metadata(header["metadata"])
    begin = _first_state(values, model.nq, metadata)
    scene = Scene.from_data(model, header["scene"], begin)
    if len(begin.activation) not in (0, scene.elements.n_states):
        raise RecordError(f"{path}: activations of the beginning do not fit the scene")
    resume = {
        key.removeprefix(_RESUME): value for key, value in arrays.items() if key.startswith(_RESUME)
    }
    return Stored(scene, metadata, checked_rows(values, scene), resume)


def _metadata(data: object) -> PlainData:
    """Options and counts; what is read of them without asking is of its kind."""
    if not isinstance(data, dict):
        raise RecordError("the header's metadata are no table")
    metadata: PlainData = data
    for name in COUNTS:
        metadata[name] = whole(metadata[name], f"metadata: {name}", low=0)
    scalar(metadata["dt"], "metadata: dt", low=0.0, strict=True)
    EventLog.from_data(metadata.get("log", ()))
    for name, times in _table(metadata.get("effort_clipped", {}), "effort_clipped").items():
        whole(times, f"metadata: effort_clipped: {name}", low=0)
    for sensor in metadata.get("sensors", ()):
        own = _table(sensor, "sensors")
        if not isinstance(own.get("name"), str) or not (
            _are_texts(own.get("labels")) and _are_texts(own.get("units"))
        ):
            raise RecordError("the header's sensors have no names, labels or units")
    return metadata


def _table(data: object, name: str) -> PlainData:
    if not isinstance(data, dict):
        raise RecordError(f"the header's {name} are no table")
    return data


def _are_texts(data: object) -> bool:
    return isinstance(data, (list, tuple)) and all(isinstance(item, str) for item in data)


def _parsed(text: str) -> PlainData:
    """A header; brackets without end are refused as other nonsense is."""
    try:
        header: PlainData = json.loads(text)
        return header
    except RecursionError:
        raise RecordError("the header's brackets stand too deep in one another") from None


def _first_state(values: Mapping[str, Array], nq: int, metadata: PlainData) -> State:
    """Where a record begins; where it ends if it has no rows, as files of a run may be."""
    if len(values["times"]):
        told = array(metadata.get("activation", ()), (None,), "metadata: activation", finite=True)
        return State(values["q"][0], values["v"][0], float(values["times"][0]), told)
    end = values["end"]
    nv = values["v"].shape[1]
    return State(end[1 : 1 + nq], end[1 + nq : 1 + nq + nv], float(end[0]))
