"""`spatialops reproduce aghili`: energy-optimal control under friction cones, claim by claim."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import click

from spatialops._files import save_text
from spatialops.cli.options import json_option, out_option
from spatialops.cli.output import finished_files
from spatialops.simulation.plain_data import PlainData

Check: TypeAlias = Callable[[PlainData], bool]

# What the paper's claims are held to.
_DESIGNED = 1e-6  # m or rad off the designed law
_NO_MORE = 1e-9  # over the least norm
_IN_TIME = 1000.0  # us
_ALIKE = 1e-6  # relative difference of two solvers
_STANDS = 0.5  # m or rad
_HOLDS = 1e-3  # m/s at a contact that is held
_ON_ITS_WAY = 1.0  # mm or mrad


def _plan(quick: bool) -> dict[str, tuple[Callable[[], PlainData], Check]]:
    """Experiments by name, with the bars that they must meet."""
    from spatialops.experiments.aghili import grasp, pressing, standing, states, switching, walking

    return {
        "decay": (
            lambda: standing.decay(0.1 if quick else 1.0),
            lambda f: f["largest deviation from the designed law, m or rad"] < _DESIGNED,
        ),
        "power": (
            lambda: states.power(60 if quick else 1000),
            lambda f: f["failed"] == 0 and f["largest excess over least norm"] <= _NO_MORE,
        ),
        "agreement": (lambda: states.agreement(30 if quick else 300), _agree),
        "timing": (
            lambda: states.timing(200 if quick else 5000),
            lambda f: f["median, us"] < _IN_TIME,
        ),
        "shifting": (lambda: standing.shifting(0.2 if quick else 2.0), _steady),
        "walking": (lambda: walking.walking(1 if quick else 12), _steady),
        "switching": (lambda: switching.switching(1.0 if quick else 60.0), _never_fails),
        "pressing": (lambda: pressing.pressing(0.1 if quick else 1.0), _cheaper),
        "sliding": (
            lambda: pressing.sliding(0.35 if quick else 1.0),
            lambda f: f["exact cone QCQP"]["error along the way, mm"] < _ON_ITS_WAY,
        ),
        "grasp": (lambda: grasp.lifting(0.4 if quick else 2.0), _held),
    }


def _agree(found: PlainData) -> bool:
    """Whether both solvers give one answer."""
    largest = max(found["largest difference of forces"], found["largest difference of power"])
    return bool(found["disagree on feasibility"] == 0 and largest <= _ALIKE)


def _never_fails(found: PlainData) -> bool:
    """Whether every command was solved, in its cones, and the robot still stands."""
    solved = found["solves that failed"] == 0 and found["commands"].get("held", 0) == 0
    margin = found["least margin of commanded forces to a cone, N"]
    error = found["largest error of the base, m or rad"]
    return bool(solved and margin > 0.0 and error < _STANDS)


def _steady(found: PlainData) -> bool:
    """Whether tasks were kept exactly, and no foot slipped that stood."""
    used = found["largest share of the cone used in the simulation"]
    slip = found["fastest motion at a held contact, m/s"]
    return bool(
        _never_fails(found)
        and set(found["commands"]) == {"solved"}
        and used < 1.0
        and slip < _HOLDS
    )


def _cheaper(found: PlainData) -> bool:
    """Whether exact cones cost no more than pyramids, and the tip stayed in its cone."""
    ours, theirs = found["exact cone QCQP"], found["pyramid QP"]
    within = ours["largest |t| / (mu n)"] < 1.0
    return bool(within and ours["mean power, W"] <= theirs["mean power, W"] * (1.0 + _ALIKE))


def _held(found: PlainData) -> bool:
    """Whether the box followed its path between palms that did not slip."""
    ours = found["exact cone QCQP"]
    used = ours["largest share of the cone used in the simulation"]
    slip = ours["fastest motion at a held contact, m/s"]
    error = ours["largest error of the box, mm or mrad"]
    margin = ours["least margin of commanded forces to a cone, N"]
    return bool(used < 1.0 and slip < _HOLDS and error < _ON_ITS_WAY and margin > 0.0)


@click.command()
@click.option(
    "--only", multiple=True, metavar="NAME", help="Run this experiment only; may be repeated."
)
@click.option("--quick", is_flag=True, help="Short runs, to see that everything works.")
@json_option
@out_option
def aghili(only: tuple[str, ...], quick: bool, as_json: bool, out: Path | None) -> None:
    """Repeat the claims of [A]: tracking, cones, power, solvers, speed, switching contacts.

    Experiments: decay, power, agreement, timing, shifting, walking, switching, pressing, sliding,
    grasp. Exits with 1 if a bar is missed. With --out, writes aghili.json and a picture of each.
    """
    from spatialops.experiments.aghili.figures import draw
    from spatialops.view.figures import require_plots

    if out is not None:
        require_plots()
    plan = _plan(quick)
    for name in only:
        if name not in plan:
            raise click.BadParameter(
                f"expected some of {', '.join(plan)}, got {name!r}", param_hint="--only"
            )
    results: PlainData = {}
    courses: PlainData = {}
    with finished_files(out) as folder:
        for name, (run, check) in plan.items():
            if only and name not in only:
                continue
            found = run()
            courses[name] = found.pop("series")
            results[name] = {"met": bool(check(found)), **found}
            if not as_json:
                _show(name, results[name])
        if folder is not None:
            save_text(folder / "aghili.json", json.dumps(results, indent=1) + "\n")
            for name, series in courses.items():
                draw(name, series, folder / f"{name}.png")
    if as_json:
        click.echo(json.dumps(results))
    if not all(found["met"] for found in results.values()):
        raise click.exceptions.Exit(1)


def _show(name: str, found: PlainData) -> None:
    click.echo(f"\n{name}: {'met' if found['met'] else 'MISSED'}")
    for key, value in found.items():
        if key == "met":
            continue
        if isinstance(value, dict):
            click.echo(f"  {key}: " + ", ".join(f"{k} {_number(v)}" for k, v in value.items()))
        else:
            click.echo(f"  {key}: {_number(value)}")


def _number(value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_number(entry) for entry in value) + "]"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
