"""How lone bodies move in a step, and turn: the midpoint rule of `integrators/lone_bodies.py`.

With l the change of the spin w without contacts, x that of the whole, c the centre of mass in body
axes and u its velocity, such a body turns by the rotation vectors

    r = h/2 (w + l/2)  to where the step is evaluated,    h/2 (w + x - l/2)  from there to its end,

its centre goes by h/2 u, and velocities of the centre are what is carried. With E = exp(r~), J the
matrix that takes dr to the turn dt of axes at the end, and u' = E* u,

    dq = (dt, E* h/2 du + c x dt),    dv = (dw, E* du + u' x dt + c x dw)

beside what comes of q at the start. l and x obey

    I x + F(w + x/2) = h moment + G* p,    F(w) = h k(w) w x I w,    I l + F(w + l/2) = h moment,

about the centre: of the rule's equations (`step_equations`) C alone is another, F' / h.
"""

from __future__ import annotations

import math

from spatialops import _layout as layout
from spatialops._arrays import Array, Mat3, Vec3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import (
    ZERO3,
    cross,
    dot,
    minus,
    plus,
    plus_scaled,
    rotate,
    rotate_back,
    scaled,
    sym_times,
    vec3,
)
from spatialops.derivatives.manifold import (
    BY_Q,
    BY_V,
    CARRIED,
    crossed,
    put_block,
    series_of_turn,
    turns,
)
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.free_bodies.spins import (
    added,
    gyroscopic_slope,
    product,
    slope_of_tangent,
    solved,
    times,
)
from spatialops.simulation.linearization.made_step import Made, Room
from spatialops.simulation.stepping.integrators.lone_bodies import (
    about_center,
    solve_three,
    spin_change,
    spin_slope,
    tangent_over,
    three,
)

_ONE: Mat3 = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


@inlined
def lead_of(made: Made, k: int) -> tuple[Vec3, Mat3, Mat3, Vec3]:
    """The change l of lone body k's spin without contacts; by w, by the moment, and by the time."""
    inertia, w = about_center(made.links, k + 5), three(made.v0, k)
    force = three(made.tau, k + 3)
    moment = minus(three(made.tau, k), cross(vec3(made.links, k + 5, layout.COM), force))
    lead, _ = spin_change(inertia, w, ZERO3, scaled(made.s, moment), made.s)
    middle = plus_scaled(w, 0.5, lead)
    slope = gyroscopic_slope(inertia, middle, made.s)
    left = added(spin_slope(inertia, ZERO3, 0.0), 0.5, slope)
    by_spin = solved(left, times(-1.0, slope))
    x = 0.5 * made.s * math.sqrt(dot(middle, middle))
    swing = cross(middle, sym_times(inertia, middle))
    more = tangent_over(x) + x * x * slope_of_tangent(x)
    by_time = solve_three(left, plus_scaled(moment, -more, swing))
    return lead, by_spin, solved(left, times(made.s, _ONE)), by_time


@inlined
def put_move(
    blocks: Array, k: int, r: Vec3, h: float, v: Vec3, w: Vec3, c: Vec3
) -> tuple[Mat3, Vec3]:
    """Tables of a move of lone body k: by v and w, which turns by r and goes on for the time h.

    As if it turned by h w in `BY_V` and `CARRIED`. Returns J and u'.
    """
    first, second, third = series_of_turn(dot(r, r))
    back, turned = turns(r, -first, second), turns(r, -second, third)
    u = plus(v, cross(w, c))
    way = minus(plus_scaled(c, h, u), rotate_back(back, c))
    arrived, along = rotate(back, way), rotate(back, u)
    swung = crossed(c, _ONE)
    put_block(blocks[BY_Q], k, 0, back)
    put_block(blocks[BY_Q], k + 3, 0, crossed(scaled(-1.0, arrived), back))
    put_block(blocks[BY_Q], k + 3, 3, back)
    put_block(blocks[BY_V], k, 0, times(h, turned))
    linear = times(-h, product(back, swung))
    put_block(blocks[BY_V], k + 3, 0, added(linear, h, crossed(c, turned)))
    put_block(blocks[BY_V], k + 3, 3, times(h, back))
    put_block(blocks[CARRIED], k, 0, _ONE)
    linear = added(swung, -1.0, product(back, swung))
    put_block(blocks[CARRIED], k + 3, 0, added(linear, h, crossed(along, turned)))
    put_block(blocks[CARRIED], k + 3, 3, back)
    return turned, along


@inlined
def add_block(block: Array, row: int, column: int, m: Mat3) -> None:
    for i in range(3):
        for j in range(3):
            block[row + i, column + j] += m[i][j]


