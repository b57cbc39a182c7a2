"""Statuses of contacts: who presses, who sticks, and where on its limit friction of others is.

Laws of friction are projections: with x = p - r v for any r > 0,

    p_n = max(x_n, 0),    p_t = nearest point to x_t of the polygon of radius mu (p_n + theta) + f,

theta an impulse that presses already, f the dry friction of a joint. The piece of the projection on
which x lies is the status. On a piece the law is linear, and Newton's method solves it at once.

Of the circle in the polygon's place, the exact cone, there are as many pieces as directions. Along
e = x_t / |x_t| friction is at its limit R; along the tangent t its derivative R / |x_t| gives

    t . v + k t . p = 0,    k = (|x_t| - R) / (r R),

where an answer has the slip over the limit: what a side of a polygon asks for, with a resistance k.
A drag is such a resistance 1 / K along both tangents, whatever presses; no slip is none.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.rows import (
    ContactRows,
    NewtonScratch,
    is_moment,
    is_round,
    presser_of,
)
from spatialops.contact.rows import squares_of

_IDLE = 1e-14  # W_ii relative to the largest, and
_STILL = 1e-12  # velocity relative to the largest, of a row that no impulse moves: a plane's normal
# What slides: its impulse is near the limit, and nearly opposite to its velocity, which counts so
# many times as much then. Of what creeps the velocity is rounding, and so is its direction.
_AT_LIMIT = 0.99
_OPPOSED = 0.9
_STEEP = 100.0
_STEEPEST = 1e3  # r W_ii
# rad; directions that differ by less have statuses, and factors, in common: Newton's error is the
# square of it, and what refines the answer goes on in the new ones.
_TURNED = 1e-5
# Contacts that move so many times less easily than the one that does most have weights of their
# own: beside fingers of 10 g a robot's trunk would stand on soft ground. Of four robots whose
# parts overlap, 57 to 196 contacts, the loop solves 6 to 13 times as many problems a second with
# 10 as without; with 100 and with 1 fewer.
_RANGE = 10.0


@kernel
def find_parts(rows: ContactRows, scratch: NewtonScratch) -> float:
    """Diagonal of W, and the parts that each contact has; returns the largest entry s.

    A contact without friction has no tangents, dry friction of a joint (no mu, a limit) no normal,
    two directions of friction are one tangent, and what does not move has no part.
    """
    squares = scratch.vectors[at.SQUARES]
    s = 0.0
    fastest = 0.0
    for i in range(rows.friction.size):
        a, b, c = squares_of(rows.L, i, rows.dry[i] > 0.0)
        squares[3 * i] = a
        squares[3 * i + 1] = b
        squares[3 * i + 2] = c
        s = max(s, a, b, c)
    for i in range(rows.u.size):
        fastest = max(fastest, abs(rows.u[i]))
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
        scratch.status[i, at.TANGENT] = at.UNKNOWN
        put_free(scratch.friction, i)
        if is_dragged(rows, i):
            scratch.friction[i, at.RESISTANCE] = 1.0 / rows.friction[i]
    s = s if s > 0.0 else 1.0
    put_weights(rows, s, scratch)
    return s


@kernel
def put_weights(rows: ContactRows, s: float, scratch: NewtonScratch) -> None:
    """Shares of the proximal term: of bodies' contacts one as a rule, of a joint its own.

    Among contacts it is one compliance, which spreads what they carry evenly, up to what moves as
    easily as `_RANGE` allows. Rows of joints have other units: a light wrist turns 2000 times as
    easily as a foot is pushed, and what is little for the wrist would be soft ground under the
    foot.
    """
    squares, of_contacts = scratch.vectors[at.SQUARES], 0.0
    for i in range(scratch.status.shape[0]):
        if is_moment(rows, i) or not is_of_joint(squares, i):
            for j in range(3):
                of_contacts = max(of_contacts, squares[3 * i + j])
    for i in range(scratch.status.shape[0]):
        most = max(squares[3 * i], squares[3 * i + 1], squares[3 * i + 2])
        own = min(of_contacts, _RANGE * most)
        if is_of_joint(squares, i) and not is_moment(rows, i):
            own = max(squares[3 * i], squares[3 * i + 1])
        scratch.friction[i, at.WEIGHT] = own / s if own > 0.0 else 1.0


@inlined
def is_of_joint(squares: Array, i: int) -> bool:
    """Whether one row at most of contact i moves anything, as of a stop or of dry friction."""
    moving = 0
    for j in range(3):
        moving += 1 if squares[3 * i + j] > 0.0 else 0
    return moving <= 1


@inlined
def is_dragged(rows: ContactRows, i: int) -> bool:
    """Whether friction of contact i is a drag."""
    return rows.law == at.VISCOUS and rows.friction[i] > 0.0 and not is_moment(rows, i)


@inlined
def limit_of(rows: ContactRows, i: int, pressing: float) -> float:
    """Radius of the polygon of friction where its normal, or of a moment its owner's, presses."""
    return rows.friction[i] * (pressing + rows.prior[presser_of(rows, i)]) + rows.dry[i]


