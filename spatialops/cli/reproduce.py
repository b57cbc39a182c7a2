"""`spatialops reproduce`: the experiments of the papers, their tables beside ours."""

from __future__ import annotations

import click

from spatialops.cli.group import Entry, LazyGroup

PAPERS: dict[str, Entry] = {
    "drumwright": Entry(
        "spatialops.cli.drumwright:drumwright",
        "A quadruped that walks without slip, under Coulomb's law and viscous friction.",
    ),
    "zapolsky": Entry(
        "spatialops.cli.zapolsky:zapolsky",
        "Inverse dynamics with contact, on a trotting quadruped.",
    ),
    "aghili": Entry(
        "spatialops.cli.aghili:aghili", "Energy-optimal control under friction cones.", "qp"
    ),
}


@click.group(cls=LazyGroup, entries=PAPERS)
def reproduce() -> None:
    """Repeat the experiments of a paper, and print its figures beside ours."""
