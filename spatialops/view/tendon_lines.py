"""Tendons and actuators through space, as the straight pieces that pictures draw."""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array
from spatialops.forces.path_lines import path_lines
from spatialops.forces.paths import TendonPath
from spatialops.simulation.scene.scene import Scene


def tendon_lines(scene: Scene, rows: Array) -> Array:
    """Pieces (F, k, 2, 3), m, of all paths at coordinates (F, nq); each path once."""
    paths = drawn_paths(scene)
    if not paths:
        return np.zeros((len(rows), 0, 2, 3))
    return np.array(
        [np.concatenate([path_lines(scene.model, path, q) for path in paths]) for q in rows]
    )


def drawn_paths(scene: Scene) -> list[TendonPath]:
    """Of tendons and of actuators that pull along others, each once."""
    found: dict[str, TendonPath] = {}
    paths = [one.path for one in scene.tendons] + [one.path for one in scene.actuators]
    for path in paths:
        if path is not None:
            found.setdefault(repr(path.to_data()["branches"]), path)
    return list(found.values())
