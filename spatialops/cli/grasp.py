"""`spatialops grasp`: the paper's grasping experiment, and time against the number of contacts."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spatialops._files import save_text
from spatialops.cli.options import json_option, no_progress, out_option
from spatialops.cli.output import finished_files, print_json
from spatialops.simulation.plain_data import PlainData

if TYPE_CHECKING:
    from spatialops.experiments.drumwright.grasp import Trial
    from spatialops.models.grasp import Grasp

_METHODS = ("lemke", "lemke-warm", "qp", "pivoting", "pivoting-warm")


@click.command()
@click.option(
    "--steps",
    type=click.IntRange(min=10),
    default=100,
    show_default=True,
    help="Steps of 0.01 s to hold.",
)
@click.option(
    "--trials",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Timed runs of ten steps.",
)
@click.option(
    "--contacts",
    type=int,
    default=12,
    show_default=True,
    help="Of each of the three pairs of boxes.",
)
@click.option(
    "--push",
    type=click.FloatRange(min=0.0, min_open=True),
    default=50.0,
    show_default=True,
    help="Force of each gripper, N; [D]'s published experiment has 100.",
)
@click.option(
    "--method",
    "methods",
    multiple=True,
    type=click.Choice(_METHODS),
    help="Repeatable; default: all.",
)
@click.option(
    "--scaling",
    is_flag=True,
    help="Instead: time against 4 to 4000 contacts, with fitted exponents.",
)
@out_option
@no_progress
@json_option
def grasp(
    steps: int,
    trials: int,
    contacts: int,
    push: float,
    methods: tuple[str, ...],
    scaling: bool,
    out: Path | None,
    no_progress: bool,
    as_json: bool,
) -> None:
    """Hold two boxes between two grippers by force closure.

    With mu = 100, as in Drumwright (2015), section VII-A. Prints running times of ten steps,
    pivots, and through how many steps the grasp holds, beside the paper's. With --out, writes
    grasp.json and grasp.png (scaling.json and scaling.png). Exits with status 1 where a grasp is
    lost, a problem is not solved, or a bar of the scaling is missed.
    """
    from spatialops.models.grasp import grasp as model
    from spatialops.view.figures import require_plots

    if out is not None:
        require_plots()
    with finished_files(out) as scratch:
        if scaling:
            data, text = _scaling(scratch, not no_progress)
        else:
            data, text = _experiment(
                model(contacts, push=push),
                (steps, trials),
                methods or _METHODS,
                scratch,
                not no_progress,
            )
        if scratch:
            name = "scaling.json" if scaling else "grasp.json"
            save_text(scratch / name, json.dumps(data, indent=1))
    if as_json:
        print_json(data)
    else:
        click.echo(text)
    if not data["passed"]:
        raise click.exceptions.Exit(1)


def _experiment(
    boxes: Grasp,
    sizes: tuple[int, int],
    methods: tuple[str, ...],
    folder: Path | None,
    progress: bool,
) -> tuple[PlainData, str]:
    from tqdm import tqdm

    from spatialops.cli.runs import warm_up
    from spatialops.experiments.drumwright.grasp import run_trials

    steps, count = sizes
    warm_up(progress)
    with tqdm(
        total=steps * len(methods), unit="step", leave=False, disable=None if progress else True
    ) as bar:
        trials, left_out = run_trials(boxes, methods, steps, count, bar.update)
    if folder is not None:
        _draw(trials, folder / "grasp.png")
    data = {
        "contacts": boxes.n_contacts,
        "push": float(boxes.tau.max()),
        "trials": [_plain(trial.to_data()) for trial in trials],
        "left_out": left_out,
        "passed": all(trial.held for trial in trials),
    }
    return data, "\n".join([*_table(boxes.n_contacts, trials), *left_out])


def _table(contacts: int, trials: list[Trial]) -> list[str]:
    from spatialops.experiments.drumwright.grasp import METHODS, PAPER_PIVOTS

    lines = [
        f"Grasp of two boxes by two grippers, {contacts} contacts, mu = 100, dt = 0.01 s; "
        "in brackets [D] table I",
        f"{'method':<44}{'variables':>10}{'ten steps (s)':>28}{'pivots, most':>18}"
        f"{'holds (steps)':>24}{'sag (m)':>9}",
    ]
    for trial in trials:
        known, data = METHODS[trial.method], trial.to_data()
        seconds = f"{data['seconds_mean']:.4f} +- {data['seconds_deviation']:.4f}"
        pivots = f"{trial.pivots_mean:.1f}, {trial.pivots_max}"
        steps = f"{trial.steps} of {trial.asked}"
        if known.paper_holds:
            seconds += f" ({known.paper_seconds:.2f})"
            steps += f" ({known.paper_holds})"
        if trial.method == "pivoting":
            pivots += f" ({PAPER_PIVOTS[0]}, {PAPER_PIVOTS[1]})"
        lines.append(
            f"{known.title:<44}{trial.variables:>10}{seconds:>28}{pivots:>18}{steps:>24}"
            f"{data['sag_max']:>9.1e}"
        )
        lines += [f"    {trial.ended}"] if trial.ended else []
    return lines


def _scaling(folder: Path | None, progress: bool) -> tuple[PlainData, str]:
    from threadpoolctl import threadpool_limits
    from tqdm import tqdm

    from spatialops.bench.measure import pinned
    from spatialops.experiments.drumwright.scaling import (
        BAR_FROM,
        COUNTS,
        EXPONENT_BAR,
        SPEED_BAR,
        duel,
        measure_scaling,
    )

    with (
        tqdm(total=len(COUNTS), leave=False, disable=None if progress else True) as bar,
        pinned(),
        threadpool_limits(1),
    ):
        scaling = measure_scaling(tick=bar.update)
        timing, contacts = duel()
    alone = timing.ratio("Lemke", "pivoting").median
    whole = timing.ratio("Coulomb", "no slip").median
    spread = scaling.counts.index(36)
    even = float(scaling.seconds["Lemke"][spread] / scaling.seconds["pivoting"][spread])
    data = scaling.to_data() | {
        "duel_contacts": contacts,
        "faster_alone": alone,
        "faster_whole": whole,
    }
    data |= {
        "faster_alone_spread": even,
        "passed": scaling.passed and min(alone, even) >= SPEED_BAR,
    }
    lines = [
        "Medians, microseconds, of one contact problem",
        f"{'contacts':>9}" + _row(scaling.seconds),
    ]
    for k, count in enumerate(scaling.counts):
        lines.append(
            f"{count:>9}" + _row([f"{1e6 * times[k]:.1f}" for times in scaling.seconds.values()])
        )
    lines.append(
        f"{'exponent':>9}" + _row([f"{scaling.exponent(name):.2f}" for name in scaling.seconds])
    )
    lines.append(
        f"Exponent of pivoting from {BAR_FROM} contacts on: "
        f"{data['pivoting_exponent_for_many']:.2f} "
        f"(at most {EXPONENT_BAR})"
    )
    lines.append(
        f"The grasp's first step, {contacts} contacts: pivoting is {alone:.0f} times faster than "
        f"Lemke ({even:.0f} on the evenly spread 36; at least {SPEED_BAR:.0f}); the law as a whole "
        f"{whole:.1f} times"
    )
    if folder is not None:
        _draw_scaling(data, folder / "scaling.png")
    return data, "\n".join(lines)


def _row(values: Iterable[str]) -> str:
    return "".join(f"{value:>12}" for value in values)


def _plain(data: PlainData) -> PlainData:
    return {key: None if value != value else value for key, value in data.items()}  # NaN is no JSON


def _draw(trials: list[Trial], path: Path) -> None:
    from spatialops.experiments.drumwright.grasp import DROPPED, DT, METHODS
    from spatialops.view.figures import new_figure, save_figure

    figure = new_figure(7.2, 3.6)
    axes = figure.subplots()
    for trial in trials:
        times = [DT * (k + 1) for k in range(len(trial.sags))]
        axes.plot(times, trial.sags.clip(1e-18), label=METHODS[trial.method].title)
    axes.axhline(DROPPED, color="#5b6b7d", linestyle=":", linewidth=0.9, label="dropped")
    axes.set(xlabel="time [s]", ylabel="largest motion of a box in the grasp [m]", yscale="log")
    axes.legend(frameon=False, fontsize="small")
    save_figure(figure, path)


def _draw_scaling(data: PlainData, path: Path) -> None:
    from spatialops.view.figures import new_figure, save_figure

    figure = new_figure(7.2, 3.6)
    axes = figure.subplots()
    for name, times in data["microseconds"].items():
        known = [(n, t) for n, t in zip(data["contacts"], times, strict=True) if t is not None]
        axes.plot(
            *zip(*known, strict=True), "o-", label=f"{name}, exponent {data['exponents'][name]:.2f}"
        )
    axes.set(xlabel="contacts", ylabel="time [us]", xscale="log", yscale="log")
    axes.legend(frameon=False, fontsize="small")
    save_figure(figure, path)
