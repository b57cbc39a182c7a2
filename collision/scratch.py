"""The narrow phase's scratch tables: rows for EPA, and blocks of rows for polygons and points, each with names.

Kernels cannot allocate, and cannot return a view of an array: they ask where a block begins.
"""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._jit import inlined
from spatialops.collision._layout import BOX, GEOM_FACE_COUNT, GEOM_LOOPS, GEOM_SHAPE, HULL
from spatialops.collision.epa import EPA_ROWS, SIDES
from spatialops.collision.supports import RIM

STACK = 64  # boxes of a mesh's tree that wait: a balanced one is less deep
FIRST_STACK = SIDES + 256  # of the integer rows: before it EPA's
FIRST_NAME = FIRST_STACK + STACK
BLOCKS = 5
SHOWN_A, SHOWN_B, SPARE, FOUND, GATHERED = range(BLOCKS)  # what each shows; clipping; points of a pair, of a mesh


def scratch_shapes(geom_ints: IntArray, lists: IntArray) -> tuple[tuple[int, int], tuple[int, int]]:
    """Shapes of the scratch tables that these geoms need."""
    largest = RIM + 1
    for row in geom_ints:
        if row[GEOM_SHAPE] in (BOX, HULL):
            places = lists[row[GEOM_LOOPS] : row[GEOM_LOOPS] + row[GEOM_FACE_COUNT] + 1]
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
