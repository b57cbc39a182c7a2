"""Contacts as people see them: a frozen set of arrays, one row a contact."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.collision._layout import (
    APPROACH,
    CONTACT_A,
    CONTACT_B,
    CONTACT_PAIR,
    GAP,
    IMPULSE,
    MU,
    NORMAL,
    POINT,
    RESTITUTION,
    SECOND,
    TANGENT,
)


@dataclass(frozen=True, eq=False)
class ContactSet:
    """Contacts between a body A and a body B; the normal points from B to A.

    Attributes
    ----------
    pairs : (m,) int array
        Row of the scene's pair table: the identity of a contact from step to step.
    links : (m, 2) int array
        Links of A and B, -1 for the world.
    positions : (m, 3) array
        World positions, m.
    frames : (m, 3, 3) array
        Rows normal, first and second tangent, world axes.
    gaps, frictions, restitutions : (m,) arrays
        m (negative: penetration), and the pair's coefficients.
    velocities : (m, 3) array
        Of A against B along the frame before the contact acts, m/s.
    impulses : (m, 3) array
        On A along the frame, N s.
    """

    pairs: IntArray
    links: IntArray
    positions: Array
    frames: Array
    gaps: Array
    frictions: Array
    restitutions: Array
    velocities: Array
    impulses: Array

    def __len__(self) -> int:
        return len(self.gaps)

    @classmethod
    def from_tables(cls, ints: IntArray, floats: Array) -> ContactSet:
        """Copy of the kernels' tables."""
        frames = np.stack([floats[:, i : i + 3] for i in (NORMAL, TANGENT, SECOND)], axis=1)
        return cls(
            pairs=ints[:, CONTACT_PAIR].copy(),
            links=ints[:, [CONTACT_A, CONTACT_B]],
            positions=floats[:, POINT : POINT + 3].copy(),
            frames=frames,
            gaps=floats[:, GAP].copy(),
            frictions=floats[:, MU].copy(),
            restitutions=floats[:, RESTITUTION].copy(),
            velocities=floats[:, APPROACH : APPROACH + 3].copy(),
            impulses=floats[:, IMPULSE : IMPULSE + 3].copy(),
        )

    @property
    def world_impulses(self) -> Array:
        """Impulses on A in world axes, (m, 3), N s."""
        result: Array = np.einsum("mi,mij->mj", self.impulses, self.frames)
        return result
