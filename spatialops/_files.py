"""Files of arrays: written whole or not at all, and read with one kind of error."""

from __future__ import annotations

import os
import tokenize
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt

from spatialops.errors import AssetError

# What NumPy and zipfile raise for files that are damaged or something else.
_DAMAGE = (
    OSError,
    ValueError,
    TypeError,
    KeyError,
    EOFError,
    NotImplementedError,
    MemoryError,
    OverflowError,
    RuntimeError,
    SyntaxError,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)


def save_arrays(
    path: str | os.PathLike[str], arrays: Mapping[str, npt.NDArray[np.generic]]
) -> Path:
    """Write arrays to one compressed .npz file by way of a hidden file beside it.

    Raises
    ------
    AssetError
        If it cannot be written; what was there before is still there then.
    """
    with written_beside(path) as part, part.open("wb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    return Path(path)


@contextmanager
def written_beside(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A hidden file to write beside `path`, in whose place it is moved once it is whole.

    Raises
    ------
    AssetError
        If it cannot be written; what was there before is still there then.
    """
    target = Path(path)
    part = target.with_name(f".{target.name}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield part
        part.replace(target)
    except BaseException as error:
        if part.parent.is_dir():
            part.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise AssetError(f"{target}: cannot be written: {error}") from error
        raise


def load_arrays(
    path: str | os.PathLike[str], kind: str, names: Iterable[str] | None = None
) -> dict[str, npt.NDArray[np.generic]]:
    """Read the named arrays of an .npz file that holds a `kind` of thing, as errors call it.

    Default: all of them.

    Raises
    ------
    AssetError
        If the file is missing, damaged, of another kind, or lacks a name.
    """
    try:
        if Path(path).is_file() and not zipfile.is_zipfile(path):
            raise zipfile.BadZipFile("not an .npz file, or a damaged one")
        with np.load(path, allow_pickle=False) as data:
            return {name: data[name] for name in (data.files if names is None else names)}
    except _DAMAGE as error:
        text = f"{type(error).__name__}: {error}"
        raise AssetError(f"{path}: not a stored {kind}: {text}") from error
