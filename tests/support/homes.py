"""Free bodies whose joints are at home elsewhere than at the world's origin."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import spatialops as so
from spatialops import _layout as layout
from spatialops.algebra.rotation import from_rotation_vector
from spatialops.tree.free_frames import FreeFrame

ORIGIN = np.array([0.3, -0.2, 0.7])
TURN = from_rotation_vector([0.8, -2.1, 0.4])


def elsewhere(model: so.Model, state: so.State) -> tuple[so.Model, so.State]:
    """The model with its free joints at home there, and the same state in these coordinates."""
    links = model.links.copy()
    q = state.q.copy()
    free = [name for name, kind in zip(model.joint_names, model.joint_kinds) if kind == "free"]
    for name in free:
        row = links[model.v_slice(name).start]
        row[layout.PLACE_P : layout.PLACE_P + 3] = ORIGIN
        row[layout.PLACE_R : layout.PLACE_R + 9] = TURN.ravel()
    other = replace(model, links=links)
    for name in free:
        q[model.q_slice(name)] = FreeFrame.of(other, name).coordinates(q[model.q_slice(name)])
    return other, replace(state, q=q)
