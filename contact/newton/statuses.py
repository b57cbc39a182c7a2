"""Statuses of contacts: who presses, who sticks, and where on the polygon friction of others is.

Coulomb's law with a polygon is a projection: with x = p - r v for any r > 0,

    p_n = max(x_n, 0),    p_t = nearest point to x_t of the polygon of radius mu (p_n + theta) + f,

theta an impulse that presses already, f the dry friction of a joint. The piece of the projection on
which x lies is the status. On a piece the law is linear, and Newton's method solves it at once.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.rows import ContactRows, NewtonScratch
from spatialops.contact.rows import square_of

_IDLE = 1e-14  # W_ii relative to the largest, and
_STILL = 1e-12  # velocity relative to the largest, of a row that no impulse moves: a plane's normal


@kernel
def find_parts(rows: ContactRows, scratch: NewtonScratch) -> float:
    """Diagonal of W, and the parts that each contact has; returns the largest entry s.

    A contact without friction has no tangents, dry friction of a joint (no mu, a limit) no normal,
    two directions of friction are one tangent, and what does not move has no part.
    """
    squares = scratch.vectors[at.SQUARES]
    s = 0.0
    fastest = 0.0
    for i in range(3 * rows.friction.size):
        squares[i] = square_of(rows.L, i // 3, i % 3)
        s, fastest = max(s, squares[i]), max(fastest, abs(rows.u[i]))
    for i in range(rows.friction.size):
        parts = at.HAS_NORMAL if squares[3 * i] > 0.0 else 0
        if rows.dry[i] > 0.0:
            parts = at.HAS_FIRST
        elif rows.friction[i] > 0.0 and max(squares[3 * i + 1], squares[3 * i + 2]) > 0.0:
            parts += at.HAS_FIRST
            moves = squares[3 * i + 2] > _IDLE * s or abs(rows.u[3 * i + 2]) > _STILL * fastest
            if rows.corners.shape[0] > 2 and moves:
                parts += at.HAS_SECOND
        scratch.status[i, at.PARTS] = parts
    return s if s > 0.0 else 1.0


@inlined
def limit_of(rows: ContactRows, i: int, pressing: float) -> float:
    """Radius of the polygon of friction."""
    return rows.friction[i] * (pressing + rows.prior[i]) + rows.dry[i]


@inlined
def side_normal(corners: Array, k: int) -> tuple[float, float, float]:
    """Unit normal of the side that begins at corner k, and its distance for a radius of 1."""
    after = (k + 1) % corners.shape[0]
    x, y = corners[k, 0] + corners[after, 0], corners[k, 1] + corners[after, 1]
    length = math.sqrt(x * x + y * y)
    return x / length, y / length, 0.5 * length


@kernel
def polygon_status(corners: Array, line: bool, x: float, y: float, limit: float) -> tuple[int, int]:
    """Status and side of the nearest point to (x, y) of the polygon of a radius, or of a line."""
    sides = corners.shape[0]
    if line:
        return (at.STICKS, 0) if abs(x) <= limit else (at.AT_CORNER, 0 if x > 0.0 else sides // 2)
    best, height = 0, -1.0
    for k in range(sides):
        n_x, n_y, _ = side_normal(corners, k)
        if n_x * x + n_y * y > height:
            best, height = k, n_x * x + n_y * y
    n_x, n_y, inner = side_normal(corners, best)
    if height <= inner * limit:
        return at.STICKS, 0
    along = n_x * y - n_y * x  # from the middle of the side towards the next corner
    half = limit * math.sqrt(max(1.0 - inner * inner, 0.0))
    if along >= half:
        return at.AT_CORNER, (best + 1) % sides
    return (at.AT_CORNER, best) if along <= -half else (at.AT_SIDE, best)


@kernel
def find_statuses(
    rows: ContactRows, eps: float, share: float, p: Array, scratch: NewtonScratch
) -> bool:
    """Statuses of x = p - r (v + eps (p - centre)), r = share / W_ii; whether any is new."""
    v, squares = scratch.vectors[at.VELOCITY], scratch.vectors[at.SQUARES]
    centre, changed = scratch.vectors[at.CENTRE], False
    for i in range(rows.friction.size):
        parts, j = scratch.status[i, at.PARTS], 3 * i
        pressing = 0.0
        if parts & at.HAS_NORMAL:
            pressing = max(p[j] - share * (v[j] + eps * (p[j] - centre[j])) / squares[j], 0.0)
        normal = at.PRESSES if pressing > 0.0 else at.OPEN
        tangent = at.FREE
        side = 0
        limit = limit_of(rows, i, pressing)
        if parts & at.HAS_FIRST and limit > 0.0:
            r = share / max(squares[j + 1], squares[j + 2])
            x = p[j + 1] - r * (v[j + 1] + eps * (p[j + 1] - centre[j + 1]))
            y = p[j + 2] - r * (v[j + 2] + eps * (p[j + 2] - centre[j + 2]))
            tangent, side = polygon_status(rows.corners, not parts & at.HAS_SECOND, x, y, limit)
        changed = put_status(scratch.status, i, normal, tangent, side) or changed
    return changed


@inlined
def put_status(status: IntArray, i: int, normal: int, tangent: int, side: int) -> bool:
    same = status[i, at.NORMAL] == normal and status[i, at.TANGENT] == tangent
    same = same and status[i, at.SIDE] == side
    status[i, at.NORMAL], status[i, at.TANGENT] = normal, tangent
    status[i, at.SIDE] = side
    return not same


@inlined
def sliding(rows: ContactRows, status: IntArray, i: int) -> tuple[float, float, float]:
    """Direction e of friction at its limit, and its size g for a polygon of radius 1; else 0."""
    k = status[i, at.SIDE]
    if status[i, at.TANGENT] == at.AT_CORNER:
        return rows.corners[k, 0], rows.corners[k, 1], 1.0
    if status[i, at.TANGENT] == at.AT_SIDE:
        return side_normal(rows.corners, k)
    return 1.0, 0.0, 0.0


@kernel
def put_on_pieces(rows: ContactRows, p: Array, scratch: NewtonScratch) -> None:
    """Move impulses onto the pieces of their statuses: friction at its limit where it slides."""
    for i in range(rows.friction.size):
        put_on_piece(rows, i, p, scratch.status)


@inlined
def put_on_piece(rows: ContactRows, i: int, p: Array, status: IntArray) -> None:
    """The same of one contact."""
    j, tangent = 3 * i, status[i, at.TANGENT]
    if status[i, at.NORMAL] == at.OPEN:
        p[j] = 0.0
    if tangent == at.FREE:
        p[j + 1] = p[j + 2] = 0.0
    elif tangent != at.STICKS:
        e_x, e_y, g = sliding(rows, status, i)
        along = e_x * p[j + 2] - e_y * p[j + 1] if tangent == at.AT_SIDE else 0.0
        limit = g * limit_of(rows, i, p[j])
        p[j + 1], p[j + 2] = limit * e_x - along * e_y, limit * e_y + along * e_x
