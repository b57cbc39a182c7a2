"""Paths of a part in a composed scene."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from spatialops.forces.paths import TendonPath
from spatialops.tree.builder import WORLD
from spatialops.tree.forest import Planted
from spatialops.tree.node import Node


def planted_path(part: Planted, path: TendonPath) -> TendonPath:
    """A path of the part in the common model: names with its prefix, the world's nodes moved."""
    branches = (tuple(_planted(part, *node) for node in branch) for branch in path.branches)
    return replace(path, branches=tuple(branches))


def _planted(part: Planted, body: str | int, position: object) -> Node:
    place = np.asarray(position, dtype=np.float64)
    if body == WORLD:
        turn = np.asarray(part.rotation, dtype=np.float64)
        return Node(WORLD, np.asarray(part.position) + turn @ place)
    name = body if isinstance(body, str) else part.model.body_names[body]
    return Node(part.prefix + name, place)
