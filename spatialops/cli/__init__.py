"""The command `spatialops`: a table of commands, each in a file of its own, loaded when called."""

from __future__ import annotations

import click

from spatialops import __version__
from spatialops.cli.group import Commands, Entry

COMMANDS = {
    "pendulum": Entry(
        "spatialops.cli.pendulum:pendulum", "Simulate the multi-link pendulum among floor and wall."
    ),
    "wheel-removal": Entry(
        "spatialops.cli.task:wheel_removal", "Two arms take a wheel off its hub."
    ),
    "driver-handoff": Entry(
        "spatialops.cli.task:driver_handoff", "Two arms hand over an impact driver."
    ),
    "simulate": Entry("spatialops.cli.simulate:simulate", "Drop a robot on a floor."),
    "view": Entry("spatialops.cli.view:view", "Simulate a robot on a floor, live in the browser."),
    "inspect": Entry("spatialops.cli.inspect:inspect", "Show what a robot file holds."),
    "replay": Entry("spatialops.cli.replay:replay", "Write a 3-D replay of a saved record."),
    "plot": Entry("spatialops.cli.plot:plot", "Draw a saved RECORD (record.npz)."),
    "grasp": Entry(
        "spatialops.cli.grasp:grasp",
        "Hold two boxes by force closure: times, pivots, how long it holds.",
    ),
    "compare": Entry(
        "spatialops.compare.command:command", "Compare all formulations: sizes, agreement, timings."
    ),
    "solve": Entry(
        "spatialops.cli.solve:solve", "Solve a stored contact or complementarity problem."
    ),
    "reproduce": Entry("spatialops.cli.reproduce:reproduce", "Repeat the experiments of a paper."),
    "sweep": Entry(
        "spatialops.cli.sweep:sweep",
        "Call a function with many parameters, on all cores or machines.",
    ),
    "accuracy": Entry(
        "spatialops.cli.accuracy:accuracy", "Measure physical truth against closed forms."
    ),
    "bench": Entry(
        "spatialops.bench.command:bench",
        "Measure speed side by side with Pinocchio and MuJoCo.",
        "bench",
    ),
    "engines": Entry(
        "spatialops.bench.engines.command:engines",
        "Hold engines against closed forms; any engine can join.",
        "bench",
    ),
    "precompile": Entry(
        "spatialops.cli.precompile:precompile", "Compile all kernels now, once a version."
    ),
}


@click.group(
    "spatialops",
    cls=Commands,
    entries=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="spatialops")
def main() -> None:
    """Rigid-body dynamics with contact, friction and impact in minimal coordinates.

    Start with: spatialops pendulum --out out/pendulum
    """
