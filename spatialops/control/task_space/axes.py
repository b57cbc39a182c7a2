"""Axes that tasks name: kernels take them for places in memory, and look no further."""

from __future__ import annotations

from collections.abc import Sequence

from spatialops._arrays import several, whole
from spatialops.errors import ArgumentError


def checked_axes(axes: Sequence[int], count: int) -> tuple[int, ...]:
    """Numbers below `count`, each once."""
    given = several(axes, "axes", f"numbers from 0 to {count - 1}")
    found = tuple(whole(axis, "axes", low=0, high=count - 1) for axis in given)
    if len(set(found)) != len(found):
        raise ArgumentError(f"axes: expected each once, got {found}")
    return found
