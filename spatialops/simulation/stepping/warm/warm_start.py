"""Impulses of the step before, kept under the names of their contacts: where laws begin."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spatialops._arrays import Array, IntArray
from spatialops.collision import _layout as col
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.tables import Tables

_NAMES = [col.CONTACT_PAIR, col.CONTACT_FEATURE_A, col.CONTACT_FEATURE_B]


class Memory:
    """Impulses and moments of contacts in world axes, under (pair, feature of A, feature of B)."""

    def __init__(self) -> None:
        self._kept: dict[tuple[int, ...], Array] = {}
        self.clear()

    def clear(self) -> None:
        """Forget all."""
        self._kept.clear()
        self._moments = False
        self._piece = self._time = 0.0

    def keep(self, t: Tables, impulses: Array, moments: Array | None) -> None:
        """Take impulses (m, 3) of acting contacts, and moments, in the place of all others."""
        names, frames = _names_and_frames(t, len(impulses))
        rows = impulses[:, None] if moments is None else np.stack([impulses, moments], axis=1)
        self._kept, self._moments = dict(zip(names, rows @ frames)), moments is not None
        self._piece, self._time = t.monitor[at.PIECE], t.monitor[at.TIME]

    def to_arrays(self) -> dict[str, NDArray[np.generic]]:
        """What is kept, as arrays."""
        return {
            "names": np.array(list(self._kept), dtype=np.int64).reshape(-1, len(_NAMES)),
            "rows": np.array(list(self._kept.values())).reshape(-1, 1 + self._moments, 3),
            "times": np.array([self._piece, self._time]),
        }

    @classmethod
    def from_arrays(cls, names: IntArray, rows: Array, times: Array) -> Memory:
        """Inverse of `to_arrays`."""
        made = cls()
        made._kept = dict(zip(map(tuple, names.tolist()), rows))
        made._moments = rows.shape[1] == 2
        made._piece, made._time = times.tolist()
        return made

    def load_warm_start(self, t: Tables) -> Array | None:
        """Impulses (m, 3), with moments (m, 6), of the acting contacts, in a piece of this length.

        Zero for new ones, None if all are new to this step and the last.
        """
        if not abs(t.monitor[at.TIME] - self._time) < 1.5 * t.settings[at.DT]:
            return None
        m = int(t.control[at.ACTING] - t.control[at.MOMENTS])
        names, frames = _names_and_frames(t, m)
        if not any(name in self._kept for name in names):
            return None
        result = np.zeros((m, 2 if self._moments else 1, 3))
        for i, name in enumerate(names):
            if name in self._kept:
                result[i] = self._kept[name] @ frames[i].T
        return result.reshape(m, -1) * (t.monitor[at.PIECE] / self._piece)


def _names_and_frames(t: Tables, m: int) -> tuple[list[tuple[int, ...]], Array]:
    axes = (col.NORMAL, col.TANGENT, col.SECOND)
    frames = np.stack([t.floats[:m, first : first + 3] for first in axes], axis=1)
    return [tuple(name) for name in t.ints[:m, _NAMES].tolist()], frames
