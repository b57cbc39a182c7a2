"""Rows that act on few bodies: six numbers for each body that a row touches.

Constraint rows of free bodies, hinges, closures and contacts, in that order. What a row does to a
body is kept once, in the order of the rows; `by_body` lists the same by bodies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import kernel
from spatialops.algebra.vectors import cross, minus, plus, put3, scaled, vec3
from spatialops.dynamics.joint_split import (
    DOF,
    FIRST,
    PARENT,
    JointSplits,
    add_row,
    dot_rows,
    on_parent,
)
from spatialops.tree.model import Model

if TYPE_CHECKING:
    from scipy import sparse  # loaded where it is used: a third of the time that importing us takes

ROW = 0
BODY = 1
_NONE = -1  # row of an entry that is left out: the world does not move


class BodyRows(NamedTuple):
    """Rows (n_rows, 6 n_bodies) by their entries.

    Parameters
    ----------
    places : (e, 2) int array
        ROW and BODY of each entry, in the order of the rows, each pair once.
    values : (e, 6) array
        Moment and force on the body.
    starts : (n_rows + 1,) int array
        First entry of each row.
    by_body : (n_bodies + 1 + e,) int array
        Where the list of each body starts in this same array, then the lists of entries.
    """

    places: IntArray
    values: Array
    starts: IntArray
    by_body: IntArray

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.starts) - 1

    def matrix(self, n_bodies: int) -> sparse.csr_array:
        """The rows as a sparse matrix."""
        from scipy import sparse

        columns = 6 * self.places[:, BODY, None] + np.arange(6)
        shape = self.n_rows, 6 * n_bodies
        return sparse.csr_array((self.values.ravel(), columns.ravel(), 6 * self.starts), shape)


def constraint_rows(
    model: Model, work: Array, splits: JointSplits, terms: tuple[IntArray, Array], n_rows: int
) -> tuple[BodyRows, int]:
    """Rows of the hinges, then of `terms`; and the number of the hinges' rows."""
    ints, floats = terms
    n_hinges = 6 * model.n_bodies - model.nv
    # A term has two sides, and a link inside a joint five later axes at most.
    most = 2 * n_hinges + 22 * len(ints)
    places, values = np.empty((most, 2), dtype=np.int64), np.empty((most, 6))
    start = put_hinges(splits.joints, splits.split, splits.levers, places, values)
    of_terms = places[start:], values[start:]
    put_terms(work, model.body_links, splits.carried, ints, floats, n_hinges, *of_terms)
    used = slice(0, start + put_later_axes(*splits, ints, *of_terms))
    return collected(places[used], values[used], n_hinges + n_rows, model.n_bodies), n_hinges


