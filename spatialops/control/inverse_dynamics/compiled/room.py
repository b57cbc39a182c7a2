"""What a law allows of impulses that do the same, compiled: `force_distribution.allowed`."""

from __future__ import annotations

import math
from typing import NamedTuple

from spatialops._arrays import Array, IntArray, Mat3
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.memory import matrix
from spatialops.algebra.reflections import null_space_kernel
from spatialops.control.inverse_dynamics.compiled import workspace as of
from spatialops.control.inverse_dynamics.compiled.cone_law import largest, largest_compliance
from spatialops.control.inverse_dynamics.compiled.turning import turn_back, turning
from spatialops.control.inverse_dynamics.compiled.workspace import Posture, Round
from spatialops.control.inverse_dynamics.force_distribution import NULL, REST, ROUNDING, STUCK


class Allowed(NamedTuple):
    """Impulses p + basis^T x with rows (p + basis^T x) >= 0; so many of each are in use."""

    basis: Array  # (3 m, 3 m), a direction a row
    rows: Array  # (m (n_f + 1), 3), each of one contact
    contacts: IntArray  # (m (n_f + 1),) which


# How contacts are bound, as `ConeKind` of `force_distribution`.
COULOMB = 0
NO_SLIP = 1
DISSIPATION = 2


@kernel
def put_allowed(
    posture: Posture, at: Round, kind: int, kept: float, middles: Array, allowed: Allowed
) -> tuple[int, int]:
    """Directions in which impulses may change, and rows that stay >= 0; how many of each.

    `kept` is the share of friction that is counted on.
    """
    m = at.slip.size
    still = STUCK * max(largest(at.u), REST)
    still += ROUNDING * largest_compliance(posture.W) * largest(at.p)
    used = 0
    count = 0
    for i in range(m):
        u = at.then[3 * i : 3 * i + 3]
        p = at.p[3 * i : 3 * i + 3]
        mu = posture.place[i, of.MU]
        opens = u[0] > still
        slides = math.hypot(u[1], u[2]) > still or (opens and kind == DISSIPATION)
        if opens and kind != DISSIPATION:
            continue
        if slides and (p[0] <= 0.0 or kind == NO_SLIP):
            continue  # about to slide with no force to tell where: it stays without
        used = put_axes(allowed.basis, used, i, p, slides, mu)
        first = count
        allowed.rows[count, 0] = 1.0
        allowed.rows[count, 1] = 0.0
        allowed.rows[count, 2] = 0.0
        count += 1
        if not (slides or mu == 0.0 or kind == NO_SLIP):
            count = put_cone_rows(
                allowed.rows, count, kept * mu, middles, turning(posture.place, i)
            )
        for row in range(first, count):
            allowed.contacts[row] = i
    return used, count


@inlined
def clear_row(X: Array, i: int) -> None:
    for c in range(X.shape[1]):
        X[i, c] = 0.0


@inlined
def put_axes(basis: Array, used: int, i: int, p: Array, slides: bool, mu: float) -> int:
    """The ray of what slides, the axes of what sticks; how many rows are in use then."""
    if slides:
        size = math.sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2])
        clear_row(basis, used)
        for c in range(3):
            basis[used, 3 * i + c] = p[c] / size
        return used + 1
    for c in range(3 if mu > 0.0 else 1):
        clear_row(basis, used)
        basis[used, 3 * i + c] = 1.0
        used += 1
    return used


@inlined
def put_cone_rows(rows: Array, count: int, mu: float, middles: Array, turn: Mat3) -> int:
    """Rows of the polyhedron inscribed along the round's frame: `force_distribution._cone_rows`."""
    sides = middles.shape[0]
    share = mu * math.cos(math.pi / sides) ** 2
    size = math.hypot(share, math.hypot(middles[0, 0], middles[0, 1]))
    for j in range(sides):
        rows[count, 0] = share / size
        rows[count, 1] = -middles[j, 0] / size
        rows[count, 2] = -middles[j, 1] / size
        turn_back(turn, rows[count], rows[count], 0)
        count += 1
    return count


@kernel
def put_null_space(reach: Array, basis: Array, used: int, null: Array, scratch: Array) -> int:
    """Orthonormal combinations of the basis that move nothing, a row each; how many."""
    k, u = reach.shape
    X = matrix(scratch, 0, u, used)
    found = matrix(scratch, u * used, used, used)
    for b in range(used):
        for j in range(u):
            X[j, b] = 0.0
        for r in range(k):
            if basis[b, r] == 0.0:
                continue
            for j in range(u):
                X[j, b] += reach[r, j] * basis[b, r]
    free = null_space_kernel(X, NULL, found)
    for a in range(free):
        for r in range(k):
            null[a, r] = 0.0
        for b in range(used):
            for r in range(k):
                null[a, r] += found[a, b] * basis[b, r]
    return free
