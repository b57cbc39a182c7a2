"""What is left of a contact when its pairs are eliminated, and the step of each of them.

With targets t for x w, and misses R of the equations of w,

    dx = (t - x (dw_free + R)) / (w + rho x),    dw = dw_free + R + rho dx,

dw_free the part of dw that comes with other unknowns. Sigma is eliminated within its contact: with
g = beta / (w + rho beta), S = w_s + sigma sum g and the sums q = sum g d, Q = sum g d d^T,

    dp_n = c_n - g_n dv_n,
    dp_t = c_t - (Q - (sigma / S) q q^T) dv_t - (sigma mu g_n / S) q dv_n.

Of a moment g_n and dv_n are those of its owner. Where contacts open as they slide, w_n = v_n - mu
sigma, S has sigma mu^2 g_n more, and

    dp_n = c_n - (1 - sigma mu^2 g_n / S) g_n dv_n - (sigma mu g_n / S) q . dv_t:

D is symmetric.
"""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.lane_logic import less, where
from spatialops.algebra.simd import WIDTH, Lanes, load, spread, store, zeros
from spatialops.algebra.simd_parts import load_first, store_first
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.inside.pairs import (
    pass_on,
    put_in_lanes,
    slip_of_eight,
    take_from_lanes,
)
from spatialops.contact.newton.rows import ContactRows, NewtonScratch, presser_of
from spatialops.contact.rows import START, width_of


@kernel
def eliminate_pairs(
    rows: ContactRows, s: float, rho: float, share: float, scratch: NewtonScratch
) -> None:
    """D of every contact, as unknowns of a linear problem: rho of D L / s.

    Limits of friction follow what presses by so much of what they do.
    """
    x, lanes = scratch.pairs[at.VALUE], scratch.lanes
    put_yields(rho, scratch)
    for i in range(0, x.shape[1], WIDTH):
        store(lanes, at.PRESSING_LANES, i, ratio(scratch, i, 0))
        store(lanes, at.FOLLOWED, i, share * load(lanes, at.MU, i))
    pass_on(rows, lanes)
    for i in range(0, x.shape[1], WIDTH):
        put_slopes(rows.corners, s, scratch, i)
    for i in range(rows.friction.size):
        put_unknowns(rows, scratch, i)


@kernel
def put_yields(rho: float, scratch: NewtonScratch) -> None:
    """1 / (w + rho x) of all pairs: they are divided by once a factorisation."""
    x, w = scratch.pairs[at.VALUE], scratch.pairs[at.SLACK]
    yields = scratch.pairs[at.YIELD]
    for k in range(x.shape[0]):
        for i in range(0, x.shape[1], WIDTH):
            store(yields, k, i, 1.0 / (load(w, k, i) + rho * load(x, k, i)))


@inlined
def ratio(scratch: NewtonScratch, i: int, k: int) -> Lanes:
    """g of eight pairs: zero of what is none."""
    return load(scratch.pairs[at.VALUE], k, i) * load(scratch.pairs[at.YIELD], k, i)


@inlined
def put_slopes(corners: Array, s: float, scratch: NewtonScratch, i: int) -> None:
    """D of eight contacts over s, less by their shares, and what it is made of."""
    lanes = scratch.lanes
    sigma = load(scratch.pairs[at.VALUE], 1, i)
    sum_of_all = q_x = q_y = xx = xy = yy = zeros()
    for k in range(corners.shape[0]):
        a, b = spread(corners, k, 0), spread(corners, k, 1)
        g = ratio(scratch, i, 2 + k)
        sum_of_all = sum_of_all + g
        q_x = q_x + g * a
        q_y = q_y + g * b
        xx = xx + g * a * a
        xy = xy + g * a * b
        yy = yy + g * b * b
    own = s * load(lanes, at.SHARES, i)
    pressed = load(lanes, at.FOLLOWED, i) * load(lanes, at.PRESSING_LANES, i)
    opening = load(lanes, at.OPENING, i)
    slack = load(scratch.pairs[at.SLACK], 1, i)
    inverse = 1.0 / (slack + sigma * (sum_of_all + opening * pressed))
    share = sigma * inverse
    pulled = share * pressed / own
    normal = ratio(scratch, i, 0)
    opened = share * opening * normal
    store(lanes, at.SUM, i, inverse)
    store(lanes, at.Q_X, i, q_x)
    store(lanes, at.Q_Y, i, q_y)
    follows = load(lanes, at.FOLLOWED, i)
    store(lanes, at.D_NORMAL, i, (1.0 - opened * follows) * normal / own)
    store(lanes, at.D_BY_TANGENTS, i, opened * q_x / own)
    store(lanes, at.D_BY_TANGENTS + 1, i, opened * q_y / own)
    store(lanes, at.D_NORMAL + 1, i, pulled * q_x)
    store(lanes, at.D_NORMAL + 2, i, pulled * q_y)
    store(lanes, at.D_TANGENTS, i, (xx - share * q_x * q_x) / own)
    store(lanes, at.D_TANGENTS + 1, i, (xy - share * q_x * q_y) / own)
    store(lanes, at.D_TANGENTS + 2, i, (yy - share * q_y * q_y) / own)


