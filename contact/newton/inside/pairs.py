"""The pairs of the interior-point method: where they begin, what they miss, and how they move.

Of contact i pair 0 is that of the normal, 1 that of the fastest sliding, 2 + k that of corner k; a
pair whose value is zero is none. Tables of pairs have contacts side by side, eight in a register;
behind the last one there are none.
"""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.lane_logic import less, where
from spatialops.algebra.simd import WIDTH, Lanes, load, spread, store, zeros
from spatialops.algebra.simd_parts import total
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.rows import ContactRows, NewtonScratch, contacts_of, presser_of
from spatialops.contact.newton.statuses import limit_of

_BEGIN = 1.0  # least of both sides at first, relative to the scale


@kernel
def begin_pairs(
    rows: ContactRows, units: tuple[float, float], opens: float, p: Array, scratch: NewtonScratch
) -> int:
    """Pairs about p, whose velocities are known; how many there are.

    Contacts open as they slide, by so much of mu times the speed.
    """
    scale, unit = units
    v = scratch.vectors[at.VELOCITY]
    x, w = scratch.pairs[at.VALUE], scratch.pairs[at.SLACK]
    lanes, count = scratch.lanes, 0
    put_none(scratch)
    for i in range(rows.friction.size):
        parts, j = scratch.status[i, at.PARTS], 3 * i
        weight, presser = scratch.friction[i, at.WEIGHT], presser_of(rows, i)
        own, pressing = unit / weight, unit / scratch.friction[presser, at.WEIGHT]
        lanes[at.SHARES, i] = weight
        lanes[at.MU, i] = rows.friction[i] * (pressing / own)
        lanes[at.OPENING, i] = opens * rows.friction[i]
        lanes[at.FIXED_LIMIT, i] = limit_of(rows, i, 0.0) / own
        if parts & at.HAS_NORMAL:
            x[0, i] = max(p[j] / own, 0.0) + _BEGIN
            w[0, i] = max(v[j] / scale, 0.0) + _BEGIN
            count += 1
        if not parts & at.HAS_FIRST:
            continue
        limit = limit_of(rows, i, pressing * x[0, presser]) / own
        count += begin_friction(rows, scratch, i, limit, scale)
    return count


@inlined
def put_none(scratch: NewtonScratch) -> None:
    """No pair of any contact, nor behind the last one."""
    for k in range(scratch.pairs.shape[1]):
        for i in range(scratch.pairs.shape[2]):
            scratch.pairs[at.VALUE, k, i] = 0.0
            scratch.pairs[at.SLACK, k, i] = 1.0
            scratch.pairs[at.VALUE_STEP, k, i] = scratch.pairs[at.SLACK_STEP, k, i] = 0.0
    for k in range(at.LANE_ROWS):
        for i in range(scratch.lanes.shape[1]):
            scratch.lanes[k, i] = 1.0 if k == at.SHARES else 0.0


@inlined
def begin_friction(
    rows: ContactRows, scratch: NewtonScratch, i: int, limit: float, scale: float
) -> int:
    """The pairs of friction of contact i: inside, all corners alike; how many."""
    v = scratch.vectors[at.VELOCITY]
    x, w = scratch.pairs[at.VALUE], scratch.pairs[at.SLACK]
    sides = rows.corners.shape[0]
    sigma = 0.0
    count = 0
    for k in range(sides):
        if is_side(scratch, i, k, sides):
            sigma = max(sigma, -slip(rows, v, i, k) / scale)
            count += 1
    x[1, i] = sigma + _BEGIN
    for k in range(sides):
        if is_side(scratch, i, k, sides):
            x[2 + k, i] = _BEGIN * (limit / count + _BEGIN)
            w[2 + k, i] = slip(rows, v, i, k) / scale + x[1, i]
    w[1, i] = max(limit - count * _BEGIN * (limit / count + _BEGIN), 0.0) + _BEGIN
    return count + 1


@inlined
def is_side(scratch: NewtonScratch, i: int, k: int, sides: int) -> bool:
    """Whether corner k is one of contact i: of a line there are two."""
    if scratch.status[i, at.PARTS] & at.HAS_SECOND:
        return True
    return k == 0 or 2 * k == sides


@inlined
def slip(rows: ContactRows, v: Array, i: int, k: int) -> float:
    """Velocity of contact i along corner k."""
    return rows.corners[k, 0] * v[3 * i + 1] + rows.corners[k, 1] * v[3 * i + 2]


@inlined
def slip_of_eight(corners: Array, lanes: Array, i: int, k: int) -> Lanes:
    """Velocity of eight contacts, that is in lanes, along corner k."""
    along = spread(corners, k, 0) * load(lanes, at.LANES_FIRST, i)
    return along + spread(corners, k, 1) * load(lanes, at.LANES_SECOND, i)


