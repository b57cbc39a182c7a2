"""What commands print, and files that appear all together or not at all."""

from __future__ import annotations

import json
import math
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import click

from spatialops._files import locked, move_whole
from spatialops.cli.group import one_line
from spatialops.errors import MissingLibraryError, SpatialOpsError

_SCRATCH = ".writing-"  # how the name of a folder of unfinished files begins


class Unfinished(SpatialOpsError):
    """What could not be made of files that are worth keeping without it."""


@contextmanager
def finished_files(out: Path | None) -> Iterator[Path | None]:
    """A folder whose files come to `out` all together when everything has worked, or not at all.

    Where only what is `made_of_the_record` fails, those that are finished come.
    """
    if out is None:
        yield None
        return
    made = [folder for folder in (out, *out.parents) if not folder.exists()]
    out.mkdir(parents=True, exist_ok=True)
    try:
        with _scratch(out) as folder:
            _remove_left(out, folder)
            try:
                yield folder
            except Unfinished as error:
                names = ", ".join(_moved(folder, out))
                raise click.ClickException(f"{one_line(error)}; kept in {out}: {names}") from error
            _moved(folder, out)
    except BaseException:
        with suppress(OSError):
            for folder in made:
                folder.rmdir()
        raise


def _moved(folder: Path, out: Path) -> list[str]:
    """Put the files of a folder in their place; their names."""
    files = sorted(folder.iterdir())
    for file in files:
        move_whole(file, out / file.name)
    return [file.name for file in files]


@contextmanager
def _scratch(out: Path) -> Iterator[Path]:
    """A folder to write in, locked while this process lives, so that nobody takes it for left."""
    while True:
        made = tempfile.TemporaryDirectory(prefix=_SCRATCH, dir=out, ignore_cleanup_errors=True)
        with made as name, _own(Path(name)) as own:
            if own:
                yield Path(name)
                return


def _remove_left(out: Path, mine: Path) -> None:
    """Remove what writers that were killed have left: folders that no process has locked."""
    with _own(mine) as twice:
        if twice:  # locks mean nothing on this system, or on this file system
            return
    for left in out.glob(f"{_SCRATCH}*"):
        with _own(left) as own:
            if own:
                shutil.rmtree(left, ignore_errors=True)


@contextmanager
def _own(folder: Path) -> Iterator[bool]:
    """Whether the folder is there and nobody else's; it is this process's in the block."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # another has just removed it, or the system opens no folders
        yield os.name != "posix" and folder.is_dir()
        return
    try:
        yield locked(handle) and folder.is_dir()
    finally:
        os.close(handle)


@contextmanager
def made_of_the_record() -> Iterator[None]:
    """Replay and figures are written in the block: can they not be, the record is kept.

    It has taken the longest, and they can be made of it: by `spatialops replay` and `plot`.
    """
    try:
        yield
    except MissingLibraryError:
        raise
    except (SpatialOpsError, OSError, MemoryError) as error:
        raise Unfinished(one_line(error)) from error


@contextmanager
def figures_if_installed() -> Iterator[None]:
    """Figures are drawn in the block, last of all files: left out, and said so, without `plots`."""
    try:
        yield
    except MissingLibraryError as error:
        click.echo(f"Left out: {error}", err=True)


def print_file(path: Path, as_json: bool) -> None:
    """Say which file was written."""
    if as_json:
        print_json({"file": str(path), "bytes": path.stat().st_size})
    else:
        click.echo(f"Written: {path}")


def print_json(data: Mapping[str, object]) -> None:
    """A summary as JSON, and nothing else, on standard output."""
    click.echo(json.dumps({key: _plain(value) for key, value in data.items()}, indent=2))


def _plain(value: object) -> object:
    """Nine significant digits are more than anything here means; no minus zero, no NaN."""
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if not isinstance(value, float):
        return value
    return float(f"{value:.9g}") + 0.0 if math.isfinite(value) else None
