"""`spatialops inspect`: what a robot file holds."""

from __future__ import annotations

from pathlib import Path

import click

from spatialops.cli.options import (
    file_argument,
    json_option,
    out_option,
    package_map,
    packages_option,
)
from spatialops.cli.output import finished_files, print_json


@click.command()
@file_argument
@click.option("--floating-base", is_flag=True, help="Give the root of a URDF a free joint.")
@packages_option
@out_option
@json_option
def inspect(
    file: Path, floating_base: bool, packages: tuple[str, ...], out: Path | None, as_json: bool
) -> None:
    """Show the tree of a URDF or MJCF FILE, masses, limits, shapes, and what could not be read."""
    from spatialops.io import build, read
    from spatialops.view.robot import draw_robot, robot_data, robot_text

    description = read(file, packages=package_map(packages))
    moves = bool(description.moving_joints) or floating_base
    model = build(description, floating_base=floating_base) if moves else None
    with finished_files(out) as scratch:
        if scratch and model is not None:
            q = model.neutral()
            for joint, values in description.start.items():
                q[model.q_slice(joint)] = values
            draw_robot(description, model, q, scratch / "robot.png")
    picture = None if out is None or model is None else str(out / "robot.png")
    if as_json:
        print_json(robot_data(description, model) | {"picture": picture})
        return
    for line in robot_text(description, model):
        click.echo(line)
    if picture:
        click.echo(f"Written: {picture}")
