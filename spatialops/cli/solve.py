"""`spatialops solve`: solve a stored problem."""

from __future__ import annotations

from pathlib import Path

import click

from spatialops.cli.options import file_argument, json_option
from spatialops.cli.output import print_json


@click.command()
@file_argument
@click.option(
    "--formulation", default="os", show_default=True, help="nmc, mc, rmc, os, nmc/os or trinkle."
)
@click.option(
    "--solver",
    default="auto",
    show_default=True,
    help="auto, lemke, principal-pivoting, newton, ...",
)
@click.option(
    "--directions",
    "--n-f",
    "n_f",
    type=int,
    default=4,
    show_default=True,
    help="Friction directions.",
)
@json_option
def solve(file: Path, formulation: str, solver: str, n_f: int, as_json: bool) -> None:
    """Solve a saved problem with any formulation and solver.

    ContactProblem.save and MixedLCP.save write such files. A file.hdf5 is a friction problem in the
    layout of FCLIB; its solvers are those of cone problems.

    Exits with status 1 where it is not solved.
    """
    from spatialops.compare.stored import solve_file

    summary = solve_file(file, formulation, solver, n_f)
    if as_json:
        print_json(summary)
    else:
        for key, value in summary.items():
            click.echo(f"  {key:<21}{value}")
    if not summary["solved"]:
        raise click.exceptions.Exit(1)
