"""K of a step is factored from tips to base, or with exchanges where that is unsound."""

import numpy as np
import pytest

import spatialops as so
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.rows.factors import (
    factor_system,
    solve_system,
    solve_transposed_system,
)


def systems():
    robot = so.models.quadruped()
    M = so.mass_matrix(robot.model, robot.state.q)
    rng = np.random.default_rng(0)
    push, turns = rng.normal(size=(2, len(M)))
    yield M + 0.1 * np.tril(M, -1), of.BACKWARD
    yield M - 30.0 * np.outer(push, turns), len(M)  # as friction that turns with fast slips


@pytest.mark.parametrize(("K", "rank"), list(systems()))
def test_both_ways_solve(K, rank):
    n = len(K)
    system, upper = np.zeros((2, n, n + 8))
    order = np.zeros((of.ORDERS, n), dtype=np.int64)
    assert factor_system(K, system, upper, order, np.zeros((2, n))) == rank
    X, x = np.eye(n), np.arange(1.0, n + 1.0)
    solve_system(system, upper, rank, order, X, n)
    solve_transposed_system(system, upper, rank, order, x)
    assert np.allclose(K @ X, np.eye(n), rtol=0.0, atol=1e-10)
    assert np.allclose(K.T @ x, np.arange(1.0, n + 1.0), rtol=1e-10)
