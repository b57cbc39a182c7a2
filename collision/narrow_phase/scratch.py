"""What the narrow phase works with: rows for EPA, blocks of rows for polygons and points.

Kernels cannot allocate, and cannot return a view of an array: they ask where a block begins.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._compile.apart import LIST, ROWS, TABLE, types
from spatialops._compile.jit import inlined
from spatialops.collision import _layout as col
from spatialops.collision.geom_tables import GeomTables
from spatialops.collision.narrow_phase.epa import EPA_ROWS, SIDES
from spatialops.collision.narrow_phase.remembered import COLUMNS
from spatialops.collision.narrow_phase.supports import RIM

STACK = 64  # boxes of a mesh's tree that wait: a balanced one is less deep
FIRST_STACK = SIDES + 256  # of the integer rows: before it EPA's
FIRST_NAME = FIRST_STACK + STACK
BLOCKS = 5
# What each shape shows; for clipping; points of a pair; points of a mesh.
SHOWN_A, SHOWN_B, SPARE, FOUND, GATHERED = range(BLOCKS)


class Scratch(NamedTuple):
    """Rows of numbers and, block by block, the names that go with them; what is remembered."""

    rows: Array
    ints: IntArray
    remembered: Array  # rows of pairs, see `remembered`; none: every look is the first


PAIR = (
    types.NamedTuple((TABLE, ROWS, ROWS, LIST), GeomTables),
    ROWS,
    types.int64,
    types.int64,
    types.float64,
    types.NamedTuple((ROWS, TABLE, ROWS), Scratch),
)
"""Numba's types of geoms, places, two geoms, a limit and scratch: what points of a pair are of."""


def new_scratch(geom_ints: IntArray, lists: IntArray) -> Scratch:
    """Scratch for these geoms that remembers nothing."""
    rows, ints = scratch_shapes(geom_ints, lists)
    return Scratch(np.zeros(rows), np.zeros(ints, dtype=np.int64), np.zeros((0, COLUMNS)))


def scratch_shapes(geom_ints: IntArray, lists: IntArray) -> tuple[tuple[int, int], tuple[int, int]]:
    """Shapes of the scratch tables that these geoms need."""
    largest = RIM + 1  # and a face of a box has four corners
    for row in geom_ints[geom_ints[:, col.GEOM_SHAPE] == col.HULL]:
        places = lists[row[col.GEOM_LOOPS] : row[col.GEOM_LOOPS] + row[col.GEOM_FACE_COUNT] + 1]
        largest = max(largest, int(np.diff(places).max()))
    room = max(128, 2 * largest + 8)  # of two polygons' corners
    return (EPA_ROWS + BLOCKS * room, 10), (FIRST_NAME + BLOCKS * (room + 1), 3)


@inlined
def row_at(rows: Array, i: int) -> int:
    """First row of a block."""
    return EPA_ROWS + i * ((rows.shape[0] - EPA_ROWS) // BLOCKS)


@inlined
def name_at(ints: IntArray, i: int) -> int:
    """First row of the names of a block."""
    return FIRST_NAME + i * ((ints.shape[0] - FIRST_NAME) // BLOCKS)
