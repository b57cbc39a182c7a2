"""Errors of engines against closed forms, and what they cost, at several dt.

Cost is processor time of all threads in `step`, in seconds a second of the scene: the least of a
few runs in which the engines take turns, after a step that does not count.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from time import process_time
from typing import TYPE_CHECKING, NamedTuple

from spatialops.bench.engines.engine import Engine
from spatialops.bench.engines.entrant import LeftOut
from spatialops.bench.engines.probes.probe import Error, Probe
from spatialops.bench.measure import BenchError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

STEPS = (1e-2, 5e-3, 2e-3, 1e-3)  # s
RUNS = 3


@dataclass(frozen=True)
class Result:
    """One metric of one probe, by one engine at one dt.

    Attributes
    ----------
    engine, probe, metric : str
    dt : float
        s.
    error : float
        As the probe says; NaN where there is none.
    cost : float
        Seconds of processor time for a second of the scene; NaN where nothing ran.
    note : str
        Why there is no error.
    """

    engine: str
    probe: str
    metric: str
    dt: float
    error: float
    cost: float
    note: str = ""


def plain(row: DataclassInstance) -> dict[str, object]:
    """A row as plain data; None for what is not known."""
    return {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in asdict(row).items()
    }


def steps_of(duration: float, dt: float) -> int:
    """How many steps make a duration.

    Raises
    ------
    BenchError
        Where no whole number does.
    """
    count = round(duration / dt)
    if not 0 < dt <= duration or abs(count * dt - duration) > 1e-9 * duration:
        raise BenchError(f"dt: {dt:g} s does not divide the {duration:g} s of a probe")
    return count


def run(
    engines: Mapping[str, type[Engine]],
    probes: Sequence[Probe],
    steps: Sequence[float] = STEPS,
    runs: int = RUNS,
) -> Iterator[Result]:
    """All results, probe after probe."""
    for probe in probes:
        for dt in steps:
            yield from _compare(engines, probe, dt, runs)


def _compare(
    engines: Mapping[str, type[Engine]], probe: Probe, dt: float, runs: int
) -> Iterator[Result]:
    """One probe at one dt."""
    count = steps_of(probe.duration, dt)
    ends = {name: _at_end(kind, probe, dt, 1) for name, kind in engines.items()}
    spent = dict.fromkeys(engines, math.inf)
    for _ in range(runs):
        for name, kind in engines.items():
            if ends[name].engine is not None:
                ends[name] = _at_end(kind, probe, dt, count)
                spent[name] = min(spent[name], ends[name].seconds)
    for name, (engine, _, reason) in ends.items():
        cost = math.nan if engine is None else spent[name] / probe.duration
        for metric, error in probe.errors.items():
            value, note = (math.nan, reason) if engine is None else _judged(engine, error)
            yield Result(name, probe.name, metric, dt, value, cost, note)


class _End(NamedTuple):
    """An engine after its steps and their seconds; None and the reason where it did not get there.

    The first step loads what is loaded then: of a run of one the seconds do not count.
    """

    engine: Engine | None
    seconds: float
    reason: str = ""


def _at_end(kind: type[Engine], probe: Probe, dt: float, count: int) -> _End:
    """A world after so many steps."""
    try:
        engine = kind(probe.world, dt)
        begin = process_time()
        engine.step(count)
        return _End(engine, process_time() - begin)
    except Exception as error:  # of any library
        return _End(None, math.nan, why(error))


def why(error: Exception) -> str:
    """What an engine lacks, or in a line how it failed."""
    if isinstance(error, LeftOut):
        return str(error)
    return f"fails: {type(error).__name__}: {error}".splitlines()[0]


def _judged(engine: Engine, error: Error) -> tuple[float, str]:
    """An error, or why there is none."""
    try:
        value = error(engine)
    except Exception as reason:  # of any library
        return math.nan, why(reason)
    return (value, "") if math.isfinite(value) else (math.nan, "not finite")
