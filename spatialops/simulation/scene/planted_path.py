"""Paths of a part in a composed scene."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from spatialops.forces.paths import Around, TendonPath
from spatialops.tree.builder import WORLD
from spatialops.tree.forest import Planted
from spatialops.tree.node import Node


def planted_path(part: Planted, path: TendonPath) -> TendonPath:
    """A path of the part in the common model: names with its prefix, the world's nodes moved."""
    branches = (tuple(_moved(part, one) for one in branch) for branch in path.branches)
    return replace(path, branches=tuple(branches))


def _moved(part: Planted, one: Node | Around) -> Node | Around:
    if not isinstance(one, Around):
        return _planted(part, *one)
    middle = Node(*one.middle) if not isinstance(one.middle, (str, int)) else Node(one.middle)
    axis = one.axis
    if axis is not None and middle.body == WORLD:
        axis = np.asarray(part.rotation) @ np.asarray(axis)
    side = one.side
    if side is not None:
        side = _planted(part, *(Node(side) if isinstance(side, (str, int)) else side))
    return replace(one, middle=_planted(part, *middle), axis=axis, side=side)


def _planted(part: Planted, body: str | int, position: object) -> Node:
    place = np.asarray(position, dtype=np.float64)
    if body == WORLD:
        turn = np.asarray(part.rotation, dtype=np.float64)
        return Node(WORLD, np.asarray(part.position) + turn @ place)
    name = body if isinstance(body, str) else part.model.body_names[body]
    return Node(part.prefix + name, place)
