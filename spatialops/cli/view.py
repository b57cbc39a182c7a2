"""`spatialops view`: a robot on a floor, live in the browser."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

from spatialops.cli.options import file_argument, package_map, packages_option


@click.command()
@file_argument
@click.option("--fixed-base", is_flag=True, help="Fix the root of a URDF to the world.")
@click.option("--port", type=int, default=8080, show_default=True, help="Of the page.")
@click.option("--host", default="localhost", show_default=True, help="Who may look at it.")
@click.option("--no-browser", is_flag=True, help="Print the address, open nothing.")
@click.option("--dark", is_flag=True, help="Begin dark; a switch of the page changes it.")
@packages_option
def view(
    file: Path,
    fixed_base: bool,
    port: int,
    host: str,
    no_browser: bool,
    dark: bool,
    packages: tuple[str, ...],
) -> None:
    """Simulate the robot of FILE on a floor in the browser, until Ctrl-C.

    Drag a body to pull it. Needs the extra `view`.
    """
    from spatialops.cli.simulate import dropped_scene
    from spatialops.simulation.simulator import Simulator

    scene = dropped_scene(file, package_map(packages), fixed_base=fixed_base)
    live = Simulator(scene).view(host=host, port=port, dark=dark)
    click.echo(live.url)
    if not no_browser:
        webbrowser.open(live.url)
    live.wait()
