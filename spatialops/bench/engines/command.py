"""The command `spatialops engines`: run, show, save."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

from spatialops.bench.command import as_csv_rows, machine, save
from spatialops.bench.engines import measure, registry, report
from spatialops.bench.engines.measure import Result
from spatialops.bench.engines.probes import table
from spatialops.bench.measure import BenchError, pinned


@click.command()
@click.option(
    "--engine",
    "names",
    multiple=True,
    metavar="NAME",
    help="Only this engine, or module:Class of one that is not installed; may be repeated.",
)
@click.option(
    "--probe",
    "patterns",
    multiple=True,
    metavar="PATTERN",
    help="Only probes of this name ('*slope*'); may be repeated.",
)
@click.option(
    "--dt",
    "steps",
    multiple=True,
    type=click.FloatRange(min=0.0, min_open=True),
    help="Time step, s; may be repeated.  [default: 0.01, 0.005, 0.002, 0.001]",
)
@click.option("--runs", type=click.IntRange(min=1), default=measure.RUNS, show_default=True)
@click.option("--core", type=click.IntRange(min=0), help="Core to measure on; default: the last.")
@click.option("--list", "listing", is_flag=True, help="Say who takes part, and stop.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write engines.md, engines.json, tables as CSV, and plots here.",
)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON, and nothing else.")
def engines(
    names: tuple[str, ...],
    patterns: tuple[str, ...],
    steps: tuple[float, ...],
    runs: int,
    core: int | None,
    listing: bool,
    out: Path | None,
    as_json: bool,
) -> None:
    """Hold engines against closed forms: slopes, impacts, spinning bodies, towers.

    Ours, MuJoCo and every other engine that is installed or joins, each with its own defaults.
    """
    try:
        field = registry.field(names)
        probes = table.chosen(patterns)
        about = {**machine(), **{k: registry.version_of(v) for k, v in field.engines.items()}}
        say = _silent if as_json else click.echo
        say(", ".join(f"{key} {value}" for key, value in about.items()))
        for name, reason in field.left_out.items():
            say(f"{name}: left out, {reason}")
        if listing:
            return
        results = []
        with pinned(core):
            for result in measure.run(field.engines, probes, steps or measure.STEPS, runs):
                say(line(result))
                results.append(result)
    except BenchError as error:
        raise click.ClickException(str(error)) from error
    data = {
        "machine": about,
        "left_out": field.left_out,
        "probes": [result.to_data() for result in results],
    }
    if out is not None:
        write(out, data, results)
    if as_json:
        click.echo(json.dumps(data, indent=1))


def _silent(_: str) -> None:
    """Say nothing."""


def line(result: Result) -> str:
    """One metric in the terminal."""
    name = f"{result.probe}: {result.metric}"
    found = f"{result.error:9.1e}" if not result.note else f"  left out: {result.note}"
    return f"{name:<72}{1e3 * result.dt:5g} ms  {result.engine:<12}{found}"


def write(out: Path, data: dict[str, object], results: Sequence[Result]) -> None:
    """Tables, data and plots into a folder."""
    save(out / "engines.json", json.dumps(data, indent=1) + "\n")
    save(out / "engines.md", report.tables(results))
    save(out / "probes.csv", as_csv_rows([result.to_data() for result in results]))
    report.draw(results, out)