@inlined
def put_unknowns(rows: ContactRows, scratch: NewtonScratch, i: int) -> None:
    """Rho of contact i's unknowns: columns of D by the normal that presses it, xx, xy, yy."""
    entries, rho = rows.L.entries, scratch.rho[0]
    d, lanes = at.D_NORMAL, scratch.lanes
    width, start = width_of(rows.L.places, i), rows.L.places[i, START]
    pressing = rows.L.places[presser_of(rows, i), START]
    xx, yy = lanes[at.D_TANGENTS, i], lanes[at.D_TANGENTS + 2, i]
    xy = lanes[at.D_TANGENTS + 1, i]
    for k in range(0, width, WIDTH):
        few, own = width - k, start + k
        normal = load_first(entries, pressing + k, few)
        x = load_first(entries, own + width, few)
        y = load_first(entries, own + 2 * width, few)
        along = lanes[at.D_BY_TANGENTS, i] * x + lanes[at.D_BY_TANGENTS + 1, i] * y
        store_first(rho, own, few, lanes[d, i] * normal + along)
        store_first(rho, own + width, few, lanes[d + 1, i] * normal + xx * x + xy * y)
        store_first(rho, own + 2 * width, few, lanes[d + 2, i] * normal + xy * x + yy * y)


@kernel
def name_unknowns(rows: ContactRows, scratch: NewtonScratch) -> None:
    """Three unknowns of every contact: its rows are their gamma."""
    for i in range(rows.friction.size):
        width, start = width_of(rows.L.places, i), rows.L.places[i, START]
        for j in range(3):
            scratch.contacts[3 * i + j], scratch.parts[3 * i + j] = i, j
            scratch.starts[3 * i + j] = start + j * width
        for k in range(start, start + 3 * width):
            scratch.gamma[k] = rows.L.entries[k]


@inlined
def free_step(scratch: NewtonScratch, i: int, k: int, moved: Lanes) -> Lanes:
    """dx of eight pairs whose other sides move so much beside."""
    x = load(scratch.pairs[at.VALUE], k, i)
    missed = load(scratch.pairs[at.MISS], k, i) + moved
    wanted = load(scratch.pairs[at.TARGET], k, i) - x * missed
    return wanted * load(scratch.pairs[at.YIELD], k, i)


@inlined
def sigma_step(scratch: NewtonScratch, i: int, sum_of_all: Lanes) -> Lanes:
    """d sigma of eight contacts, for the sum of what betas would do without it."""
    lanes = scratch.lanes
    x = load(scratch.pairs[at.VALUE], 1, i)
    pressed = load(lanes, at.FOLLOWED, i) * load(lanes, at.PRESSING_LANES, i) - sum_of_all
    missed = load(scratch.pairs[at.MISS], 1, i) + pressed
    wanted = load(scratch.pairs[at.TARGET], 1, i) - x * missed
    return wanted * load(lanes, at.SUM, i)


