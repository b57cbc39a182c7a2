"""Projected Gauss-Seidel in y = L^T p: a start where statuses cycle, one contact after the other.

It depends on the order of contacts, so that it comes only where nothing else has an answer.
"""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops._compile.apart import VECTOR, late, types
from spatialops._compile.jit import inlined
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.row_products import put_velocities
from spatialops.contact.newton.rows import ROWS, SCRATCH, ContactRows, NewtonScratch, presser_of
from spatialops.contact.newton.statuses import (
    is_dragged,
    limit_of,
    put_on_piece,
    put_statuses,
)
from spatialops.contact.rows import START, add_entries, entries_dot, width_of


@late(ROWS, types.int64, VECTOR, SCRATCH)
def sweep_contacts(rows: ContactRows, times: int, p: Array, scratch: NewtonScratch) -> None:
    """So many sweeps over all contacts, each solved alone: its normal, then its tangents."""
    y, squares = scratch.y, scratch.vectors[at.SQUARES]
    put_velocities(rows, p, scratch.vectors[at.VELOCITY], scratch)
    for _ in range(times):
        for i in range(rows.friction.size):
            parts, j = scratch.status[i, at.PARTS], 3 * i
            before = p[j], p[j + 1], p[j + 2]
            if parts & at.HAS_NORMAL:
                p[j] = max(p[j] - speed(rows, j, y) / squares[j], 0.0)
            r = 0.0
            pressing = p[3 * presser_of(rows, i)]
            if parts & at.HAS_FIRST and limit_of(rows, i, pressing) > 0.0:
                add_rows(rows, j, (p[j] - before[0], 0.0, 0.0), y)
                before = p[j], p[j + 1], p[j + 2]
                k = scratch.friction[i, at.RESISTANCE] if is_dragged(rows, i) else 0.0
                r = 1.0 / (max(squares[j + 1], squares[j + 2]) + k)
                p[j + 1] -= r * (speed(rows, j + 1, y) + k * p[j + 1])
                if parts & at.HAS_SECOND:
                    p[j + 2] -= r * (speed(rows, j + 2, y) + k * p[j + 2])
            put_statuses(rows, scratch, i, pressing, (p[j + 1], p[j + 2]), r)
            put_on_piece(rows, i, p, scratch)
            add_rows(rows, j, (p[j] - before[0], p[j + 1] - before[1], p[j + 2] - before[2]), y)


@inlined
def speed(rows: ContactRows, i: int, y: Array) -> float:
    """Velocity of row i of all."""
    contact = i // 3
    start = rows.L.places[contact, START] + (i % 3) * width_of(rows.L.places, contact)
    return rows.u[i] + entries_dot(rows.L.entries, start, rows.L.places, contact, y)


@inlined
def add_rows(rows: ContactRows, j: int, change: tuple[float, float, float], y: Array) -> None:
    """Take a change of the impulses of the contact with rows j, j + 1, j + 2 into y."""
    contact = j // 3
    width, start = width_of(rows.L.places, contact), rows.L.places[contact, START]
    for a in range(3):
        if change[a] != 0.0:
            add_entries(rows.L.entries, start + a * width, rows.L.places, contact, change[a], y)
