"""Errors and costs as tables in Markdown, and as plots of work over precision."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

from spatialops.bench.engines.measure import Result
from spatialops.view.plots import COLORS, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

PLOT = "work_precision.png"
MARKS = "osD^vPX*"
_LEAST = 1e-16  # errors below are drawn there: a logarithm has no zero
_COLUMNS = 4


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown; the first column is text, others are numbers."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def number(value: float) -> str:
    """A number of a table; nothing where it is not known."""
    return f"{value:.1e}" if math.isfinite(value) else ""


def tables(results: Sequence[Result]) -> str:
    """Errors at every dt, coarsest first, then costs, then why cells are empty."""
    engines = list(dict.fromkeys(result.engine for result in results))
    text = ""
    for dt in sorted({result.dt for result in results}, reverse=True):
        shown = [result for result in results if result.dt == dt]
        text += f"Errors at dt = {1e3 * dt:g} ms:\n\n"
        text += _grid(shown, engines, lambda r: f"{r.probe}: {r.metric}", lambda r: r.error)
        text += f"\nSeconds of processor time for a second of the scene, dt = {1e3 * dt:g} ms:\n\n"
        text += _grid(shown, engines, lambda r: r.probe, lambda r: r.cost) + "\n"
    return text + notes(results)


def _grid(
    results: Sequence[Result],
    engines: Sequence[str],
    row: Callable[[Result], str],
    value: Callable[[Result], float],
) -> str:
    """What is asked for, a row each, with a column for every engine."""
    cells = {(row(result), result.engine): number(value(result)) for result in results}
    rows = list(dict.fromkeys(map(row, results)))
    body = [[name, *(cells.get((name, engine), "") for engine in engines)] for name in rows]
    return table(["", *engines], body)


def notes(results: Sequence[Result]) -> str:
    """Why some have no error, one line for each reason."""
    reasons: dict[str, dict[str, None]] = {}
    for result in results:
        if result.note:
            reasons.setdefault(f"{result.engine}: {result.note}", {})[result.probe] = None
    return "".join(f"- {reason} ({'; '.join(probes)})\n" for reason, probes in reasons.items())


def looks(engines: Sequence[str]) -> dict[str, dict[str, str]]:
    """Colour and mark of every engine, for `Axes.plot`."""
    marks = zip(cycle(COLORS), cycle(MARKS), strict=False)
    return {
        engine: {"color": color, "marker": mark, "label": engine}
        for engine, (color, mark) in zip(engines, marks, strict=False)
    }


def draw(results: Sequence[Result], folder: Path) -> Path:
    """Error over cost, a panel for every metric and a line for every engine; dt along it."""
    from matplotlib.figure import Figure

    engines = looks(list(dict.fromkeys(result.engine for result in results)))
    panels: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        panels.setdefault((result.probe, result.metric), []).append(result)
    rows = -(-len(panels) // _COLUMNS)
    figure = Figure(figsize=(3.2 * _COLUMNS, 2.7 * rows + 0.6), layout="constrained")
    grid = figure.subplots(rows, _COLUMNS, squeeze=False).ravel()
    lines: dict[str, Line2D] = {}
    for axes, (name, shown) in zip(grid, panels.items(), strict=False):
        axes.set_title(f"{_broken(name[0])}\n{name[1]}", fontsize="small")
        lines |= _panel(axes, shown, engines)
    for axes in grid[len(panels) :]:
        axes.set_axis_off()
    figure.supxlabel("processor time for a second of the scene [s]", fontsize="medium")
    figure.supylabel("error", fontsize="medium")
    figure.legend(lines.values(), lines.keys(), loc="outside upper center", ncols=8, frameon=False)
    return save_figure(figure, folder / PLOT)


def _broken(text: str, width: int = 34) -> str:
    """In two lines where it is long."""
    if len(text) <= width or " " not in text[:width]:
        return text
    end = text.rindex(" ", 0, width)
    return f"{text[:end]}\n{text[end + 1 :]}"


def _panel(
    axes: Axes, results: Sequence[Result], engines: Mapping[str, dict[str, str]]
) -> dict[str, Line2D]:
    """The lines of one metric."""
    axes.set(xscale="log", yscale="log")
    axes.tick_params(labelsize="small")
    lines = {}
    for engine, look in engines.items():
        known = [r for r in results if r.engine == engine and math.isfinite(r.error)]
        if known:
            cost = [r.cost for r in known]
            error = [max(r.error, _LEAST) for r in known]
            (lines[engine],) = axes.plot(cost, error, ms=4, lw=1.0, **look)  # type: ignore[arg-type]
    return lines
