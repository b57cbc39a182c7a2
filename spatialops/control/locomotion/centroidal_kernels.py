"""The program of forces over a horizon, and the motion that its answer makes, compiled.

Step i with forces x_i, relative to the weight, accelerates (phi, c) by a_i = g + B_i x_i, and
states are sums of accelerations: with the tables X of coordinates and V of rates, and weights W,

    H_ij = B_i^T ((X^T X)_ij W_x + (V^T V)_ij W_v) B_j,

block by block of three forces of one foot, which is all that its size takes.
"""

from __future__ import annotations

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel


@inlined
def put_turns(
    gravity: float,
    inverse: Array,
    coordinates: Array,
    feet: Array,
    holds: IntArray,
    turns: Array,
) -> None:
    """Angular accelerations (p, 3, 3) by a force that is the weight, of each foot that stands.

    g (m I^-1) (r x): `inverse` is m I^-1.
    """
    p = 0
    for i in range(holds.shape[0]):
        for f in range(holds.shape[1]):
            if holds[i, f] == 0:
                continue
            x = feet[i, f, 0] - coordinates[i, 3]
            y = feet[i, f, 1] - coordinates[i, 4]
            z = feet[i, f, 2] - coordinates[i, 5]
            for a in range(3):
                u = gravity * inverse[a, 0]
                v = gravity * inverse[a, 1]
                w = gravity * inverse[a, 2]
                turns[p, a, 0] = v * z - w * y
                turns[p, a, 1] = w * x - u * z
                turns[p, a, 2] = u * y - v * x
            p += 1


@inlined
def put_missed(
    numbers: tuple[float, float, float],
    given: tuple[Array, Array, Array],
    wanted: tuple[Array, Array, Array],
    weights: tuple[Array, Array],
    ahead: Array,
    drifts: Array,
) -> None:
    """What the steps' accelerations should have done, weighted, in drifts[2] (n, 6)."""
    dt, gravity, _ = numbers
    n = ahead.shape[1]
    for i in range(n):
        for a in range(6):
            fall = -gravity if a == 5 else 0.0
            place = given[0][a] + (i + 1) * dt * given[1][a]
            speed = given[1][a]
            for j in range(i + 1):
                place += ahead[0, i, j] * fall
                speed += ahead[1, i, j] * fall
            drifts[0, i, a] = weights[0][a] * (wanted[0][i, a] - place)
            drifts[1, i, a] = weights[1][a] * (wanted[1][i, a] - speed)
    for j in range(n):
        for a in range(6):
            total = 0.0
            for i in range(j, n):
                total += ahead[0, i, j] * drifts[0, i, a] + ahead[1, i, j] * drifts[1, i, a]
            drifts[2, j, a] = total


@inlined
def put_block(
    x: float, v: float, gravity: float, weights: tuple[Array, Array], A: Array, B: Array, out: Array
) -> None:
    """B_i^T (x W_x + v W_v) B_j of two feet whose angular parts are A and B (3, 3)."""
    for a in range(3):
        for b in range(3):
            total = 0.0
            for k in range(3):
                total += A[k, a] * B[k, b] * (x * weights[0][k] + v * weights[1][k])
            out[a, b] = total
        out[a, a] += gravity * gravity * (x * weights[0][3 + a] + v * weights[1][3 + a])


@kernel
def program_kernel(
    numbers: tuple[float, float, float],
    given: tuple[Array, Array, Array],
    wanted: tuple[Array, Array, Array],
    holds: IntArray,
    weights: tuple[Array, Array],
    tables: tuple[Array, Array],
    turns: Array,
    drifts: Array,
    program: tuple[Array, Array],
) -> None:
    """H (3 p, 3 p) and c (3 p,) of p feet that stand in steps, relative to the weight.

    `numbers` are dt, gravity and the weight of forces; `given` (phi, c), rates and m I^-1; `wanted`
    coordinates, rates and feet of the steps; `tables` X and V (2, n, n) and their squares. `turns`
    (p, 3, 3) is for `plan_kernel`, `drifts` (3, n, 6) is room.
    """
    H, c = program
    gravity, small = numbers[1], numbers[2]
    put_turns(gravity, given[2], wanted[0], wanted[2], holds, turns)
    put_missed(numbers, given, wanted, weights, tables[0], drifts)
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
                x = tables[1][0, i, j]
                v = tables[1][1, i, j]
                for g in range(holds.shape[1]):
                    if holds[j, g] == 0 or q > p:
                        continue
                    block = H[3 * p : 3 * p + 3, 3 * q : 3 * q + 3]
                    put_block(x, v, gravity, weights, turns[p], turns[q], block)
                    q += 1
            for a in range(3):
                at = 3 * p + a
                total = gravity * drifts[2, i, 3 + a]
                for k in range(3):
                    total += turns[p, k, a] * drifts[2, i, k]
                c[at] = -total
                H[at, at] += small
            c[3 * p + 2] -= small / standing
            p += 1
    for at in range(c.size):
        for b in range(at):
            H[b, at] = H[at, b]


@kernel
def plan_kernel(
    numbers: tuple[float, float, float],
    given: tuple[Array, Array, Array],
    holds: IntArray,
    turns: Array,
    ahead: Array,
    x: Array,
    plan: tuple[Array, Array, Array, Array],
) -> None:
    """Forces (n, k, 3), which are zero before, coordinates, rates and accelerations of an answer.

    `numbers` are dt, gravity and the weight, N.
    """
    dt, gravity, weight = numbers
    forces, coordinates, rates, accelerations = plan
    n = holds.shape[0]
    p = 0
    for i in range(n):
        for a in range(6):
            accelerations[i, a] = -gravity if a == 5 else 0.0
        for f in range(holds.shape[1]):
            if holds[i, f] == 0:
                continue
            for a in range(3):
                forces[i, f, a] = weight * x[3 * p + a]
                accelerations[i, 3 + a] += gravity * x[3 * p + a]
                for k in range(3):
                    accelerations[i, a] += turns[p, a, k] * x[3 * p + k]
            p += 1
    for a in range(6):
        coordinates[0, a] = given[0][a]
        rates[0, a] = given[1][a]
        for i in range(n):
            place = given[0][a] + (i + 1) * dt * given[1][a]
            speed = given[1][a]
            for j in range(i + 1):
                place += ahead[0, i, j] * accelerations[j, a]
                speed += ahead[1, i, j] * accelerations[j, a]
            coordinates[i + 1, a] = place
            rates[i + 1, a] = speed
