"""Contacts as constraint rows made of terms, as the closures' are: see TERM_* in `_layout`."""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._layout import TERM_A, TERM_ANGULAR, TERM_B, TERM_COLUMNS, TERM_INTS, TERM_LINEAR, TERM_POINT, TERM_ROW


def contact_terms(
    links: IntArray, points: Array, frames: Array, first_row: int, *, angular: bool = False
) -> tuple[IntArray, Array]:
    """Terms of contacts: three rows each along normal and tangents, from `first_row` on; or spins about them."""
    m = len(links)
    ints, terms = np.empty((3 * m, TERM_INTS), dtype=np.int64), np.zeros((3 * m, TERM_COLUMNS))
    ints[:, TERM_ROW] = first_row + np.arange(3 * m)
    ints[:, [TERM_A, TERM_B]] = np.repeat(links, 3, axis=0)
    terms[:, TERM_POINT : TERM_POINT + 3] = np.repeat(points, 3, axis=0)
    column = TERM_ANGULAR if angular else TERM_LINEAR
    terms[:, column : column + 3] = frames.reshape(-1, 3)
    return ints, terms
