"""What was measured as tables in Markdown."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from spatialops.bench.engines.contact_counts import CountRow
from spatialops.bench.engines.measure import Result
from spatialops.bench.engines.problems.measure import SolverRow


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown; the first column is text, others are numbers."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def number(value: float) -> str:
    """A number of a table; nothing where it is not known."""
    return f"{value:.1e}" if math.isfinite(value) else ""


def probes(results: Sequence[Result]) -> str:
    """Errors and costs at the largest and the smallest dt, then why cells are empty."""
    engines = list(dict.fromkeys(result.engine for result in results))
    steps = sorted({result.dt for result in results}, reverse=True)
    text = ""
    for dt in dict.fromkeys([steps[0], steps[-1]]):
        shown = [result for result in results if result.dt == dt]
        text += f"Errors at dt = {1e3 * dt:g} ms:\n\n"
        text += _grid(shown, engines, lambda r: f"{r.probe}: {r.metric}", lambda r: r.error)
        text += f"\nSeconds of processor time for a second of the scene, dt = {1e3 * dt:g} ms:\n\n"
        text += _grid(shown, engines, lambda r: r.probe, lambda r: r.cost) + "\n"
    return text + notes([(r.engine, r.note, r.probe) for r in results])


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


def notes(rows: Sequence[tuple[str, str, str]]) -> str:
    """Notes on who and where, one line for each note of each."""
    everywhere = {where for _, _, where in rows}
    places: dict[tuple[str, str], dict[str, None]] = {}
    for who, note, where in rows:
        if note:
            places.setdefault((who, note), {})[where] = None
    return "".join(
        f"- {who}: {note} ({'all' if everywhere == set(where) else '; '.join(where)})\n"
        for (who, note), where in places.items()
    )


def counts(rows: Sequence[CountRow]) -> str:
    """Microseconds of a step, contacts, and how far things moved; then the notes."""
    engines = list(dict.fromkeys(row.engine for row in rows))
    found = {(row.scene, row.engine): row for row in rows}
    body = []
    for scene in dict.fromkeys(row.scene for row in rows):
        body.append([scene, *(_count(found[scene, engine]) for engine in engines)])
    text = "Microseconds of a step, in brackets contacts; below how far anything has moved, m:\n\n"
    return f"{text}{table(['', *engines], body)}\n" + notes(
        [(row.engine, row.note, row.scene) for row in rows]
    )


def _count(row: CountRow) -> str:
    """One cell."""
    if not math.isfinite(row.step_us):
        return ""
    known = "" if row.contacts is None else f" [{row.contacts}]"
    return f"{row.step_us:.3g}{known}<br>{row.moved:.0e}"


def solvers(rows: Sequence[SolverRow]) -> str:
    """Of each family how many were solved, what was wrongly claimed, and the median time."""
    names = list(dict.fromkeys(row.solver for row in rows))
    body = []
    for family in dict.fromkeys(row.family for row in rows):
        members = [row for row in rows if row.family == family]
        sizes = [row.size for row in members]
        label = f"{family}, {min(sizes)} to {max(sizes)} rows"
        body.append([label, *(_tally([r for r in members if r.solver == n]) for n in names)])
    return "Right of all, wrong claims, median microseconds:\n\n" + table(["", *names], body)


def _tally(rows: Sequence[SolverRow]) -> str:
    """One cell."""
    right = sum(row.verdict in ("solved", "no solution") for row in rows)
    wrong = sum(row.verdict == "wrong" for row in rows)
    times = [row.time_us for row in rows if math.isfinite(row.time_us)]
    middle = f", {np.median(times):.3g}" if times else ""
    return f"{right} of {len(rows)}{f', {wrong} wrong' if wrong else ''}{middle}"
