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
from spatialops.contact.rows import add_contact, velocity_of


@late(ROWS, types.int64, VECTOR, SCRATCH)
def sweep_contacts(rows: ContactRows, times: int, p: Array, scratch: NewtonScratch) -> None:
    """So many sweeps over all contacts, each solved alone: its normal, then its tangents."""
    put_velocities(rows, p, scratch.vectors[at.VELOCITY], scratch)
    for _ in range(times):
        for i in range(rows.friction.size):
            sweep_contact(rows, i, p, scratch)


@inlined
def sweep_contact(rows: ContactRows, i: int, p: Array, scratch: NewtonScratch) -> None:
    """Solve contact i where the others stay."""
    parts, j = scratch.status[i, at.PARTS], 3 * i
    y, squares = scratch.y, scratch.vectors[at.SQUARES]
    before = p[j]
    if parts & at.HAS_NORMAL:
        v, _, _ = velocity_of(rows.L, i, y)
        p[j] = max(before - (rows.u[j] + v) / squares[j], 0.0)
    if p[j] != before:
        add_contact(rows.L, i, (p[j] - before, 0.0, 0.0), y)
    before = p[j]
    tangents = p[j + 1], p[j + 2]
    r = 0.0
    pressing = p[3 * presser_of(rows, i)]
    if parts & at.HAS_FIRST and limit_of(rows, i, pressing) > 0.0:
        _, v, w = velocity_of(rows.L, i, y)
        k = scratch.friction[i, at.RESISTANCE] if is_dragged(rows, i) else 0.0
        r = 1.0 / (max(squares[j + 1], squares[j + 2]) + k)
        p[j + 1] -= r * (rows.u[j + 1] + v + k * p[j + 1])
        if parts & at.HAS_SECOND:
            p[j + 2] -= r * (rows.u[j + 2] + w + k * p[j + 2])
    put_statuses(rows, scratch, i, pressing, (p[j + 1], p[j + 2]), r)
    put_on_piece(rows, i, p, scratch)
    change = p[j] - before, p[j + 1] - tangents[0], p[j + 2] - tangents[1]
    if change[0] != 0.0 or change[1] != 0.0 or change[2] != 0.0:
        add_contact(rows.L, i, change, y)
