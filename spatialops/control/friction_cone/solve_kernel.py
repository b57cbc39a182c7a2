"""A force program from its arrays to its answer, compiled: `Barrier` says what is done.

Equalities are eliminated, x = x0 + Z w. Columns of Z are orthonormal once every unknown is scaled
to a unit cost, and what is left is small: the internal forces of a quadruped on four feet are six
numbers.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.column_reflections import (
    Decided,
    Reflections,
    decide,
    put_free,
    put_point,
    whole_eights,
)
from spatialops.control.friction_cone import barrier_kernel as path
from spatialops.control.friction_cone.barrier_function import (
    VECTORS,
    Changes,
    Newton,
    Point,
    Program,
    value_of,
)
from spatialops.control.friction_cone.optimality import (
    CONDITIONS,
    Multipliers,
    Rows,
    conditions_of,
)
from spatialops.control.inverse_dynamics.compiled.workspace import matrix

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
NUMBERS = 6

# What comes back in `report`.
RESIDUAL = 0
VIOLATION = 1
STEPS = 2
START_STEPS = 3
CENTERED = 4  # whether there is a centre
SEARCHED = 5  # whether there was anything to search
REPORT = 6

LIMIT = 1e-6  # of residuals
_REFINE = 0.01  # of LIMIT, above which multipliers are refined
_REFINED_RANK = 1e-12  # rows, relative, that count as zero there
_RANK = 1e-10  # what others leave of an equality, relative to the largest, that counts as zero
_FLAT_RANK = 1e-14  # the same of a cost without constraints
_EQUAL = 1e-9  # of its scale: equalities that are missed by more contradict each other
_LEAST_ROW = 1e-12  # scale of an equality of zeros
_SHARP = 0.1  # of the least margin: the gap at which a start is the best there is
# Of the search for a start: costs too small to decide anything, of unknowns and of s.
_BOUND = 1e-10
_BOUND_S = 1e-12


class Reduced(NamedTuple):
    """A program without its equalities."""

    decided: Decided
    X: Array  # (n, r in eights) equalities along Q
    weights: Array  # (r,) one over their lengths
    scale: Array  # (n,) of unknowns
    x0: Array  # (n,)
    Z: Array  # (n, n in eights)
    fixed: Array  # (1,) cost of x0, without the slope
    rank: int


class Found(NamedTuple):
    """An answer."""

    x: Array  # (n,)
    center: Array  # (n,)
    equality: Array  # (r,)
    linear: Array  # (m,)
    cones: Array  # (c, 3)
    report: Array  # (REPORT,)


def numbers_of(n: int, r: int, m: int, c: int) -> int:
    """Numbers that `solve_program` works in."""
    wide, group, rows = int(whole_eights(n)), int(whole_eights(r)), m + 3 * c
    reduce = n * n + 4 * n + (n + 2) * group + 2 * r + n * wide + n + 1
    own = n + 1
    program = own * own + own + rows * own + rows
    newton = own * own + VECTORS * own + own + 2 * m + 6 * c + 6 * c
    refine = rows * rows + rows * wide + 4 * rows + 3 * wide + 2 * n
    return reduce + 2 * program + newton + refine + 8 * own + 2 * rows + m + c + CONDITIONS


def ints_of(n: int, r: int) -> int:
    """Integers that it works in."""
    return int(whole_eights(n)) + int(whole_eights(r))


@inlined
def dot_columns(A: Array, a: int, B: Array, b: int) -> float:
    total = 0.0
    for i in range(A.shape[0]):
        total += A[i, a] * B[i, b]
    return total


@inlined
def reduced_of(rows: Rows, floats: Array, ints: IntArray) -> tuple[Reduced, int]:
    """Name its parts; where they end. Its rank is not known yet."""
    n = rows.g.size
    r = rows.e.size
    group = whole_eights(r)
    wide = whole_eights(n)
    V = matrix(floats, 0, n, n)
    at = n * n
    vectors = matrix(floats, at, 4, n)
    at += 4 * n
    squares = floats[at : at + group]
    at += group
    X = matrix(floats, at, n, group)
    at += n * group
    weights = floats[at : at + r]
    at += r
    Z = matrix(floats, at, n, wide)
    at += n * wide
    fixed = floats[at : at + 1]
    decided = Decided(Reflections(V, squares, ints[:group]), vectors[0])
    return Reduced(decided, X, weights, vectors[1], vectors[2], Z, fixed, 0), at + 1


@inlined
def eliminate(rows: Rows, into: Reduced, right: Array) -> tuple[int, bool]:
    """The rank of the equalities, and whether they can be met; x0 and Z."""
    n = rows.g.size
    X = into.X
    longest = 0.0
    for a in range(n):
        diagonal = rows.H[a, a]
        into.scale[a] = math.sqrt(diagonal) if diagonal > 0.0 else 1.0
        for j in range(rows.e.size, X.shape[1]):
            X[a, j] = 0.0
    for j in range(rows.e.size):
        square = 0.0
        for a in range(n):
            X[a, j] = rows.E[j, a] / into.scale[a]
            square += X[a, j] * X[a, j]
        weight = 1.0 / math.sqrt(square) if square > 0.0 else 1.0
        into.weights[j] = weight
        right[j] = weight * rows.e[j]
        for a in range(n):
            X[a, j] *= weight
        longest = max(longest, weight * math.sqrt(square))
    rank, _ = decide(X, right, rows.e.size, 0, _RANK * longest, into.decided)
    put_point(into.decided, rank, into.x0)
    put_free(into.decided.reflections.V, rank, rank, into.Z)
    square = 0.0
    for a in range(n):
        square += into.x0[a] * into.x0[a]
        into.x0[a] /= into.scale[a]
        for b in range(n - rank):
            into.Z[a, b] /= into.scale[a]
    fits = True
    for j in range(rows.e.size):
        left = -rows.e[j]
        for a in range(n):
            left += rows.E[j, a] * into.x0[a]
        size = math.sqrt(square) / into.weights[j] + abs(rows.e[j]) + _LEAST_ROW
        fits = fits and abs(left) <= _EQUAL * size
    return rank, fits


@inlined
def program_of(f: int, m: int, c: int, mu: Array, floats: Array) -> tuple[Program, int]:
    """Name a program of f unknowns; where it ends."""
    H = matrix(floats, 0, f, f)
    at = f * f
    g = floats[at : at + f]
    at += f
    D = matrix(floats, at, m, f)
    at += m * f
    d = floats[at : at + m]
    at += m
    K = matrix(floats, at, 3 * c, f)
    at += 3 * c * f
    k = floats[at : at + 3 * c]
    return Program(H, g, D, d, K, k, mu), at + 3 * c


@inlined
def put_scaled(A: Array, a: Array, i: int, by: float, z: Reduced, B: Array, b: Array) -> None:
    """Row i of A x + a, in w, over its scale."""
    f = B.shape[1]
    b[i] = a[i]
    for w in range(f):
        B[i, w] = 0.0
    for c in range(A.shape[1]):
        factor = A[i, c]
        if factor != 0.0:
            b[i] += factor * z.x0[c]
            for w in range(f):
                B[i, w] += factor * z.Z[c, w]
    b[i] *= by
    for w in range(f):
        B[i, w] *= by


@kernel
def reduce(rows: Rows, z: Reduced, program: Program, HZ: Array) -> None:
    """The cost and the inequalities, each over its scale, in w; `HZ` (n, f) is scratch."""
    n, f = HZ.shape
    m = rows.d.size
    z.fixed[0] = 0.0
    for a in range(f):
        program.g[a] = 0.0
        for b in range(f):
            program.H[a, b] = 0.0
    for i in range(n):
        at = 0.0
        for a in range(f):
            HZ[i, a] = 0.0
        for c in range(n):
            factor = rows.H[i, c]
            if factor != 0.0:
                at += factor * z.x0[c]
                for a in range(f):
                    HZ[i, a] += factor * z.Z[c, a]
        z.fixed[0] += 0.5 * z.x0[i] * at
        for a in range(f):
            factor = z.Z[i, a]
            program.g[a] += factor * (rows.g[i] + at)
            for b in range(f):
                program.H[a, b] += factor * HZ[i, b]
    for i in range(m):
        put_scaled(rows.D, rows.d, i, 1.0 / rows.scales[i], z, program.D, program.d)
    for i in range(rows.k.size):
        put_scaled(rows.K, rows.k, i, 1.0 / rows.scales[m + i // 3], z, program.K, program.k)


@inlined
def slack_of(p: Program, w: Array) -> float:
    """The smallest scaled margin."""
    least = math.inf
    for j in range(p.d.size):
        least = min(least, value_of(p.D, p.d, j, w))
    for i in range(p.mu.size):
        across = math.hypot(value_of(p.K, p.k, 3 * i + 1, w), value_of(p.K, p.k, 3 * i + 2, w))
        least = min(least, p.mu[i] * value_of(p.K, p.k, 3 * i, w) - across)
    return least


@inlined
def widen(p: Program, wider: Program) -> None:
    """Least s with every inequality given s, in (w, s).

    A cost that bounds what the inequalities leave free is too small to decide anything.
    """
    f = p.g.size
    size = 0.0
    for j in range(p.d.size):
        wider.d[j] = p.d[j]
        wider.D[j, f] = 1.0
        size = max(size, 1.0)
        for a in range(f):
            wider.D[j, a] = p.D[j, a]
            size = max(size, abs(p.D[j, a]))
    for j in range(p.k.size):
        wider.k[j] = p.k[j]
        wider.K[j, f] = 1.0 / p.mu[j // 3] if j % 3 == 0 else 0.0
        size = max(size, wider.K[j, f])
        for a in range(f):
            wider.K[j, a] = p.K[j, a]
            size = max(size, abs(p.K[j, a]))
    for a in range(f + 1):
        wider.g[a] = 0.0
        for b in range(f + 1):
            wider.H[a, b] = 0.0
        wider.H[a, a] = _BOUND * size * size
    wider.H[f, f] = _BOUND_S
    wider.g[f] = 1.0


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
def lift(z: Reduced, w: Array, x: Array) -> None:
    """The unknowns of the program."""
    for a in range(x.size):
        x[a] = z.x0[a]
        for b in range(w.size):
            x[a] += z.Z[a, b] * w[b]


@inlined
def begin_path(p: Program, y: Array, numbers: Array, options: Array) -> None:
    """Where the search for a start begins."""
    f = y.size - 1
    theta = p.d.size + 2 * p.mu.size
    for a in range(f):
        y[a] = 0.0
    y[f] = 1.0 - 1.5 * min(slack_of(p, y[:f]), 0.0)
    options[path.ETA] = y[f] / theta
    options[path.LAST] = _SHARP * numbers[LEAST_MARGIN] / theta
    options[path.STOP] = -numbers[INSIDE]
    options[path.STEPS] = numbers[MOST_STEPS]
    options[path.CONSTANT] = 1.0


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


@kernel
def judge(rows: Rows, z: Reduced, found: Found, scratch: Array) -> float:
    """Multipliers of the equalities for those of the others, and the residual."""
    n = rows.g.size
    rest = scratch[:n]
    V = z.decided.reflections.V
    order = z.decided.reflections.order
    for a in range(n):
        rest[a] = rows.g[a]
        for b in range(n):
            rest[a] += rows.H[a, b] * found.x[b]
        for j in range(rows.d.size):
            rest[a] -= rows.D[j, a] * found.linear[j]
        for j in range(rows.k.size):
            rest[a] -= rows.K[j, a] * found.cones[j // 3, j % 3]
        rest[a] /= z.scale[a]
    for c in range(z.rank):
        part = 0.0
        for a in range(c, n):
            part += V[c, a] * rest[a]
        for a in range(c, n):
            rest[a] -= part * V[c, a]
    for j in range(rows.e.size):
        found.equality[j] = 0.0
    for j in range(z.rank - 1, -1, -1):
        total = rest[j]
        for i in range(j + 1, z.rank):
            total -= z.X[j, i] * rest[i]
        rest[j] = total / z.X[j, j]
        found.equality[order[j]] = rest[j] * z.weights[order[j]]
    margins = scratch[n : n + rows.scales.size]
    missed = scratch[n + rows.scales.size : n + rows.scales.size + CONDITIONS]
    y = Multipliers(found.equality, found.linear, found.cones)
    conditions_of(rows, found.x, y, margins, missed)
    worst = 0.0
    for i in range(CONDITIONS):
        if not missed[i] <= worst:
            worst = missed[i]
    return worst


@kernel
def refine(rows: Rows, z: Reduced, p: Program, found: Found, floats: Array, ints: IntArray) -> None:
    """Multipliers that balance the cost: least change by their sizes, so that small stay small."""
    m = rows.d.size
    count = m + rows.k.size
    f = p.g.size
    wide = whole_eights(f)
    V = matrix(floats, 0, count, count)
    at = count * count
    X = matrix(floats, at, count, wide)
    at += count * wide
    vectors = matrix(floats, at, 3, count)
    at += 3 * count
    squares = floats[at : at + wide]
    at += wide
    right = floats[at : at + wide]
    at += wide
    sizes = vectors[0]
    for a in range(f):
        right[a] = 0.0
        for i in range(rows.g.size):
            slope = rows.g[i]
            for b in range(rows.g.size):
                slope += rows.H[i, b] * found.x[b]
            right[a] += z.Z[i, a] * slope
    for j in range(count):
        by = rows.scales[j] if j < m else rows.scales[m + (j - m) // 3]
        i = (j - m) // 3
        c = (j - m) % 3
        if j < m:
            sizes[j] = found.linear[j]
        else:
            square = found.cones[i, 0] ** 2 + found.cones[i, 1] ** 2 + found.cones[i, 2] ** 2
            sizes[j] = math.sqrt(square)
        for a in range(wide):
            X[j, a] = 0.0
        for a in range(f):
            row = by * (p.D[j, a] if j < m else p.K[j - m, a])
            right[a] -= row * (found.linear[j] if j < m else found.cones[i, c])
            X[j, a] = sizes[j] * row
    longest = 0.0
    for a in range(f):
        longest = max(longest, dot_columns(X, a, X, a))
    decided = Decided(Reflections(V, squares, ints), vectors[1])
    rank, _ = decide(X, right, f, 0, _REFINED_RANK * math.sqrt(longest), decided)
    put_point(decided, rank, vectors[2])
    for j in range(count):
        change = sizes[j] * vectors[2, j]
        if j < m:
            found.linear[j] = max(found.linear[j] + change, 0.0)
        else:
            found.cones[(j - m) // 3, (j - m) % 3] += change


@kernel
def verify(rows: Rows, z: Reduced, p: Program, found: Found, floats: Array, ints: IntArray) -> bool:
    """The point with its multipliers, verified in the program as it was given."""
    m = rows.d.size
    count = m + rows.k.size
    n = rows.g.size
    kept = floats[:count]
    scratch = floats[count : count + n + rows.scales.size + CONDITIONS]
    residual = judge(rows, z, found, scratch)
    if not residual <= _REFINE * LIMIT:
        for j in range(count):
            kept[j] = found.linear[j] if j < m else found.cones[(j - m) // 3, (j - m) % 3]
        refine(rows, z, p, found, floats[count + n + rows.scales.size + CONDITIONS :], ints)
        refined = judge(rows, z, found, scratch)
        if refined < residual:
            residual = refined
        else:
            for j in range(m):
                found.linear[j] = kept[j]
            for j in range(rows.k.size):
                found.cones[j // 3, j % 3] = kept[m + j]
            residual = judge(rows, z, found, scratch)
    found.report[RESIDUAL] = residual
    return residual < LIMIT


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
def start(p: Program, w: Array, numbers: Array, found: Found, rows: Rows, floats: Array) -> int:
    """A point inside all inequalities into w: SOLVED, or why there is none."""
    f = w.size
    m = p.d.size
    c = p.mu.size
    y = floats[: f + 1]
    center = floats[f + 1 : 2 * f + 2]
    options = floats[2 * f + 2 : 2 * f + 7]
    wider, end = program_of(f + 1, m, c, p.mu, floats[2 * f + 7 :])
    at, changes, newton = work_of(y, m, c, floats[2 * f + 7 + end :])
    begin_path(p, y, numbers, options)
    widen(p, wider)
    status = path.follow(wider, at, changes, newton, options, center)
    found.report[START_STEPS] = options[path.STEPS]
    found.report[STEPS] = options[path.STEPS]
    for a in range(f):
        w[a] = y[a]
    slack = slack_of(p, w)
    if slack > numbers[LEAST_MARGIN]:
        return SOLVED
    if status != path.SOLVED:
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
    options = floats[at + 3 * f : at + 3 * f + 5]
    at += 3 * f + 5
    rest = floats[at:]
    more = ints[whole_eights(rows.e.size) :]
    reduce(rows, z, p, matrix(rest, 0, n, f))
    for a in range(f):
        begun[a] = 0.0
        w[a] = 0.0
    if f == 0 or m + c == 0:
        return without_search(rows, z, p, w, found, rest, more)
    if guess.size == n:
        for a in range(f):
            for i in range(n):
                pull = z.scale[i] * z.scale[i] * (guess[i] - z.x0[i])
                begun[a] += z.Z[i, a] * pull
    if not slack_of(p, begun) > numbers[INSIDE]:
        for a in range(f):
            begun[a] = 0.0
        if not slack_of(p, begun) > numbers[INSIDE]:
            status = start(p, begun, numbers, found, rows, rest)
            if status != SOLVED:
                lift(z, begun, found.x)
                return status
    return optimum(rows, z, p, (w, begun, center, options), numbers, found, rest, more)


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
