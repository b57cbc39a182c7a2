"""What `spatialops reproduce zapolsky` runs and prints: the paper's tables beside ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from spatialops.experiments.zapolsky import paper
from spatialops.experiments.zapolsky.chatter import KINDS, Kneeling, kneel
from spatialops.experiments.zapolsky.course import Run, run
from spatialops.experiments.zapolsky.gripping import Fingers, Grip, grip
from spatialops.experiments.zapolsky.timing import exponent, figure_19, general
from spatialops.simulation.plain_data import PlainData

Say: TypeAlias = Callable[[str], None]
Pair: TypeAlias = tuple[float, float]


def runs(
    names: Iterable[str],
    terrains: Iterable[str],
    *,
    duration: float,
    law: str,
    horizon: float | None,
    limits: bool,
    say: Say,
) -> tuple[list[PlainData], dict[str, dict[str, Run]]]:
    """Summaries of all controllers on all terrains, and the runs by terrain and controller."""
    found, recorded = [], dict[str, dict[str, Run]]()
    for terrain in terrains:
        for name in names:
            made = run(name, terrain, duration=duration, law=law, horizon=horizon, limits=limits)
            summary = made.summary()
            recorded.setdefault(terrain, {})[name] = made
            found.append({"controller": name, "terrain": terrain, **summary})
            end = "" if made.completed else f"  ({made.fault[:60]})"
            say(f"  {terrain:<15}{title(name):<32}{made.reached:>3} waypoints{end}")
    return found, recorded


def title(name: str) -> str:
    """A controller's name in the tables."""
    return paper.TITLES.get(name, name)


def table(number: int, rows: list[PlainData]) -> list[str]:
    """Lines of table 3 (tracking), 4 (torques), 5 (forces) or 6 (who completes)."""
    heads = {
        3: "tracking error: position (rad), velocity (rad/s)",
        4: "torques: mean |d tau/dt| (N m/s), mean |tau| (N m)",
        5: "force prediction: error (N), relative",
        6: "completed",
    }
    lines = [f"Table {number}. {heads[number]}; in brackets: the paper's"]
    for row in rows:
        name, terrain = row["controller"], row["terrain"]
        pairs: dict[int, tuple[Pair, Pair | None]] = {
            3: (
                (row["position_error"], row["rate_error"]),
                paper.TRACKING.get(terrain, {}).get(name),
            ),
            4: ((row["torque_derivative"], row["torque"]), paper.TORQUES.get(name)),
            5: (
                (row["force_error"], row["force_error_relative"]),
                paper.FORCES.get(terrain, {}).get(name),
            ),
        }
        label = f"  {terrain:<15}{title(name):<32}"
        if number == 6:
            printed = paper.TRACKING.get(terrain, {}).get(name, "-")
            course = "-" if printed == "-" else "fell" if printed is None else "completed"
            lines.append(f"{label}{'completed' if row['completed'] else 'fell':<12}({course})")
            continue
        if number == 5 and (name == "pid" or name.startswith("sensed")):
            continue
        (a, b), theirs = pairs[number]
        shown = "(-)" if theirs is None else f"({theirs[0]:.4g}, {theirs[1]:.4g})"
        lines.append(f"{label}{a:>12.4g}{b:>12.4g}   {shown}")
    return lines


def grips(
    names: Iterable[str], frictions: Iterable[str], *, fingers: Fingers, duration: float, say: Say
) -> tuple[list[PlainData], dict[str, dict[str, Grip]]]:
    """Summaries of the gripping arm, and its runs by friction and controller."""
    found, recorded = [], dict[str, dict[str, Grip]]()
    for friction in frictions:
        for name in names:
            made = grip(name, friction, fingers=fingers, duration=duration)
            row = {"controller": name, "friction": friction, "fingers": fingers, **made.summary()}
            recorded.setdefault(friction, {})[name] = made
            found.append(row)
            end = "held" if row["dropped"] is None else f"dropped at {row['dropped']:.2f} s"
            say(
                f"  grasp, mu = {friction:<4}{title(name):<32}"
                f"error {row['position_error']:.3g} rad, "
                f"|d tau/dt| {row['torque_derivative']:.4g} N m/s, "
                f"slip {1e3 * row['slip']:.2g} mm, {end}"
            )
    return found, recorded


def kneelings(*, duration: float, say: Say) -> tuple[list[PlainData], dict[str, Kneeling]]:
    """Chatter of every controller that chooses among forces that do the same, and the runs."""
    found, recorded = [], dict[str, Kneeling]()
    for name in KINDS:
        made = recorded[name] = kneel(name, duration=duration)
        mean, largest = float(made.change.mean()), float(made.change.max())
        found.append(
            {"controller": name, "torque_derivative": mean, "worst": largest, "missed": made.missed}
        )
        say(
            f"  kneeling, contacts in any order: {title(name):<32}"
            f"|d tau/dt| mean {mean:.3g}, worst {largest:.3g} N m/s, "
            f"accelerations missed by {made.missed:.1e}"
        )
    return found, recorded


def times(*, repeats: int, largest: int, say: Say) -> PlainData:
    """Rows of figure 19, how time grows with contacts, and ratios against a general QP solver."""
    rows, against = figure_19(repeats=repeats, largest=largest), general(repeats=repeats)
    for row in rows:
        say(
            f"  {row['method']:<14}{row['contacts']:>6} contacts {row['milliseconds']:>9.3f} ms, "
            f"99.9 %: {row['milliseconds_999']:>9.3f} ms, residual {row['residual']:.1e}"
        )
    slope = exponent(rows, "lcp-no-slip")
    say(f"  lcp-no-slip: time grows with the power {slope:.2f} of contacts, from 40 on")
    for row in against:
        methods = f"{row['solver']} / {row['method']}"
        say(f"  {row['contacts']:>6} contacts: {methods} = {row['ratio']:.2f} in time")
    return {"times": rows, "exponent": slope, "general": against}
