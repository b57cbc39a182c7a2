"""The command `spatialops engines`: run, show, save."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout
from dataclasses import replace
from pathlib import Path

import click

from spatialops.bench.engines.parts import PARTS, QUICK, Choice, Report, entrants, run
from spatialops.bench.measure import BenchError, pinned


@click.command()
@click.option(
    "--only",
    "parts",
    multiple=True,
    type=click.Choice(PARTS),
    help="Only this part; may be repeated.",
)
@click.option(
    "--engine",
    "engines",
    multiple=True,
    metavar="NAME",
    help="Only this engine, or module:Class of one that is not installed; may be repeated.",
)
@click.option(
    "--solver",
    "solvers",
    multiple=True,
    metavar="NAME",
    help="With problems: only this solver, or module:object of one; may be repeated.",
)
@click.option(
    "--probe",
    "probes",
    multiple=True,
    metavar="PATTERN",
    help="Only probes of this name ('*slope*'); may be repeated.",
)
@click.option(
    "--dt",
    "steps",
    multiple=True,
    type=click.FloatRange(min=0.0, min_open=True),
    help="Of the probes, s; may be repeated; default: 0.01, 0.005, 0.002, 0.001.",
)
@click.option("--quick", is_flag=True, help="One run of each, fewer dt, small scenes and problems.")
@click.option("--runs", type=click.IntRange(min=1), help="Of each probe; the quickest counts.")
@click.option("--bodies", type=click.IntRange(min=1), help="With contacts: the most of a scene.")
@click.option(
    "--problems",
    envvar="SPATIALOPS_PROBLEMS",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Further problems, DIR/lcp/*.npz with M and q; default: $SPATIALOPS_PROBLEMS.",
)
@click.option("--core", type=click.IntRange(min=0), help="Core to measure on; default: the last.")
@click.option("--list", "listing", is_flag=True, help="Say who takes part, and stop.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write engines.md, engines.json, a table of every part as CSV, and plots here.",
)
@click.option(
    "--page",
    type=click.Path(dir_okay=False, exists=True, path_type=Path),
    help="Put tables and plots into this page, such as docs/benchmark.md.",
)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON, and nothing else.")
def engines(
    core: int | None,
    listing: bool,
    out: Path | None,
    page: Path | None,
    as_json: bool,
    quick: bool,
    **asked: object,
) -> None:
    """Hold engines against closed forms, count contacts, and solve complementarity problems.

    Ours, MuJoCo and every other engine that is installed or joins, each with its own defaults:
    errors and work of scenes whose answer is a formula, time of a step over contacts, and solvers
    on stored problems.
    """
    given = {name: value for name, value in asked.items() if value}
    # click has made them of the types that `Choice` has.
    choice = replace(QUICK if quick else Choice(), **given)  # type: ignore[arg-type]
    report = Report()
    say = _silent if as_json else click.echo
    try:
        with _aside() if as_json else nullcontext(), pinned(core):
            if listing:
                for name in entrants(choice, report, say).engines:
                    say(f"{name}: takes part")
            else:
                run(choice, report, say)
        if page is not None and not listing:
            report.put_into(page)
    except BenchError as error:
        raise click.ClickException(str(error)) from error
    if out is not None and not listing:
        report.write(out)
    if as_json:
        click.echo(json.dumps(report.to_data(), indent=1))


@contextmanager
def _aside() -> Iterator[None]:
    """Whatever libraries print, in Python or not, goes to standard error meanwhile."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def _silent(_: str) -> None:
    """Say nothing."""