@inlined
def put_in_lanes(v: Array, unit: float, lanes: Array) -> None:
    """A vector over the rows, in units, as lanes of normals and of both tangents."""
    for i in range(v.size // 3):
        lanes[at.LANES_NORMAL, i] = v[3 * i] / unit
        lanes[at.LANES_FIRST, i] = v[3 * i + 1] / unit
        lanes[at.LANES_SECOND, i] = v[3 * i + 2] / unit


@inlined
def take_from_lanes(lanes: Array, unit: float, p: Array) -> None:
    """Impulses whose lanes these are, in units."""
    for i in range(p.size // 3):
        own = unit / lanes[at.SHARES, i]
        p[3 * i] = own * lanes[at.LANES_NORMAL, i]
        p[3 * i + 1] = own * lanes[at.LANES_FIRST, i]
        p[3 * i + 2] = own * lanes[at.LANES_SECOND, i]


@inlined
def pass_on(rows: ContactRows, lanes: Array) -> None:
    """What presses moments is what presses their contacts."""
    for i in range(contacts_of(rows), rows.friction.size):
        lanes[at.PRESSING_LANES, i] = lanes[at.PRESSING_LANES, presser_of(rows, i)]


@kernel
def put_impulses(rows: ContactRows, unit: float, p: Array, scratch: NewtonScratch) -> None:
    """The impulses of the pairs' values."""
    x, lanes = scratch.pairs[at.VALUE], scratch.lanes
    corners = rows.corners
    for i in range(0, x.shape[1], WIDTH):
        first = zeros()
        second = zeros()
        for k in range(corners.shape[0]):
            value = load(x, 2 + k, i)
            first = first + spread(corners, k, 0) * value
            second = second + spread(corners, k, 1) * value
        store(lanes, at.LANES_NORMAL, i, load(x, 0, i))
        store(lanes, at.LANES_FIRST, i, first)
        store(lanes, at.LANES_SECOND, i, second)
    take_from_lanes(lanes, unit, p)


@kernel
def find_misses(rows: ContactRows, scale: float, scratch: NewtonScratch) -> None:
    """What the second side of each pair misses of its equation, at the present velocities."""
    x, w = scratch.pairs[at.VALUE], scratch.pairs[at.SLACK]
    miss, lanes = scratch.pairs[at.MISS], scratch.lanes
    put_in_lanes(scratch.vectors[at.VELOCITY], scale, lanes)
    for i in range(0, x.shape[1], WIDTH):
        store(lanes, at.PRESSING_LANES, i, load(x, 0, i))
    pass_on(rows, lanes)
    for i in range(0, x.shape[1], WIDTH):
        sigma = load(x, 1, i)
        sum_of_all = zeros()
        own = load(lanes, at.LANES_NORMAL, i) - load(w, 0, i)
        own = own - load(lanes, at.OPENING, i) * sigma
        store(miss, 0, i, where(less(zeros(), load(x, 0, i)), own, 0.0))
        for k in range(rows.corners.shape[0]):
            value = load(x, 2 + k, i)
            own = slip_of_eight(rows.corners, lanes, i, k) + sigma - load(w, 2 + k, i)
            store(miss, 2 + k, i, where(less(zeros(), value), own, 0.0))
            sum_of_all = sum_of_all + value
        limit = load(lanes, at.MU, i) * load(lanes, at.PRESSING_LANES, i)
        own = limit + load(lanes, at.FIXED_LIMIT, i) - sum_of_all - load(w, 1, i)
        store(miss, 1, i, where(less(zeros(), sigma), own, 0.0))


@kernel
def sum_of_products(length: float, scratch: NewtonScratch) -> float:
    """Sum of x w over all pairs, so much of the step ahead."""
    x, w = scratch.pairs[at.VALUE], scratch.pairs[at.SLACK]
    d_x, d_w = scratch.pairs[at.VALUE_STEP], scratch.pairs[at.SLACK_STEP]
    sum_of_all = zeros()
    for k in range(x.shape[0]):
        for i in range(0, x.shape[1], WIDTH):
            value = load(x, k, i)
            ahead = value + length * load(d_x, k, i)
            product = ahead * (load(w, k, i) + length * load(d_w, k, i))
            sum_of_all = sum_of_all + where(less(zeros(), value), product, 0.0)
    return total(sum_of_all)


@kernel
def put_targets(product: float, corrected: float, scratch: NewtonScratch) -> None:
    """What is to become of x w beside what it is, less so much of the product of the changes."""
    x, w = scratch.pairs[at.VALUE], scratch.pairs[at.SLACK]
    d_x, d_w = scratch.pairs[at.VALUE_STEP], scratch.pairs[at.SLACK_STEP]
    target = scratch.pairs[at.TARGET]
    for k in range(x.shape[0]):
        for i in range(0, x.shape[1], WIDTH):
            value = load(x, k, i)
            wanted = product - value * load(w, k, i)
            wanted = wanted - corrected * (load(d_x, k, i) * load(d_w, k, i))
            store(target, k, i, where(less(zeros(), value), wanted, 0.0))


@kernel
def move_pairs(length: float, scratch: NewtonScratch) -> None:
    """Take so much of the step."""
    x, w = scratch.pairs[at.VALUE], scratch.pairs[at.SLACK]
    d_x, d_w = scratch.pairs[at.VALUE_STEP], scratch.pairs[at.SLACK_STEP]
    for k in range(x.shape[0]):
        for i in range(0, x.shape[1], WIDTH):
            value = load(x, k, i)
            is_pair = less(zeros(), value)
            moved = load(w, k, i)
            store(x, k, i, where(is_pair, value + length * load(d_x, k, i), value))
            store(w, k, i, where(is_pair, moved + length * load(d_w, k, i), moved))
