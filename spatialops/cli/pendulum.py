"""`spatialops pendulum`: the multi-link pendulum among floor and wall."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from spatialops.cli.options import json_option, no_progress, out_option
from spatialops.cli.output import finished_files, print_json
from spatialops.cli.runs import (
    INTEGRATORS,
    begin_beside,
    print_summary,
    run_summary,
    timed_run,
    warm_up,
    write_all,
)

if TYPE_CHECKING:
    from spatialops.simulation.options import Integrator


@click.command()
@click.option(
    "--links", type=click.IntRange(min=1), default=12, show_default=True, help="Number of links."
)
@click.option(
    "--duration",
    type=click.FloatRange(min=0),
    default=3.0,
    show_default=True,
    help="Simulated time in seconds.",
)
@click.option(
    "--dt",
    type=click.FloatRange(min=0, min_open=True),
    default=1e-4,
    show_default=True,
    help="Time step in seconds.",
)
@click.option(
    "--integrator",
    type=click.Choice(INTEGRATORS),
    default="moreau",
    show_default=True,
    help="Smooth part.",
)
@click.option(
    "--n-f",
    "--directions",
    "n_f",
    type=int,
    default=4,
    show_default=True,
    help="Directions of polyhedral friction.",
)
@click.option(
    "--record-every",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Record the state every so many steps; contacts and impacts always.",
)
@out_option
@no_progress
@json_option
def pendulum(
    links: int,
    duration: float,
    dt: float,
    integrator: Integrator,
    n_f: int,
    record_every: int,
    out: Path | None,
    no_progress: bool,
    as_json: bool,
) -> None:
    """Simulate the multi-link pendulum that swings into a floor and a wall.

    Equal spheres of 1 kg on pins, 12 m long in all, hang 10 m above the floor, 4 m from the wall,
    and start 45 degrees to the left at 1 rad/s. With --out, writes record.npz, replay.html (open it
    in a browser) and, where the extra `plots` is installed, figures.
    """
    begin_beside()
    from spatialops.contact.formulations.operational_space import OperationalSpace
    from spatialops.models.pendulum import pendulum as model
    from spatialops.simulation.simulator import Simulator

    scene = model(links).scene()
    simulator = Simulator(
        scene, formulation=OperationalSpace(n_f=n_f), dt=dt, integrator=integrator
    )
    with finished_files(out) as scratch:
        warm_up(not no_progress)
        record, seconds = timed_run(simulator, duration, record_every, not no_progress)
        names = (
            write_all(record, scratch, f"Pendulum of {links} links", not no_progress)
            if scratch
            else []
        )
    files = {name: str(out / name) for name in names} if out else {}
    if as_json:
        about = {
            "links": links,
            "dt": dt,
            "integrator": integrator,
            "n_f": n_f,
            "seconds": seconds,
            "files": files,
        }
        print_json(run_summary(record, seconds) | about)
    else:
        print_summary(record, seconds, f"Pendulum of {links} links, {duration:.4g} s", out, names)
