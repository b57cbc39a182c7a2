"""`spatialops simulate`: drop a robot on a floor."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

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
from spatialops.cli.runs import (
    begin_beside,
    print_summary,
    run_summary,
    timed_run,
    warm_up,
    write_all,
)

if TYPE_CHECKING:
    from spatialops.simulation.scene.loader import LoadedScene


def dropped_scene(
    file: Path,
    packages: Mapping[str, str],
    *,
    fixed_base: bool = False,
    friction: float = 0.5,
    height: float = 0.05,
    strict: bool = False,
) -> LoadedScene:
    """A robot above a floor, unless its file has one; the root of a URDF is free."""
    from spatialops.io import read
    from spatialops.simulation.scene.loader import scene_of
    from spatialops.simulation.scene.placement import raised

    description = read(file, packages=packages)
    freed = not fixed_base and file.suffix.lower() == ".urdf"
    grounded = any(spec.kind == "half_space" and spec.collides for spec in description.shapes)
    floor = False if grounded else friction
    scene = scene_of(
        description,
        floating_base=freed,
        floor=floor,
        self_collision=description.masked,
        strict=strict,
    )
    scene.state = raised(scene, height)
    return scene


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
    begin_beside()
    from spatialops.simulation.simulator import Simulator

    scene = dropped_scene(
        file,
        package_map(packages),
        fixed_base=fixed_base,
        friction=friction,
        height=height,
        strict=strict,
    )
    name = scene.description.name if scene.description else file.stem
    simulator = Simulator(scene, dt=dt)
    for text in scene.warnings:
        click.echo(f"Warning: {text}", err=True)
    with finished_files(out) as scratch:
        warm_up(not no_progress)
        record, seconds = timed_run(simulator, duration, record_every, not no_progress)
        names = write_all(record, scratch, name, not no_progress) if scratch else []
    if as_json:
        files = {name: str(out / name) for name in names} if out else {}
        about = {
            "name": name,
            "dt": dt,
            "seconds": seconds,
            "geoms": len(scene.geoms),
            "files": files,
        }
        print_json(run_summary(record, seconds) | about | {"warnings": list(scene.warnings)})
    else:
        print_summary(record, seconds, f"{name}, {duration:.4g} s", out, names)
