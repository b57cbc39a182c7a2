"""What was measured as plots: work over precision, steps over contacts, solvers over sizes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from spatialops.bench.engines.contact_counts import CountRow
from spatialops.bench.engines.measure import Result
from spatialops.bench.engines.problems.measure import SolverRow
from spatialops.view.figures import COLORS, new_figure, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

WORK = "work_precision.png"
COUNTS = "contact_counts.png"
SOLVERS = "solvers.png"
_MARKS = "osD^vPX*"
_LEAST = 1e-16  # errors below are drawn there: a logarithm has no zero
_COLUMNS = 5


class Look(TypedDict):
    """How a line is drawn, as `Axes.plot` takes it."""

    color: str
    marker: str


@dataclass(frozen=True)
class Point:
    """One point of a line of a panel."""

    panel: str
    line: str
    x: float
    y: float


def work(results: Sequence[Result], folder: Path) -> Path:
    """Error over cost, a panel for every metric and a line for every engine; dt along it."""
    points = [
        Point(f"{_broken(r.probe)}\n{r.metric}", r.engine, r.cost, max(r.error, _LEAST))
        for r in results
        if math.isfinite(r.error)
    ]
    labels = ("processor time for a second of the scene [s]", "error")
    return _draw(points, labels, folder / WORK)


def counts(rows: Sequence[CountRow], folder: Path) -> Path:
    """Microseconds of a step over contacts, a panel for every family of scenes.

    Engines count differently, or not at all: all are drawn over what the first one counts.
    """
    contacts: dict[str, int] = {}
    for row in rows:
        if row.contacts:
            contacts.setdefault(row.scene, row.contacts)
    points = [
        Point(row.family, row.engine, contacts[row.scene], row.step_us)
        for row in rows
        if math.isfinite(row.step_us) and row.scene in contacts
    ]
    return _draw(points, ("contacts", "processor time of a step [us]"), folder / COUNTS)


def solvers(rows: Sequence[SolverRow], folder: Path) -> Path:
    """Microseconds over rows of problems that were solved, a panel for every family."""
    points = [
        Point(row.family, row.solver, row.size, row.time_us)
        for row in rows
        if row.verdict == "solved"
    ]
    return _draw(points, ("rows", "processor time [us]"), folder / SOLVERS, joined=False)


def _broken(text: str, width: int = 30) -> str:
    """In two lines where it is long."""
    if len(text) <= width or " " not in text[:width]:
        return text
    end = text.rindex(" ", 0, width)
    return f"{text[:end]}\n{text[end + 1 :]}"


def _looks(names: Iterable[str]) -> dict[str, Look]:
    """Colour and mark of every line."""
    pairs = zip(cycle(COLORS), cycle(_MARKS), strict=False)
    return {
        name: {"color": color, "marker": mark}
        for name, (color, mark) in zip(dict.fromkeys(names), pairs, strict=False)
    }


def _draw(
    points: Sequence[Point], labels: tuple[str, str], path: Path, *, joined: bool = True
) -> Path:
    """All panels, with one legend above them."""
    looks = _looks(point.line for point in points)
    panels = list(dict.fromkeys(point.panel for point in points))
    columns = max(1, min(_COLUMNS, len(panels)))
    rows = max(1, -(-len(panels) // columns))
    figure = new_figure(max(2.1 * columns, 6.4), 1.65 * rows + 0.7)
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True).ravel()
    lines: dict[str, Line2D] = {}
    for axes, panel in zip(grid, panels, strict=False):
        axes.set_title(panel, fontsize="x-small")
        axes.set(xscale="log", yscale="log")
        axes.tick_params(labelsize="x-small")
        for name, (x, y) in _series(points, panel).items():
            style = "-" if joined else "none"
            (lines[name],) = axes.plot(x, y, ms=3, lw=0.8, ls=style, **looks[name])
        _decades(axes)
    for axes in grid[len(panels) :]:
        axes.set_axis_off()
    for axes in grid[max(len(panels) - columns, 0) : len(panels)]:
        axes.tick_params(labelbottom=True)
    figure.supxlabel(labels[0], fontsize="medium")
    figure.supylabel(labels[1], fontsize="medium")
    ordered = [lines[name] for name in looks]
    figure.legend(ordered, list(looks), loc="outside upper center", ncols=4, frameon=False)
    return save_figure(figure, path)


def _decades(axes: Axes) -> None:
    """Labels at powers of ten only, of which at least one is seen."""
    for axis, limits, put in (
        (axes.xaxis, axes.get_xlim(), axes.set_xlim),
        (axes.yaxis, axes.get_ylim(), axes.set_ylim),
    ):
        axis.set_minor_formatter("")
        low, high = limits
        if math.floor(math.log10(high)) <= math.log10(low):
            put(10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high)))


def _series(points: Sequence[Point], panel: str) -> Mapping[str, tuple[list[float], list[float]]]:
    """The lines of a panel."""
    found: dict[str, tuple[list[float], list[float]]] = {}
    for point in points:
        if point.panel == panel:
            x, y = found.setdefault(point.line, ([], []))
            x.append(point.x)
            y.append(point.y)
    return found
