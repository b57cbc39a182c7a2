"""The command `spatialops compare`: the paper's tables 1 and 2, or the same on other scenes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TypedDict

import click
from threadpoolctl import threadpool_limits

from spatialops._files import save_text
from spatialops.bench.measure import BenchError, Effort, pinned
from spatialops.compare import tables
from spatialops.compare.inverse_products import LINKS as CHAINS
from spatialops.compare.inverse_products import inverse_products
from spatialops.compare.measure import GENERAL, Fit, Row, assembly_costs, compare, report
from spatialops.compare.plain import PLAIN, ablation
from spatialops.compare.problems import Case, dual_arm_case, named_case, pendulum_case
from spatialops.compare.scaling import growths
from spatialops.compare.simulations import MOTIONS, whole_simulation
from spatialops.contact.formulations import FORMULATIONS
from spatialops.contact.solve import SOLVERS
from spatialops.simulation.plain_data import PlainData
from spatialops.view.figures import require_plots

LINKS = (3, 6, 12, 15, 24, 30, 60, 100)
_FIT_LINKS, _FIT_CONTACTS = (25, 50, 100, 200, 400, 800), (2, 4, 8, 16, 32, 64)


class Choices(TypedDict):
    """What to compare, and how long."""

    formulations: tuple[str, ...]
    solvers: tuple[str, ...]
    n_f: int
    effort: Effort


def _listed(
    allowed: Sequence[str],
) -> Callable[[click.Context, click.Parameter, str], tuple[str, ...]]:
    def check(context: click.Context, parameter: click.Parameter, value: str) -> tuple[str, ...]:
        names = tuple(name.strip().lower() for name in value.split(",") if name.strip())
        for name in names:
            if name not in allowed:
                raise click.BadParameter(f"expected some of {', '.join(allowed)}, got {name!r}")
        return names

    return check


@click.command()
@click.option(
    "--scene",
    multiple=True,
    help="pendulum:N, dual-arm or a stored contact problem (.npz); repeatable.",
)
@click.option(
    "--formulations",
    default=",".join(FORMULATIONS),
    show_default=True,
    callback=_listed(tuple(FORMULATIONS)),
    help="Separated by commas.",
)
@click.option(
    "--solvers",
    default=f"{GENERAL},auto",
    show_default=True,
    callback=_listed(("auto", *SOLVERS)),
    help="Separated by commas; the first is what all share, the best of them what each would take.",
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
@click.option(
    "--rounds",
    type=click.IntRange(min=3),
    default=11,
    show_default=True,
    help="Rounds of measuring.",
)
@click.option("--quick", is_flag=True, help="Fewer links and rounds: some seconds.")
@click.option("--core", type=click.IntRange(min=0), help="Core to measure on; default: the last.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print everything as JSON on standard output, nothing else.",
)
@click.option(
    "--csv",
    "csv_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write all rows to this file.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write tables, figures and rows here.",
)
def command(
    scene: tuple[str, ...],
    formulations: tuple[str, ...],
    solvers: tuple[str, ...],
    n_f: int,
    rounds: int,
    quick: bool,
    core: int | None,
    as_json: bool,
    csv_file: Path | None,
    out: Path | None,
) -> None:
    """Compare formulations of the same contact problem.

    Without --scene: the paper's table 1 (dual-arm robot) and table 2 (pendulums of 3 to 30 links,
    and 60 and 100). Times are medians over rounds in which all take turns on one core: once with
    the same general dense solver for all, once with each one's best. |dv| is the relative
    difference of the next velocity from that of the OS formulation.
    """
    if out is not None:
        require_plots()
    say = _printer(not as_json)
    effort = Effort(rounds=3 if quick else rounds, block=1e-3 if quick else 2e-3)
    options: Choices = {
        "formulations": formulations,
        "solvers": solvers,
        "n_f": n_f,
        "effort": effort,
    }
    data: PlainData = {}
    try:
        # On one core, several threads of a BLAS only wait for each other.
        with pinned(core), threadpool_limits(1):
            if scene:
                rows = [row for name in scene for row in _one(named_case(name), say, options)]
            else:
                rows, data = _paper(say, options, quick)
    except BenchError as error:
        raise click.ClickException(str(error)) from error
    failed = [row for row in rows if not row.solved and row.size]
    data |= {"rows": tables.as_data(rows), "unsolved": len(failed)}
    if csv_file is not None:
        save_text(csv_file, tables.as_csv(rows))
    if out is not None:
        _write(out, rows, say.text, data)
        if not scene:
            _draw_motions(out / "motion.png")
    if as_json:
        click.echo(json.dumps(data, indent=1))


class _printer:
    """Prints and remembers."""

    def __init__(self, loud: bool) -> None:
        self._loud = loud
        self.text = ""

    def __call__(self, text: str) -> None:
        self.text += text + "\n"
        if self._loud:
            click.echo(text)


def _one(case: Case, say: _printer, options: Choices) -> list[Row]:
    rows = compare(case, **options)
    say(tables.case_table(f"\n{case.name}: {report(case.problem)}", rows))
    return rows


def _paper(say: _printer, options: Choices, quick: bool) -> tuple[list[Row], PlainData]:
    """Tables 1 and 2, and the cost of assembling OS."""
    links = LINKS[:3] if quick else LINKS
    effort, n_f = options["effort"], options["n_f"]
    first = _one(dual_arm_case(), say, options)
    sizes = {row.formulation: row.size for row in first}
    said = ", ".join(
        f"{name} {size} ({sizes.get(name, '-')} here)"
        for name, size in tables.PAPER_DUAL_ARM.items()
    )
    say(f"[J] table 1, rows for the dual-arm robot: {said}")
    second = [row for n in links for row in _one(pendulum_case(n), say, options)]
    say("\n" + tables.size_table(second, options["formulations"]))
    say("\n" + tables.speedup_table(second))
    plain = [row for n in links for row in ablation(pendulum_case(n), PLAIN, n_f, effort)]
    say("\n" + tables.ablation_table(plain))
    over_links = _FIT_LINKS[:4] if quick else _FIT_LINKS
    over_contacts = _FIT_CONTACTS[:5] if quick else _FIT_CONTACTS
    times = assembly_costs([pendulum_case(n) for n in over_links], n_f=n_f, effort=effort)
    more = assembly_costs([pendulum_case(40, m) for m in over_contacts], n_f=n_f, effort=effort)
    fits = Fit.of(over_links, times, 1), Fit.of(over_contacts, more, 2)
    say("\n" + tables.fit_lines(*fits))
    found = growths(effort, quick=quick)
    say(tables.growth_lines(found))
    inverses = inverse_products(effort, CHAINS[:3] if quick else CHAINS)
    say("\n" + tables.inverse_table(inverses))
    costs = {
        "links": {
            "counts": over_links,
            "us": times,
            "fit": fits[0].coefficients,
            "rms": fits[0].unexplained,
        },
        "contacts": {
            "counts": over_contacts,
            "us": more,
            "fit": fits[1].coefficients,
            "rms": fits[1].unexplained,
        },
    }
    motions = MOTIONS[:1] if quick else MOTIONS
    runs = [whole_simulation(n, what) for what in motions for n in links[:6]]
    say("\n" + tables.simulation_table(runs))
    return first + second, {
        "simulations": [asdict(run) for run in runs],
        "os_assembly": costs,
        "growth": [
            asdict(growth) | {"exponent": growth.exponent, "slopes": growth.slopes}
            for growth in found
        ],
        "inverse_products": [asdict(product) for product in inverses],
        "plain": [asdict(row) for row in plain],
        "trajectories": _trajectories(say, quick),
    }


def _trajectories(say: _printer, quick: bool) -> list[dict[str, float]]:
    """How the motions of OS and NMC/OS draw together as the step shrinks."""
    from spatialops.compare.trajectories import (
        PAPER_STEP,
        PARTS,
        largest_difference,
        pendulum_motion,
        pendulum_motions,
    )

    links, until = (4, 0.5) if quick else (12, 0.9)
    say(
        f"\nPendulum of {links} links, tree coordinates (os) and free bodies with closures "
        f"(nmc/os), until {until} s:"
    )
    lines = []
    fine = () if quick else (PAPER_STEP, PAPER_STEP / PARTS)
    for dt in (4e-3, 2e-3, 1e-3, *fine):
        motions = pendulum_motions(links, dt=dt, duration=until)
        apart = largest_difference(motions, until)
        finer = pendulum_motion(links, dt=dt / 2.0, duration=until)
        own = largest_difference({"os": motions["os"], "finer": finer}, until)
        cost = {name: 1e6 * motion.seconds for name, motion in motions.items()}
        lines.append(
            {
                "dt": dt,
                "difference": apart,
                "own_error": own,
                "os_us": cost["os"],
                "nmc_os_us": cost["nmc/os"],
            }
        )
        say(
            f"  dt {1e3 * dt:g} ms: angles differ by at most {apart:.1e} rad, and by {own:.1e} "
            f"from OS with half the step; a step takes {cost['os']:.1f} us and "
            f"{cost['nmc/os']:.0f} us"
        )
    return lines


def _write(out: Path, rows: list[Row], text: str, data: PlainData) -> None:
    from spatialops.view.compare import times_over_links

    save_text(out / "compare.json", json.dumps(data, indent=1) + "\n")
    save_text(out / "compare.csv", tables.as_csv(rows))
    save_text(out / "compare.txt", text)
    if len({row.links for row in rows if row.case.startswith("pendulum")}) > 1:
        swinging = [row for row in rows if row.case.startswith("pendulum") and row.solved]
        curves: dict[str, tuple[list[int], list[float]]] = {}
        for row in swinging:
            counts, times = curves.setdefault(f"{row.formulation}, {row.solver}", ([], []))
            counts.append(row.links)
            times.append(row.total)
        times_over_links(out / "compare.png", curves)


def _draw_motions(path: Path) -> None:
    """[J] figure 6: height and vertical velocity of the last link by OS and NMC/OS."""
    from spatialops.compare.trajectories import PAPER_STEP, pendulum_motions
    from spatialops.view.plots import height_and_velocity

    motions = pendulum_motions(12, dt=PAPER_STEP)
    curves = {name: (motion.heights, motion.velocities) for name, motion in motions.items()}
    height_and_velocity(
        path, times=motions["os"].times, curves=curves, impacts=motions["os"].impacts
    )
