"""Files of arrays: written whole or not at all, and read with one kind of error."""

from __future__ import annotations

import os
import secrets
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
    """Write arrays to one compressed .npz file by way of a hidden file of its own beside it.

    Several may write to one path: the last one to end is what is there.

    Raises
    ------
    AssetError
        If it cannot be written; what was there before is still there then.
    """
    with written_beside(path) as part, part.open("xb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
        file.flush()
        os.fsync(file.fileno())
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
    if target.exists() and not target.is_file():
        raise AssetError(f"{target}: cannot be written: it is not a regular file")
    part = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
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
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Put a new name on disk too, where the system can: a name may be lost with the power."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError:  # some file systems cannot
        return
    finally:
        os.close(handle)


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
        if Path(path).exists() and not Path(path).is_file():
            raise zipfile.BadZipFile("not a regular file")
        if Path(path).is_file() and not zipfile.is_zipfile(path):
            raise zipfile.BadZipFile("not an .npz file, or a damaged one")
        with np.load(path, allow_pickle=False) as data:
            return {name: data[name] for name in (data.files if names is None else names)}
    except _DAMAGE as error:
        raise AssetError(f"{path}: not a stored {kind}: {_in_words(error)}") from error


def _in_words(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if isinstance(error, zipfile.BadZipFile):
        return str(error)
    return f"{type(error).__name__}: {error}"


def locked(handle: int) -> bool:
    """Lock the folder for this process; False if another has it."""
    if os.name != "posix":
        return True
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # some file systems cannot
        return True
    return True
