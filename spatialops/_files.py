"""Files of arrays: written whole or not at all, and read with one kind of error."""

from __future__ import annotations

import functools
import math
import os
import secrets
import stat
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from spatialops.errors import ArgumentError, AssetError

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

# What a file may cost: what it unpacks to, at least so much or so many times its own size.
_ALWAYS = 64_000_000  # bytes
_UNPACKED = 16  # records of motion unpack to some ten times their size
_MOST_ARRAYS = 4096
_CHUNK = 1 << 18  # bytes read at once
_MOST_HEADER = 10_000  # bytes; NumPy takes no longer one
_KEPT_HEADERS = 512
_PACKED_AS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # as NumPy writes
_KINDS = "biufUS"  # of numbers and texts


def save_arrays(
    path: str | os.PathLike[str], arrays: Mapping[str, npt.NDArray[np.generic]]
) -> Path:
    """Write arrays to one compressed .npz file by way of a hidden file of its own beside it.

    Several may write to one path: the last one to end is what is there. What would unpack to more
    than `load_arrays` takes is not compressed.

    Raises
    ------
    AssetError
        If it cannot be written; what was there before is still there then.
    """
    with written_beside(path) as part, part.open("x+b") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
        if sum(item.nbytes for item in arrays.values()) > _most_bytes(file.tell()):
            file.seek(0)
            file.truncate()
            np.savez(file, **arrays)  # type: ignore[arg-type]
        _sync(file)
    return checked_path(path)


def save_bytes(path: str | os.PathLike[str], content: bytes) -> Path:
    """Write a file of bytes as `save_arrays` does.

    Raises
    ------
    AssetError
        Likewise.
    """
    with written_beside(path) as part, part.open("xb") as file:
        file.write(content)
        _sync(file)
    return checked_path(path)


def save_text(path: str | os.PathLike[str], text: str) -> Path:
    """Write a text, in UTF-8 wherever it is written, as `save_arrays` does.

    Raises
    ------
    AssetError
        Likewise.
    """
    return save_bytes(path, text.encode())


def checked_path(path: str | os.PathLike[str]) -> Path:
    """What names a file, as a path; bytes are the name as the system has it.

    Raises
    ------
    ArgumentError
        For what names none.
    """
    try:
        found = os.fsdecode(path)
    except TypeError:
        raise ArgumentError(f"path: expected the name of a file, got {path!r}") from None
    if "\0" in found:
        raise ArgumentError(f"path: a file's name holds no null character, got {found!r}")
    return Path(found)


@contextmanager
def written_beside(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A hidden file to write beside `path`, in whose place it is moved once it is whole.

    Raises
    ------
    AssetError
        If it cannot be written; what was there before is still there then.
    """
    target = checked_path(path)
    if _is_special(target):
        raise AssetError(f"{target}: cannot be written: it is not a regular file")
    part = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield part
        part.replace(target)
    except BaseException as error:
        with suppress(OSError):  # of a name that is too long for any file
            part.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise AssetError(f"{target}: cannot be written: {error}") from error
        raise
    _sync_folder(target.parent)


def move_whole(file: Path, target: Path) -> None:
    """Put a finished file in its place, on disk before its name is.

    Raises
    ------
    OSError
        If it cannot be; what was there before is still there then.
    """
    with file.open("rb") as finished:
        os.fsync(finished.fileno())
    file.replace(target)
    _sync_folder(target.parent)


def _is_special(path: Path) -> bool:
    """Whether there is something that is no file: a folder, a pipe, a device, a socket."""
    try:
        return not stat.S_ISREG(path.stat().st_mode)
    except (OSError, ValueError):  # there is nothing, or there cannot be
        return False


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


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
        with opened(path) as file:
            if not zipfile.is_zipfile(file):
                raise zipfile.BadZipFile("not an .npz file, or a damaged one")
            with zipfile.ZipFile(file) as archive:
                entries = _checked_entries(archive, os.fstat(file.fileno()).st_size)
                wanted = list(entries) if names is None else list(names)
                arrays = {
                    name: _array(archive, entry, name in wanted) for name, entry in entries.items()
                }
            return {name: arrays[name] for name in wanted}
    except _DAMAGE as error:
        raise AssetError(f"{path}: not a stored {kind}: {_in_words(error)}") from error


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[BufferedReader]:
    """A regular file to read from; OSError for anything else, which is not waited for."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with open(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError("not a regular file")
        yield file


def _most_bytes(size: int) -> int:
    """What a file of this size may unpack to."""
    return max(_ALWAYS, _UNPACKED * size)


def _checked_entries(archive: zipfile.ZipFile, size: int) -> dict[str, zipfile.ZipInfo]:
    """The arrays of a file by name, before memory is taken for them.

    Reading one takes no more than its entry says, so that only the entries must add up.

    Raises
    ------
    ValueError
        For more than a file of this size may cost, or what NumPy does not write.
    """
    entries = archive.infolist()
    if len(entries) > _MOST_ARRAYS:
        raise ValueError(f"{len(entries)} arrays; at most {_MOST_ARRAYS} are read")
    total = sum(entry.file_size for entry in entries)
    most = _most_bytes(size)
    if total > most:
        raise ValueError(f"it unpacks to {total} bytes; at most {most} are read")
    if len({entry.filename for entry in entries}) != len(entries):
        raise ValueError("two arrays have one name")
    for entry in entries:
        if entry.compress_type not in _PACKED_AS or not entry.filename.endswith(".npy"):
            raise ValueError(f"{entry.filename!r} is no array as NumPy writes it")
    return {entry.filename.removesuffix(".npy"): entry for entry in entries}


def _array(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, wanted: bool
) -> npt.NDArray[np.generic]:
    """An array whose shape and type fit the room that it has; no numbers if it is not wanted."""
    with archive.open(entry) as member:
        version = np.lib.format.read_magic(member)
        if version not in _HEADERS:
            raise ValueError(f"{entry.filename}: version {version} of .npy is not known")
        length = member.read(_HEADERS[version].bytes_of_length)
        header = member.read(min(int.from_bytes(length, "little"), _MOST_HEADER))
        shape, by_columns, dtype = _read_header(version, length + header)
        if dtype.kind not in _KINDS or dtype.hasobject:
            raise ValueError(f"{entry.filename}: holds {dtype}, neither numbers nor texts")
        if min(shape, default=0) < 0:
            raise ValueError(f"{entry.filename}: shape {shape}")
        room = entry.file_size - member.tell()
        if math.prod(shape) * dtype.itemsize != room:
            raise ValueError(f"{entry.filename}: {dtype} of shape {shape} is not its size")
        if not wanted:
            return np.empty(0, dtype)
        content = bytearray()
        while chunk := member.read(_CHUNK):
            content += chunk
    if len(content) != room:
        raise EOFError(f"{entry.filename}: ends early")
    return np.ndarray(shape, dtype, content, order="F" if by_columns else "C")


class _Header(NamedTuple):
    """How a version of .npy says what its array is."""

    bytes_of_length: int
    read: Callable[[BinaryIO], tuple[tuple[int, ...], bool, np.dtype[np.generic]]]


_HEADERS = {
    (1, 0): _Header(2, np.lib.format.read_array_header_1_0),
    (2, 0): _Header(4, np.lib.format.read_array_header_2_0),
}


@functools.lru_cache(_KEPT_HEADERS)
def _read_header(
    version: tuple[int, int], content: bytes
) -> tuple[tuple[int, ...], bool, np.dtype[np.generic]]:
    """Shape, whether by columns, and type; NumPy parses Python for it, files repeat themselves."""
    return _HEADERS[version].read(BytesIO(content))


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
