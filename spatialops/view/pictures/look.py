"""Colours of pictures, light and dark: those of the replay."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array


class Look(NamedTuple):
    """Colours, each (3,) in [0, 1]."""

    paper: Array
    scenery: Array
    tiles: Array  # (2, 3)
    resting: Array
    impact: Array
    tendon: Array
    ink: Array


def rgb(name: str) -> Array:
    """Of "#rrggbb", in [0, 1]."""
    return np.array([int(name[i : i + 2], 16) for i in (1, 3, 5)]) / 255.0


_TILES_LIGHT = np.array([[0.84, 0.87, 0.90], [0.88, 0.905, 0.93]])
_TILES_DARK = np.array([[0.10, 0.13, 0.165], [0.13, 0.165, 0.205]])

LIGHT = Look(
    rgb("#edf1f6"),
    rgb("#8fa1b3"),
    _TILES_LIGHT,
    rgb("#00795a"),
    rgb("#d01c6b"),
    rgb("#b3261e"),
    rgb("#17212e"),
)
DARK = Look(
    rgb("#12181f"),
    rgb("#4a596a"),
    _TILES_DARK,
    rgb("#2fc79a"),
    rgb("#ff6aa8"),
    rgb("#ff9d85"),
    rgb("#e6ecf3"),
)
