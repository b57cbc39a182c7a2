"""`spatialops replay`: a page that replays a saved record."""

from __future__ import annotations

from pathlib import Path

import click

from spatialops.cli.options import json_option, one_file, record_argument
from spatialops.cli.output import print_file


@click.command()
@record_argument
@click.option(
    "--out", type=one_file, metavar="FILE", required=True, help="The page to write, .html."
)
@click.option(
    "--rate", type=float, default=60.0, show_default=True, help="Frames a second of simulated time."
)
@json_option
def replay(record: Path, out: Path, rate: float, as_json: bool) -> None:
    """Write a page that replays a saved RECORD (record.npz) in 3-D in a browser."""
    from spatialops.simulation.records.loading import load_record

    print_file(load_record(record).replay(out, rate=rate), as_json)
