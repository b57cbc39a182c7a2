"""`spatialops reproduce drumwright`: a walking quadruped under three laws, by several solvers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spatialops._files import save_text
from spatialops.cli.options import json_option, no_progress, out_option
from spatialops.cli.output import finished_files, print_json
from spatialops.simulation.plain_data import PlainData

if TYPE_CHECKING:
    from spatialops.experiments.drumwright.locomotion import Walked

_SOLVED = 1e-9  # largest residual of a step


@click.command()
@click.option(
    "--duration",
    type=click.FloatRange(min=0.01),
    default=10.0,
    show_default=True,
    help="Seconds of each walk, the paper's.",
)
@click.option(
    "--method", "methods", multiple=True, help="coulomb-lemke, no-slip-qp, ...; default: all."
)
@out_option
@no_progress
@json_option
def drumwright(
    duration: float,
    methods: tuple[str, ...],
    out: Path | None,
    no_progress: bool,
    as_json: bool,
) -> None:
    """Walk on bumps under Coulomb's law, without slip, and under viscous friction only.

    Tables II and III of Drumwright (2015): times of whole simulations, of their parts, and by
    solver. Table I is `spatialops grasp`. Exits with status 1 where a problem is not solved, or
    where two solvers of one law move the robot otherwise.
    """
    from spatialops.experiments.drumwright.locomotion import ALIKE, METHODS, apart, ratios

    for name in methods:
        if name not in METHODS:
            raise click.BadParameter(f"expected some of {', '.join(METHODS)}, got {name!r}")
    with finished_files(out) as folder:
        walked = _walked(methods or tuple(METHODS), duration, not no_progress)
        rows = [walk.to_data() for walk in walked]
        solved = all(not walk.fault and walk.residual <= _SOLVED for walk in walked)
        data: PlainData = {"walks": rows, "apart": apart(walked), "ratios": ratios(walked)}
        data["passed"] = bool(solved and data["apart"] <= ALIKE)
        if folder is not None:
            save_text(folder / "drumwright.json", json.dumps(data, indent=2))
    if as_json:
        print_json(data)
    else:
        click.echo("\n".join(_table(data)))
    if not data["passed"]:
        raise click.exceptions.Exit(1)


def _walked(methods: tuple[str, ...], duration: float, progress: bool) -> list[Walked]:
    from threadpoolctl import threadpool_limits
    from tqdm import tqdm

    from spatialops.experiments.drumwright.locomotion import DT, walks

    steps = round(duration / DT)
    with (
        tqdm(
            total=steps * len(methods), unit="step", leave=False, disable=None if progress else True
        ) as bar,
        threadpool_limits(1),
    ):
        return walks(methods, steps, bar.update)


def _table(data: PlainData) -> list[str]:
    from spatialops.experiments.drumwright.locomotion import ALIKE, PAPER_CONTACTS, PARTS

    lines = []
    for number, title in (("II", "mu = 100"), ("III", "viscous friction only, 0.1 N s/m")):
        rows = [row for row in data["walks"] if row["table"] == number]
        if not rows:
            continue
        lines += [
            f"[D] table {number}: a walk of {rows[0]['simulated']:g} s, {title}; us a step",
            f"{'':<32}"
            + "".join(f"{part:>18}" for part in PARTS)
            + f"{'all, s':>10}{'[D], s':>10}",
        ]
        for row in rows:
            spent = "".join(f"{row['microseconds'][part]:>18.0f}" for part in PARTS)
            paper = row["paper_seconds"]
            published = f"{paper:>10.1f}" if paper else f"{'-':>10}"
            lines.append(f"{row['title']:<32}{spent}{row['seconds']:>10.2f}{published}")
            lines += [f"    {row['fault']}"] if row["fault"] else []
        few, most = rows[0]["contacts_range"]
        lines.append(
            f"contacts: {rows[0]['contacts_mean']:.1f}, {rows[0]['contacts_deviation']:.1f}, "
            f"{few} to {most} ([D] {PAPER_CONTACTS}): mean, deviation, range"
        )
    for ratio in data["ratios"]:
        lines.append(
            f"{ratio['slower']} over {ratio['faster']}: {ratio['whole']:.2f} ([D] "
            f"{ratio['paper']:.2f}), of the contact law alone {ratio['law']:.2f}"
        )
    lines.append(
        f"solvers of one law move the trunk apart by {data['apart']:.1e} m at most in the first "
        f"0.3 s (bar {ALIKE:g}); worst residual "
        f"{max(row['residual'] for row in data['walks']):.1e}"
    )
    return lines
