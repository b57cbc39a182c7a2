"""Contacts of geoms that stand where they stood: known without another look at their shapes.

What rests is seen twice a step and has not moved, and the narrow phase is the dearest part of
seeing it. A geom stands still while it is, to roundings of its place, where its contacts were made;
that place is replaced as soon as it is not, so that roundings never add up. Contacts of two geoms
that have stood still since are taken over as they are; only their velocities are new.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import vec3
from spatialops.collision import _layout as col

_STILL = 4.0 * float(np.finfo(np.float64).eps)  # of the size of a place


class KnownContacts(NamedTuple):
    """Contacts of an earlier look, and who has moved since.

    Attributes
    ----------
    ints : (m, CONTACT_INTS) int array
        Their names; pairs ascend.
    floats : (m, KNOWN_COLUMNS) array
    stood : (n, STOOD_COLUMNS) array
        Places of geoms, and the look at which they came there.
    look : int
        The look that the contacts are of, which was without a horizon; 0: nothing is known.
    """

    ints: IntArray
    floats: Array
    stood: Array
    look: int


def nothing_known() -> KnownContacts:
    """For a look that begins from nothing."""
    return KnownContacts(
        np.zeros((0, col.CONTACT_INTS), dtype=np.int64),
        np.zeros((0, col.KNOWN_COLUMNS)),
        np.zeros((0, col.STOOD_COLUMNS)),
        0,
    )


@kernel
def note_moved(geoms: Array, places: Array, stood: Array, look: int) -> None:
    """Note the geoms that do not stand where they stood before this look."""
    for g in range(stood.shape[0]):
        if not stands(geoms, places, stood, g):
            for column in range(col.PLACE_COLUMNS):
                stood[g, column] = places[g, column]
            stood[g, col.SINCE] = look


@inlined
def stands(geoms: Array, places: Array, stood: Array, g: int) -> bool:
    """Whether a geom stands where it stood."""
    allowed = rounding_of(geoms, places, g)
    for column in range(3):
        if not abs(places[g, col.PLACE + column] - stood[g, col.PLACE + column]) <= allowed:
            return False
    for column in range(9):
        if not abs(places[g, col.TURN + column] - stood[g, col.TURN + column]) <= _STILL:
            return False
    return True


@inlined
def rounding_of(geoms: Array, places: Array, g: int) -> float:
    """By how much roundings may move points of a geom, m."""
    x, y, z = vec3(places, g, col.PLACE)
    return _STILL * (abs(x) + abs(y) + abs(z) + geoms[g, col.GEOM_BOUND])


@inlined
def stand_still(
    known: KnownContacts, geoms: Array, places: Array, a: int, b: int, way: float
) -> bool:
    """Whether what is known of two geoms holds, also on their `way` together, m."""
    if known.look == 0:
        return False
    if known.stood[a, col.SINCE] > known.look or known.stood[b, col.SINCE] > known.look:
        return False
    return way <= rounding_of(geoms, places, a)


@inlined
def first_of_pair(ints: IntArray, count: int, pair: int, guess: int) -> int:
    """First row of a pair among so many contacts as they are seen: pairs ascend.

    It is looked for about a guess, twice as far away each time: from one look to the next few
    contacts come and go, and bisection of thousands would touch memory all over the table.
    """
    low, high = 0, count
    step = 1
    row = min(guess, count - 1)
    if row >= 0 and ints[row, col.CONTACT_PAIR] < pair:
        low = row + 1
        while low + step <= high:
            if ints[low + step - 1, col.CONTACT_PAIR] >= pair:
                high = low + step - 1
                break
            low += step
            step *= 2
    elif row >= 0:
        high = row
        while high - step >= low:
            if ints[high - step, col.CONTACT_PAIR] < pair:
                low = high - step + 1
                break
            high -= step
            step *= 2
    while low < high:
        middle = (low + high) // 2
        if ints[middle, col.CONTACT_PAIR] < pair:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def row_of_same(table: IntArray, count: int, ints: IntArray, i: int) -> int:
    """Row, among so many contacts as they are seen, of contact i of others; -1: it is not there.

    As a rule it is not far from i.
    """
    pair = ints[i, col.CONTACT_PAIR]
    for j in range(first_of_pair(table, count, pair, i), count):
        if table[j, col.CONTACT_PAIR] != pair:
            return -1
        first = table[j, col.CONTACT_FEATURE_A] == ints[i, col.CONTACT_FEATURE_A]
        if first and table[j, col.CONTACT_FEATURE_B] == ints[i, col.CONTACT_FEATURE_B]:
            return j
    return -1


@inlined
def keep_known(known: Array, i: int, floats: Array, velocity: Vec3) -> None:
    """Keep seen contact i, at which A moves against B so, for the looks to come."""
    known[i, col.KNOWN_GAP] = floats[i, col.GAP]
    known[i, col.KNOWN_SPEED] = floats[i, col.APPROACH]
    for j in range(3):
        known[i, col.KNOWN_VELOCITY + j] = velocity[j]
        known[i, col.KNOWN_POINT + j] = floats[i, col.POINT + j]
        known[i, col.KNOWN_NORMAL + j] = floats[i, col.NORMAL + j]
