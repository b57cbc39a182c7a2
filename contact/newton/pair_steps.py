"""What is left of a contact when its pairs are eliminated, and the step of each of them.

With targets t for x w, and misses R of the equations of w,

    dx = (t - x (dw_free + R)) / (w + rho x),    dw = dw_free + R + rho dx,

dw_free the part of dw that comes with other unknowns. Sigma is eliminated within its contact: with
g = beta / (w + rho beta), S = w_s + sigma sum g and the sums q = sum g d, Q = sum g d d^T,

    dp_n = c_n - g_n dv_n,
    dp_t = c_t - (Q - (sigma / S) q q^T) dv_t - (sigma mu g_n / S) q dv_n.

Of a moment g_n and dv_n are those of its owner.
"""

from __future__ import annotations

from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.simd import WIDTH
from spatialops.algebra.simd_parts import load_first, store_first
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.pairs import slip
from spatialops.contact.newton.rows import ContactRows, NewtonScratch, presser_of
from spatialops.contact.rows import START, width_of


@kernel
def put_yields(rho: float, scratch: NewtonScratch) -> None:
    """1 / (w + rho x) of all pairs: they are divided by once a factorisation."""
    x, w = scratch.pairs[at.VALUE], scratch.pairs[at.SLACK]
    yields = scratch.pairs[at.YIELD]
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            yields[i, k] = 1.0 / (w[i, k] + rho * x[i, k])


@inlined
def ratio(scratch: NewtonScratch, i: int, k: int) -> float:
    """g of a pair: zero of what is none."""
    return scratch.pairs[at.VALUE, i, k] * scratch.pairs[at.YIELD, i, k]


@kernel
def eliminate_pairs(rows: ContactRows, s: float, rho: float, scratch: NewtonScratch) -> None:
    """D of every contact, as unknowns of a linear problem: rho of D L / s."""
    slopes = scratch.slopes
    x, w = scratch.pairs[at.VALUE], scratch.pairs[at.SLACK]
    put_yields(rho, scratch)
    for i in range(rows.friction.size):
        q_x = q_y = total = 0.0
        xx = xy = yy = 0.0
        for k in range(rows.corners.shape[0]):
            a, b = rows.corners[k, 0], rows.corners[k, 1]
            g = ratio(scratch, i, 2 + k)
            total += g
            q_x += g * a
            q_y += g * b
            xx += g * a * a
            xy += g * a * b
            yy += g * b * b
        pressing = ratio(scratch, presser_of(rows, i), 0)
        slopes[i, at.SUM] = 1.0 / (w[i, 1] + x[i, 1] * total)
        share = x[i, 1] * slopes[i, at.SUM]
        slopes[i, at.Q_X] = q_x
        slopes[i, at.Q_Y] = q_y
        pulled = share * rows.friction[i] * pressing
        put_unknowns(
            rows,
            scratch,
            i,
            (ratio(scratch, i, 0) / s, pulled * q_x / s, pulled * q_y / s),
            (
                (xx - share * q_x * q_x) / s,
                (xy - share * q_x * q_y) / s,
                (yy - share * q_y * q_y) / s,
            ),
        )


@inlined
def put_unknowns(
    rows: ContactRows,
    scratch: NewtonScratch,
    i: int,
    of_normal: tuple[float, float, float],
    of_tangents: tuple[float, float, float],
) -> None:
    """Rho of contact i's unknowns: columns of D by the normal that presses it, xx, xy, yy."""
    entries, rho = rows.L.entries, scratch.rho[0]
    width, start = width_of(rows.L.places, i), rows.L.places[i, START]
    pressing = rows.L.places[presser_of(rows, i), START]
    xx, xy, yy = of_tangents
    for k in range(0, width, WIDTH):
        few, own = width - k, start + k
        normal = load_first(entries, pressing + k, few)
        x = load_first(entries, own + width, few)
        y = load_first(entries, own + 2 * width, few)
        store_first(rho, own, few, of_normal[0] * normal)
        store_first(rho, own + width, few, of_normal[1] * normal + xx * x + xy * y)
        store_first(rho, own + 2 * width, few, of_normal[2] * normal + xy * x + yy * y)


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
def free_step(scratch: NewtonScratch, i: int, k: int, moved: float) -> float:
    """dx of a pair whose other side moves so much beside."""
    x = scratch.pairs[at.VALUE, i, k]
    wanted = scratch.pairs[at.TARGET, i, k] - x * (scratch.pairs[at.MISS, i, k] + moved)
    return wanted * scratch.pairs[at.YIELD, i, k]