@kernel
def relative_step(rows: ContactRows, unit: float, scratch: NewtonScratch) -> None:
    """RIGHT: the step c of impulses that there would be if nothing moved."""
    lanes, corners = scratch.lanes, rows.corners
    for i in range(0, lanes.shape[1], WIDTH):
        store(lanes, at.PRESSING_LANES, i, free_step(scratch, i, 0, zeros()))
    pass_on(rows, lanes)
    for i in range(0, lanes.shape[1], WIDTH):
        x = y = sum_of_all = zeros()
        for k in range(corners.shape[0]):
            step = free_step(scratch, i, 2 + k, zeros())
            x = x + step * spread(corners, k, 0)
            y = y + step * spread(corners, k, 1)
            sum_of_all = sum_of_all + step
        sigma = sigma_step(scratch, i, sum_of_all)
        opened = load(lanes, at.OPENING, i) * sigma
        store(lanes, at.LANES_NORMAL, i, free_step(scratch, i, 0, -1.0 * opened))
        store(lanes, at.LANES_FIRST, i, x - load(lanes, at.Q_X, i) * sigma)
        store(lanes, at.LANES_SECOND, i, y - load(lanes, at.Q_Y, i) * sigma)
    take_from_lanes(lanes, unit, scratch.vectors[at.RIGHT])


@kernel
def step_pairs(rows: ContactRows, scale: float, rho: float, scratch: NewtonScratch) -> float:
    """Steps of both sides for CHANGE of velocities; their length to where the first is zero."""
    lanes, corners = scratch.lanes, rows.corners
    d_x, d_w = scratch.pairs[at.VALUE_STEP], scratch.pairs[at.SLACK_STEP]
    miss = scratch.pairs[at.MISS]
    put_in_lanes(scratch.vectors[at.CHANGE], scale, lanes)
    for i in range(0, lanes.shape[1], WIDTH):
        moved = load(lanes, at.LANES_NORMAL, i)
        store(lanes, at.PRESSING_LANES, i, free_step(scratch, i, 0, moved))
    pass_on(rows, lanes)
    fastest = zeros()
    for i in range(0, lanes.shape[1], WIDTH):
        sum_of_all = zeros()
        for k in range(corners.shape[0]):
            moved = slip_of_eight(corners, lanes, i, k)
            sum_of_all = sum_of_all + free_step(scratch, i, 2 + k, moved)
        sigma = sigma_step(scratch, i, sum_of_all)
        opened = load(lanes, at.OPENING, i) * sigma
        moved = load(lanes, at.LANES_NORMAL, i) - opened
        step = free_step(scratch, i, 0, moved)
        store(d_x, 0, i, step)
        store(d_w, 0, i, moved + load(miss, 0, i) + rho * step)
        pressing = load(lanes, at.PRESSING_LANES, i) + opened * ratio(scratch, i, 0)
        sum_of_all = zeros()
        for k in range(corners.shape[0]):
            moved = slip_of_eight(corners, lanes, i, k) + sigma
            step = free_step(scratch, i, 2 + k, moved)
            store(d_x, 2 + k, i, step)
            store(d_w, 2 + k, i, moved + load(miss, 2 + k, i) + rho * step)
            sum_of_all = sum_of_all + step
        pressed = load(lanes, at.FOLLOWED, i) * pressing - sum_of_all
        store(d_x, 1, i, sigma)
        store(d_w, 1, i, pressed + load(miss, 1, i))
        fastest = most_used_up(scratch, i, fastest)
    store(lanes, at.LANES_NORMAL, 0, fastest)
    used = 1.0
    for i in range(WIDTH):
        used = max(used, lanes[at.LANES_NORMAL, i])
    return 1.0 / used


@inlined
def most_used_up(scratch: NewtonScratch, i: int, most: Lanes) -> Lanes:
    """The largest share that the step takes from any side of any pair of eight contacts."""
    for k in range(scratch.pairs.shape[1]):
        x, w = load(scratch.pairs[at.VALUE], k, i), load(scratch.pairs[at.SLACK], k, i)
        is_pair = less(zeros(), x)
        taken = -1.0 * load(scratch.pairs[at.VALUE_STEP], k, i) / where(is_pair, x, 1.0)
        most = where(is_pair, where(less(most, taken), taken, most), most)
        taken = -1.0 * load(scratch.pairs[at.SLACK_STEP], k, i) / w
        most = where(is_pair, where(less(most, taken), taken, most), most)
    return most
