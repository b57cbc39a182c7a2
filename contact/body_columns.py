"""Matrices of complementarity problems on free bodies, column by column.

What a row does to its few bodies (`body_rows.py`) and the bodies' inertias make G M^-1 G* and
[M, -G*; G, 0] in time proportional to their entries, without a matrix being formed on the way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray, Mat3, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import dot, plus, rotate, vec3
from spatialops.contact.body_rows import BODY, ROW, BodyRows
from spatialops.contact.lcp.problem import Matrix

if TYPE_CHECKING:
    from scipy import sparse

# Rows from which sparse solvers are quicker on these matrices than dense ones (`spatialops
# compare` measures both: 90 rows of NMC are quicker dense, 156 sparse).
SPARSE_ROWS = 120


class Columns(NamedTuple):
    """A square matrix by the entries of its columns, of which only those that may not be zero.

    Parameters
    ----------
    starts : (n + 1,) int array
        First entry of each column.
    rows : (k,) int array
        Row of each entry.
    entries : (k,) array
        Its value.
    """

    starts: IntArray
    rows: IntArray
    entries: Array

    @property
    def size(self) -> int:
        """Number of rows and columns."""
        return len(self.starts) - 1

    def dense(self) -> Array:
        """The matrix as an array."""
        made = np.zeros((self.size, self.size))
        scatter(self.starts, self.rows, self.entries, made)
        return made

    def compressed(self) -> sparse.csc_array:
        """The matrix as SciPy keeps it."""
        from scipy import sparse

        rows, starts = self.rows.astype(np.int32), self.starts.astype(np.int32)
        return sparse.csc_array((self.entries, rows, starts), shape=(self.size, self.size))

    def matrix(self) -> Matrix:
        """One of the two, whichever is quicker to solve with."""
        return self.dense() if self.size < SPARSE_ROWS else self.compressed()


def compliance_columns(rows: BodyRows, inverse: Array) -> Columns:
    """G M^-1 G* of rows, `inverse` (6 n, 6) being the bodies' own."""
    n_rows, n = rows.n_rows, len(inverse) // 6
    starts, seen = np.empty(n_rows + 1, np.int64), np.empty(n_rows, np.int64)
    most = count_pairs(rows.by_body, n)
    found, entries = np.empty(most, np.int64), np.empty(most)
    sums = np.empty(n_rows)
    count = put_compliance(
        rows.places,
        rows.values,
        rows.starts,
        rows.by_body,
        inverse,
        starts,
        found,
        entries,
        sums,
        seen,
    )
    return Columns(starts, found[:count], entries[:count])


def descriptor_columns(rows: BodyRows, blocks: Array) -> Columns:
    """[M, -G*; G, 0] of rows, `blocks` (6 n, 6) being the bodies' inertias."""
    size = len(blocks) + rows.n_rows
    count = 6 * len(blocks) + 12 * len(rows.places)
    starts = np.empty(size + 1, np.int64)
    found = np.empty(count, np.int64)
    entries = np.empty(count)
    put_descriptor(
        rows.places, rows.values, rows.starts, rows.by_body, blocks, starts, found, entries
    )
    return Columns(starts, found, entries)


def with_cones(columns: Columns, friction: Array, n_f: int) -> Columns:
    """With E and [mu, -E*] of [J] 12-15 for the last n_u (n_f + 1) columns, n_u behind them."""
    m = len(friction)
    size, count = columns.size + m, len(columns.entries) + m * (2 * n_f + 1)
    starts = np.empty(size + 1, np.int64)
    found = np.empty(count, np.int64)
    entries = np.empty(count)
    add_cones(*columns, friction, n_f, starts, found, entries)
    return Columns(starts, found, entries)


@kernel
def count_pairs(by_body: IntArray, n: int) -> int:
    """Pairs of rows that meet at a body: no more entries than these."""
    count = 0
    for b in range(n):
        count += (by_body[b + 1] - by_body[b]) ** 2
    return count


