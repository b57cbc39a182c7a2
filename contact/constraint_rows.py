"""Contacts, stops and dry friction as rows of terms, as the closures': TERM_* in `_layout`."""

from __future__ import annotations

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray

# what a contact is: of bodies, the stop of a joint, the dry friction of a joint
CONTACT = 0
STOP = 1
DRY = 2


def contact_terms(
    links: IntArray,
    points: Array,
    frames: Array,
    first_row: int,
    kinds: IntArray | None = None,
    tree: IntArray | None = None,
) -> tuple[IntArray, Array]:
    """Terms of contacts: three rows each along normal and tangents, from `first_row` on.

    Of a joint (`kinds`, whose motion `tree` tells) only the normal of a stop and the first tangent
    of dry friction: its rate, the turning or sliding of its link against the parent along the axis.
    """
    m = len(links)
    ints = np.empty((3 * m, layout.TERM_INTS), dtype=np.int64)
    terms = np.zeros((3 * m, layout.TERM_COLUMNS))
    ints[:, layout.TERM_ROW] = first_row + np.arange(3 * m)
    ints[:, [layout.TERM_A, layout.TERM_B]] = np.repeat(links, 3, axis=0)
    terms[:, layout.TERM_POINT : layout.TERM_POINT + 3] = np.repeat(points, 3, axis=0)
    terms[:, layout.TERM_LINEAR : layout.TERM_LINEAR + 3] = frames.reshape(-1, 3)
    if kinds is not None and tree is not None and kinds.any():
        of_joint = np.repeat(kinds, 3)
        idle = np.where(of_joint == STOP, np.arange(3 * m) % 3 != 0, np.arange(3 * m) % 3 != 1)
        terms[(of_joint != CONTACT) & idle, layout.TERM_LINEAR :] = 0.0
        turns = np.repeat(
            (kinds != CONTACT) & (tree[links[:, 0], layout.MOTION] != layout.LINEAR), 3
        )
        terms[turns, layout.TERM_ANGULAR : layout.TERM_ANGULAR + 3] = terms[
            turns, layout.TERM_LINEAR : layout.TERM_LINEAR + 3
        ]
        terms[turns, layout.TERM_LINEAR :] = 0.0
    return ints, terms


def moment_terms(links: IntArray, points: Array, frames: Array) -> tuple[IntArray, Array]:
    """Terms of the spins of contacts: three rows each, about normal and tangents."""
    ints, terms = contact_terms(links, points, frames, 0)
    terms[:, layout.TERM_ANGULAR : layout.TERM_ANGULAR + 3] = terms[
        :, layout.TERM_LINEAR : layout.TERM_LINEAR + 3
    ]
    terms[:, layout.TERM_LINEAR : layout.TERM_LINEAR + 3] = 0.0
    return ints, terms
