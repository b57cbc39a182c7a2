"""Fair timing of contestants that take turns on one core.

Other work on the machine slows everything for a while. Contestants therefore alternate in short
blocks, and what counts is the ratio within a round, where both met the same conditions: medians and
quartiles over the rounds. Time is that of the thread (all contestants are single-threaded), which
stands still while another process has the core.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import repeat
from time import thread_time
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, ArrayLike
from spatialops.errors import SpatialOpsError

Call = Callable[[], object]


class BenchError(SpatialOpsError):
    """A benchmark that cannot be run, or whose contestants do not compute the same."""


class Quartiles(NamedTuple):
    """Lower quartile, median and upper quartile."""

    lower: float
    median: float
    upper: float

    @classmethod
    def of(cls, values: Array) -> Quartiles:
        """Those of a sample."""
        lower, median, upper = np.percentile(values, [25.0, 50.0, 75.0])
        return cls(float(lower), float(median), float(upper))

    def __truediv__(self, scale: float) -> Quartiles:
        return Quartiles(*(value / scale for value in self))


@dataclass(frozen=True, eq=False)
class Timing:
    """Seconds per call of contestants over the rounds in which they took turns.

    Attributes
    ----------
    seconds : dict of name to (rounds,) array
        Mean of one block of calls each, s.
    """

    seconds: dict[str, Array]

    def of(self, name: str) -> Quartiles:
        """Seconds per call of one contestant."""
        return Quartiles.of(self.seconds[name])

    def ratio(self, name: str, peer: str) -> Quartiles:
        """Ratio of two contestants' medians, between quartiles of the ratios within the rounds."""
        spread = Quartiles.of(self.seconds[name] / self.seconds[peer])
        ratio = self.of(name).median / self.of(peer).median
        return Quartiles(min(spread.lower, ratio), ratio, max(spread.upper, ratio))

    def fastest(self, *names: str) -> str:
        """The contestant with the smallest median."""
        return min(names, key=lambda name: self.of(name).median)


@dataclass(frozen=True)
class Effort:
    """How long to measure.

    Attributes
    ----------
    rounds : int
        Rounds of every comparison, one block of calls of each contestant a round.
    block : float
        Aim for the length of a block, s.
    """

    rounds: int = 31
    block: float = 3e-3


QUICK = Effort(rounds=7, block=1e-3)


def time_block(call: Call, calls: int) -> float:
    """Seconds per call of `calls` calls in a row."""
    begin = thread_time()
    for _ in repeat(None, calls):
        call()
    return (thread_time() - begin) / calls


def calls_per_block(call: Call, block: float) -> int:
    """How many calls fill a block of `block` seconds; warms the contestant up, and its caches."""
    call()
    calls = 1
    while True:
        spent = calls * time_block(call, calls)
        if spent >= 0.25 * block:
            return max(1, round(calls * block / spent))
        calls *= 4


def take_turns(contestants: Mapping[str, Call], effort: Effort) -> Timing:
    """Time contestants in turns: every round a block of each, without garbage collection.

    Parameters
    ----------
    contestants : mapping of name to callable
        Called without arguments.
    effort : Effort

    Returns
    -------
    Timing
    """
    if not contestants:
        raise BenchError("there is nothing to measure: give at least one contestant")
    counts = {name: calls_per_block(call, effort.block) for name, call in contestants.items()}
    seconds = {name: np.empty(effort.rounds) for name in contestants}
    names = list(contestants)
    collecting = gc.isenabled()
    gc.disable()
    try:
        for i in range(effort.rounds):
            for name in names if i % 2 == 0 else names[::-1]:
                seconds[name][i] = time_block(contestants[name], counts[name])
    finally:
        if collecting:
            gc.enable()
    return Timing(seconds)


@contextmanager
def pinned(core: int | None = None) -> Iterator[int | None]:
    """Keep this process on one core, by default the last it may use; None where it cannot be."""
    if not hasattr(os, "sched_setaffinity"):
        yield None
        return
    before = os.sched_getaffinity(0)
    chosen = max(before) if core is None else core
    try:
        os.sched_setaffinity(0, {chosen})
    except (OSError, ValueError) as error:
        raise BenchError(
            f"core: cannot run on core {chosen}; this process may use {sorted(before)}"
        ) from error
    try:
        yield chosen
    finally:
        os.sched_setaffinity(0, before)


@dataclass(frozen=True)
class Row:
    """One line of the report.

    Attributes
    ----------
    group : str
        "dynamics", "lambda", "pendulum" or "collision".
    what : str
        What is computed.
    case : str
        On what.
    ours, peer : Quartiles
        Seconds.
    rival : str
        Name of the peer.
    ratio : Quartiles
        Ours over the peer's.
    bar : float or None
        What the ratio must not exceed.
    difference : float
        Relative difference of the results.
    note : str
    """

    group: str
    what: str
    case: str
    ours: Quartiles
    peer: Quartiles
    rival: str
    ratio: Quartiles
    bar: float | None = None
    difference: float = 0.0
    note: str = ""

    @property
    def passed(self) -> bool:
        """Whether the bar, if there is one, is met."""
        return self.bar is None or self.ratio.median <= self.bar

    def to_data(self) -> dict[str, object]:
        """The row as plain data, times in microseconds."""
        data: dict[str, object] = {
            "group": self.group,
            "what": self.what,
            "case": self.case,
            "rival": self.rival,
        }
        for name, quartiles, unit in (
            ("ours", self.ours, 1e6),
            ("peer", self.peer, 1e6),
            ("ratio", self.ratio, 1.0),
        ):
            suffix = "" if name == "ratio" else "_us"
            for part in ("median", "lower", "upper"):
                tail = "" if part == "median" else f"_{part}"
                data[f"{name}{suffix}{tail}"] = unit * getattr(quartiles, part)
        data.update(bar=self.bar, passed=self.passed, difference=self.difference, note=self.note)
        return data


def relative_difference(a: ArrayLike, b: ArrayLike) -> float:
    """Largest difference of two arrays relative to the largest entry."""
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    scale = max(float(np.abs(first).max(initial=0.0)), float(np.abs(second).max(initial=0.0)))
    return 0.0 if scale == 0.0 else float(np.abs(first - second).max(initial=0.0)) / scale


def agreed(ours: ArrayLike, peer: ArrayLike, what: str, *, limit: float = 1e-9) -> float:
    """The relative difference of two results, refused where they are not the same.

    Raises
    ------
    BenchError
        If they differ by more than `limit`: times of different computations say nothing.
    """
    difference = relative_difference(ours, peer)
    if not difference <= limit:
        raise BenchError(
            f"{what}: the results differ by {difference:.2e} (limit {limit:g}); nothing was timed"
        )
    return difference
