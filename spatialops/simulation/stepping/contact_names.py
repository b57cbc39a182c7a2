"""Names of what the loop's tables hold, for errors: pairs of geoms, and joints with their stops."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from spatialops._arrays import IntArray
from spatialops.collision import _layout as col
from spatialops.simulation import _layout as at
from spatialops.simulation.scene.joint_constraints import JointRows
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.model import Model

_NAMED = 4  # pairs that an error names; it counts the others


class Names(NamedTuple):
    """Texts for errors: who acted where it went wrong, which pair is deepest; "" if none."""

    acting: str
    deepest: str


def names_since(t: Tables, scene: Scene) -> Names:
    """Of what acted since the last record was taken, at the worst residual."""
    count = int(t.control[at.CONTACT_ROWS])
    records = t.contact_records[:count]
    rows = t.rows[: t.control[at.ROWS]]
    times = np.concatenate([[-math.inf], rows[:, at.ROW_TIME], [math.inf]])
    worst = int(np.append(rows[:, at.ROW_RESIDUAL], t.monitor[at.RESIDUAL]).argmax())
    time = records[:, at.RECORD_TIME]
    then = records[(time >= times[worst]) & (time <= times[worst + 1])]
    acting = pairs_text(scene.pair_names(pair) for pair in _pairs(then[:, at.RECORD_PAIR]))
    if not count:
        return Names(acting, "")
    deepest = records[records[:, at.RECORD_GAP].argmin()]
    return Names(acting, pairs_text([scene.pair_names(_pairs(deepest[[at.RECORD_PAIR]])[0])]))


def names_acting(t: Tables, scene: Scene, joints: JointRows) -> str:
    """Of all contacts of the prepared problem."""
    pairs = _pairs(t.ints[: t.control[at.ACTING], col.CONTACT_PAIR])
    n = len(scene.pairs)
    return pairs_text(
        scene.pair_names(pair) if pair < n else joint_row_names(scene.model, joints, pair - n)
        for pair in pairs
    )


def pairs_text(pairs: Iterable[tuple[str, str]]) -> str:
    """Names of pairs of geoms, each once, as errors have them; "" where there are none."""
    names = [f"{a} on {b}" for a, b in dict.fromkeys(pairs)]
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def joint_row_names(model: Model, joints: JointRows, row: int) -> tuple[str, str]:
    """Joint and side of a row of joints' stops and dry friction."""
    link, kind = joints.ints[row, [at.JOINT_LINK, at.JOINT_KIND]]
    joint = model.joint_of_link(int(link))
    if kind == col.DRY:
        return joint, "dry friction"
    lower = joints.floats[row, at.JOINT_SIDE] > 0.0
    return joint, "lower limit" if lower else "upper limit"


def _pairs(column: IntArray) -> list[int]:
    """Pairs of contacts, and of those whose moments are rows of their own."""
    pairs = np.asarray(column, dtype=np.int64)
    return np.where(pairs < 0, -1 - pairs, pairs).tolist()
