"""`spatialops accuracy`: physical truth of the defaults, measured and held against bars."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

import click

from spatialops._files import save_text
from spatialops.cli.options import json_option, out_option
from spatialops.cli.output import finished_files
from spatialops.experiments.accuracy import disc_in_air, impacts, rolling, spinning
from spatialops.experiments.accuracy.measures import Figure

GROUPS: dict[str, Callable[[bool], Iterator[Figure]]] = {
    "spinning": lambda quick: spinning.run(5.0 if quick else 60.0),
    "rolling": lambda quick: chain(rolling.run(), disc_in_air.run()),
    "impacts": lambda quick: impacts.run(3 if quick else 6, 1.0 if quick else 10.0),
}


@click.command()
@click.option("--quick", is_flag=True, help="Shorter runs, fewer balls: about a minute.")
@click.option(
    "--only", multiple=True, type=click.Choice(list(GROUPS)), help="Only this group; repeatable."
)
@click.option("--check", is_flag=True, help="Exit with status 1 where a bar is missed.")
@out_option
@json_option
def accuracy(
    quick: bool, only: tuple[str, ...], check: bool, out: Path | None, as_json: bool
) -> None:
    """Measure what the defaults answer where nature, a closed form or another method is known.

    Free and supported bodies that spin for a minute, bodies that roll beside the equations of
    rolling, and elastic impacts. With --out, writes accuracy.json.
    """
    figures: list[Figure] = []
    with finished_files(out) as scratch:
        for group in only or GROUPS:
            for figure in GROUPS[group](quick):
                figures.append(figure)
                if not as_json:
                    click.echo(line(figure))
        data = [figure.to_data() for figure in figures]
        if scratch is not None:
            save_text(scratch / "accuracy.json", json.dumps(data, indent=1) + "\n")
    missed = sum(not figure.passed for figure in figures)
    if as_json:
        click.echo(json.dumps(data, indent=1))
    else:
        click.echo(f"\n{len(figures) - missed} of {len(figures)} bars met")
    if check and missed:
        raise click.exceptions.Exit(1)


def line(figure: Figure) -> str:
    """One row of the table."""
    verdict = "pass" if figure.passed else "MISS"
    held = f"{verdict} (<= {figure.bar:g})"
    return f"{figure.probe:<44}{figure.case:<26}{figure.value:>10.2e}  {held}"
