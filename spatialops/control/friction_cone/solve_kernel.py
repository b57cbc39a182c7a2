"""A force program from its arrays to its answer, compiled: `Barrier` says what is done."""

from __future__ import annotations

import math
from functools import lru_cache

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.column_reflections import (
    Decided,
    Reflections,
    decide,
    put_point,
    whole_eights,
)
from spatialops.algebra.memory import matrix
from spatialops.algebra.vectors import is_finite
from spatialops.control.friction_cone import barrier_kernel as path
from spatialops.control.friction_cone.barrier_function import (
    VECTORS,
    Changes,
    Newton,
    Point,
    Program,
)
from spatialops.control.friction_cone.optimality import CONDITIONS, Rows, margins_of
from spatialops.control.friction_cone.reduced_program import (
    Reduced,
    dot_columns,
    eliminate,
    lift,
    program_of,
    reduce,
    reduced_of,
    slack_of,
    widen,
)
from spatialops.control.friction_cone.verification import (
    CENTERED,
    REPORT,
    SEARCHED,
    START_STEPS,
    STEPS,
    VIOLATION,
    Found,
    verify,
)

SOLVED = 0
INFEASIBLE = 1
INCONSISTENT = 2
FAILED = 3

# What `numbers` holds.
SHARP = 0  # two gaps, relative to the cost
INSIDE = 2
LEAST_MARGIN = 3
LEAST_COST = 4
MOST_STEPS = 5
PROVES = 6

_FLAT_RANK = 1e-14  # of a cost without constraints: rows, relative, that count as zero
_BACK = 1e-13  # part of the way back inside
_TIMES = 10  # that it is gone at most
_NEAR = 0.3  # of what a guess violates: how far within the bounds given s it begins
_SHARP = 0.1  # of the least margin: the gap at which a start is the best there is


@lru_cache
def numbers_of(n: int, r: int, m: int, c: int) -> int:
    """Numbers that `solve_program` works in."""
    wide, group = int(whole_eights(n)), int(whole_eights(r))
    rows = m + 3 * c
    reduce = n * n + 4 * n + (n + 2) * group + 2 * r + n * wide + n + 1
    own = n + 1
    program = own * own + own + rows * own + rows
    newton = own * own + VECTORS * own + own + 2 * m + 6 * c + 6 * c
    refine = rows * rows + rows * wide + 4 * rows + 3 * wide + 2 * n
    return reduce + 2 * program + newton + refine + 9 * own + 2 * rows + m + c + CONDITIONS


@lru_cache
def ints_of(n: int, r: int) -> int:
    """Integers that it works in."""
    return int(whole_eights(n)) + int(whole_eights(r))


@inlined
def work_of(x: Array, m: int, c: int, floats: Array) -> tuple[Point, Changes, Newton]:
    """Name what the path works in, for n unknowns; x (n,) is the point's own."""
    n = x.size
    B = matrix(floats, 0, n, n)
    vectors = matrix(floats, n * n, VECTORS, n)
    at = n * n + VECTORS * n
    l = floats[at : at + m]
    at += m
    dl = floats[at : at + m]
    at += m
    f = floats[at : at + 3 * c]
    at += 3 * c
    df = floats[at : at + 3 * c]
    at += 3 * c
    cones = floats[at : at + c]
    at += c
    errors = matrix(floats, at, c, 3)
    at += 3 * c
    bends = matrix(floats, at, c, 2)
    return Point(x, l, f, cones, errors), Changes(dl, df, bends), Newton(B, vectors)


@inlined
def put_multipliers(p: Program, at: Point, eta: float, rows: Rows, found: Found) -> None:
    """Those of the point on the path, in the units of the program as it was given."""
    m = rows.d.size
    for j in range(m):
        found.linear[j] = eta / at.l[j] / rows.scales[j]
    for i in range(rows.mu.size):
        factor = -2.0 * eta / at.c[i] / rows.scales[m + i]
        found.cones[i, 0] = -p.mu[i] * p.mu[i] * factor * at.f[3 * i]
        found.cones[i, 1] = factor * at.f[3 * i + 1]
        found.cones[i, 2] = factor * at.f[3 * i + 2]


