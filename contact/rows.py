"""Contacts, stops and dry friction as constraint rows made of terms, as the closures' are: see TERM_* in `_layout`."""

from __future__ import annotations

from typing import Any

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._layout import (
    LINEAR,
    MOTION,
    TERM_A,
    TERM_ANGULAR,
    TERM_B,
    TERM_COLUMNS,
    TERM_INTS,
    TERM_LINEAR,
    TERM_POINT,
    TERM_ROW,
)

CONTACT, STOP, DRY = 0, 1, 2  # what a contact is: of bodies, the stop of a joint, the dry friction of a joint


def contact_terms(
    links: IntArray, points: Array, frames: Array, first_row: int, kinds: IntArray | None = None, tree: Any = None
) -> tuple[IntArray, Array]:
    """Terms of contacts: three rows each along normal and tangents, from `first_row` on.

    Of a joint (`kinds`, whose motion `tree` tells) only the normal of a stop and the first tangent of dry friction: its
    rate, the turning or sliding of its link against the parent along the axis.
    """
    m = len(links)
    ints, terms = np.empty((3 * m, TERM_INTS), dtype=np.int64), np.zeros((3 * m, TERM_COLUMNS))
    ints[:, TERM_ROW] = first_row + np.arange(3 * m)
    ints[:, [TERM_A, TERM_B]] = np.repeat(links, 3, axis=0)
    terms[:, TERM_POINT : TERM_POINT + 3] = np.repeat(points, 3, axis=0)
    terms[:, TERM_LINEAR : TERM_LINEAR + 3] = frames.reshape(-1, 3)
    if kinds is not None and kinds.any():
        of_joint = np.repeat(kinds, 3)
        idle = np.where(of_joint == STOP, np.arange(3 * m) % 3 != 0, np.arange(3 * m) % 3 != 1)
        terms[(of_joint != CONTACT) & idle, TERM_LINEAR:] = 0.0
        turns = np.repeat((kinds != CONTACT) & (tree[links[:, 0], MOTION] != LINEAR), 3)
        terms[turns, TERM_ANGULAR : TERM_ANGULAR + 3] = terms[turns, TERM_LINEAR : TERM_LINEAR + 3]
        terms[turns, TERM_LINEAR:] = 0.0
    return ints, terms


def moment_terms(links: IntArray, points: Array, frames: Array) -> tuple[IntArray, Array]:
    """Terms of the spins of contacts: three rows each, about normal and tangents."""
    ints, terms = contact_terms(links, points, frames, 0)
    terms[:, TERM_ANGULAR : TERM_ANGULAR + 3] = terms[:, TERM_LINEAR : TERM_LINEAR + 3]
    terms[:, TERM_LINEAR : TERM_LINEAR + 3] = 0.0
    return ints, terms
