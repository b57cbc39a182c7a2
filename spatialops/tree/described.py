"""A model taken apart again: what another library's builder or a file has to be told."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array
from spatialops.algebra.inertia import Inertia
from spatialops.errors import ModelError
from spatialops.tree.joint import KINDS
from spatialops.tree.model import Model


class Described(NamedTuple):
    """A body on its joint: both in the body's frame, which stands in its parent's at zero."""

    name: str
    joint: str
    kind: str
    parent: int
    position: Array
    rotation: Array
    axis: Array
    pitch: float
    inertia: Inertia | None
    armature: Array


def described(model: Model) -> list[Described]:
    """All bodies, a parent before its children.

    Raises
    ------
    ModelError
        For a joint of several axes that is neither ball nor free.
    """
    found = []
    for i, name in enumerate(model.body_names):
        kind, joint = model.joint_kinds[i], model.joint_names[i]
        last = int(model.body_links[i])
        parent = int(model.body_parents[i])
        if kind in ("cylindrical", "universal", "planar"):
            raise ModelError(f"joint {joint!r}: a {kind} joint has no counterpart there")
        first = last - KINDS[kind][1] + 1
        row, turn = model.links[last], model.turns[last]
        above = np.eye(3) if parent < 0 else model.turns[model.body_links[parent]]
        place = model.links[first]
        rotation = place[layout.PLACE_R : layout.PLACE_R + 9].reshape(3, 3)
        found.append(
            Described(
                name,
                joint,
                kind,
                parent,
                above @ place[layout.PLACE_P : layout.PLACE_P + 3],
                above @ rotation @ model.turns[first].T,
                turn[:, 2].copy(),
                float(row[layout.PITCH]),
                body_inertia(model, i),
                model.links[first : last + 1, layout.ARMATURE].copy(),
            )
        )
    return found


def body_inertia(model: Model, body: int) -> Inertia | None:
    """What a body and those merged into it weigh, in its axes; None without mass."""
    link = int(model.body_links[body])
    row, turn = model.links[link], model.turns[link]
    mass = float(row[layout.MASS])
    if mass == 0.0:
        return None
    center = turn @ row[layout.COM : layout.COM + 3]
    tensor = np.zeros((3, 3))
    tensor[np.triu_indices(3)] = row[layout.INERTIA : layout.INERTIA + 6]
    tensor = turn @ (tensor + np.triu(tensor, 1).T) @ turn.T
    about = tensor - mass * (center @ center * np.eye(3) - np.outer(center, center))
    return Inertia(mass, center, about, checked=False)
