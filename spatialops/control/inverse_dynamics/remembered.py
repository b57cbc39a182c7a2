"""Impulses of a command, by the names of their contacts, for the next one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray


class Remembered(NamedTuple):
    """Impulses in world axes.

    Attributes
    ----------
    names : (k, 3) int array
        Pair of the scene, features of A and B.
    world : (k, 3) array
        N s.
    """

    names: IntArray
    world: Array

    @classmethod
    def nothing(cls) -> Remembered:
        """Of no contacts."""
        return cls(np.zeros((0, 3), dtype=np.int64), np.zeros((0, 3)))

    @classmethod
    def of(cls, names: IntArray, frames: Array, impulses: Array) -> Remembered:
        """Impulses (m, 3) along contact frames (m, 3, 3)."""
        return cls(np.ascontiguousarray(names), np.einsum("mi,mij->mj", impulses, frames))

    def by_name(self) -> dict[tuple[int, ...], Array]:
        """Them as a mapping."""
        return dict(zip(map(tuple, self.names.tolist()), self.world, strict=True))

    def times(self, share: float) -> Remembered:
        """So much of them."""
        return Remembered(self.names, share * self.world)

    def along(self, names: IntArray, frames: Array) -> Array:
        """Them (m, 3) along the frames of contacts of these names; 0 of new ones."""
        known = self.by_name()
        none = np.zeros(3)
        world = [known.get(tuple(name), none) for name in names.tolist()]
        return np.asarray(np.einsum("mij,mj->mi", frames, np.array(world).reshape(-1, 3)))
