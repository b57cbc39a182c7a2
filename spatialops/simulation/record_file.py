"""Records as files: one .npz of arrays, the model's among them, and a header of plain data."""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from spatialops._arrays import Array
from spatialops._files import load_arrays, save_arrays
from spatialops.errors import AssetError, RecordError, SpatialOpsError
from spatialops.simulation.plain_data import PlainData
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.model import Model
from spatialops.tree.state import State

FORMAT = 1
_RENAMED = {"hits": "contact_records"}  # in records of version 0.1


class Stored(NamedTuple):
    """What a file holds."""

    scene: Scene
    metadata: PlainData
    arrays: dict[str, Array]


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
        return save_arrays(
            path, {"header": np.array(json.dumps(header)), **stored.arrays, **tables}
        )
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
    header = json.loads(str(arrays.pop("header")))
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
    state = State(values["q"][0], values["v"][0], float(values["times"][0]))
    scene = Scene.from_data(model, header["scene"], state)
    return Stored(scene, dict(header["metadata"]), values)
