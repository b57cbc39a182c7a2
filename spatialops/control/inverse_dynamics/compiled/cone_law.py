"""Impulses in the exact cones, as `ConeCoulomb` finds and judges those of plain contacts."""

from __future__ import annotations

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import kernel
from spatialops.algebra.memory import matrix
from spatialops.contact.cone.fast_path import fast_kernel
from spatialops.contact.laws.law import TOLERANCE
from spatialops.contact.laws.plain_cone import POLISHED, cone_violation
from spatialops.control.inverse_dynamics.compiled import workspace as of
from spatialops.control.inverse_dynamics.compiled.posture import put_after, put_speeds
from spatialops.control.inverse_dynamics.compiled.workspace import Posture, Round

UNSOLVED = -1.0


@kernel
def solve_cone(
    posture: Posture,
    others: IntArray,
    at: Round,
    starts: IntArray,
    scratch: Array,
    ints: IntArray,
) -> tuple[int, float]:
    """Impulses, velocities after them and slips; iterations and the residual of the law.

    The residual is `UNSOLVED` where Newton's method does not reach the last digits.
    """
    m = at.slip.size
    mu = scratch[:m].reshape((m, 1))
    report = scratch[m : m + 2]
    for i in range(m):
        mu[i, 0] = posture.place[i, of.MU]
    for r in range(3 * m):
        at.p[r] = at.last[r]
    room = scratch[m + 2 :]
    pair = ints[: 6 * m].reshape((2, 3 * m))
    taken = fast_kernel(posture.W, at.u, mu, starts, True, at.p, at.then, report, room, pair)
    if not (report[0] <= POLISHED and report[1] <= POLISHED):
        return taken, UNSOLVED
    for i in range(m):
        at.p[3 * i] = max(at.p[3 * i], 0.0)
    put_after(posture, others, at, at.p, at.after)
    put_speeds(posture, at.after, at.then)
    s = largest_compliance(posture.W)
    worst = cone_violation(s, matrix(at.p, 0, m, 3), matrix(at.then, 0, m, 3), mu[:, 0], at.slip)
    scale = largest(at.u)
    if scale == 0.0:
        scale = s * largest(at.p)
    residual = worst / scale if scale > 0.0 else worst
    return taken, residual if residual <= TOLERANCE else UNSOLVED


@kernel
def largest(values: Array) -> float:
    """Largest size of an entry."""
    found = 0.0
    for i in range(values.size):
        found = max(found, abs(values[i]))
    return found


@kernel
def largest_compliance(W: Array) -> float:
    """Largest diagonal entry: with it impulses are velocities."""
    found = 0.0
    for i in range(W.shape[0]):
        found = max(found, W[i, i])
    return found if found > 0.0 else 1.0