def spread_rows(rows: BodyRows, first: int, facets: Array) -> BodyRows:
    """The same with D^T of the contacts' rows, from row `first` on: normal, d_1 .. d_nf."""
    n_f, width = len(facets), len(facets) + 1
    most = max(n_f, 1) * len(rows.places)
    places, values = np.empty((most, 2), dtype=np.int64), np.empty((most, 6))
    used = slice(0, combine_rows(rows.places, rows.values, first, facets, places, values))
    n_rows = first + width * ((rows.n_rows - first) // 3)
    return collected(places[used], values[used], n_rows, len(rows.by_body) - len(rows.places) - 1)


def collected(places: IntArray, values: Array, n_rows: int, n_bodies: int) -> BodyRows:
    """Entries in any order, those of the same row and body added up."""
    starts = np.empty(n_rows + 1, dtype=np.int64)
    by_row = np.empty(n_rows + 1 + len(places), dtype=np.int64)
    kept, sums = np.empty_like(places), np.empty_like(values)
    count = add_up(places, values, by_row, starts, kept, sums)
    kept, sums = kept[:count], sums[:count]
    by_body = np.empty(n_bodies + 1 + count, dtype=np.int64)
    list_by(kept, BODY, n_bodies, by_body)
    return BodyRows(kept, sums, starts, by_body)


@kernel
def put_hinges(
    joints: IntArray, split: Array, levers: Array, places: IntArray, values: Array
) -> int:
    """What hinges hold of the relative twists; returns the number of entries."""
    row = 0
    e = 0
    for b in range(joints.shape[0]):
        for j in range(joints[b, DOF], 6):
            e = put_relative(joints, split, levers, b, j, 1.0, row, e, places, values)
            row += 1
    return e


@kernel
def put_relative(
    joints: IntArray,
    split: Array,
    levers: Array,
    b: int,
    j: int,
    factor: float,
    row: int,
    e: int,
    places: IntArray,
    values: Array,
) -> int:
    """Row j of joint b's split times a factor, as entries of child and parent from e on."""
    turning = scaled(factor, vec3(split, 6 * b + j, 0))
    sliding = scaled(factor, vec3(split, 6 * b + j, 3))
    put_entry(places, values, e, row, b, turning, sliding)
    if joints[b, PARENT] < 0:
        return e + 1
    turning, sliding = on_parent(levers, b, turning, sliding)
    put_entry(places, values, e + 1, row, joints[b, PARENT], turning, sliding)
    return e + 2


@kernel
def put_entry(
    places: IntArray,
    values: Array,
    e: int,
    row: int,
    body: int,
    turning: tuple[float, float, float],
    sliding: tuple[float, float, float],
) -> None:
    """One entry."""
    places[e, ROW] = row
    places[e, BODY] = body
    put3(values, e, 0, turning)
    put3(values, e, 3, sliding)


@kernel
def put_terms(
    work: Array,
    body_links: IntArray,
    carried: IntArray,
    ints: IntArray,
    floats: Array,
    first_row: int,
    places: IntArray,
    values: Array,
) -> None:
    """Two entries a term, of A and of B, as if every link moved as the body that it carries."""
    for t in range(ints.shape[0]):
        point = vec3(floats, t, layout.TERM_POINT)
        angular = vec3(floats, t, layout.TERM_ANGULAR)
        linear = vec3(floats, t, layout.TERM_LINEAR)
        for side in range(2):
            link = ints[t, layout.TERM_A + side]
            e = 2 * t + side
            places[e, ROW] = _NONE
            if link < 0:
                continue
            sign = 1.0 - 2.0 * side
            arm = minus(point, vec3(work, body_links[carried[link]], layout.ORIGIN))
            turning = scaled(sign, plus(angular, cross(arm, linear)))
            sliding = scaled(sign, linear)
            row = first_row + ints[t, layout.TERM_ROW]
            put_entry(places, values, e, row, carried[link], turning, sliding)


@kernel
def put_later_axes(
    joints: IntArray,
    carried: IntArray,
    motion: Array,
    split: Array,
    levers: Array,
    ints: IntArray,
    places: IntArray,
    values: Array,
) -> int:
    """Take back what the later axes of a joint add to links inside it; returns all entries.

    A row r on such a link is r V_child - r S_later qdot_later, qdot = S^+ (V_child - X V_parent).
    """
    count = 2 * ints.shape[0]
    for t in range(ints.shape[0]):
        for side in range(2):
            link = ints[t, layout.TERM_A + side]
            if link < 0:
                continue
            b = carried[link]
            for later in range(link + 1, joints[b, FIRST] + joints[b, DOF]):
                e = 2 * t + side
                factor = -dot_rows(values, e, motion, later)
                j = later - joints[b, FIRST]
                row = places[e, ROW]
                count = put_relative(
                    joints, split, levers, b, j, factor, row, count, places, values
                )
    return count


@kernel
def combine_rows(
    places: IntArray, values: Array, first: int, facets: Array, more: IntArray, sums: Array
) -> int:
    """Entries of the normal, and of d = x t_1 + y t_2 for each facet (x, y); their number."""
    count, width = 0, facets.shape[0] + 1
    for e in range(places.shape[0]):
        row, body = places[e, ROW], places[e, BODY]
        contact, along = (row - first) // 3, (row - first) % 3
        turning, sliding = vec3(values, e, 0), vec3(values, e, 3)
        if row < first or along == 0:
            at = row if row < first else first + width * contact
            put_entry(more, sums, count, at, body, turning, sliding)
            count += 1
            continue
        for f in range(facets.shape[0]):
            x = facets[f, along - 1]
            if x != 0.0:
                at = first + width * contact + 1 + f
                put_entry(more, sums, count, at, body, scaled(x, turning), scaled(x, sliding))
                count += 1
    return count


@kernel
def list_by(places: IntArray, key: int, n: int, lists: IntArray) -> None:
    """Entries by row or by body: n + 1 starts, which point into the same array, then the lists."""
    for i in range(n + 1):
        lists[i] = 0
    for e in range(places.shape[0]):
        if places[e, key] != _NONE:
            lists[places[e, key]] += 1
    end = n + 1
    for i in range(n + 1):
        end += lists[i]
        lists[i] = end
    # Filled from the end of each list, which leaves its start.
    for e in range(places.shape[0] - 1, -1, -1):
        i = places[e, key]
        if i != _NONE:
            lists[i] -= 1
            lists[lists[i]] = e


@kernel
def add_up(
    places: IntArray, values: Array, by_row: IntArray, starts: IntArray, kept: IntArray, sums: Array
) -> int:
    """Entries row by row, those of one body added; returns their number."""
    list_by(places, ROW, starts.size - 1, by_row)
    count = 0
    for row in range(starts.size - 1):
        starts[row] = count
        for i in range(by_row[row], by_row[row + 1]):
            e = by_row[i]
            at = starts[row]
            while at < count and kept[at, BODY] != places[e, BODY]:
                at += 1
            if at < count:
                add_row(sums, at, 1.0, values, e)
                continue
            put_entry(
                kept, sums, count, row, places[e, BODY], vec3(values, e, 0), vec3(values, e, 3)
            )
            count += 1
    starts[starts.size - 1] = count
    return count
