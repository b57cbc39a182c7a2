"""Demands that contacts cannot follow, and the nearest that they can."""

import numpy as np

from spatialops.control import (
    nearest_consistent,
)
from spatialops.control.inverse_dynamics.inverse_problem import inverse_problem
from tests.control.cases import MOTORS, prediction


def test_splaying_legs_is_replaced_by_the_nearest_motion_that_feet_can_follow():
    _, _, ahead = prediction()
    splay = np.tile([0.05, 0.0, 0.0], 4)
    problem = inverse_problem(ahead, MOTORS, splay)
    change = nearest_consistent(problem, np.ones(4, dtype=bool))
    assert np.linalg.norm(change) > 0.01
    follows = inverse_problem(ahead, MOTORS, splay + change)
    L, u = follows.reach, follows.velocities
    assert np.abs(u - L @ np.linalg.lstsq(L, u, rcond=None)[0]).max() < 1e-12
    # The change is the least: orthogonal to all motions that feet can follow.
    rng = np.random.default_rng(5)
    G = ahead.problem.jacobian
    for _ in range(5):
        free = -np.linalg.lstsq(G[:, 6:], G[:, :6] @ rng.normal(size=6), rcond=None)[0]
        assert abs(free @ change) < 1e-10 * np.linalg.norm(free)
