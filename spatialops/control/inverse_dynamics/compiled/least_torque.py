"""Joint forces of a command, and the impulses with which they are least ([Z] 105-110), compiled."""

from __future__ import annotations

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.memory import matrix
from spatialops.algebra.reflections import triangular_kernel
from spatialops.control.inverse_dynamics.compiled import layout as io
from spatialops.control.inverse_dynamics.compiled.workspace import Workspace
from spatialops.control.inverse_dynamics.force_distribution import RIDGE


@inlined
def put_forces(
    work: Workspace, given: IntArray, vectors: Array, horizon: float, tau: Array
) -> None:
    """M (v+ - v_free) - G^T p over the horizon, of motors."""
    posture = work.posture
    round_ = work.round
    for k in range(vectors.shape[1]):
        tau[k] = 0.0
    for k in given:
        total = 0.0
        for j in range(vectors.shape[1]):
            total += posture.mass[k, j] * (round_.after[j] - vectors[io.FREE, j])
        for r in range(round_.p.size):
            total -= posture.G[r, k] * round_.p[r]
        tau[k] = total / horizon


@kernel
def put_least(
    G: Array,
    given: IntArray,
    torques: Array,
    horizon: float,
    p: Array,
    null: Array,
    best: Array,
    scratch: Array,
) -> None:
    """Rows `null` (free, 3 m) become others that span the same, in which a distance is of torques.

    As `force_distribution.least_torque`: |W x - goal| = |R x - Q^T goal|, the same problem in
    y = R x, of which `best` is the least.
    """
    n = given.size
    free, k = null.shape
    W = matrix(scratch, 0, free + 1, n + free)  # its columns, and the goal
    scale = 0.0
    for r in range(k):
        for g in given:
            scale = max(scale, abs(G[r, g]) / horizon)
    if scale == 0.0:
        scale = 1.0
    unit = 1.0 / (horizon * scale)
    goal = W[free]
    for i in range(n):
        goal[i] = -torques[given[i]] / scale
    for a in range(free):
        total = 0.0
        for i in range(n + free):
            W[a, i] = 0.0
        W[a, n + a] = RIDGE
        for r in range(k):
            total += null[a, r] * p[r]
            along = null[a, r] * unit
            if along != 0.0:
                for i in range(n):
                    W[a, i] -= along * G[r, given[i]]
        goal[n + a] = -RIDGE * total
    triangular_kernel(W, free)
    for a in range(free):
        best[a] = goal[a]
        for b in range(a):  # R^T B = N, from the first row on
            for r in range(k):
                null[a, r] -= W[a, b] * null[b, r]
        for r in range(k):
            null[a, r] /= W[a, a]
