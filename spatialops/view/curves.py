"""Curves by name over time: joints of a robot, and contact forces on its geoms."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spatialops.errors import RecordError
from spatialops.view.figures import COLORS, STYLES, dressed, new_figure, save_figure

_MOST = 24  # curves of one panel whose names are told

Curve: TypeAlias = tuple[str, NDArray[np.float64], NDArray[np.float64]]


class Panel(NamedTuple):
    """What one panel shows: a label with its unit, names, and values (F, n)."""

    label: str
    names: Sequence[str]
    values: NDArray[np.float64]

    @property
    def marker(self) -> str:
        """None: lines."""
        return ""

    def curves(self, times: NDArray[np.float64]) -> Iterator[Curve]:
        """Name, times and values of each curve."""
        for name, values in zip(self.names, self.values.T, strict=True):
            yield name, times, values


class Marks(NamedTuple):
    """What one panel shows as dots: under every name times and values of its own."""

    label: str
    names: Sequence[str]
    times: Sequence[NDArray[np.float64]]
    values: Sequence[NDArray[np.float64]]

    @property
    def marker(self) -> str:
        """Dots, and no lines."""
        return "o"

    def curves(self, times: NDArray[np.float64]) -> Iterator[Curve]:
        """Name, times and values of the dots of each name."""
        yield from zip(self.names, self.times, self.values, strict=True)


def named_curves(
    path: str | os.PathLike[str], times: NDArray[np.float64], panels: Sequence[Panel | Marks]
) -> Path:
    """Draw panels of named curves, one above the other, their names beside them.

    Parameters
    ----------
    path : path-like
        The figure, png, svg or pdf by its suffix.
    times : (F,) array
        Times [s].
    panels : sequence of Panel or Marks
        At least one; a name keeps its colour and line from panel to panel.
    """
    if not panels:
        raise RecordError("there is nothing to draw")
    tall = [max(1.9, 0.16 * min(len(panel.names), _MOST) + 0.3) for panel in panels]
    figure = new_figure(9.0, 0.8 + sum(tall))
    grid = figure.subplots(
        len(panels), 1, sharex=True, squeeze=False, gridspec_kw={"height_ratios": tall}
    )[:, 0]
    order = list(dict.fromkeys(name for panel in panels for name in panel.names))
    for axes, panel in zip(grid, panels, strict=True):
        dressed(axes)
        for name, moments, values in panel.curves(times):
            i = order.index(name)
            color, style = COLORS[i % len(COLORS)], STYLES[i // len(COLORS) % len(STYLES)]
            axes.plot(
                moments,
                values,
                label=name,
                color=color,
                linestyle="none" if panel.marker else style,
                marker=panel.marker,
                markersize=3.5,
                linewidth=1.1,
            )
        axes.set_ylabel(panel.label)
        if panel.marker and len(times) > 1:
            axes.set_xlim(times[0], times[-1])  # dots alone would span less than the run
        if not panel.names:
            axes.plot(times, np.zeros(len(times)), color=COLORS[0], linewidth=1.1)
            continue
        handles, labels = axes.get_legend_handles_labels()
        more = f" (of {len(labels)})" if len(labels) > _MOST else ""
        axes.legend(
            handles[:_MOST],
            labels[:_MOST],
            loc="upper left",
            bbox_to_anchor=(1.01, 1.0),
            frameon=False,
            fontsize=7,
            borderaxespad=0.0,
            labelspacing=0.25,
            title=more or None,
        )
    grid[-1].set_xlabel("time [s]")
    figure.align_ylabels(grid)
    return save_figure(figure, path)