@inlined
def side_normal(corners: Array, k: int) -> tuple[float, float, float]:
    """Unit normal of the side that begins at corner k, and its distance for a radius of 1."""
    after = (k + 1) % corners.shape[0]
    x, y = corners[k, 0] + corners[after, 0], corners[k, 1] + corners[after, 1]
    length = math.sqrt(x * x + y * y)
    return x / length, y / length, 0.5 * length


@inlined
def side_facing(corners: Array, x: float, y: float) -> tuple[int, float]:
    """The side of a polygon that (x, y) points to, and the product with the sum of its corners.

    All such sums are of one length, and the second half of them are the first turned round.
    """
    best, most = 0, -1.0
    half = corners.shape[0] // 2
    for k in range(half):
        x_sum, y_sum = corners[k, 0] + corners[k + 1, 0], corners[k, 1] + corners[k + 1, 1]
        toward = x_sum * x + y_sum * y
        if abs(toward) > most:
            best, most = (k if toward >= 0.0 else k + half), abs(toward)
    return best, most


@kernel
def polygon_status(corners: Array, line: bool, x: float, y: float, limit: float) -> tuple[int, int]:
    """Status and side of the nearest point to (x, y) of the polygon of a radius, or of a line."""
    sides = corners.shape[0]
    if line:
        return (at.STICKS, 0) if abs(x) <= limit else (at.AT_CORNER, 0 if x > 0.0 else sides // 2)
    best, most = side_facing(corners, x, y)
    after = best + 1 if best + 1 < sides else 0
    x_sum, y_sum = corners[best, 0] + corners[after, 0], corners[best, 1] + corners[after, 1]
    square = x_sum * x_sum + y_sum * y_sum
    if most <= 0.5 * square * limit:
        return at.STICKS, 0
    along = x_sum * y - y_sum * x  # from the middle of the side towards the next corner
    end = limit * math.sqrt(max(square * (1.0 - 0.25 * square), 0.0))
    if along >= end:
        return at.AT_CORNER, after
    return (at.AT_CORNER, best) if along <= -end else (at.AT_SIDE, best)


@kernel
def find_statuses(
    rows: ContactRows, eps: float, share: float, p: Array, scratch: NewtonScratch
) -> int:
    """Statuses of x = p - r (v + eps w (p - centre)), r = share / W_ii; whether they repeat."""
    news = at.REPEATED
    for i in range(rows.friction.size):
        news = max(news, find_status(rows, eps, share, i, p, scratch))
    return news


@inlined
def find_status(
    rows: ContactRows, eps: float, share: float, i: int, p: Array, scratch: NewtonScratch
) -> int:
    """The same of one contact."""
    v, squares = scratch.vectors[at.VELOCITY], scratch.vectors[at.SQUARES]
    centre = scratch.vectors[at.CENTRE]
    parts, j = scratch.status[i, at.PARTS], 3 * i
    own = eps * scratch.friction[i, at.WEIGHT]
    pressing = pressing_of(presser_of(rows, i), eps, share, p, scratch)
    r = share / max(squares[j + 1], squares[j + 2]) if parts & at.HAS_FIRST else 0.0
    w_x = v[j + 1] + own * (p[j + 1] - centre[j + 1])
    w_y = v[j + 2] + own * (p[j + 2] - centre[j + 2])
    if is_round(rows, i) and parts & at.HAS_SECOND:
        steep = step_along(limit_of(rows, i, pressing), (p[j + 1], p[j + 2]), (w_x, w_y))
        r = max(r, min(steep, _STEEPEST / max(squares[j + 1], squares[j + 2])))
    x, y = p[j + 1] - r * w_x, p[j + 2] - r * w_y
    return put_statuses(rows, scratch, i, pressing, (x, y), r)


@inlined
def step_along(limit: float, p: tuple[float, float], v: tuple[float, float]) -> float:
    """A step r that takes the direction of sliding from the velocity, where it does slide; else 0.

    Any r has the same answers. What slides turns from step to step, and its velocity has turned
    with it, by all but a thousandth, where the impulse is that of the step before.
    """
    speed = math.sqrt(v[0] * v[0] + v[1] * v[1])
    size = math.sqrt(p[0] * p[0] + p[1] * p[1])
    opposed = p[0] * v[0] + p[1] * v[1] < -_OPPOSED * size * speed
    return _STEEP * limit / speed if opposed and size > _AT_LIMIT * limit else 0.0


@inlined
def pressing_of(i: int, eps: float, share: float, p: Array, scratch: NewtonScratch) -> float:
    """The normal part of x of contact i where it presses, else zero."""
    if not scratch.status[i, at.PARTS] & at.HAS_NORMAL:
        return 0.0
    j = 3 * i
    own = eps * scratch.friction[i, at.WEIGHT] * (p[j] - scratch.vectors[at.CENTRE, j])
    own = share * (scratch.vectors[at.VELOCITY, j] + own) / scratch.vectors[at.SQUARES, j]
    return max(p[j] - own, 0.0)


@inlined
def put_statuses(
    rows: ContactRows,
    scratch: NewtonScratch,
    i: int,
    pressing: float,
    point: tuple[float, float],
    r: float,
) -> int:
    """Statuses of contact i for the normal impulse and the point x_t; whether they repeat."""
    parts, limit = scratch.status[i, at.PARTS], limit_of(rows, i, pressing)
    normal = at.PRESSES if parts & at.HAS_NORMAL and pressing > 0.0 else at.OPEN
    x, y = point
    tangent = at.FREE
    side = 0
    if not parts & at.HAS_FIRST:
        return put_status(scratch.status, i, normal, tangent, side)
    if rows.law >= at.NO_SLIP and rows.dry[i] == 0.0 and not is_moment(rows, i):
        return put_status(scratch.status, i, normal, at.STICKS, side)
    if is_round(rows, i) and parts & at.HAS_SECOND:
        return put_circle_status(rows, scratch, i, normal, (x, y, r, limit))
    if limit > 0.0:
        tangent, side = polygon_status(rows.corners, not parts & at.HAS_SECOND, x, y, limit)
    news = put_status(scratch.status, i, normal, tangent, side)
    if news != at.REPEATED:
        put_limit(rows, scratch, i, tangent, side)
    return news


@inlined
def put_limit(rows: ContactRows, scratch: NewtonScratch, i: int, tangent: int, side: int) -> None:
    """Direction and size of friction of contact i, where it is at its limit on the polygon."""
    if tangent == at.AT_CORNER:
        put_friction(scratch.friction, i, rows.corners[side, 0], rows.corners[side, 1], 1.0)
    elif tangent == at.AT_SIDE:
        n_x, n_y, inner = side_normal(rows.corners, side)
        put_friction(scratch.friction, i, n_x, n_y, inner)
    else:
        put_free(scratch.friction, i)


@inlined
def put_circle_status(
    rows: ContactRows,
    scratch: NewtonScratch,
    i: int,
    normal: int,
    given: tuple[float, float, float, float],
) -> int:
    """Statuses of a contact of the exact cone, given x_t, r and the limit; whether they repeat."""
    x, y, r, limit = given
    friction, length = scratch.friction, math.sqrt(x * x + y * y)
    tangent = at.FREE
    if limit > 0.0:
        tangent = at.STICKS if length <= limit else at.AT_SIDE
    news = put_status(scratch.status, i, normal, tangent, 0)
    if tangent != at.AT_SIDE:
        if news != at.REPEATED:
            put_free(friction, i)
        return news
    x, y = x / length, y / length
    before = friction[i, at.ALONG_X], friction[i, at.ALONG_Y]
    if abs(x * before[1] - y * before[0]) > _TURNED or x * before[0] + y * before[1] < 0.0:
        news = max(news, at.TURNED)
    put_friction(friction, i, x, y, 1.0)
    friction[i, at.RESISTANCE] = (length - limit) / (r * limit)
    return news


@inlined
def put_status(status: IntArray, i: int, normal: int, tangent: int, side: int) -> int:
    same = status[i, at.NORMAL] == normal and status[i, at.TANGENT] == tangent
    same = same and status[i, at.SIDE] == side
    status[i, at.NORMAL], status[i, at.TANGENT] = normal, tangent
    status[i, at.SIDE] = side
    return at.REPEATED if same else at.CHANGED


@inlined
def put_free(friction: Array, i: int) -> None:
    """No friction of contact i is at its limit, and nothing resists its tangents."""
    put_friction(friction, i, 1.0, 0.0, 0.0)


@inlined
def put_friction(friction: Array, i: int, x: float, y: float, size: float) -> None:
    """Direction of friction at its limit, and its size for a limit of 1; nothing resists."""
    friction[i, at.ALONG_X], friction[i, at.ALONG_Y] = x, y
    friction[i, at.SIZE], friction[i, at.RESISTANCE] = size, 0.0


@inlined
def sliding(friction: Array, i: int) -> tuple[float, float, float]:
    """Direction e of friction at its limit, and its size g for a polygon of radius 1; else 0."""
    return friction[i, at.ALONG_X], friction[i, at.ALONG_Y], friction[i, at.SIZE]


@kernel
def put_on_pieces(rows: ContactRows, p: Array, scratch: NewtonScratch) -> bool:
    """Move impulses onto the pieces of their statuses: friction at its limit where it slides.

    Whether any has moved.
    """
    moved = False
    for i in range(rows.friction.size):
        j = 3 * i
        before = (p[j], p[j + 1], p[j + 2])
        put_on_piece(rows, i, p, scratch)
        moved = moved or before != (p[j], p[j + 1], p[j + 2])
    return moved


@inlined
def put_on_piece(rows: ContactRows, i: int, p: Array, scratch: NewtonScratch) -> None:
    """The same of one contact."""
    j, tangent = 3 * i, scratch.status[i, at.TANGENT]
    if scratch.status[i, at.NORMAL] == at.OPEN:
        p[j] = 0.0
    if tangent == at.FREE:
        p[j + 1] = p[j + 2] = 0.0
    elif tangent != at.STICKS:
        e_x, e_y, g = sliding(scratch.friction, i)
        along = e_x * p[j + 2] - e_y * p[j + 1] if tangent == at.AT_SIDE else 0.0
        limit = g * limit_of(rows, i, p[3 * presser_of(rows, i)])
        p[j + 1], p[j + 2] = limit * e_x - along * e_y, limit * e_y + along * e_x
