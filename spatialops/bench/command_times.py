"""Times of single commands as a row of the report: quartiles, the tail and the worst."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from spatialops._arrays import Array
from spatialops.bench.measure import Quartiles, Row

COLUMNS = (
    f"{'ms':<44}{'median':>8}{'lower':>8}{'upper':>8}{'99 %':>8}{'99.9 %':>8}{'most':>8}"
    f"{'N':>8}{'solved':>9}{'nearest':>9}  bar of median and 99.9 %"
)
NONE: Mapping[str, int] = MappingProxyType({})
_TAIL = (99.0, 99.9, 100.0)


@dataclass(frozen=True)
class CommandRow(Row):
    """One controller on one robot; `ratio` is that of the median to its bar.

    Attributes
    ----------
    tail : tuple of float
        99th and 99.9th percentile and the largest time, s.
    tail_bar : float
        Of the 99.9th percentile, s.
    count : int
        Number of commands.
    statuses : dict
        Of each status its share of them.
    """

    tail: tuple[float, ...] = ()
    tail_bar: float = np.inf
    count: int = 0
    statuses: Mapping[str, float] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether median and tail are below their bars."""
        return super().passed and self.tail[1] <= self.tail_bar

    def to_data(self) -> dict[str, object]:
        """The row as plain data, times in microseconds."""
        tail = zip(("99_us", "999_us", "most_us"), self.tail, strict=True)
        more = {f"ours_{name}": 1e6 * value for name, value in tail}
        return {
            **super().to_data(),
            **more,
            "bar_999_us": 1e6 * self.tail_bar,
            "n": self.count,
            "statuses": dict(self.statuses),
        }


def row_of(
    what: str,
    case: str,
    seconds: Array,
    bar: float,
    tail_bar: float,
    statuses: Mapping[str, int] = NONE,
) -> CommandRow:
    """The row of the times (n,) of single commands, s, and of how often each status came."""
    found = Quartiles.of(seconds)
    limit = Quartiles(bar, bar, bar)
    tail = tuple(float(value) for value in np.percentile(seconds, _TAIL))
    return CommandRow(
        "commands",
        what,
        case,
        found,
        limit,
        "the bar",
        found / bar,
        bar=1.0,
        tail=tail,
        tail_bar=tail_bar,
        count=len(seconds),
        statuses={name: times / len(seconds) for name, times in statuses.items()},
    )


def line(row: CommandRow) -> str:
    """One row of the table, times in milliseconds."""
    times = (row.ours.median, row.ours.lower, row.ours.upper, *row.tail)
    shown = "".join(f"{1e3 * value:8.3f}" for value in times)
    verdict = "pass" if row.passed else "MISS"
    bars = f"{1e3 * row.peer.median:g}, {1e3 * row.tail_bar:g}"
    shares = "".join(f"{row.statuses.get(name, 0.0):9.2%}" for name in ("solved", "nearest"))
    return f"{row.case:<24}{row.what:<20}{shown}{row.count:8d}{shares}  {verdict} (<= {bars})"
