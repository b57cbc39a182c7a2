"""Contacts as people see them: a frozen set of arrays, one row a contact."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.collision import _layout as col


class ContactTables(NamedTuple):
    """Rows of contacts as kernels write them; columns in `_layout`."""

    ints: IntArray
    floats: Array


@dataclass(frozen=True, eq=False)
class ContactSet:
    """Contacts between a body A and a body B, one row a contact; the normal points from B to A.

    `Simulator.contacts`, records and event-driven runs hand them out; `len` says how many.

    Parameters
    ----------
    pairs : (m,) int array
        Numbers of the scene's pairs: `scene.pair_names` and `scene.sides_of` say which geoms.
    links : (m, 2) int array
        Links of A and B, -1 for the world.
    positions : (m, 3) array
        World positions, m.
    frames : (m, 3, 3) array
        Rows normal, first and second tangent, world axes; right-handed.
    gaps : (m,) array
        m; negative where the bodies overlap.
    frictions : (m,) array
        Coulomb's coefficient of the pair.
    restitutions : (m,) array
        The pair's, in [0, 1].
    velocities : (m, 3) array
        Of A against B along the frame before the contact acts, m/s.
    impulses : (m, 3) array
        On A along the frame, N s: B feels the opposite.

    Examples
    --------
    A ball pressed on the floor z = 0, and pulled along x:

    >>> import numpy as np
    >>> from spatialops.collision import ContactSet
    >>> up = np.eye(3)[[2, 0, 1]]
    >>> resting = ContactSet(
    ...     pairs=np.array([0]), links=np.array([[0, -1]]), positions=np.zeros((1, 3)),
    ...     frames=up[None], gaps=np.zeros(1), frictions=np.array([0.5]), restitutions=np.zeros(1),
    ...     velocities=np.zeros((1, 3)), impulses=np.array([[0.1, -0.02, 0.0]]),
    ... )
    >>> len(resting), resting.world_impulses
    (1, array([[-0.02,  0.  ,  0.1 ]]))
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
        """Copy of the kernels' tables.

        Parameters
        ----------
        ints : (m, .) int array
            Names and links of contacts; columns in `spatialops.collision._layout`.
        floats : (m, .) array
            Their geometry, coefficients and impulses.

        Returns
        -------
        ContactSet
            The same contacts, in arrays of its own.
        """
        if not len(ints):
            return _NONE
        made = object.__new__(cls)
        made.__dict__["_tables"] = ContactTables(ints.copy(), floats.copy())
        return made

    if not TYPE_CHECKING:  # who reads it need not know

        def __getattr__(self, name: str) -> Array | IntArray:
            """A field of what `from_tables` made, when it is first asked for: few are."""
            if name not in _COLUMNS:
                raise AttributeError(f"a ContactSet has no attribute {name!r}")
            made = self.__dict__[name] = _COLUMNS[name](self._tables)
            return made

    def tables(self) -> ContactTables:
        """What `from_tables` was given, or the same of contacts that were made by hand.

        Returns
        -------
        ContactTables
            Links, places, frames, gaps, coefficients, velocities and impulses; other columns of
            contacts that were made by hand are zero.
        """
        if "_tables" in self.__dict__:
            own: ContactTables = self.__dict__["_tables"]
            return own
        m = len(self.gaps)
        made = ContactTables(
            np.zeros((m, col.CONTACT_INTS), dtype=np.int64), np.zeros((m, col.CONTACT_COLUMNS))
        )
        made.ints[:, col.CONTACT_A : col.CONTACT_B + 1] = self.links
        for name, get in _COLUMNS.items():
            if name not in ("pairs", "links"):
                get(made)[...] = getattr(self, name)
        made.ints[:, col.CONTACT_PAIR] = self.pairs
        return made

    @property
    def world_impulses(self) -> Array:
        """Impulses on A in world axes, (m, 3), N s."""
        result: Array = np.einsum("mi,mij->mj", self.impulses, self.frames)
        return result


_COLUMNS: dict[str, Callable[[ContactTables], Array | IntArray]] = {
    "pairs": lambda t: t.ints[:, col.CONTACT_PAIR].copy(),
    "links": lambda t: t.ints[:, col.CONTACT_A : col.CONTACT_B + 1].copy(),
    "positions": lambda t: t.floats[:, col.POINT : col.POINT + 3],
    "frames": lambda t: t.floats[:, col.NORMAL : col.SECOND + 3].reshape(-1, 3, 3),
    "gaps": lambda t: t.floats[:, col.GAP],
    "frictions": lambda t: t.floats[:, col.MU],
    "restitutions": lambda t: t.floats[:, col.RESTITUTION],
    "velocities": lambda t: t.floats[:, col.APPROACH : col.APPROACH + 3],
    "impulses": lambda t: t.floats[:, col.IMPULSE : col.IMPULSE + 3],
}

_NONE = ContactSet(
    pairs=np.zeros(0, dtype=np.int64),
    links=np.zeros((0, 2), dtype=np.int64),
    positions=np.zeros((0, 3)),
    frames=np.zeros((0, 3, 3)),
    gaps=np.zeros(0),
    frictions=np.zeros(0),
    restitutions=np.zeros(0),
    velocities=np.zeros((0, 3)),
    impulses=np.zeros((0, 3)),
)
