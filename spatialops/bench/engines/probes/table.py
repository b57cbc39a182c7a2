"""All probes, and those that are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from spatialops.bench.engines.probes import friction, impact, painleve, smooth, standing
from spatialops.bench.engines.probes.probe import Probe
from spatialops.bench.measure import BenchError


def all_probes() -> list[Probe]:
    """All probes, in the order of the tables."""
    groups = (friction, impact, painleve, smooth, standing)
    return [probe for group in groups for probe in group.all_probes()]


def chosen(patterns: Sequence[str] = ()) -> list[Probe]:
    """Probes whose names fit one of the patterns, such as "*slope*"; all where none is given.

    Raises
    ------
    BenchError
        For a pattern that fits none.
    """
    probes = all_probes()
    for pattern in patterns:
        if not any(fnmatchcase(probe.name, pattern) for probe in probes):
            known = "; ".join(probe.name for probe in probes)
            raise BenchError(f"probe: none is called {pattern!r}; there are {known}")
    return [
        probe
        for probe in probes
        if not patterns or any(fnmatchcase(probe.name, pattern) for pattern in patterns)
    ]
