"""`spatialops reproduce zapolsky`: inverse dynamics with contact, quadruped and gripping arm."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spatialops._files import save_text
from spatialops.cli.options import json_option
from spatialops.cli.output import finished_files, print_json
from spatialops.simulation.plain_data import PlainData

if TYPE_CHECKING:
    from spatialops.experiments.zapolsky.course import Run
    from spatialops.experiments.zapolsky.gripping import Fingers

ALONE = {"6", "18", "19"}  # figures that need no run of the course
COUNTED = ("1", "2")  # tables that do not either


@click.command()
@click.option(
    "--table",
    "tables",
    type=click.Choice(["1", "2", "3", "4", "5", "6"]),
    multiple=True,
    help="Tables; default: 3 to 6. 1 and 2 count operations, and need no run.",
)
@click.option(
    "--figure",
    "figures",
    type=click.Choice(["6", "14", "15", "16", "17", "18", "19"]),
    multiple=True,
    help="Figures to draw, into --out; 6 (chatter), 18 (arm) and 19 (times) also without.",
)
@click.option(
    "--controller",
    "names",
    multiple=True,
    help="qp, qp-no-slip, lcp, lcp-no-slip, cone, pid, sensed-1, ...",
)
@click.option(
    "--terrain",
    "terrains",
    multiple=True,
    help="rigid-low, rigid-high, compliant-low, compliant-high, bumps.",
)
@click.option(
    "--law", default="coulomb", show_default=True, help="Of the simulator; own: the controller's."
)
@click.option("--duration", default=30.0, show_default=True, help="Seconds of each run.")
@click.option(
    "--limits/--no-limits", default=False, show_default=True, help="Whether motors have limits."
)
@click.option(
    "--horizon",
    type=float,
    default=None,
    help="Seconds over which demands are met; default: the controllers' own.",
)
@click.option(
    "--period",
    default=1e-3,
    show_default=True,
    help="Seconds between commands with --plant mujoco; the authors have 5e-3.",
)
@click.option(
    "--plant",
    type=click.Choice(["own", "mujoco"]),
    default="own",
    show_default=True,
    help="mujoco: trot there instead, with mass, friction, latency and noise varied.",
)
@click.option(
    "--fingers",
    type=click.Choice(["forces", "motion"]),
    default="forces",
    show_default=True,
    help="What figure 18 asks of them; motion: to keep still, as in the paper.",
)
@click.option("--robot", "robots", multiple=True, help="zapolsky, solo12, a1, go2, anymal.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=None,
    help="Folder for figures and figures as JSON.",
)
@json_option
def zapolsky(
    tables: tuple[str, ...],
    figures: tuple[str, ...],
    names: tuple[str, ...],
    terrains: tuple[str, ...],
    law: str,
    duration: float,
    limits: bool,
    horizon: float | None,
    period: float,
    plant: str,
    fingers: Fingers,
    robots: tuple[str, ...],
    out: Path | None,
    as_json: bool,
) -> None:
    """Walk the waypoints of Zapolsky and Drumwright; their tables beside ours.

    Exits with status 1 where a controller falls that completes the course in the paper; with
    --plant mujoco, where one falls at all.
    """
    of_runs = set(figures) - ALONE
    walked = [number for number in tables if number not in COUNTED]
    if out is None and of_runs:
        raise click.UsageError("figures of runs are drawn into a folder: give --out")
    from spatialops.experiments.zapolsky import flops, paper
    from spatialops.experiments.zapolsky.command import runs, table
    from spatialops.view.figures import require_plots

    if out is not None and figures:
        require_plots()

    def say(line: str) -> None:
        if not as_json:
            click.echo(line)

    summary: PlainData = {}
    fell = False
    with finished_files(out) as folder:
        if plant == "mujoco":
            from spatialops.experiments.plants.command import trots

            summary["mujoco"] = found = trots(
                robots, names, duration=duration, period=period, horizon=horizon, say=say
            )
            fell = any(row["fell"] for row in found)
        elif walked or not (tables or figures) or of_runs:
            rows, recorded = runs(
                names or paper.CONTROLLERS,
                terrains or paper.TERRAINS[:2],
                duration=duration,
                law=law,
                horizon=horizon,
                limits=limits,
                say=say,
            )
            summary["runs"] = rows
            for number in walked or ("3", "4", "5", "6"):
                say("\n".join(table(int(number), rows)))
            fell = any(not row["completed"] and _walks(row) for row in rows)
            if folder is not None:
                _draw(of_runs, recorded, folder)
        counted = [f"table {number}" for number in COUNTED if number in tables]
        if counted:
            summary["flops"] = told = flops.tables()
            say("\n".join(flops.lines(told, counted)))
        summary.update(_of_their_own(figures, names, fingers, duration, folder, say))
        if folder is not None:
            save_text(folder / "zapolsky.json", json.dumps(summary, indent=2))
    if as_json:
        print_json(summary)
    if fell:
        raise click.exceptions.Exit(1)


def _of_their_own(
    figures: tuple[str, ...],
    names: tuple[str, ...],
    fingers: Fingers,
    duration: float,
    folder: Path | None,
    say: Callable[[str], None],
) -> PlainData:
    """Measure figures 6, 18 and 19, and draw them where there is a folder."""
    from spatialops.experiments.zapolsky import figures as drawn
    from spatialops.experiments.zapolsky.command import grips, kneelings, times

    summary: PlainData = {}
    if "6" in figures:
        summary["figure 6"], knelt = kneelings(duration=min(duration, 1.0), say=say)
        if folder is not None:
            drawn.chatter(knelt, folder / "figure-6.png")
    if "18" in figures:
        shown, frictions = names or ("pid", "sensed-1", "qp"), ("inf", "1")
        summary["figure 18"], gripped = grips(
            shown, frictions, fingers=fingers, duration=min(duration, 3.0), say=say
        )
        if folder is not None:
            for friction in frictions:
                drawn.grasp(gripped[friction], folder / f"figure-18-{friction}.png")
    if "19" in figures:
        summary["figure 19"] = seen = times(repeats=100, largest=1000, say=say)
        if folder is not None:
            drawn.times(seen["times"], folder / "figure-19.png")
    return summary


def _draw(numbers: set[str], recorded: Mapping[str, Mapping[str, Run]], folder: Path) -> None:
    """Draw these figures of the runs of every terrain."""
    from spatialops.experiments.zapolsky import figures

    for number in numbers:
        for terrain, made in recorded.items():
            figures.of_runs(number, made, folder / f"figure-{number}-{terrain}.png")


def _walks(row: PlainData) -> bool:
    """Whether the paper reports that this controller completes the course on this terrain."""
    from spatialops.experiments.zapolsky import paper

    return paper.TRACKING.get(row["terrain"], {}).get(row["controller"]) is not None
