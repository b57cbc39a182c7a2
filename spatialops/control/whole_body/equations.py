"""What accelerations and contact forces must satisfy, and the command that satisfies it, compiled.

Unknowns are x = (a, f, l), accelerations, contact forces and those of closures; motor forces
follow, u = U x + w, from the actuated rows of M a + h = B u + A^T f + G^T l. Constraints are the
other rows, contacts and closures that hold, forces that are given; and limits of motors, friction
pyramids, bounds of contact forces and of accelerations.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from spatialops._arrays import Array, IntArray
from spatialops._compile.held import held
from spatialops._compile.jit import inlined
from spatialops.algebra.memory import matrix
from spatialops.control.whole_body.order_kernel import (
    NO_POINT,
    Problem,
    in_order,
    ints_of,
    numbers_of,
    room_of,
)

# What comes back in the ints of a command.
STEPS = 0
STATUS = 1
GAVE_WAY = 2
RESULTS = 3

# Costs that decide only what nothing else does.
_DAMPED = 1e-6  # of accelerations that tasks leave free, W s^4
_SMALL = 1e-9  # of contact forces, W/N^2


class AccelerationLimits(NamedTuple):
    """Bounds low <= J a of accelerations.

    Parameters
    ----------
    J : (k, nv) array
        Rows.
    low : (k,) array
        The same.
    """

    J: Array
    low: Array


class Given(NamedTuple):
    """A command's state, tasks and limits, in the order in which the controller has them."""

    M: Array  # (nv, nv)
    load: Array  # (nv,) forces at zero acceleration
    A: Array  # (m, nv) rows of contacts, then of closures
    drift: Array  # (m,)
    mu: Array  # (g,)
    bounded: Array  # (l, m of contacts) rows F of F f + o >= 0
    offsets: Array  # (l,)
    pressed: Array  # (s,) forces that are given
    J: Array  # (k, nv) rows of all levels
    r: Array  # (k,)
    wanted: Array  # (2, nv) accelerations where tasks leave freedom: in the metric of M, by itself
    own: Array  # (2, nv) bounds of joints' accelerations; (2, 0): none
    apart: Array  # (c, nv) rows of other bounds
    least: Array  # (c,)
    gripping: IntArray  # (3 g,) rows of forces of contacts that grip
    pressing: IntArray  # (s,) rows of forces that are given


class Levels(NamedTuple):
    """What is the same at every command."""

    motors: IntArray  # (p,) velocities
    weights: Array  # (p,) of losses
    limits: Array  # (p,) of motors
    roots: Array  # (k,) of weights of task rows
    starts: IntArray  # first row of each level, and their number


class Sizes(NamedTuple):
    """Unknowns, equalities, inequalities that always hold, all of them, rows of a group."""

    n: int
    equal: int
    hard: int
    all: int
    group: int


def sizes_of(levels: Levels, given: Given, sides: int) -> Sizes:
    """How large a command's tables are."""
    p = len(levels.motors)
    m, nv = given.A.shape
    equal = nv - p + m + len(given.pressed)
    hard = p + sides * len(given.mu) + len(given.offsets)
    bounds = (p if given.own.shape[1] else 0) + len(given.least)
    steps = [b - a for a, b in pairwise(levels.starts.tolist())]
    return Sizes(nv + m, equal, hard, hard + bounds, max(equal, *steps, 0))


@lru_cache
def floats_of(sizes: Sizes, k: int) -> int:
    """Numbers that `whole_body_kernel` works in, with k rows of levels."""
    n, equal, _, i, group = sizes
    return (equal + i + k + n) * (n + 1) + i + numbers_of(n, i, group)


@lru_cache
def integers_of(sizes: Sizes) -> int:
    """Integers that it works in."""
    return RESULTS + ints_of(sizes.n, sizes.all, sizes.group)


@inlined
def problem_of(sizes: Sizes, k: int, floats: Array) -> Problem:
    """Name the tables of the problem."""
    n, equal, _, i, _ = sizes
    at = 0
    E = matrix(floats, at, equal, n)
    at += equal * n
    C = matrix(floats, at, i, n)
    at += i * n
    J = matrix(floats, at, k, n)
    at += k * n
    H = matrix(floats, at, n, n)
    at += n * n
    f = floats[at : at + n]
    at += n
    e = floats[at : at + equal]
    at += equal
    low = floats[at : at + i]
    at += i
    high = floats[at : at + i]
    at += i
    return Problem(E, e, C, low, high, J, floats[at : at + k], H, f)


@inlined
def put_equation(given: Given, i: int, row: Array) -> float:
    """Row i of M a - A^T (f, l), which is -h and the motor's force; -h."""
    nv = given.load.size
    for c in range(nv):
        row[c] = given.M[i, c]
    for j in range(given.drift.size):
        row[nv + j] = -given.A[j, i]
    return -given.load[i]


@inlined
def clear(X: Array) -> None:
    for i in range(X.shape[0]):
        for c in range(X.shape[1]):
            X[i, c] = 0.0


@inlined
def put_equalities(levels: Levels, given: Given, problem: Problem) -> None:
    """Rows without a motor, contacts and closures that hold, forces that are given."""
    E, e = problem.E, problem.e
    nv = given.load.size
    clear(E)
    count = 0
    k = 0
    for i in range(nv):
        if k < levels.motors.size and levels.motors[k] == i:
            k += 1
            continue
        e[count] = put_equation(given, i, E[count])
        count += 1
    for j in range(given.drift.size):
        for c in range(nv):
            E[count, c] = given.A[j, c]
        e[count] = -given.drift[j]
        count += 1
    for s in range(given.pressed.size):
        E[count, nv + given.pressing[s]] = 1.0
        e[count] = given.pressed[s]
        count += 1


