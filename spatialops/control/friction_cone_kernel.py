"""Newton's method on the log-barrier of a quadratic program with friction cones, compiled ([A] 30 and appendix .5).

    minimise  x.H x / 2 + g.x   subject to   l = D x + d > 0,   c_i = mu_i^2 n_i^2 - |t_i|^2 > 0,  n_i > 0

with (n, t) the three rows of K_i x + k_i. The barrier -log c_i of a cone is self-concordant with parameter 2, -log l_j
with parameter 1: on the central path the gap is eta (2 k + m), not eta times the number of inequalities as [A] counts.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array
from spatialops._jit import kernel

SOLVED, STOPPED, STALLED, INDEFINITE, OUTSIDE = 0, 1, 2, 3, 4

# Rows of the vectors that the kernel works in.
GRADIENT, SIGMA, STEP, PREDICTED, VECTORS = 0, 1, 2, 3, 4

EPS = 1.2e-16


@kernel
def cone_value(mu: float, n: float, s: float, t: float) -> float:
    """c = mu^2 n^2 - |t|^2 as a product, which keeps its digits near the cone."""
    length = math.sqrt(s * s + t * t)
    return (mu * n - length) * (mu * n + length)


@kernel
def slacks(
    D: Array, d: Array, K: Array, k: Array, mu: Array, x: Array, l: Array, f: Array, c: Array, errors: Array
) -> None:
    """Linear slacks l, contact forces f, and the cones' c at x; of each cone, how far rounding has moved f and c."""
    for j in range(d.size):
        total = d[j]
        for a in range(x.size):
            total += D[j, a] * x[a]
        l[j] = total
    for j in range(k.size):
        total, size = k[j], abs(k[j])
        for a in range(x.size):
            total += K[j, a] * x[a]
            size += abs(K[j, a] * x[a])
        f[j] = total
        errors[j // 3, j % 3] = size * EPS
    for i in range(mu.size):
        errors[i, 0] = mu[i] * errors[i, 0] + errors[i, 1] + errors[i, 2]
        p, s, t = f[3 * i], f[3 * i + 1], f[3 * i + 2]
        c[i] = cone_value(mu[i], p, s, t)
        errors[i, 1] = 2.0 * errors[i, 0] * (mu[i] * p + math.sqrt(s * s + t * t))


@kernel
def inside(l: Array, f: Array, c: Array) -> bool:
    """Whether slacks are strictly feasible."""
    good = True
    for j in range(l.size):
        good = good and l[j] > 0.0
    for i in range(c.size):
        good = good and c[i] > 0.0 and f[3 * i] > 0.0
    return good


@kernel
def assemble(
    H: Array,
    g: Array,
    D: Array,
    K: Array,
    mu: Array,
    x: Array,
    l: Array,
    f: Array,
    c: Array,
    eta: float,
    B: Array,
    rows: Array,
) -> None:
    """Gradient H x + g, sigma = sum grad log, and the lower half of the Hessian H + eta (-sum hess log)."""
    n = x.size
    for a in range(n):
        total = g[a]
        for b in range(n):
            total += H[a, b] * x[b]
        rows[GRADIENT, a] = total
        rows[SIGMA, a] = 0.0
        for b in range(a + 1):
            B[a, b] = H[a, b]
    for j in range(l.size):
        w = 1.0 / l[j]
        e = eta * w * w
        for a in range(n):
            r = D[j, a]
            if r != 0.0:
                rows[SIGMA, a] += w * r
                r *= e
                for b in range(a + 1):
                    B[a, b] += r * D[j, b]
    for i in range(mu.size):
        # log c = log(z - r) + log(z + r) with z = mu n and r = |t|: three positive terms of -hess log c, along z - r,
        # z + r and across; their usual form, grad grad^T / c^2 - hess c / c, loses definiteness near the cone.
        s, t = f[3 * i + 1], f[3 * i + 2]
        r = math.sqrt(s * s + t * t)
        s, t = (s / r, t / r) if r > 0.0 else (1.0, 0.0)
        far = 1.0 / (mu[i] * f[3 * i] + r)
        near = 1.0 / (c[i] * far)
        e0, e1, e2 = eta * near * near, eta * far * far, 2.0 * eta * near * far
        for a in range(n):
            z, along = mu[i] * K[3 * i, a], s * K[3 * i + 1, a] + t * K[3 * i + 2, a]
            rows[SIGMA, a] += near * (z - along) + far * (z + along)
            x0, x1, x2 = e0 * (z - along), e1 * (z + along), e2 * (s * K[3 * i + 2, a] - t * K[3 * i + 1, a])
            for b in range(a + 1):
                z, along = mu[i] * K[3 * i, b], s * K[3 * i + 1, b] + t * K[3 * i + 2, b]
                B[a, b] += x0 * (z - along) + x1 * (z + along) + x2 * (s * K[3 * i + 2, b] - t * K[3 * i + 1, b])


@kernel
def cholesky(B: Array, n: int) -> bool:
    """Factor the lower half in place; False where it is no number. Directions lost to rounding do not move."""
    for a in range(n):
        whole = B[a, a]
        for b in range(a + 1):
            total = B[a, b]
            for c in range(b):
                total -= B[a, c] * B[b, c]
            if a == b:
                if not whole > 0.0:
                    return False
                B[a, a] = math.sqrt(total) if total > 1e-15 * whole else 1e100
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
def longest(
    D: Array, K: Array, mu: Array, l: Array, f: Array, c: Array, step: Array, dl: Array, df: Array, bends: Array
) -> float:
    """Share of a step at which the first constraint is met (1e30: none); changes of slacks in dl, df, `bends`."""
    n, best = step.size, 1e30
    for j in range(l.size):
        total = 0.0
        for a in range(n):
            total += D[j, a] * step[a]
        dl[j] = total
        if total < 0.0:
            best = min(best, -l[j] / total)
    for j in range(f.size):
        total = 0.0
        for a in range(n):
            total += K[j, a] * step[a]
        df[j] = total
    for i in range(mu.size):
        m = mu[i] * mu[i]
        n0, s0, t0, n1, s1, t1 = f[3 * i], f[3 * i + 1], f[3 * i + 2], df[3 * i], df[3 * i + 1], df[3 * i + 2]
        # c(alpha) = c0 + 2 b alpha + a alpha^2; its first positive root, or where n is zero.
        c0, half, square = c[i], m * n0 * n1 - s0 * s1 - t0 * t1, m * n1 * n1 - s1 * s1 - t1 * t1
        bends[i, 0], bends[i, 1] = half, square
        root = half * half - square * c0
        if n1 < 0.0:
            best = min(best, -n0 / n1)
        if root >= 0.0:
            root = math.sqrt(root)
            if half < 0.0:
                best = min(best, c0 / (root - half))
            elif square < 0.0:
                best = min(best, -(half + root) / square)
    return best


@kernel
def move(
    alpha: float,
    mu: Array,
    rows: Array,
    dl: Array,
    df: Array,
    bends: Array,
    x: Array,
    l: Array,
    f: Array,
    c: Array,
    errors: Array,
) -> None:
    """Take the share alpha of a step.

    Slacks are carried along, not computed anew: near a constraint the difference of large numbers would leave them few
    digits, and the multipliers eta / l none. A cone's c is computed from its force where that is the more accurate: at
    the apex.
    """
    for a in range(x.size):
        x[a] += alpha * rows[STEP, a]
    for j in range(l.size):
        l[j] += alpha * dl[j]
    for j in range(f.size):
        f[j] += alpha * df[j]
    for i in range(c.size):
        step = alpha * (abs(mu[i] * df[3 * i]) + abs(df[3 * i + 1]) + abs(df[3 * i + 2]))
        p, s, t = f[3 * i], f[3 * i + 1], f[3 * i + 2]
        length = mu[i] * p + math.sqrt(s * s + t * t)
        errors[i, 0] += EPS * step
        errors[i, 1] += 2.0 * EPS * step * (length + step)
        c[i] += alpha * (2.0 * bends[i, 0] + alpha * bends[i, 1])
        if 2.0 * errors[i, 0] * length < errors[i, 1]:
            errors[i, 1] = 2.0 * errors[i, 0] * length
            c[i] = cone_value(mu[i], p, s, t)


@kernel
def slope(l: Array, c: Array, dl: Array, bends: Array, eta: float, linear: float, curved: float, alpha: float) -> float:
    """Derivative of the barrier function along a step at share alpha; the objective's is linear + alpha curved."""
    total = 0.0
    for j in range(l.size):
        total += dl[j] / (l[j] + alpha * dl[j])
    for i in range(c.size):
        half, square = bends[i, 0], bends[i, 1]
        total += 2.0 * (half + alpha * square) / (c[i] + alpha * (2.0 * half + alpha * square))
    return linear + alpha * curved - eta * total


@kernel
def share(
    H: Array, l: Array, c: Array, dl: Array, bends: Array, eta: float, rows: Array, first: float, reach: float
) -> float:
    """How far along the step to go: the whole of it if the barrier function still falls there, else near its least."""
    n = rows.shape[1]
    linear, curved = 0.0, 0.0
    for a in range(n):
        linear += rows[GRADIENT, a] * rows[STEP, a]
        for b in range(n):
            curved += rows[STEP, a] * H[a, b] * rows[STEP, b]
    alpha = min(1.0, 0.99 * reach)
    low, high, end = 0.0, alpha, slope(l, c, dl, bends, eta, linear, curved, alpha)
    if end <= 0.5 * abs(first):
        return alpha
    for _ in range(40):
        alpha = 0.5 * (low + high)
        end = slope(l, c, dl, bends, eta, linear, curved, alpha)
        if abs(end) <= 0.5 * abs(first):
            return alpha
        if end > 0.0:
            high = alpha
        else:
            low = alpha
    return low


@kernel
def barrier(
    H: Array,
    g: Array,
    D: Array,
    d: Array,
    K: Array,
    k: Array,
    mu: Array,
    x: Array,
    options: Array,
    B: Array,
    rows: Array,
    l: Array,
    f: Array,
    c: Array,
    dl: Array,
    df: Array,
    bends: Array,
    errors: Array,
    center: Array,
) -> int:
    """Follow the central path from the strictly feasible x; the result is in x, its last Newton step in rows[STEP].

    options: eta to begin with; eta to end with, relative to the cost x.H x / 2 and a constant, the fifth option; value
    of the last variable at which to stop; Newton steps allowed. They come back with eta, the last Newton decrement, and
    the steps taken. `center` is the first point on the path.
    """
    n, eta, relative, stop, most = x.size, options[0], options[1], options[2], int(options[3])
    first, before, last = True, 1e30, 0.0
    slacks(D, d, K, k, mu, x, l, f, c, errors)
    for count in range(most):
        options[3] = count
        if not inside(l, f, c):
            return OUTSIDE
        if x[n - 1] < stop:
            return STOPPED
        assemble(H, g, D, K, mu, x, l, f, c, eta, B, rows)
        if not cholesky(B, n):
            return INDEFINITE
        for a in range(n):
            rows[STEP, a] = eta * rows[SIGMA, a] - rows[GRADIENT, a]
            rows[PREDICTED, a] = -eta * rows[SIGMA, a]
        decrement, cost = 0.0, options[4]
        solve(B, rows[STEP], n)
        for a in range(n):
            decrement += rows[STEP, a] * (eta * rows[SIGMA, a] - rows[GRADIENT, a])
            cost += 0.5 * x[a] * (rows[GRADIENT, a] - g[a])
        decrement /= eta
        options[0], options[1] = eta, decrement
        if eta > last:
            last = relative * cost
        if eta <= last and (decrement < 1e-14 or (decrement < 1e-3 and decrement > 0.25 * before)):
            return SOLVED
        before = decrement if eta <= last else 1e30
        if decrement < 0.02 and eta > last:
            if first:
                first = False
                for a in range(n):
                    center[a] = x[a]
            # Predictor: along the tangent of the path, d x / d eta = B^-1 sigma, and the Newton step with it.
            solve(B, rows[PREDICTED], n)
            for a in range(n):
                rows[STEP, a] += rows[PREDICTED, a]
            reach = longest(D, K, mu, l, f, c, rows[STEP], dl, df, bends)
            alpha = min(0.99, 0.9 * reach)
            alpha = min(alpha, 1.0 - last / eta)
            move(alpha, mu, rows, dl, df, bends, x, l, f, c, errors)
            eta = max((1.0 - alpha) * eta, last)
            continue
        reach = longest(D, K, mu, l, f, c, rows[STEP], dl, df, bends)
        alpha = 1.0
        if reach < 1.02 or decrement > 1e-3:
            alpha = share(H, l, c, dl, bends, eta, rows, eta * decrement, reach)
        move(alpha, mu, rows, dl, df, bends, x, l, f, c, errors)
    options[3] = most
    return STALLED
