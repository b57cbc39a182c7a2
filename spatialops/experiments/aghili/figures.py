"""Pictures of the experiments with [A]: what was measured, over time or over states."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from spatialops._arrays import Array
from spatialops.view.figures import COLORS, Look, new_figure, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Series: TypeAlias = Mapping[str, Array]
Curves: TypeAlias = Mapping[str, tuple[Array, Array]]


def draw(name: str, series: Series, path: Path) -> Path:
    """Draw one experiment.

    Parameters
    ----------
    name : str
        Of the experiment, as the command has it.
    series : mapping
        What its function returns as "series".
    path : Path
        The figure, png, svg or pdf.
    """
    return save_figure(_DRAWN[name](series), path)


def _panels(rows: int, columns: int = 1, *, shared: bool = True) -> tuple[Figure, list[Axes]]:
    figure = new_figure(7.2, 1.2 + 1.9 * rows)
    axes = figure.subplots(rows, columns, sharex=shared, squeeze=False).ravel().tolist()
    for each in axes:
        each.grid(color="#dfe5ec", linewidth=0.7)
    return figure, axes


def _lines(axes: Axes, curves: Curves, label: str, **options: object) -> None:
    for i, (name, (x, y)) in enumerate(curves.items()):
        axes.plot(x, y, color=COLORS[i % len(COLORS)], label=name, linewidth=0.9)
    axes.set(ylabel=label, **options)
    if len(curves) > 1:
        axes.legend(frameon=False, fontsize=8)


def _decay(series: Series) -> Figure:
    figure, (above, below) = _panels(2)
    t = series["time"]
    error = np.abs(series["error"])
    law = np.abs(series["law"])
    _lines(above, {"measured": (t, error.max(axis=1))}, "largest error [m, rad]", yscale="log")
    above.plot(t, law.max(axis=1), "k:", linewidth=1.6, label="designed")
    above.legend(frameon=False, fontsize=8)
    off = np.maximum(np.abs(series["error"] - series["law"]).max(axis=1), 1e-17)
    _lines(below, {"": (t, off)}, "apart [m, rad]", yscale="log", xlabel="time [s]")
    return figure


def _power(series: Series) -> Figure:
    figure, (axes,) = _panels(1)
    titles = {
        "ruled": "least norm under the same cones",
        "admissible": "least norm, where it keeps them",
        "broken": "least norm, where it breaks one (no bar)",
    }
    bins = np.linspace(-20.0, 12.0, 65).tolist()  # what lies below counts in the first bin
    for color, (key, title) in zip(COLORS, titles.items(), strict=False):
        axes.hist(
            np.maximum(-100.0 * series[key], -19.9),
            bins=bins,
            histtype="step",
            color=color,
            label=title,
        )
    axes.axvline(0.0, color="#5b6b7d", linewidth=0.9)
    axes.set(xlabel="power saved against it [%]", ylabel="states")
    axes.legend(frameon=False, fontsize=8)
    return figure


def _agreement(series: Series) -> Figure:
    figure, (axes,) = _panels(1)
    for color, (key, values) in zip(COLORS, series.items(), strict=False):
        ordered = np.sort(np.maximum(values, 1e-17))
        axes.semilogy(np.linspace(0.0, 1.0, len(ordered)), ordered, color=color, label=key)
    axes.axhline(1e-6, color="#5b6b7d", linewidth=0.9)
    axes.set(xlabel="share of programs", ylabel="relative difference below")
    axes.legend(frameon=False, fontsize=8)
    return figure


def _timing(series: Series) -> Figure:
    figure, (axes,) = _panels(1)
    for color, (key, values) in zip(COLORS, series.items(), strict=False):
        ordered = np.sort(values)[::-1]
        axes.loglog(ordered, np.arange(1, len(ordered) + 1) / len(ordered), color=color, label=key)
    axes.axvline(1000.0, color="#5b6b7d", linewidth=0.9)
    axes.set(xlabel="time of a command [us]", ylabel="share of commands above")
    axes.legend(frameon=False, fontsize=8)
    return figure


def _standing(series: Series) -> Figure:
    """Panels over time, or of the worst five seconds: feet, margins, cones used, error, power."""
    if series["time"][-1] > 10.0:
        series = _around(series, int(np.argmax(series["error"])), 2500)
    figure, (feet, margin, used, error, power) = _panels(5)
    t = series["time"]
    for foot, stands in enumerate(series["stands"].T):
        feet.fill_between(
            t, foot + 0.1, foot + 0.9, where=stands > 0.0, color=COLORS[0], step="post"
        )
    feet.set(yticks=np.arange(4) + 0.5, yticklabels=("lf", "rf", "lh", "rh"), ylabel="stands")
    _lines(margin, {"": (t, np.maximum(series["margin"], 1e-13))}, "to a cone [N]", yscale="log")
    _lines(used, {"": (t, series["used"])}, "cone used", ylim=(0.0, 1.05))
    _lines(error, {"": (t, np.maximum(series["error"], 1e-12))}, "error [m, rad]", yscale="log")
    _lines(power, {"": (t, series["power"])}, "power [W]", xlabel="time [s]")
    return figure


def _around(series: Series, at: int, reach: int) -> Series:
    """A long run's samples near one of them."""
    return {key: values[max(at - reach, 0) : at + reach] for key, values in series.items()}


def _arm(series: Series) -> Figure:
    figure, (power, normal, used) = _panels(3)
    for i, (name, table) in enumerate(series.items()):
        look: Look = {"color": COLORS[i], "label": name, "linewidth": 0.9}
        t, n = 1e-3 * np.arange(len(table)), np.maximum(table[:, 1], 1e-9)
        power.semilogy(t, table[:, 0], **look)
        normal.plot(t[2:], table[2:, 1], **look)
        used.plot(t[2:], np.hypot(table[2:, 2], table[2:, 3]) / n[2:], **look)
    power.set(ylabel="power [W]")
    normal.set(ylabel="normal force [N]")
    used.set(ylabel="|t| / n", xlabel="time [s]")
    power.legend(frameon=False, fontsize=8)
    return figure


def _grasp(series: Series) -> Figure:
    figure, panels = _panels(4)
    labels = ("power [W]", "cone used", "error [m, rad]", "slip [m/s]")
    for axes, column, label in zip(panels, (1, 2, 3, 4), labels, strict=True):
        for i, (name, table) in enumerate(series.items()):
            values = table[:, column] if column == 2 else np.maximum(table[:, column], 1e-9)
            axes.plot(table[1:, 0], values[1:], color=COLORS[i], label=name, linewidth=0.9)
        axes.set(ylabel=label, yscale="linear" if column == 2 else "log")
    panels[0].legend(frameon=False, fontsize=8)
    panels[-1].set(xlabel="time [s]")
    return figure


_DRAWN = {
    "decay": _decay,
    "power": _power,
    "agreement": _agreement,
    "timing": _timing,
    "shifting": _standing,
    "walking": _standing,
    "switching": _standing,
    "pressing": _arm,
    "sliding": _arm,
    "grasp": _grasp,
}
