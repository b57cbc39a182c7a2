"""What `spatialops reproduce zapolsky` runs and prints: the paper's tables beside ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from spatialops.compare.zapolsky import paper
from spatialops.compare.zapolsky.course import run
from spatialops.compare.zapolsky.timing import exponent, figure_19

Say = Callable[[str], None]


def runs(names: Iterable[str], terrains: Iterable[str], *, duration: float, law: str, say: Say) -> list[dict[str, Any]]:
    """Summaries of all controllers on all terrains."""
    found = []
    for terrain in terrains:
        for name in names:
            summary = run(name, terrain, duration=duration, law=law).summary()
            found.append({"controller": name, "terrain": terrain, **summary})
            end = "" if summary["completed"] else f"  ({summary['fault'][:60]})"
            say(f"  {terrain:<15}{paper.TITLES[name]:<32}{summary['waypoints']:>3} waypoints{end}")
    return found


def table(number: int, rows: list[dict[str, Any]]) -> list[str]:
    """Lines of table 3 (tracking), 4 (torques), 5 (forces) or 6 (who completes): ours, and the paper's in brackets."""
    heads = {
        3: "tracking error: position (rad), velocity (rad/s)",
        4: "torques: mean |d tau/dt| (N m/s), mean |tau| (N m)",
        5: "force prediction: error (N), relative",
        6: "completed",
    }
    lines = [f"Table {number}. {heads[number]}; in brackets: the paper's"]
    for row in rows:
        name, terrain = row["controller"], row["terrain"]
        pairs: dict[int, tuple[Any, Any]] = {
            3: ((row["position_error"], row["rate_error"]), paper.TRACKING.get(terrain, {}).get(name)),
            4: ((row["torque_derivative"], row["torque"]), paper.TORQUES.get(name)),
            5: ((row["force_error"], row["force_error_relative"]), paper.FORCES.get(terrain, {}).get(name)),
        }
        label = f"  {terrain:<15}{paper.TITLES[name]:<32}"
        if number == 6:
            printed = paper.TRACKING.get(terrain, {}).get(name, "-")
            theirs = "-" if printed == "-" else "fell" if printed is None else "completed"
            lines.append(f"{label}{'completed' if row['completed'] else 'fell':<12}({theirs})")
            continue
        if number == 5 and (name == "pid" or name.startswith("sensed")):
            continue
        (a, b), theirs = pairs[number]
        shown = "(-)" if theirs is None else f"({theirs[0]:.4g}, {theirs[1]:.4g})"
        lines.append(f"{label}{a:>12.4g}{b:>12.4g}   {shown}")
    return lines


def times(*, repeats: int, largest: int) -> tuple[list[dict[str, Any]], float]:
    """Rows of figure 19, and the exponent of the no-slip LCP."""
    rows = figure_19(repeats=repeats, largest=largest)
    return rows, exponent(rows, "lcp-no-slip")