@kernel
def put_compliance(
    places: IntArray,
    values: Array,
    row_starts: IntArray,
    by_body: IntArray,
    inverse: Array,
    starts: IntArray,
    found: IntArray,
    entries: Array,
    sums: Array,
    seen: IntArray,
) -> int:
    """Columns of G M^-1 G*: each row's response on its bodies, met by all rows of those."""
    count = 0
    for row in range(seen.size):
        seen[row] = -1
    for column in range(seen.size):
        starts[column] = count
        for e in range(row_starts[column], row_starts[column + 1]):
            body = places[e, BODY]
            turning, sliding = response(inverse, 6 * body, values, e)
            for i in range(by_body[body], by_body[body + 1]):
                other = by_body[i]
                row = places[other, ROW]
                if seen[row] != column:
                    seen[row] = column
                    sums[row] = 0.0
                    found[count] = row
                    count += 1
                sums[row] += dot(vec3(values, other, 0), turning) + dot(
                    vec3(values, other, 3), sliding
                )
        for k in range(starts[column], count):
            entries[k] = sums[found[k]]
    starts[seen.size] = count
    return count


@inlined
def response(inverse: Array, first: int, values: Array, e: int) -> tuple[Vec3, Vec3]:
    """What a body makes of the wrench of entry e: its inverse, from row `first` on, times that."""
    moment, force = vec3(values, e, 0), vec3(values, e, 3)
    turning = plus(
        rotate(block(inverse, first, 0), moment), rotate(block(inverse, first, 3), force)
    )
    sliding = plus(
        rotate(block(inverse, first + 3, 0), moment), rotate(block(inverse, first + 3, 3), force)
    )
    return turning, sliding


@inlined
def block(table: Array, row: int, column: int) -> Mat3:
    """Three rows and columns of a table."""
    return vec3(table, row, column), vec3(table, row + 1, column), vec3(table, row + 2, column)


@kernel
def put_descriptor(
    places: IntArray,
    values: Array,
    row_starts: IntArray,
    by_body: IntArray,
    blocks: Array,
    starts: IntArray,
    found: IntArray,
    entries: Array,
) -> None:
    """Columns of the bodies' velocities, [M; G], then of the impulses, [-G*; 0]."""
    count, n_v = 0, blocks.shape[0]
    for column in range(n_v):
        body, axis = column // 6, column % 6
        starts[column] = count
        for a in range(6):
            found[count] = 6 * body + a
            entries[count] = blocks[6 * body + a, axis]
            count += 1
        for i in range(by_body[body], by_body[body + 1]):
            found[count] = n_v + places[by_body[i], ROW]
            entries[count] = values[by_body[i], axis]
            count += 1
    for row in range(row_starts.size - 1):
        starts[n_v + row] = count
        for e in range(row_starts[row], row_starts[row + 1]):
            for a in range(6):
                found[count] = 6 * places[e, BODY] + a
                entries[count] = -values[e, a]
                count += 1
    starts[n_v + row_starts.size - 1] = count


@kernel
def add_cones(
    starts: IntArray,
    rows: IntArray,
    entries: Array,
    friction: Array,
    n_f: int,
    new_starts: IntArray,
    new_rows: IntArray,
    new_entries: Array,
) -> None:
    """Copy, with an entry more in each column of a contact, and the columns of sigma."""
    m = friction.size
    size = starts.size - 1
    count = 0
    first = size - m * (n_f + 1)
    for column in range(size):
        new_starts[column] = count
        for k in range(starts[column], starts[column + 1]):
            new_rows[count] = rows[k]
            new_entries[count] = entries[k]
            count += 1
        if column >= first:
            i, along = (column - first) // (n_f + 1), (column - first) % (n_f + 1)
            new_rows[count] = size + i
            new_entries[count] = friction[i] if along == 0 else -1.0
            count += 1
    for i in range(m):
        new_starts[size + i] = count
        for f in range(n_f):
            new_rows[count] = first + i * (n_f + 1) + 1 + f
            new_entries[count] = 1.0
            count += 1
    new_starts[size + m] = count


@kernel
def scatter(starts: IntArray, rows: IntArray, entries: Array, made: Array) -> None:
    """Entries into a matrix of zeros."""
    for column in range(starts.size - 1):
        for k in range(starts[column], starts[column + 1]):
            made[rows[k], column] = entries[k]
