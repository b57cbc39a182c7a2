"""Small quadratic programs against their conditions of optimality, and proofs that none is met."""

import numpy as np
import pytest

from spatialops.algebra.column_reflections import whole_eights
from spatialops.algebra.dual_active_set import INFEASIBLE, POINT, Active, dual_active_set


def solve(H, c, G, low, high):
    """Status and point of min y.H y / 2 + c.y over low <= G y <= high."""
    n, m = len(c), len(low)
    wide = whole_eights(m)
    columns = np.zeros((n, wide))
    columns[:, :m] = G.T
    J = np.ascontiguousarray(np.linalg.inv(np.linalg.cholesky(H)))
    vectors = [np.zeros(n) for _ in range(4)]
    ints = [np.zeros(size, dtype=np.int64) for size in (n, n, m)]
    d, z, r, g = vectors
    active = Active(np.zeros((n, n)), d, z, r, np.zeros(n + 1), g, np.zeros((1, wide)), *ints)
    y = np.empty(n)
    status, _ = dual_active_set(J, c, columns, np.array([low, high]), y, active)
    return status, y


@pytest.mark.parametrize("seed", range(40))
def test_a_point_satisfies_the_conditions(seed):
    """No direction that keeps the constraints costs less: the slope is a combination of normals."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 12)), int(rng.integers(1, 25))
    root = rng.normal(size=(n, n))
    H, c = root @ root.T + 0.1 * np.eye(n), 5.0 * rng.normal(size=n)
    G = rng.normal(size=(m, n))
    low, high = -rng.uniform(0.0, 2.0, m), rng.uniform(0.0, 2.0, m)
    high[::3] = np.inf
    status, y = solve(H, c, G, low, high)
    assert status == POINT
    value = G @ y
    assert np.maximum(low - value, value - high).max() < 1e-8
    at_low, at_high = value < low + 1e-8, value > high - 1e-8
    normals = np.vstack([G[at_low], -G[at_high]]).T
    multipliers = np.linalg.lstsq(normals, H @ y + c, rcond=None)[0]
    assert normals @ multipliers == pytest.approx(H @ y + c, abs=1e-7)
    if normals.shape[1] <= n:
        assert multipliers.min(initial=0.0) > -1e-7


def test_constraints_that_contradict_each_other_have_no_point():
    G = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    low, high = np.array([1.0, -np.inf, -1.0]), np.array([np.inf, 0.5, 1.0])
    assert solve(np.eye(2), np.zeros(2), G, low, high)[0] == INFEASIBLE


def test_corners_where_more_constraints_meet_than_there_are_unknowns():
    angles = np.linspace(0.0, 2.0 * np.pi, 40, endpoint=False)
    G = np.column_stack([np.cos(angles), np.sin(angles), np.ones(40)])
    status, y = solve(np.eye(3), np.array([0.0, 0.0, -9.0]), G, np.full(40, -np.inf), np.ones(40))
    assert status == POINT
    assert y == pytest.approx([0.0, 0.0, 1.0], abs=1e-9)