@inlined
def begin_path(p: Program, y: Array, known: bool, numbers: Array, options: Array) -> None:
    """Where the search for a start begins: well inside, or close to the bounds by a good guess.

    On the path s is eta theta above its least, which a good guess nearly has.
    """
    f = y.size - 1
    theta = p.d.size + 2 * p.mu.size
    violation = -min(slack_of(p, y[:f]), 0.0)
    above = numbers[INSIDE] + _NEAR * violation
    y[f] = violation + above if known else 1.0 + 1.5 * violation
    options[path.ETA] = (above if known else y[f]) / theta
    options[path.LAST] = _SHARP * numbers[LEAST_MARGIN] / theta
    options[path.STOP] = -numbers[INSIDE]
    options[path.STEPS] = numbers[MOST_STEPS]
    options[path.CONSTANT] = 1.0
    options[path.PROVES] = numbers[PROVES]


@inlined
def begin_optimum(z: Reduced, p: Program, w: Array, numbers: Array, options: Array) -> None:
    """The first eta of the path, by how large costs are."""
    theta = p.d.size + 2 * p.mu.size
    pull, curved = 0.0, 0.0
    for a in range(w.size):
        if p.H[a, a] > 0.0:
            pull += p.g[a] * p.g[a] / p.H[a, a]
        for b in range(w.size):
            curved += w[a] * p.H[a, b] * w[b]
    size = z.fixed[0] + 0.5 * pull + numbers[LEAST_COST]
    options[path.ETA] = (size + 0.5 * curved) / theta
    options[path.STOP] = -math.inf
    options[path.STEPS] = numbers[MOST_STEPS]
    options[path.CONSTANT] = z.fixed[0] + numbers[LEAST_COST]
    options[path.PROVES] = math.inf


@inlined
def without_search(
    rows: Rows, z: Reduced, p: Program, w: Array, found: Found, floats: Array, ints: IntArray
) -> int:
    """Where nothing is free, or nothing bounds what is."""
    f = w.size
    found.report[SEARCHED] = 0.0
    if f > 0:
        wide = whole_eights(f)
        V = matrix(floats, 0, f, f)
        X = matrix(floats, f * f, f, wide)
        at = f * f + f * wide
        y = floats[at : at + f]
        right = floats[at + f : at + 2 * f]
        squares = floats[at + 2 * f : at + 2 * f + wide]
        longest = 0.0
        for a in range(f):
            right[a] = -p.g[a]
            for b in range(wide):
                X[a, b] = p.H[b, a] if b < f else 0.0
        for a in range(f):
            longest = max(longest, dot_columns(X, a, X, a))
        decided = Decided(Reflections(V, squares, ints), y)
        rank, _ = decide(X, right, f, 0, _FLAT_RANK * math.sqrt(longest), decided)
        put_point(decided, rank, w)
    lift(z, w, found.x)
    for j in range(rows.d.size):
        found.linear[j] = 0.0
    for i in range(rows.mu.size):
        for c in range(3):
            found.cones[i, c] = 0.0
    if rows.scales.size > 0:
        slack = slack_of(p, w)
        if not slack > 0.0:
            found.report[VIOLATION] = -slack
            return INFEASIBLE
    return SOLVED if verify(rows, z, p, found, floats, ints) else FAILED


@kernel
def start(
    p: Program, w: Array, known: bool, numbers: Array, found: Found, rows: Rows, floats: Array
) -> int:
    """From w, or near the known w, a point inside all inequalities: SOLVED, or why not."""
    f = w.size
    m = p.d.size
    c = p.mu.size
    y = floats[: f + 1]
    center = floats[f + 1 : 2 * f + 2]
    rest = floats[2 * f + 2 + path.OPTIONS :]
    options = floats[2 * f + 2 : 2 * f + 2 + path.OPTIONS]
    wider, end = program_of(f + 1, m, c, p.mu, rest)
    at, changes, newton = work_of(y, m, c, rest[end:])
    for a in range(f):
        y[a] = w[a]
    begin_path(p, y, known, numbers, options)
    widen(p, wider)
    status = path.follow(wider, at, changes, newton, options, center)
    found.report[START_STEPS] = options[path.STEPS]
    found.report[STEPS] = options[path.STEPS]
    for a in range(f):
        w[a] = y[a]
    slack = slack_of(p, w)
    if slack > numbers[LEAST_MARGIN]:
        return SOLVED
    if status not in (path.SOLVED, path.PROVED):
        return FAILED  # not at its least: nothing is proved
    found.report[VIOLATION] = max(-slack, 0.0)
    put_multipliers(p, at, options[path.ETA], rows, found)
    return INFEASIBLE


