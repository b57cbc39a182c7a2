"""`spatialops plot`: a figure of a saved record."""

from __future__ import annotations

from pathlib import Path

import click

from spatialops.cli.options import json_option, one_file, record_argument
from spatialops.cli.output import print_file
from spatialops.cli.runs import KINDS


@click.command()
@record_argument
@click.option(
    "--kind", type=click.Choice(KINDS), default="motion", show_default=True, help="What to draw."
)
@click.option(
    "--out",
    type=one_file,
    metavar="FILE",
    required=True,
    help="The figure to write: .png, .svg or .pdf.",
)
@json_option
def plot(record: Path, kind: str, out: Path, as_json: bool) -> None:
    """Draw a saved RECORD (record.npz). Needs the extra `plots`."""
    from spatialops.simulation.records.loading import load_record

    print_file(load_record(record).plot(out, kind), as_json)
