"""Names of what the loop's tables hold, for errors: pairs of geoms, and joints with their stops."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.collision import _layout as col
from spatialops.collision.pair_runs import count_pairs
from spatialops.simulation import _layout as at
from spatialops.simulation.scene.joint_constraints import JointRows
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.stepping.constraints.torsional_rolling import pairs_of
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.model import Model

_NAMED = 4  # pairs that an error names; it counts the others


class Names(NamedTuple):
    """Texts for errors: who acted where it went wrong, which pair is deepest; "" if none."""

    acting: str
    deepest: str


def names_since(t: Tables, scene: Scene) -> Names:
    """Of what acted since the last record was taken, at the worst residual.

    Contacts of steps without a row are known of the last step only. Which pair was the deepest is
    forgotten.
    """
    rows = t.rows[: t.control[at.ROWS]]
    times = np.concatenate([[-math.inf], rows[:, at.ROW_TIME], [math.inf]])
    worst = int(np.append(rows[:, at.ROW_RESIDUAL], t.monitor[at.RESIDUAL]).argmax())
    pairs, moments = _known(t)
    then = pairs[(moments >= times[worst]) & (moments <= times[worst + 1])]
    acting = pairs_text(scene.pair_names(pair) for pair in then.tolist())
    overlaps, t.monitor[at.DEEPEST_GAP] = t.monitor[at.DEEPEST_GAP] < 0.0, 0.0
    deepest = int(t.monitor[at.DEEPEST_PAIR])
    joints = JointRows(t.joint_ints, t.joint_floats)
    return Names(acting, pairs_text([_sides(scene, joints, deepest)]) if overlaps else "")


def _known(t: Tables) -> tuple[IntArray, Array]:
    """Pairs and times of the recorded contacts of geoms, and of the last step's."""
    records = t.contact_records[: t.control[at.CONTACT_ROWS]]
    count = int(t.control[at.ACTING])
    last = pairs_of(t.ints[:count, col.CONTACT_PAIR], count_pairs(t.pair_runs)).tolist()
    of_geoms = np.array(last, dtype=np.int64) < count_pairs(t.pair_runs)
    recorded = pairs_of(records[:, at.RECORD_PAIR], count_pairs(t.pair_runs))
    pairs = np.concatenate([recorded, last]).astype(np.int64)
    times = np.append(records[:, at.RECORD_TIME], np.full(count, t.monitor[at.TIME]))
    kept = np.append(np.full(len(records), True), of_geoms)
    return pairs[kept], times[kept]


def names_acting(t: Tables, scene: Scene, joints: JointRows) -> str:
    """Of all contacts of the prepared problem."""
    acting = t.ints[: t.control[at.ACTING], col.CONTACT_PAIR]
    pairs = pairs_of(acting, scene.n_pairs).tolist()
    return pairs_text(_sides(scene, joints, pair) for pair in pairs)


def _sides(scene: Scene, joints: JointRows, pair: int) -> tuple[str, str]:
    """Names of two geoms, or of a joint and its side, whose rows come behind all pairs."""
    n = scene.n_pairs
    return scene.pair_names(pair) if pair < n else joint_row_names(scene.model, joints, pair - n)


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