@inlined
def put_pyramids(given: Given, sides: int, problem: Problem, count: int) -> int:
    """Sides of pyramids inscribed in cones: mu cos(pi / s) f_n >= c_k . f_t for each side k."""
    nv = given.load.size
    for g in range(given.mu.size):
        first = nv + given.gripping[3 * g]
        for k in range(sides):
            angle = 2.0 * math.pi * (k + 0.5) / sides
            problem.C[count, first] = given.mu[g] * math.cos(math.pi / sides)
            problem.C[count, first + 1] = -math.cos(angle)
            problem.C[count, first + 2] = -math.sin(angle)
            problem.low[count] = 0.0
            problem.high[count] = math.inf
            count += 1
    return count


@inlined
def put_inequalities(levels: Levels, given: Given, sides: int, problem: Problem) -> None:
    """Limits of motors, pyramids, bounds of forces, then of accelerations."""
    C = problem.C
    low, high = problem.low, problem.high
    nv = given.load.size
    clear(C)
    count = 0
    for k in range(levels.motors.size):
        w = -put_equation(given, levels.motors[k], C[count])
        low[count] = -levels.limits[k] - w
        high[count] = levels.limits[k] - w
        count += 1
    count = put_pyramids(given, sides, problem, count)
    for j in range(given.offsets.size):
        for c in range(given.bounded.shape[1]):
            C[count, nv + c] = given.bounded[j, c]
        low[count] = -given.offsets[j]
        high[count] = math.inf
        count += 1
    if given.own.shape[1] > 0:
        for k in levels.motors:
            C[count, k] = 1.0
            low[count] = given.own[0, k]
            high[count] = given.own[1, k]
            count += 1
    for j in range(given.least.size):
        for c in range(nv):
            C[count, c] = given.apart[j, c]
        low[count] = given.least[j]
        high[count] = math.inf
        count += 1


@inlined
def put_levels(levels: Levels, given: Given, problem: Problem) -> None:
    """Rows of all levels, times the roots of their weights."""
    clear(problem.J)
    for j in range(given.r.size):
        root = levels.roots[j]
        problem.r[j] = root * given.r[j]
        for c in range(given.load.size):
            problem.J[j, c] = root * given.J[j, c]


@inlined
def put_cost(levels: Levels, given: Given, weight: float, problem: Problem) -> None:
    """Losses of motors, and what draws accelerations that tasks leave free."""
    H, f = problem.H, problem.f
    U = problem.C  # its first rows
    nv = given.load.size
    n = f.size
    clear(H)
    for c in range(n):
        f[c] = 0.0
    for k in range(levels.motors.size):
        w = given.load[levels.motors[k]]
        for a in range(n):
            factor = 2.0 * levels.weights[k] * U[k, a]
            if factor != 0.0:
                f[a] += factor * w
                for b in range(n):
                    H[a, b] += factor * U[k, b]
    metric = 2.0 * weight
    for a in range(nv):
        if metric != 0.0:
            for b in range(nv):
                H[a, b] += metric * given.M[a, b]
                f[a] -= metric * given.M[a, b] * given.wanted[0, b]
        H[a, a] += _DAMPED
        f[a] -= _DAMPED * given.wanted[1, a]
    for a in range(nv, n):
        H[a, a] += _SMALL


@inlined
def put_motors(levels: Levels, given: Given, problem: Problem, x: Array, u: Array) -> None:
    """U x + w within the limits."""
    for k in range(u.size):
        total = given.load[levels.motors[k]]
        for c in range(x.size):
            total += problem.C[k, c] * x[c]
        u[k] = max(min(total, levels.limits[k]), -levels.limits[k])


@inlined
def with_fewer(problem: Problem, i: int) -> Problem:
    """The first inequalities alone."""
    p = problem
    return Problem(p.E, p.e, p.C[:i], p.low[:i], p.high[:i], p.J, p.r, p.H, p.f)


@held
def whole_body_kernel(
    levels: Levels,
    given: Given,
    sides: int,
    weight: float,
    sizes: Sizes,
    x: Array,
    u: Array,
    floats: Array,
    ints: IntArray,
) -> int:
    """Unknowns x (n,) and motor forces u (p,); the status of `order_kernel`, also in `ints`.

    `weight` is that of the first accelerations that are wanted. Where there is no point bounds of
    accelerations give way.
    """
    problem = problem_of(sizes, given.r.size, floats)
    rest = floats[(sizes.equal + sizes.all + given.r.size + sizes.n) * (sizes.n + 1) + sizes.all :]
    put_equalities(levels, given, problem)
    put_inequalities(levels, given, sides, problem)
    put_levels(levels, given, problem)
    put_cost(levels, given, weight, problem)
    ints[GAVE_WAY] = 0
    own = room_of(sizes.n, sizes.all, sizes.group, rest, ints[RESULTS:])
    status = in_order(problem, levels.starts, x, own)
    if status == NO_POINT and sizes.all > sizes.hard:
        ints[GAVE_WAY] = 1
        hard = with_fewer(problem, sizes.hard)
        own = room_of(sizes.n, sizes.hard, sizes.group, rest, ints[RESULTS:])
        status = in_order(hard, levels.starts, x, own)
    ints[STEPS] = own.ints[0]
    ints[STATUS] = status
    if status != NO_POINT:
        put_motors(levels, given, problem, x, u)
    return status
