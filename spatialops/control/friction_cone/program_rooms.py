"""Memory of programs that are made at every command, kept while they are of the same size."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._compile.compiler_object import CompilerObject
from spatialops._compile.held import Held
from spatialops.control.friction_cone.assembly_kernel import places_of, scratch_of
from spatialops.control.friction_cone.optimality import Rows


class Sizes(NamedTuple):
    """Of a program, and of what it is made from."""

    unknowns: int
    equalities: int  # at most
    inequalities: int
    cones: int
    tasks: int  # rows
    free: int  # admissible motions
    motors: int
    velocities: int


class ProgramRoom:
    """A program's arrays, and what they are computed in.

    Parameters
    ----------
    sizes : Sizes
        For which there is room.

    Attributes
    ----------
    rows : Rows
        With the most equalities.
    address : int
        Of them, for kernels.
    """

    def __init__(self, sizes: Sizes) -> None:
        n, r, m, c, tasks, free, motors, velocities = sizes
        self.sizes = sizes
        self.rows = Rows(
            np.empty((n, n)),
            np.empty(n),
            np.empty((r, n)),
            np.empty(r),
            np.empty((m, n)),
            np.empty(m),
            np.empty((3 * c, n)),
            np.empty(3 * c),
            np.empty(c),
            np.empty(m + c),
        )
        self._held = Held(self.rows)
        self.address: CompilerObject = self._held.address
        self.floats: Array = np.empty(scratch_of(tasks, free, motors, velocities))
        self.ints: IntArray = np.empty(places_of(tasks, motors), dtype=np.int64)


class ProgramRooms:
    """One room for each kind of program, of the sizes that were asked for last."""

    def __init__(self) -> None:
        self._kept: dict[int, ProgramRoom] = {}

    def of(self, which: int, sizes: Sizes) -> ProgramRoom:
        """The room of a kind, for programs of such a size."""
        room = self._kept.get(which)
        if room is None or room.sizes != sizes:
            self._kept[which] = room = ProgramRoom(sizes)
        return room
