"""Figures 14 to 19 of [Z] with our runs: tracking, torques, forces, paths, times of commands."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from spatialops._arrays import Array
from spatialops.control.locomotion.waypoints import Waypoints
from spatialops.experiments.zapolsky import paper
from spatialops.experiments.zapolsky.chatter import Kneeling
from spatialops.experiments.zapolsky.course import Run
from spatialops.experiments.zapolsky.gripping import Grip
from spatialops.experiments.zapolsky.measures import torque_rates
from spatialops.simulation.plain_data import PlainData
from spatialops.view.figures import COLORS, Look, new_figure, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OF_RUNS = ("14", "15", "16", "17")


def of_runs(number: str, runs: Mapping[str, Run], path: Path) -> Path:
    """Draw a figure of the runs of all controllers on one terrain.

    Parameters
    ----------
    number : {"14", "15", "16", "17"}
        Joint errors, torque derivatives, errors of the predicted force, or paths.
    runs : mapping
        Controller's name to its run, all on one terrain.
    path : Path
        The figure, png, svg or pdf.
    """
    figure, axes = _blank()
    draw = {"14": _errors, "15": _smoothness, "16": _forces, "17": _paths}[number]
    for i, (name, run) in enumerate(runs.items()):
        color = COLORS[i % len(COLORS)]
        draw(axes, run, {"color": color, "label": _title(name), "linewidth": 0.9})
    if number == "17":
        points = np.array(Waypoints().points)
        axes.plot(points[:, 0], points[:, 1], "k+", markersize=9)
        axes.set_aspect("equal")
    axes.legend(frameon=False, fontsize=8)
    return save_figure(figure, path)


def chatter(runs: Mapping[str, Kneeling], path: Path) -> Path:
    """Draw figure 6: how fast torques change while a robot kneels on undetermined forces."""
    figure, axes = _blank()
    for i, (name, run) in enumerate(runs.items()):
        clock = run.dt * np.arange(1, len(run.tau))
        axes.semilogy(
            clock, run.change, color=COLORS[i % len(COLORS)], label=_title(name), linewidth=0.9
        )
    axes.set(xlabel="time [s]", ylabel="mean |d tau/dt| [N m/s]")
    axes.legend(frameon=False, fontsize=8)
    return save_figure(figure, path)


def grasp(grips: Mapping[str, Grip], path: Path) -> Path:
    """Draw figure 18: mean joint errors of the arm that swings a box."""
    figure, axes = _blank()
    for i, (name, grip) in enumerate(grips.items()):
        clock = grip.dt * np.arange(1, len(grip.position) + 1)
        axes.semilogy(
            clock, grip.position, color=COLORS[i % len(COLORS)], label=_title(name), linewidth=0.9
        )
    axes.set(xlabel="time [s]", ylabel="mean joint error [rad]")
    axes.legend(frameon=False, fontsize=8)
    return save_figure(figure, path)


def _title(name: str) -> str:
    return paper.TITLES.get(name, name)


def times(rows: list[PlainData], path: Path) -> Path:
    """Draw figure 19: median and 99.9th percentile (dots) of times of commands over contacts."""
    figure, axes = _blank()
    for i, name in enumerate(dict.fromkeys(row["method"] for row in rows)):
        own = [row for row in rows if row["method"] == name]
        count, color = [row["contacts"] for row in own], COLORS[i % len(COLORS)]
        axes.loglog(
            count, [row["milliseconds"] for row in own], "o-", color=color, label=name, markersize=3
        )
        axes.loglog(
            count, [row["milliseconds_999"] for row in own], ":", color=color, linewidth=0.9
        )
    axes.axhline(1.0, color="#5b6b7d", linewidth=0.7)
    axes.set(xlabel="contacts", ylabel="time of a command [ms]")
    axes.legend(frameon=False, fontsize=8)
    return save_figure(figure, path)


def _blank() -> tuple[Figure, Axes]:
    figure = new_figure(7.2, 3.8)
    axes = figure.subplots()
    axes.grid(color="#dfe5ec", linewidth=0.7)
    return figure, axes


def _errors(axes: Axes, run: Run, look: Look) -> None:
    axes.plot(_clock(run), run.position, **look)
    axes.set(xlabel="time [s]", ylabel="mean joint error [rad]", yscale="log")


def _smoothness(axes: Axes, run: Run, look: Look) -> None:
    change = torque_rates(run.tau[:, 6:], run.dt).mean(axis=1)
    axes.plot(np.linspace(0.0, 1.0, len(change)), np.sort(change), **look)
    axes.set(xlabel="share of steps", ylabel="mean |d tau/dt| below [N m/s]", yscale="symlog")


def _forces(axes: Axes, run: Run, look: Look) -> None:
    error = np.abs(run.predicted - run.measured)
    axes.plot(np.linspace(0.0, 1.0, len(error)), np.sort(np.maximum(error, 1e-14)), **look)
    axes.set(
        xlabel="share of steps",
        ylabel="error of the predicted normal force below [N]",
        yscale="log",
    )


def _paths(axes: Axes, run: Run, look: Look) -> None:
    axes.plot(run.path[:, 0], run.path[:, 1], **look)
    axes.set(xlabel="x [m]", ylabel="y [m]")


def _clock(run: Run) -> Array:
    return run.dt * np.arange(1.0, len(run.position) + 1.0)
