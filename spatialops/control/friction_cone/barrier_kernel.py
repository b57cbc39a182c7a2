"""Newton's method on the log-barrier of a quadratic program with friction cones, compiled.

[A] 30 and appendix .5: minimise x.H x / 2 + g.x inside the linear inequalities and cones of
`barrier_function`. With m of the former and k of the latter the gap on the central path is
eta (2 k + m), not eta times the number of inequalities as [A] counts.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array
from spatialops._compile.jit import kernel
from spatialops.control.friction_cone.barrier_function import (
    GRADIENT,
    PREDICTED,
    SIGMA,
    STEP,
    Changes,
    Newton,
    Point,
    Program,
    assemble,
    inside,
    longest,
    move,
    slacks,
    slope,
)

SOLVED = 0
STOPPED = 1
STALLED = 2
INDEFINITE = 3
OUTSIDE = 4
PROVED = 5

# What goes into `options`, and what comes back in the same places.
ETA = 0  # to begin with; the last
LAST = 1  # eta to end with, relative to the cost; the last Newton decrement
STOP = 2  # value of the last variable at which to stop
STEPS = 3  # allowed; taken
CONSTANT = 4  # added to the cost x.H x / 2
PROVES = 5  # value of the last variable, whose least is sought, above which it need not be found
OPTIONS = 6

_LOST = 1e-15  # of a diagonal: what is left of it that is rounding, and
_STIFF = 1e100  # the pivot instead, along which nothing moves
_BISECTIONS = 40
_NO_DECREMENT = 1e30  # larger than any, before there is one

# Newton decrements, squared.
_CENTERED = 0.02  # near enough to the path to go on along it
_QUADRATIC = 1e-3  # whole steps may be taken, and each ends much nearer;
_STALLS = 0.25  # where more than this part is left, rounding is all there is
_SOLVED = 1e-14

# Parts of the way to the first constraint.
_TO_BOUNDARY = 0.99  # of a Newton step
_PREDICTED = 0.9  # of a step along the path, and
_LONGEST = 0.99  # the most of it that is gone
_REACH = 1.02  # whole steps that must be possible for one to be taken unseen


@kernel
def cholesky(B: Array, n: int) -> bool:
    """Factor the lower half in place.

    False where it is no number. Directions lost to rounding do not move.
    """
    for a in range(n):
        whole = B[a, a]
        for b in range(a + 1):
            total = B[a, b]
            for c in range(b):
                total -= B[a, c] * B[b, c]
            if a == b:
                if not whole > 0.0:
                    return False
                B[a, a] = math.sqrt(total) if total > _LOST * whole else _STIFF
            else:
                B[a, b] = total / B[b, b]
    return True


@kernel
def solve(B: Array, y: Array, n: int) -> None:
    """Both triangular solutions in place."""
    for a in range(n):
        total = y[a]
        for b in range(a):
            total -= B[a, b] * y[b]
        y[a] = total / B[a, a]
    for a in range(n - 1, -1, -1):
        total = y[a]
        for b in range(a + 1, n):
            total -= B[b, a] * y[b]
        y[a] = total / B[a, a]


@kernel
def share(
    H: Array, at: Point, changes: Changes, rows: Array, eta: float, first: float, reach: float
) -> float:
    """How far along the step to go.

    The whole of it if the barrier function still falls there, else near its least.
    """
    n = rows.shape[1]
    linear, curved = 0.0, 0.0
    for a in range(n):
        linear += rows[GRADIENT, a] * rows[STEP, a]
        for b in range(n):
            curved += rows[STEP, a] * H[a, b] * rows[STEP, b]
    alpha = min(1.0, _TO_BOUNDARY * reach)
    low = 0.0
    high = alpha
    end = slope(at, changes, eta, linear, curved, alpha)
    if end <= 0.5 * abs(first):
        return alpha
    for _ in range(_BISECTIONS):
        alpha = 0.5 * (low + high)
        end = slope(at, changes, eta, linear, curved, alpha)
        if abs(end) <= 0.5 * abs(first):
            return alpha
        if end > 0.0:
            high = alpha
        else:
            low = alpha
    return low


@kernel
def follow(
    program: Program, at: Point, changes: Changes, newton: Newton, options: Array, center: Array
) -> int:
    """Follow the central path from the strictly feasible `at.x`.

    The result is in `at`, its last Newton step in row STEP. `options` has the numbers named above.
    `center` becomes the first point on the path.
    """
    x, g = at.x, program.g
    rows = newton.vectors
    n = x.size
    eta = options[ETA]
    relative = options[LAST]
    stop = options[STOP]
    most = int(options[STEPS])
    theta = at.l.size + 2.0 * at.c.size
    first = True
    before = _NO_DECREMENT
    last = 0.0
    slacks(program, at)
    for count in range(most):
        options[STEPS] = count
        if not inside(at):
            return OUTSIDE
        if x[n - 1] < stop:
            return STOPPED
        assemble(program, at, eta, newton)
        if not cholesky(newton.B, n):
            return INDEFINITE
        for a in range(n):
            rows[STEP, a] = eta * rows[SIGMA, a] - rows[GRADIENT, a]
            rows[PREDICTED, a] = -eta * rows[SIGMA, a]
        decrement, cost = 0.0, options[CONSTANT]
        solve(newton.B, rows[STEP], n)
        for a in range(n):
            decrement += rows[STEP, a] * (eta * rows[SIGMA, a] - rows[GRADIENT, a])
            cost += 0.5 * x[a] * (rows[GRADIENT, a] - g[a])
        decrement /= eta
        options[ETA], options[LAST] = eta, decrement
        if eta > last:
            last = relative * cost
        if eta <= last and (
            decrement < _SOLVED or (decrement < _QUADRATIC and decrement > _STALLS * before)
        ):
            return SOLVED
        # On the path the least cost is less by eta theta, near it by sqrt(theta) times the
        # decrement more; what only bounds the program counts twice.
        bounds = cost - options[CONSTANT]
        gap = eta * (theta + math.sqrt(theta))
        if decrement < _CENTERED and x[n - 1] - gap - 2.0 * bounds > options[PROVES]:
            return PROVED
        before = decrement if eta <= last else _NO_DECREMENT
        if decrement < _CENTERED and eta > last:
            if first:
                first = False
                for a in range(n):
                    center[a] = x[a]
            # Predictor: along the tangent of the path, d x / d eta = B^-1 sigma, and the Newton
            # step with it.
            solve(newton.B, rows[PREDICTED], n)
            for a in range(n):
                rows[STEP, a] += rows[PREDICTED, a]
            reach = longest(program, at, rows[STEP], changes)
            alpha = min(_LONGEST, _PREDICTED * reach)
            alpha = min(alpha, 1.0 - last / eta)
            move(alpha, program.mu, rows[STEP], changes, at)
            eta = max((1.0 - alpha) * eta, last)
            continue
        reach = longest(program, at, rows[STEP], changes)
        alpha = 1.0
        if reach < _REACH or decrement > _QUADRATIC:
            alpha = share(program.H, at, changes, rows, eta, eta * decrement, reach)
        move(alpha, program.mu, rows[STEP], changes, at)
    options[STEPS] = most
    return STALLED
