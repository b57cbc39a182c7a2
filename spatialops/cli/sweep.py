"""`spatialops sweep`: a function, or a robot's fall, over many parameters."""

from __future__ import annotations

import csv
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spatialops.cli.options import file_argument, json_option, no_progress, out_option
from spatialops.cli.output import print_json

if TYPE_CHECKING:
    from spatialops.sweeps.results import SweepResults

_RESULTS = "results"  # folder of what is done
_TABLE = "table.csv"
_SHOWN = 3  # errors


@click.command()
@file_argument
@click.option(
    "--executor",
    default="processes",
    show_default=True,
    help="processes, dask://HOST:PORT, or mpi (below mpiexec -n N python -m mpi4py.futures).",
)
@out_option
@no_progress
@json_option
def sweep(file: Path, executor: str, out: Path | None, no_progress: bool, as_json: bool) -> None:
    """Call the function of a TOML FILE with all its parameters, as docs/many.md has it.

    Results are kept in --out as they come: called again, a sweep that was killed goes on. The table
    of all of them is table.csv there. A function is imported from beside FILE or from where Python
    finds it, and its code is run.
    """
    from spatialops.sweeps.executors import workforce
    from spatialops.sweeps.spec_file import read_spec
    from spatialops.sweeps.sweep import sweep as run_sweep

    sys.path.insert(0, str(file.resolve().parent))
    spec = read_spec(file)
    begin = time.perf_counter()
    with workforce(executor) as found:
        results = run_sweep(
            spec.function,
            spec.parameters,
            folder=None if out is None else out / _RESULTS,
            executor=found.executor,
            workers=found.workers,
            progress=not no_progress,
        )
    seconds = time.perf_counter() - begin
    if out is not None:
        write_table(results, out / _TABLE)
    errors = [one for one in results if one.error is not None]
    if as_json:
        files = {} if out is None else {_TABLE: str(out / _TABLE)}
        counts = {"tasks": len(results), "failed": len(errors)}
        print_json({**counts, "seconds": seconds, "files": files})
    else:
        click.echo(f"{len(results)} tasks, {len(errors)} failed, {seconds:.1f} s")
        where = (
            f"Written: {out / _TABLE}" if out else "Nothing was written; --out DIR keeps results."
        )
        click.echo(where)
    for one in errors[:_SHOWN]:
        click.echo(f"Failed: {one.parameters}: {one.error}", err=True)
    if errors:
        raise click.exceptions.Exit(1)


def write_table(results: SweepResults, path: Path) -> None:
    """One row a task: parameters, what was returned, error."""
    from spatialops._files import written_beside

    rows = results.rows
    names = list(dict.fromkeys(name for row in rows for name in row))
    with written_beside(path) as part, part.open("x", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)
