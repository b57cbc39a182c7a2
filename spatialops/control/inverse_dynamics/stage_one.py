"""The matrix and the vector of [Z]'s first stage, by the block matrix X or as 6.2.2 saves.

With b for velocities without motors, q for those with, M = [[A, B], [B^T, C]], M^-1 = [[D, E],
[E^T, G]]: contacts R = J^T see, while the motors move as demanded, the velocity W z + u after
impulses z:

    plain ([Z] 63, 75):    W = J X^-1 J^T of X = [[M, P^T], [P, 0]],
                           u = J v,  X (v; -s tau) = (M v_free; v_des)
    saving ([Z] 80-94):    v_b = Z z + p,   Z = ([D E] - E G^-1 [E^T G]) R,
                           p = j + E G^-1 (v_des - k)

(j; k) = v_free where motors push with f_ID; which f_ID does not matter. [D E] - E G^-1 [E^T G] =
[A^-1 0], so that neither M^-1 nor X is needed: `inverse_problem` factors A alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.control.inverse_dynamics.inverse_problem import inverse_problem
from spatialops.simulation.lookahead import StepPrediction


class StageOne(NamedTuple):
    """Compliance W (3 m, 3 m) and velocities u (3 m,) of the program min z.W z / 2 + u.z."""

    W: Array
    u: Array


def plain(ahead: StepPrediction, given: IntArray, wanted: Array) -> StageOne:
    """By solving with X, (nv + n) square."""
    M = ahead.mass
    J = _jacobian(ahead)
    n = len(given)
    P = np.eye(len(M))[given]
    X = np.block([[M, P.T], [P, np.zeros((n, n))]])
    right = np.column_stack(
        [np.concatenate([M @ ahead.free, wanted]), np.vstack([J.T, np.zeros((n, len(J)))])]
    )
    solved = np.linalg.solve(X, right)[: len(M)]
    return StageOne(J @ solved[:, 1:], J @ solved[:, 0])


def saving(ahead: StepPrediction, given: IntArray, wanted: Array) -> StageOne:
    """By the blocks of M^-1."""
    M, J = ahead.mass, _jacobian(ahead)
    b = np.setdiff1d(np.arange(len(M)), given)
    inverse = np.linalg.inv(M)
    D = inverse[np.ix_(b, b)]
    E = inverse[np.ix_(b, given)]
    G = inverse[np.ix_(given, given)]
    EG = E @ np.linalg.inv(G)
    Z = (D - EG @ E.T) @ J[:, b].T + (E - EG @ G) @ J[:, given].T
    p = ahead.free[b] + EG @ (wanted - ahead.free[given])
    return StageOne(J[:, b] @ Z, J[:, b] @ p + J[:, given] @ wanted)


def factored(ahead: StepPrediction, given: IntArray, wanted: Array) -> StageOne:
    """As the controllers do."""
    problem = inverse_problem(ahead, given, wanted)
    return StageOne(problem.reach @ problem.reach.T, problem.velocities - problem.bias.ravel())


def _jacobian(ahead: StepPrediction) -> Array:
    return np.zeros((0, len(ahead.mass))) if ahead.problem is None else ahead.problem.jacobian
