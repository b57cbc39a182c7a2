"""Rows of contacts for the solver, from dense ones and back."""

import numpy as np

from spatialops.contact.newton._layout import POLYGON
from spatialops.contact.newton.blocks.structure import structure_in
from spatialops.contact.newton.islands import new_buffers, room_of
from spatialops.contact.newton.rows import ContactRows, dense_scratch, newton_scratch
from spatialops.contact.rows import COUNT_A, COUNT_B, FIRST_A, FIRST_B, START, dense_rows


def contact_rows_of(L, *others, law=POLYGON):
    """A problem of one tree."""
    return ContactRows(dense_rows(L), np.array([0, L.shape[1]]), *others, law)


def dense_of(rows):
    """Rows (3 m, n) of a problem."""
    return dense_entries(rows.L, rows.trees[-1])


def dense_entries(rows, n):
    """Rows (3 m, n)."""
    L = np.zeros((3 * len(rows.places), n))
    for i, place in enumerate(rows.places):
        width = place[COUNT_A] + place[COUNT_B]
        own = rows.entries[place[START] : place[START] + 3 * width].reshape(3, width)
        for first, count, start in (
            (place[FIRST_A], place[COUNT_A], 0),
            (place[FIRST_B], place[COUNT_B], place[COUNT_A]),
        ):
            L[3 * i : 3 * i + 3, first : first + count] = own[:, start : start + count]
    return L


def scratch_of(rows):
    """Fresh scratch for rows, with room for the factors of any pile of them."""
    room = room_of(rows)
    b = new_buffers(room)
    blocks = b.block_ints, b.block_floats
    if len(b.block_ints):
        trees = room.trees
        pairs = trees * trees
        ints = np.zeros(len(b.block_ints) + 2 * pairs, dtype=np.int64)
        eights = room.widest * (room.widest // 8 + 1)
        blocks = ints, np.zeros((3 * pairs * eights + room.widest, 8))
    scratch = plain(newton_scratch)(b.newton_ints, b.newton_floats, blocks, room)
    return scratch._replace(
        dense=plain(dense_scratch)(b.newton_ints, b.newton_floats, room),
        blocks=plain(structure_in)(*blocks, room.trees),
    )


def plain(function):
    """A helper of kernels as Python runs it: parts of arrays that a kernel hands out are whole."""
    return getattr(function, "py_func", function)
