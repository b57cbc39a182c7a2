"""The program of forces over a horizon, and the motion that its answer makes, compiled.

Step i with forces x_i, relative to the weight, accelerates (phi, c) by a_i = g + B_i x_i, and
states are sums of accelerations: with the tables X of coordinates and V of rates, and weights W,

    H_ij = B_i^T ((X^T X)_ij W_x + (V^T V)_ij W_v) B_j,

block by block of three forces of one foot, which is all that its size takes.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array
from spatialops._compile.held import held
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import ZERO3, cross, dot, put3, vec3
from spatialops.control.locomotion.centroidal_tables import (
    Body,
    ForcePlan,
    Made,
    Tables,
    Wanted,
    made_floats,
    made_in,
)
from spatialops.control.locomotion.force_horizon import NO_POINT, force_horizon, room_in


@inlined
def put_inverse(body: Body, inverse: Array) -> None:
    """The inverse of I, times m, by cofactors."""
    for a in range(3):
        x = vec3(body.inertia, (a + 1) % 3, 0)
        y = vec3(body.inertia, (a + 2) % 3, 0)
        column = cross(x, y)
        share = body.mass / dot(vec3(body.inertia, a, 0), column)
        for b in range(3):
            inverse[b, a] = share * column[b]


@inlined
def put_turns(gravity: float, wanted: Wanted, made: Made) -> None:
    """Angular accelerations by a force that is the weight, of each foot that stands.

    g (m I^-1) (r x).
    """
    turns = made.turns
    p = 0
    for i in range(wanted.holds.shape[0]):
        for f in range(wanted.holds.shape[1]):
            if wanted.holds[i, f] == 0:
                continue
            x = wanted.feet[i, f, 0] - wanted.coordinates[i, 3]
            y = wanted.feet[i, f, 1] - wanted.coordinates[i, 4]
            z = wanted.feet[i, f, 2] - wanted.coordinates[i, 5]
            for a in range(3):
                u = gravity * made.inverse[a, 0]
                v = gravity * made.inverse[a, 1]
                w = gravity * made.inverse[a, 2]
                turns[p, a, 0] = v * z - w * y
                turns[p, a, 1] = w * x - u * z
                turns[p, a, 2] = u * y - v * x
            p += 1


@inlined
def put_missed(t: Tables, body: Body, wanted: Wanted, drifts: Array) -> None:
    """What the steps' accelerations should have done, weighted, in drifts[2] (n, 6)."""
    dt, gravity = t.numbers[0], t.numbers[1]
    ahead = t.ahead
    n = ahead.shape[1]
    for i in range(n):
        for a in range(6):
            fall = -gravity if a == 5 else 0.0
            place = body.coordinates[a] + (i + 1) * dt * body.rates[a]
            speed = body.rates[a]
            for j in range(i + 1):
                place += ahead[0, i, j] * fall
                speed += ahead[1, i, j] * fall
            drifts[0, i, a] = t.weights[0, a] * (wanted.coordinates[i, a] - place)
            drifts[1, i, a] = t.weights[1, a] * (wanted.rates[i, a] - speed)
    for j in range(n):
        for a in range(6):
            total = 0.0
            for i in range(j, n):
                total += ahead[0, i, j] * drifts[0, i, a] + ahead[1, i, j] * drifts[1, i, a]
            drifts[2, j, a] = total


@inlined
def put_block(t: Tables, i: int, j: int, A: Array, B: Array, out: Array) -> None:
    """B_j^T ((X^T X)_ij W_x + (V^T V)_ij W_v) B_i of feet whose angular parts are A and B."""
    x, v = t.products[0, i, j], t.products[1, i, j]
    square = t.numbers[1] * t.numbers[1]
    for a in range(3):
        for b in range(3):
            total = 0.0
            for k in range(3):
                total += A[k, a] * B[k, b] * (x * t.weights[0, k] + v * t.weights[1, k])
            out[a, b] = total
        out[a, a] += square * (x * t.weights[0, 3 + a] + v * t.weights[1, 3 + a])


@kernel
def put_program(t: Tables, body: Body, wanted: Wanted, made: Made) -> None:
    """H, of which the upper triangle is filled, and c, relative to the weight."""
    gravity, small = t.numbers[1], t.numbers[2]
    holds = wanted.holds
    turns, drifts = made.turns, made.drifts
    put_inverse(body, made.inverse)
    put_turns(gravity, wanted, made)
    put_missed(t, body, wanted, drifts)
    p = 0
    for i in range(holds.shape[0]):
        standing = 0
        for f in range(holds.shape[1]):
            standing += holds[i, f]
        for f in range(holds.shape[1]):
            if holds[i, f] == 0:
                continue
            q = 0
            for j in range(i + 1):
                for g in range(holds.shape[1]):
                    if holds[j, g] == 0 or q > p:
                        continue
                    block = made.H[3 * q : 3 * q + 3, 3 * p : 3 * p + 3]
                    put_block(t, i, j, turns[q], turns[p], block)
                    q += 1
            for a in range(3):
                at = 3 * p + a
                total = gravity * drifts[2, i, 3 + a]
                for k in range(3):
                    total += turns[p, k, a] * drifts[2, i, k]
                made.c[at] = -total
                made.H[at, at] += small
            made.c[3 * p + 2] -= small / standing
            p += 1


@kernel
def put_plan(t: Tables, body: Body, wanted: Wanted, made: Made, plan: ForcePlan) -> None:
    """The motion of an answer."""
    dt, gravity = t.numbers[0], t.numbers[1]
    weight = body.mass * gravity
    ahead, holds = t.ahead, wanted.holds
    accelerations = plan.accelerations
    n = holds.shape[0]
    p = 0
    for i in range(n):
        for a in range(6):
            accelerations[i, a] = -gravity if a == 5 else 0.0
        for f in range(holds.shape[1]):
            if holds[i, f] == 0:
                put3(plan.forces[i], f, 0, ZERO3)
                continue
            for a in range(3):
                share = made.x[3 * p + a]
                plan.forces[i, f, a] = weight * share
                accelerations[i, 3 + a] += gravity * share
                for k in range(3):
                    accelerations[i, a] += made.turns[p, a, k] * made.x[3 * p + k]
            p += 1
    for a in range(6):
        plan.coordinates[0, a] = body.coordinates[a]
        plan.rates[0, a] = body.rates[a]
        for i in range(n):
            place = body.coordinates[a] + (i + 1) * dt * body.rates[a]
            speed = body.rates[a]
            for j in range(i + 1):
                place += ahead[0, i, j] * accelerations[j, a]
                speed += ahead[1, i, j] * accelerations[j, a]
            plan.coordinates[i + 1, a] = place
            plan.rates[i + 1, a] = speed


@held
def plan_ahead(t: Tables, body: Body, wanted: Wanted, plan: ForcePlan) -> int:
    """State the program, solve it, and write what its answer does; steps, or `NO_POINT`."""
    n = wanted.holds.shape[0]
    p = 0
    for i in range(n):
        for f in range(wanted.holds.shape[1]):
            p += wanted.holds[i, f]
    made = made_in(t.floats, p, n)
    put_program(t, body, wanted, made)
    steps = 0
    if p > 0:
        rest = t.floats[made_floats(p, n) :]
        room = room_in(rest, t.ints, 3 * p, t.cone.shape[0])
        steps = force_horizon(made.H, made.c, t.cone, t.bounds, made.x, room)
    for k in range(3 * p):
        if not math.isfinite(made.x[k]):
            steps = NO_POINT
    if steps != NO_POINT:
        put_plan(t, body, wanted, made, plan)
    return steps
