"""Which joints of a model have stops and dry friction, as tables for the loop.

`simulation.stepping.constraints.joint_limits_and_friction` has the physics.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._layout import FIRST_Q
from spatialops.collision._layout import DRY, STOP
from spatialops.errors import ArgumentError
from spatialops.simulation import _layout as at
from spatialops.tree.model import Model


class JointRows(NamedTuple):
    """See JOINT_* in `simulation._layout`: stops first, then dry friction."""

    ints: IntArray
    floats: Array

    @property
    def n_dry(self) -> int:
        """How many velocities have dry friction."""
        return int((self.ints[:, 1] == DRY).sum())


def joint_rows(
    model: Model, *, limits: bool, dry_friction: bool, restitution: Any = 0.0
) -> JointRows:
    """Stops at the finite limits of position and dry friction, as far as they are asked for.

    `restitution` of the stops is one number or one for every velocity, in [0, 1].

    Raises
    ------
    ArgumentError
        For a restitution out of its range.
    """
    try:
        bounce = np.broadcast_to(np.asarray(restitution, dtype=np.float64), (model.nv,))
    except (TypeError, ValueError):
        bounce = np.array([np.nan])
    if not ((bounce >= 0.0) & (bounce <= 1.0)).all():
        raise ArgumentError(
            f"stop_restitution: expected a number in [0, 1], or {model.nv} of them, one a "
            f"velocity, got {restitution!r}"
        )
    ints: list[tuple[int, int, int]] = []
    floats: list[tuple[float, float, float]] = []
    for side, positions in ((1.0, model.lower), (-1.0, model.upper)) if limits else ():
        for k in np.flatnonzero(np.isfinite(positions)):
            ints.append((int(k), STOP, int(model.tree[k, FIRST_Q])))
            floats.append((side, float(positions[k]), float(bounce[k])))
    for k in np.flatnonzero(model.dry_friction > 0.0) if dry_friction else ():
        ints.append((int(k), DRY, int(model.tree[k, FIRST_Q])))
        floats.append((0.0, float(model.dry_friction[k]), 0.0))
    return JointRows(
        np.array(ints, dtype=np.int64).reshape(-1, at.JOINT_INTS),
        np.array(floats).reshape(-1, at.JOINT_FLOATS),
    )


def within_limits(model: Model, q: Array) -> Array:
    """Coordinates with every joint at the nearest position within its limits."""
    limited = np.isfinite(model.lower) | np.isfinite(
        model.upper
    )  # of joints with one coordinate for each velocity
    places, result = model.tree[limited, FIRST_Q], q.copy()
    result[places] = np.clip(q[places], model.lower[limited], model.upper[limited])
    return result


def outside_limits(model: Model, q: Array, allowed: float) -> str:
    """What is to be said of the joint that is farthest beyond a limit.

    "" where none is by more than `allowed`.
    """
    places = model.tree[:, FIRST_Q]
    beyond = np.maximum(model.lower - q[places], q[places] - model.upper)
    k = int(beyond.argmax())
    if not beyond[k] > allowed:
        return ""
    return (
        f"joint {model.joint_of_link(k)!r} is at {q[places[k]]:.6g}, beyond its limits "
        f"[{model.lower[k]:.6g}, "
        f"{model.upper[k]:.6g}] rad or m"
    )
