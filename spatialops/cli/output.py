"""What commands print, and files that appear all together or not at all."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import click

from spatialops._files import move_whole


@contextmanager
def finished_files(out: Path | None) -> Iterator[Path | None]:
    """A folder whose files come to `out` all together when everything has worked, or not at all."""
    if out is None:
        yield None
        return
    made = [folder for folder in (out, *out.parents) if not folder.exists()]
    out.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(prefix=".writing-", dir=out) as name:
            yield Path(name)
            for file in sorted(Path(name).iterdir()):
                move_whole(file, out / file.name)
    except BaseException:
        with suppress(OSError):
            for folder in made:
                folder.rmdir()
        raise


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