@kernel
def solve_program(
    rows: Rows, guess: Array, numbers: Array, found: Found, floats: Array, ints: IntArray
) -> int:
    """Solve a program from near the guess, (n,) or none; what `Found` names, and a status."""
    n = rows.g.size
    m = rows.d.size
    c = rows.mu.size
    for i in range(REPORT):
        found.report[i] = 0.0
    found.report[SEARCHED] = 1.0
    own, at = reduced_of(rows, floats, ints)
    right = floats[at : at + rows.e.size]
    at += rows.e.size
    rank, fits = eliminate(rows, own, right)
    z = Reduced(own.decided, own.X, own.weights, own.scale, own.x0, own.Z, own.fixed, rank)
    if not fits:
        for a in range(n):
            found.x[a] = z.x0[a]
        return INCONSISTENT
    f = n - rank
    p, end = program_of(f, m, c, rows.mu, floats[at:])
    at += end
    w = floats[at : at + f]
    begun = floats[at + f : at + 2 * f]
    center = floats[at + 2 * f : at + 3 * f]
    options = floats[at + 3 * f : at + 3 * f + path.OPTIONS]
    at += 3 * f + path.OPTIONS
    rest = floats[at:]
    more = ints[whole_eights(rows.e.size) :]
    reduce(rows, z, p, matrix(rest, 0, n, f))
    for a in range(f):
        begun[a] = 0.0
        w[a] = 0.0
    if f == 0 or m + c == 0:
        return without_search(rows, z, p, w, found, rest, more)
    if guess.size == n and is_finite(guess):
        for a in range(f):
            for i in range(n):
                pull = z.scale[i] * z.scale[i] * (guess[i] - z.x0[i])
                begun[a] += z.Z[i, a] * pull
    near = slack_of(p, begun)
    if not near > numbers[INSIDE]:
        far = slack_of(p, w)
        known = far < near < 0.0
        if not known:
            for a in range(f):
                begun[a] = 0.0
        if known or not far > numbers[INSIDE]:
            status = start(p, begun, known, numbers, found, rows, rest)
            if status != SOLVED:
                lift(z, begun, found.x)
                return status
    return optimum(rows, z, p, (w, begun, center, options), numbers, found, rest, more)


@inlined
def bring_inside(rows: Rows, found: Found, margins: Array) -> None:
    """What rounding has put on a constraint goes a part of the way back to the centre."""
    for _ in range(_TIMES):
        least = math.inf
        margins_of(rows, found.x, margins)
        for j in range(rows.scales.size):
            least = min(least, margins[j])
        if least > 0.0:
            break
        for a in range(found.x.size):
            found.x[a] += _BACK * (found.center[a] - found.x[a])


@inlined
def optimum(
    rows: Rows,
    z: Reduced,
    p: Program,
    points: tuple[Array, Array, Array, Array],
    numbers: Array,
    found: Found,
    floats: Array,
    ints: IntArray,
) -> int:
    """From a point inside to the least cost: of two gaps the first whose answer is verified."""
    w, begun, center, options = points
    theta = p.d.size + 2 * p.mu.size
    solved = False
    for attempt in range(2):
        for a in range(w.size):
            w[a] = begun[a]
            center[a] = begun[a]
        at, changes, newton = work_of(w, p.d.size, p.mu.size, floats)
        begin_optimum(z, p, w, numbers, options)
        options[path.LAST] = numbers[SHARP + attempt] / theta
        status = path.follow(p, at, changes, newton, options, center)
        found.report[STEPS] = found.report[START_STEPS] + options[path.STEPS]
        put_multipliers(p, at, options[path.ETA], rows, found)
        lift(z, w, found.x)
        lift(z, center, found.center)
        bring_inside(rows, found, floats[: rows.scales.size])
        found.report[CENTERED] = 1.0
        solved = verify(rows, z, p, found, floats, ints) and status == path.SOLVED
        if solved:
            break
    return SOLVED if solved else FAILED


@kernel
def program_kernel(
    rows: tuple[Array, ...],
    guess: Array,
    numbers: Array,
    found: tuple[Array, ...],
    floats: Array,
    ints: IntArray,
) -> int:
    """`solve_program` with the arrays of `Rows` and `Found`."""
    return solve_program(Rows(*rows), guess, numbers, Found(*found), floats, ints)
