"""`spatialops simulate`: drop a robot on a floor."""

from __future__ import annotations

from pathlib import Path

import click

from spatialops.cli.options import (
    file_argument,
    json_option,
    no_progress,
    out_option,
    package_map,
    packages_option,
)
from spatialops.cli.output import finished_files, print_json
from spatialops.cli.runs import print_summary, run_summary, timed_run, warm_up, write_all


@click.command()
@file_argument
@click.option(
    "--duration",
    type=click.FloatRange(min=0),
    default=1.0,
    show_default=True,
    help="Simulated time, s.",
)
@click.option(
    "--dt",
    type=click.FloatRange(min=0, min_open=True),
    default=1e-3,
    show_default=True,
    help="Time step, s.",
)
@click.option(
    "--height", type=float, default=0.05, show_default=True, help="Lowest point above the floor, m."
)
@click.option(
    "--friction", type=click.FloatRange(min=0), default=0.5, show_default=True, help="Of the floor."
)
@click.option("--fixed-base", is_flag=True, help="Fix the root of a URDF to the world.")
@click.option(
    "--strict", is_flag=True, help="Refuse damaged or missing shapes; otherwise they are left out."
)
@click.option(
    "--record-every",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="Steps a record.",
)
@packages_option
@out_option
@no_progress
@json_option
def simulate(
    file: Path,
    duration: float,
    dt: float,
    height: float,
    friction: float,
    fixed_base: bool,
    strict: bool,
    record_every: int,
    packages: tuple[str, ...],
    out: Path | None,
    no_progress: bool,
    as_json: bool,
) -> None:
    """Drop the robot of a URDF or MJCF FILE on a floor, without torques, and simulate it.

    The root of a URDF is set free; a MJCF file says itself what is. Joints stop at their limits.
    """
    from spatialops.io import read
    from spatialops.simulation.scene.loader import scene_of
    from spatialops.simulation.scene.placement import raised
    from spatialops.simulation.simulator import Simulator

    description = read(file, packages=package_map(packages))
    urdf = not fixed_base and file.suffix.lower() == ".urdf"
    grounded = any(spec.kind == "half_space" and spec.collides for spec in description.shapes)
    floor = False if grounded else friction
    scene = scene_of(
        description, floating_base=urdf, floor=floor, self_collision=not urdf, strict=strict
    )
    scene.state = raised(scene, height)
    simulator = Simulator(scene, dt=dt)
    for text in scene.warnings:
        click.echo(f"Warning: {text}", err=True)
    with finished_files(out) as scratch:
        warm_up(not no_progress)
        record, seconds = timed_run(simulator, duration, record_every, not no_progress)
        names = write_all(record, scratch, description.name, not no_progress) if scratch else []
    if as_json:
        files = {name: str(out / name) for name in names} if out else {}
        about = {
            "name": description.name,
            "dt": dt,
            "seconds": seconds,
            "geoms": len(scene.geoms),
            "files": files,
        }
        print_json(run_summary(record, seconds) | about | {"warnings": list(scene.warnings)})
    else:
        print_summary(record, seconds, f"{description.name}, {duration:.4g} s", out, names)