@kernel
def put_lone_moves(made: Made, room: Room) -> None:
    """Moves of lone bodies, in place of those of the rule for others, and what they leave over."""
    h = made.half * made.s
    for i in range(made.lone.size):
        k = made.lone[i]
        c, tables = vec3(made.links, k + 5, layout.COM), room.lone_moves[i]
        room.lone[i] = k
        lead, by_spin, by_moment, by_time = lead_of(made, k)
        w, end = three(made.v0, k), three(room.vectors[of.V_END], k)
        r = scaled(h, plus_scaled(w, 0.5, lead))
        turned, along = put_move(room.blocks[of.START], k, r, h, three(made.v0, k + 3), w, c)
        for table in range(of.LONE_TABLES):
            for row in range(6):
                for j in range(6):
                    tables[table, row, j] = 0.0
        put_block(tables[of.LEAD], 0, 0, (lead, by_time, ZERO3))
        put_block(tables[of.LEAD_BY_SPIN], 0, 0, by_spin)
        put_by_force(tables[of.LEAD_BY_FORCE], 0, by_moment, c)
        if made.timed:
            rate = scaled(1.0 / made.s, r)
            reached = rotate(turned, plus_scaled(rate, 0.5 * h, by_time))
            put_lead_there(room, k, c, reached, along)
            put_by_center(tables, r, h, w)
        by_turn = product(times(0.5 * h, turned), by_spin)
        add_block(room.blocks[of.START, BY_V], k, 0, by_turn)
        add_block(room.blocks[of.START, BY_V], k + 3, 0, crossed(c, by_turn))
        add_block(room.blocks[of.START, CARRIED], k + 3, 0, crossed(along, by_turn))
        by_turn = product(times(0.5 * h, turned), by_moment)
        put_by_force(tables[of.Q_THERE], 0, by_turn, c)
        put_by_force(tables[of.Q_THERE], 3, crossed(c, by_turn), c)
        put_by_force(tables[of.V_THERE], 3, crossed(along, by_turn), c)
        r = scaled(h, plus_scaled(end, -0.5, lead))
        linear = three(room.vectors[of.V_END], k + 3)
        turned, along = put_move(room.blocks[of.LAST], k, r, h, linear, end, c)
        by_turn = product(times(-0.5 * h, turned), by_spin)
        put_block(tables[of.Q_BY_SPIN], 0, 0, by_turn)
        put_block(tables[of.Q_BY_SPIN], 3, 0, crossed(c, by_turn))
        put_block(tables[of.V_BY_SPIN], 3, 0, crossed(along, by_turn))
        by_turn = product(times(-0.5 * h, turned), by_moment)
        put_by_force(tables[of.Q_BY_FORCE], 0, by_turn, c)
        put_by_force(tables[of.Q_BY_FORCE], 3, crossed(c, by_turn), c)
        put_by_force(tables[of.V_BY_FORCE], 3, crossed(along, by_turn), c)


@inlined
def put_by_center(tables: Array, r: Vec3, h: float, w: Vec3) -> None:
    """Where a lone body that turns by r is, after the time h, if its centre is elsewhere.

    By c, at the same l: dq = (0, E* (h w x dc + dc) - dc), dv = (0, E* w x dc - w x dc).
    """
    first, second, _ = series_of_turn(dot(r, r))
    back, swing = turns(r, -first, second), crossed(w, _ONE)
    carried = product(back, swing)
    put_block(tables[of.Q_BY_CENTER], 3, 0, added(added(back, -1.0, _ONE), h, carried))
    put_block(tables[of.V_BY_CENTER], 3, 0, added(carried, -1.0, swing))


@inlined
def put_lead_there(room: Room, k: int, c: Vec3, turned: Vec3, along: Vec3) -> None:
    """How q_e and v_e of lone body k change with the time, which turns axes there by `turned`."""
    moved, carried = plus_scaled(cross(c, turned), 0.5, along), cross(along, turned)
    for i in range(3):
        room.vectors[of.LEAD_Q, k + i] = turned[i]
        room.vectors[of.LEAD_Q, k + 3 + i] = moved[i]
        room.vectors[of.LEAD_V, k + i] = 0.0
        room.vectors[of.LEAD_V, k + 3 + i] = carried[i]


@kernel
def add_by_time(made: Made, room: Room) -> None:
    """Add to right-hand sides for the time that the piece takes: k of the equation changes too."""
    n = made.tree.shape[0]
    for i in range(made.lone.size):
        k = made.lone[i]
        inertia, w = about_center(made.links, k + 5), three(room.vectors[of.V_MIDDLE], k)
        x = 0.5 * made.s * math.sqrt(dot(w, w))
        swing = scaled(x * x * slope_of_tangent(x), cross(w, sym_times(inertia, w)))
        for j in range(3):
            room.side[k + j, 3 * n] -= swing[j]


@inlined
def put_by_force(table: Array, row: int, by_moment: Mat3, c: Vec3) -> None:
    """Rows of what changes by the moment about the centre: n - c x f of forces n and f."""
    put_block(table, row, 0, by_moment)
    put_block(table, row, 3, times(-1.0, product(by_moment, crossed(c, _ONE))))


@kernel
def put_lone_slopes(made: Made, room: Room) -> None:
    """C of lone bodies, in place of that of the rule for others."""
    by_v = room.squares[of.BY_V]
    for i in range(made.lone.size):
        k = made.lone[i]
        inertia, w = about_center(made.links, k + 5), three(room.vectors[of.V_MIDDLE], k)
        slope = gyroscopic_slope(inertia, w, made.s)
        for row in range(6):
            for j in range(6):
                by_v[k + row, k + j] = slope[row][j] / made.s if row < 3 and j < 3 else 0.0


@inlined
def add_by_forces(room: Room, row: Array) -> None:
    """Add to a row of changes by q and v where the step is evaluated what comes of forces."""
    n = room.side.shape[0]
    for i in range(room.results[of.LONE]):
        k, tables = room.lone[i], room.lone_moves[i]
        for r in range(6):
            by_q, by_v = row[k + r], row[n + k + r]
            for j in range(6):
                there = by_q * tables[of.Q_THERE, r, j] + by_v * tables[of.V_THERE, r, j]
                row[2 * n + k + j] += there


@inlined
def add_by_centers(room: Room, row: Array) -> None:
    """Add to such a row, behind its entry for the time, what comes of lone bodies' centres."""
    n = room.side.shape[0]
    for i in range(room.results[of.LONE]):
        k, tables = room.lone[i], room.lone_moves[i]
        for r in range(3, 6):
            by_q, by_v = row[k + r], row[n + k + r]
            for j in range(3):
                there = by_q * tables[of.Q_BY_CENTER, r, j] + by_v * tables[of.V_BY_CENTER, r, j]
                row[3 * n + 1 + 3 * i + j] += there
