"""Figures of a task: forces of the hands, pose of the object, contacts, sizes of problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial.transform import Rotation

from spatialops.control.manipulation.dual_arm.report import FORMULATIONS
from spatialops.control.manipulation.dual_arm.run import Run
from spatialops.view.figures import COLORS, new_figure, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FIGURES = ("forces", "object", "contacts", "sizes")
_SOFT = "#8a97a6"


def draw_task(run: Run, folder: Path, sizes: Mapping[str, Sequence[float]]) -> list[str]:
    """Write the figures of a run to `folder`; returns the files' names."""
    _forces(run, folder / "forces.png")
    _object(run, folder / "object.png")
    _contacts(run, folder / "contacts.png")
    _sizes(run, folder / "sizes.png", sizes)
    return [f"{name}.png" for name in FIGURES]


def _axes(run: Run, count: int = 1) -> tuple[Figure, list[Axes]]:
    figure = new_figure(8.4, 2.4 + 1.9 * count)
    axes = list(np.atleast_1d(figure.subplots(count, sharex=True)))
    for one in axes:
        one.grid(color="#dfe5ec", linewidth=0.7)
        one.spines[["top", "right"]].set_visible(False)
        for passed in run.controller.script.passed:
            one.axvline(passed.end, color=_SOFT, linewidth=0.6, linestyle=":")
    for passed in run.controller.script.passed:
        axes[0].annotate(
            passed.name,
            (0.5 * (passed.begin + passed.end), 1.0),
            xycoords=("data", "axes fraction"),
            ha="center",
            va="bottom",
            fontsize=7,
            rotation=45,
            color="#44515f",
        )
    axes[-1].set_xlabel("time [s]")
    return figure, axes


def _forces(run: Run, path: Path) -> None:
    """Force of every fingertip, and of the world, on the object."""
    figure, axes = _axes(run, 2)
    log = run.controller.log
    times = [row[0] for row in log]
    touch = np.array([row[2] for row in log]).reshape(len(log), -1)
    names = list(run.controller.observation.touch)
    for i, name in enumerate(names):
        style = "-" if name.startswith("left") else "--"
        label = name.removesuffix("_tip").replace("_", " ")
        axes[0].plot(times, touch[:, i], style, color=COLORS[i % 3], linewidth=1.1, label=label)
    axes[0].set_ylabel("fingertips [N]")
    axes[0].legend(fontsize=7, ncols=2)
    axes[1].plot(times, [row[3] for row in log], color=COLORS[3], linewidth=1.1)
    axes[1].set_ylabel("hub, bench on object [N]")
    save_figure(figure, path)


def _object(run: Run, path: Path) -> None:
    """Where the object is, and how it is turned against the beginning."""
    figure, axes = _axes(run, 2)
    poses, times = run.task.object_poses(run.record), run.record.times
    places = np.array([pose.position for pose in poses])
    turns = Rotation.from_matrix(np.array([pose.rotation for pose in poses]))
    angles = np.degrees((turns * turns[0].inv()).as_rotvec())
    for i, name in enumerate("xyz"):
        axes[0].plot(times, places[:, i] - places[0, i], color=COLORS[i], linewidth=1.1, label=name)
        axes[1].plot(times, angles[:, i], color=COLORS[i], linewidth=1.1, label=f"about {name}")
    axes[0].set_ylabel(f"{run.task.body}: moved [m]")
    axes[1].set_ylabel("turned [degrees]")
    for one in axes:
        one.legend(fontsize=7, ncols=3)
    save_figure(figure, path)


def _contacts(run: Run, path: Path) -> None:
    figure, (axes,) = _axes(run)
    from matplotlib.ticker import MaxNLocator

    axes.step(
        run.record.times, run.record.contact_counts, where="post", color=COLORS[0], linewidth=0.9
    )
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylabel("contacts of a step's problem")
    save_figure(figure, path)


def _sizes(run: Run, path: Path, sizes: Mapping[str, Sequence[float]]) -> None:
    figure, (axes,) = _axes(run)
    styles = ("-", "-", "-", "--")  # RMC and OS are equally large where there are no closures
    for i, name in enumerate(FORMULATIONS):
        axes.step(
            sizes["time"],
            sizes[name],
            styles[i],
            where="mid",
            color=COLORS[i],
            linewidth=1.1,
            label=name.upper(),
        )
    axes.set_ylabel("rows of the problem")
    axes.legend(fontsize=8, ncols=4)
    save_figure(figure, path)