@inlined
def sigma_step(
    rows: ContactRows, scratch: NewtonScratch, i: int, normal: float, total: float
) -> float:
    """d sigma of contact i, for a step of p_n and the sum of what betas would do without it."""
    x = scratch.pairs[at.VALUE, i, 1]
    pressed = rows.friction[i] * normal - total
    wanted = scratch.pairs[at.TARGET, i, 1] - x * (scratch.pairs[at.MISS, i, 1] + pressed)
    return wanted * scratch.slopes[i, at.SUM]


@kernel
def relative_step(rows: ContactRows, unit: float, scratch: NewtonScratch) -> None:
    """RIGHT: the step c of impulses that there would be if nothing moved."""
    right, slopes = scratch.vectors[at.RIGHT], scratch.slopes
    for i in range(rows.friction.size):
        pressing = free_step(scratch, presser_of(rows, i), 0, 0.0)
        x = y = total = 0.0
        for k in range(rows.corners.shape[0]):
            step = free_step(scratch, i, 2 + k, 0.0)
            x += step * rows.corners[k, 0]
            y += step * rows.corners[k, 1]
            total += step
        sigma = sigma_step(rows, scratch, i, pressing, total)
        right[3 * i] = unit * free_step(scratch, i, 0, 0.0)
        right[3 * i + 1] = unit * (x - slopes[i, at.Q_X] * sigma)
        right[3 * i + 2] = unit * (y - slopes[i, at.Q_Y] * sigma)


@kernel
def step_pairs(rows: ContactRows, rho: float, scratch: NewtonScratch) -> float:
    """Steps of both sides for changes of velocities; their length to where the first is zero."""
    moved, miss = scratch.vectors[at.CHANGE], scratch.pairs[at.MISS]
    d_x, d_w = scratch.pairs[at.VALUE_STEP], scratch.pairs[at.SLACK_STEP]
    length = 1.0
    for i in range(rows.friction.size):
        d_x[i, 0] = free_step(scratch, i, 0, moved[3 * i])
        d_w[i, 0] = moved[3 * i] + miss[i, 0] + rho * d_x[i, 0]
        total = 0.0
        for k in range(rows.corners.shape[0]):
            total += free_step(scratch, i, 2 + k, slip(rows, moved, i, k))
        pressing = d_x[presser_of(rows, i), 0]
        d_x[i, 1] = sigma_step(rows, scratch, i, pressing, total)
        total = 0.0
        for k in range(rows.corners.shape[0]):
            faster = slip(rows, moved, i, k) + d_x[i, 1]
            d_x[i, 2 + k] = free_step(scratch, i, 2 + k, faster)
            d_w[i, 2 + k] = faster + miss[i, 2 + k] + rho * d_x[i, 2 + k]
            total += d_x[i, 2 + k]
        d_w[i, 1] = rows.friction[i] * pressing - total + miss[i, 1]
        length = min(length, length_of(scratch, i))
    return length


@inlined
def length_of(scratch: NewtonScratch, i: int) -> float:
    """Length of the step to where the first pair of contact i is zero, at most 1."""
    length = 1.0
    for k in range(scratch.pairs.shape[2]):
        x, w = scratch.pairs[at.VALUE, i, k], scratch.pairs[at.SLACK, i, k]
        d_x, d_w = scratch.pairs[at.VALUE_STEP, i, k], scratch.pairs[at.SLACK_STEP, i, k]
        if x > 0.0 and d_x < 0.0:
            length = min(length, -x / d_x)
        if x > 0.0 and d_w < 0.0:
            length = min(length, -w / d_w)
    return length
