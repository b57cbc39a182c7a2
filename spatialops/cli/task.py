"""`spatialops wheel-removal` and `spatialops driver-handoff`: tasks of the dual-arm robot."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NotRequired, TypedDict, Unpack

import click

from spatialops._files import save_text
from spatialops.cli.options import json_option, no_progress, out_option
from spatialops.cli.output import figures_if_installed, finished_files, made_of_the_record
from spatialops.cli.runs import print_rows, warm_up
from spatialops.simulation.plain_data import PlainData

if TYPE_CHECKING:
    from spatialops.simulation.options import FormulationName, SolverName

_ENOUGH = 0.96  # part of varied runs that must succeed, for an exit status of 0
# Of the figures of a verdict.
_UNITS = {
    "distance_from_hub": "m",
    "tilt": "degrees",
    "held": "s",
    "slip": "m",
    "slip_while_presented": "m",
    "height": "m",
    "set_down_height": "m",
}
_FORMULATIONS = ("os", "mc", "rmc", "nmc", "nmc/os", "trinkle")


class Settings(TypedDict):
    """Of a simulation, as `run_task` takes them."""

    formulation: FormulationName
    solver: SolverName
    dt: float
    stop_after: NotRequired[str]


class Choices(TypedDict):
    """Options of both commands."""

    formulation: FormulationName
    solver: SolverName
    dt: float
    stop_after: str
    seed: int | None
    variations: int
    processes: int
    out: Path | None
    no_progress: bool
    as_json: bool


def _options(function: Callable[..., None]) -> Callable[..., None]:
    for option in (
        json_option,
        no_progress,
        out_option,
        click.option(
            "--processes",
            type=click.IntRange(1, 64),
            default=1,
            show_default=True,
            help="For variations.",
        ),
        click.option(
            "--variations",
            type=click.IntRange(min=0),
            default=0,
            help="Run so many random variations.",
        ),
        click.option(
            "--seed", type=click.IntRange(min=0), help="Run the random variation of this seed."
        ),
        click.option(
            "--stop-after", default="", metavar="PHASE", help="End when this phase is over."
        ),
        click.option(
            "--dt",
            type=click.FloatRange(min=0, min_open=True),
            default=5e-4,
            show_default=True,
            help="s.",
        ),
        click.option(
            "--solver",
            default="auto",
            show_default=True,
            help="auto, lemke, newton, principal-pivoting, ...",
        ),
        click.option(
            "--formulation", type=click.Choice(_FORMULATIONS), default="os", show_default=True
        ),
    ):
        function = option(function)
    return function


@click.command()
@_options
def wheel_removal(**options: Unpack[Choices]) -> None:
    """Two hands take a wheel off its hub, hold it and set it down, by contact and friction alone.

    With --out, writes the summary, the record, a 3-D replay and, by the extra `plots`, figures of
    forces, pose, contacts and problem sizes. Exits with status 1 where the task fails; the report
    says why. With --variations, mass, friction, places and torques vary at random, and every
    outcome is a line.
    """
    _task("wheel-removal", **options)


@click.command()
@_options
def driver_handoff(**options: Unpack[Choices]) -> None:
    """One hand lifts an impact driver from a bench and hands it over to the other.

    Writes, varies and exits as `wheel-removal` does.
    """
    _task("driver-handoff", **options)


def _task(
    name: str,
    formulation: FormulationName,
    solver: SolverName,
    dt: float,
    stop_after: str,
    seed: int | None,
    variations: int,
    processes: int,
    out: Path | None,
    no_progress: bool,
    as_json: bool,
) -> None:
    warm_up(not no_progress)
    settings: Settings = {
        "formulation": formulation,
        "solver": solver,
        "dt": dt,
        "stop_after": stop_after,
    }
    if variations:
        succeeded = _vary(name, variations, processes, settings, out, not no_progress, as_json)
    else:
        succeeded = _once(name, seed, settings, out, not no_progress, as_json)
    if not succeeded:
        raise click.exceptions.Exit(1)


def _once(
    name: str,
    seed: int | None,
    settings: Settings,
    out: Path | None,
    progress: bool,
    as_json: bool,
) -> bool:
    from spatialops.control.manipulation.dual_arm.report import report
    from spatialops.control.manipulation.dual_arm.run import run_task
    from spatialops.control.manipulation.dual_arm.task import Variation
    from spatialops.control.manipulation.dual_arm.variations import task_module
    from spatialops.view.task import draw_task

    make, judge = task_module(name)
    with finished_files(out) as scratch:
        run = run_task(
            make(None if seed is None else Variation.random(seed)), progress=progress, **settings
        )
        verdict = (
            judge(run)
            if not run.stopped
            else {"succeeded": not run.reason, "faults": [], "stopped": True}
        )
        data = report(run, verdict)
        names: list[str] = []
        if scratch is not None:
            run.record.save(scratch / "record.npz")
            save_text(scratch / "summary.json", json.dumps(data, indent=1) + "\n")
            names += ["record.npz", "replay.html", "summary.json"]
            with figures_if_installed(), made_of_the_record():
                run.record.replay(scratch / "replay.html", title=run.task.name)
                names += draw_task(run, scratch, data["sizes"])
    if as_json:
        click.echo(
            json.dumps(
                data | {"files": [str(out / file) for file in names] if out else []}, indent=1
            )
        )
    else:
        _print(data, out, names)
    return bool(verdict["succeeded"])


def _vary(
    name: str,
    count: int,
    processes: int,
    settings: Settings,
    out: Path | None,
    progress: bool,
    as_json: bool,
) -> bool:
    from tqdm import tqdm

    from spatialops.control.manipulation.dual_arm.variations import run_variations

    outcomes = []
    settings.pop("stop_after")  # variations run to their end
    with finished_files(out) as scratch:
        varied = run_variations(name, count, processes=processes, **settings)
        for outcome in tqdm(
            varied, total=count, unit="run", leave=False, disable=None if progress else True
        ):
            outcomes.append(outcome)
            if not as_json:
                said = "; ".join(outcome["faults"]) or "succeeded"
                tqdm.write(f"seed {outcome['seed']:>3}: {outcome['time']:5.1f} s  {said}")
        if scratch is not None:
            save_text(scratch / "variations.json", json.dumps(outcomes, indent=1) + "\n")
    good = sum(outcome["succeeded"] for outcome in outcomes)
    if as_json:
        click.echo(
            json.dumps(
                {"task": name, "succeeded": good, "variations": count, "outcomes": outcomes},
                indent=1,
            )
        )
    else:
        click.echo(f"{good} of {count} variations succeeded.")
    return good >= _ENOUGH * count


def _figures(verdict: PlainData) -> dict[str, str]:
    """The measured figures of a verdict with their units."""
    return {
        key.replace("_", " "): f"{value:.3g} {_UNITS[key]}"
        for key, value in verdict.items()
        if isinstance(value, float)
    }


def _print(data: PlainData, out: Path | None, names: list[str]) -> None:
    verdict = data["verdict"]
    energy = data["energy"]
    stages = data["stages_us"]
    click.echo(f"{data['task']}: {'succeeded' if verdict['succeeded'] else 'failed'}")
    for fault in verdict["faults"]:
        click.echo(f"  {fault}")
    for phase in data["phases"]:
        click.echo(f"  {phase['begin']:6.2f} s  {phase['name']:<16}{phase['seconds']:6.2f} s")
    rows = _figures(verdict) | {
        "contacts": f"at most {data['contacts_max']} at once",
        **{
            f"  {kind}": f"{count['contacts']:,} (and {count['in_impacts']:,} in impacts)"
            for kind, count in data["contacts"].items()
        },
        "largest penetration": f"{1e3 * data['penetration_max']:.3g} mm",
        "worst residual": f"{data['residual_max']:.1e} relative, "
        f"{data['solver_fallbacks']} fallbacks",
        "energy": f"motors {energy['motors']:.3f} J, damping {-energy['damping']:.3f} J, "
        f"friction and impacts {-energy['friction_and_impacts']:.3f} J, "
        f"gain {energy['gain']:.3f} J",
        "speed": f"{data['steps_per_second']:,.0f} steps per second, "
        f"{data['steps_per_cpu_second']:,.0f} per second of processor time "
        f"({data['real_time']:.2f} of real time)",
        "step time": ", ".join(f"{key} {value:.0f}" for key, value in stages.items()) + " us",
        "problem rows": ", ".join(
            f"{key.upper()} {max(data['sizes'][key]):.0f}" for key in ("nmc", "mc", "rmc", "os")
        )
        + " at most",
    }
    print_rows(rows, out, names)
