"""What the scenes of models hand on to `Scene`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypedDict

from spatialops.simulation.scene.pair_options import Pair
from spatialops.tree.loop import Loop


class SceneOptions(TypedDict, total=False):
    """Keyword arguments of `Scene` that a model leaves to its user."""

    loops: Sequence[Loop]
    include: Iterable[tuple[str, str]]
    pair_laws: Sequence[Pair]
