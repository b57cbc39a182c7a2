"""Rows of the report: what was seen of a case, against its bar."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from spatialops._arrays import Array
from spatialops.bench.contacts.rounds import Measured
from spatialops.bench.contacts.setting import Case
from spatialops.bench.contacts.worker import Outcome
from spatialops.bench.measure import Quartiles, Row

RESIDUAL = 1e-9  # of every step
_UNKNOWN = Quartiles(math.nan, math.nan, math.nan)
COLUMNS = (
    f"{'':<24}{'ours us':>11}{'peer us':>11}  {'ours / peer':<25}{'bar':<29}{'contacts':>14}"
    f"{'residual':>10}{'depth':>9}{'peer':>9}{'pivoted':>9}{'ladder':>7}  note"
)


@dataclass(frozen=True)
class ContactRow(Row):
    """One line about contacts.

    Attributes
    ----------
    family : str
        What it is plotted with.
    contacts, peer_contacts : float
        Mean number of contacts.
    residual : float
        Worst of ours.
    depth, peer_depth : float
        Largest penetration, m.
    steps, asked : int
        Of ours measured, and how many there were to be (0: as many as time allows).
    solves, pivoted, fallbacks : int
        Contact problems of ours, those of them answered by pivoting, and by the ladder.
    status : str
        "measured", "stopped" (too slow), "failed" or "left out".
    """

    family: str = ""
    contacts: float = math.nan
    peer_contacts: float = math.nan
    residual: float = math.nan
    depth: float = math.nan
    peer_depth: float = math.nan
    steps: int = 0
    asked: int = 0
    solves: int = 0
    pivoted: int = 0
    fallbacks: int = 0
    status: str = "measured"

    @property
    def passed(self) -> bool:
        """Whether it is fast enough, and every step was solved."""
        return not self.misses

    @property
    def misses(self) -> str:
        """What is missed, in words; nothing is missed by what was left out."""
        if self.bar is None or self.status == "left out":
            return ""
        found = []
        if not self.ratio.median <= self.bar:
            found.append("time")
        if self.status != "measured":
            found.append(self.status)
        if not self.residual <= RESIDUAL and self.steps:
            found.append("residual")
        return ", ".join(found)

    def to_data(self) -> dict[str, object]:
        """The row as plain data; None for what is not known."""
        names = (
            "family", "contacts", "peer_contacts", "residual", "depth", "peer_depth", "steps",
            "asked", "solves", "pivoted", "fallbacks", "status", "misses",
        )  # fmt: skip
        data = {**super().to_data(), **{name: getattr(self, name) for name in names}}
        return {
            key: None if isinstance(value, float) and not math.isfinite(value) else value
            for key, value in data.items()
        }


def row_of(case: Case, outcome: Outcome) -> ContactRow:
    """What came of a case as a row."""
    seen = outcome.seen
    if seen is None:
        return ContactRow(
            "contacts", "step", case.name, _UNKNOWN, _UNKNOWN, "mj_step", _UNKNOWN, case.bar,
            note=outcome.reason, family=case.family, status="left out",
        )  # fmt: skip
    steps = np.array(seen.steps, dtype=float)
    n = len(seen.ours)
    ours, peer = np.array(seen.ours) / steps, np.array(seen.peer) / steps
    status = "failed" if seen.failure else "measured" if seen.finished else "stopped"
    known = n > 0
    return ContactRow(
        "contacts",
        "step",
        case.name,
        _middle(ours, steps, case.moving) if known else _UNKNOWN,
        _middle(peer, steps, case.moving) if known else _UNKNOWN,
        "mj_step",
        _ratio(ours, peer, steps, case.moving) if known else _UNKNOWN,
        case.bar,
        note=_note(seen, outcome),
        family=case.family,
        contacts=float(np.mean(seen.contacts)) if seen.contacts else math.nan,
        peer_contacts=float(np.mean(seen.peer_contacts)) if seen.peer_contacts else math.nan,
        residual=seen.residual,
        depth=seen.depth,
        peer_depth=seen.peer_depth,
        steps=int(steps.sum()),
        asked=case.steps,
        status=status,
        **seen.counts,
    )


def _middle(values: Array, steps: Array, moving: bool) -> Quartiles:
    """Quartiles over the blocks; of motion, the mean over all steps stands in the middle."""
    found = Quartiles.of(values)
    if not moving:
        return found
    mean = float(values @ steps / steps.sum())
    return Quartiles(found.lower, mean, found.upper)


def _ratio(ours: Array, peer: Array, steps: Array, moving: bool) -> Quartiles:
    """Ratio of the medians, or of the means; between quartiles of the ratios within blocks."""
    spread = Quartiles.of(ours / peer)
    middle = _middle(ours, steps, moving).median / _middle(peer, steps, moving).median
    return Quartiles(spread.lower, middle, spread.upper)


def _note(seen: Measured, outcome: Outcome) -> str:
    notes = [seen.failure, outcome.reason]
    if not seen.finished and not seen.failure:
        notes.append(f"{seen.settled} steps settled, {sum(seen.steps)} measured in the time given")
    if seen.above:
        notes.append(f"{seen.above} blocks above 1e-9")
    if seen.frictions:
        notes.append(f"{seen.frictions} pairs with another friction in MuJoCo")
    if seen.warnings:
        notes.append(f"MuJoCo warns: {seen.warnings}")
    return "; ".join(note for note in notes if note)


def verdict(row: ContactRow) -> str:
    """Whether the bar is met."""
    if row.status == "left out":
        return "left out"
    if row.bar is None:
        return "no bar"
    return f"MISS {row.misses} (<= {row.bar:g})" if row.misses else f"ok (<= {row.bar:g})"


def line(row: ContactRow) -> str:
    """One row of the table, times in microseconds."""
    if row.status == "left out":
        return f"{row.case:<24}left out: {row.note}"
    if not row.steps:
        return f"{row.case:<24}no step measured; {verdict(row)}; {row.note}"
    spread = f"{row.ratio.median:.3g} [{row.ratio.lower:.3g}, {row.ratio.upper:.3g}]"
    counts = f"{row.contacts:.4g} / {row.peer_contacts:.4g}"
    return (
        f"{row.case:<24}{1e6 * row.ours.median:11.2f}{1e6 * row.peer.median:11.2f}  {spread:<25}"
        f"{verdict(row):<29}{counts:>14}{row.residual:10.1e}{row.depth:9.0e}"
        f"{row.peer_depth:9.0e}{row.pivoted:9d}{row.fallbacks:7d}  {row.note}"
    ).rstrip()
