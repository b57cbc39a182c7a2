"""`spatialops replay`: a page or a video of a saved record."""

from __future__ import annotations

from pathlib import Path

import click

from spatialops.cli.options import json_option, one_file, record_argument
from spatialops.cli.output import print_file


@click.command()
@record_argument
@click.option("--out", type=one_file, metavar="FILE", help="The page to write, .html.")
@click.option(
    "--video",
    type=one_file,
    metavar="FILE",
    help="A video to write, .mp4 or .gif; by the extra `video`.",
)
@click.option(
    "--rate", type=float, help="Frames a second of simulated time; default 60, of a video 30."
)
@click.option("--title", default="", help="Title of the page or video.")
@click.option("--dark", is_flag=True, help="A dark video; pages are as the reader's system is.")
@click.option("--beside", type=one_file, metavar="FILE", help="A second record, shown beside.")
@json_option
def replay(
    record: Path,
    out: Path | None,
    video: Path | None,
    rate: float | None,
    title: str,
    dark: bool,
    beside: Path | None,
    as_json: bool,
) -> None:
    """Write a page that replays a saved RECORD (record.npz) in 3-D in a browser, or a video."""
    if (out is None) == (video is None):
        raise click.UsageError("give one of --out FILE.html and --video FILE.mp4")
    from spatialops.simulation.records.loading import load_record

    run = load_record(record)
    other = None if beside is None else load_record(beside)
    if video is not None:
        made = run.video(video, rate=rate or 30.0, beside=other, dark=dark, title=title)
        print_file(made, as_json)
    elif out is not None:
        print_file(run.replay(out, rate=rate or 60.0, title=title, beside=other), as_json)
