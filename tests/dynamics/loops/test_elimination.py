"""The factorisation L = Z R Q, its decision of rank and what follows, against dense algebra."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spatialops.dynamics.loops.elimination import (
    TOLERANCE,
    agree,
    combine_rows,
    coordinates_of,
    factor_rows,
    multipliers_of,
    project_rows,
)


def factored(L, limit=None):
    """Q, Z, R of the rank's size, the order and the rank."""
    n, m = L.shape
    Q = np.full((n, m), np.nan)
    Z = np.full((n, n), np.nan)
    R = np.full((n, n), np.nan)
    order, rooms = np.zeros(n, dtype=np.int64), np.zeros((2, n))
    rank = factor_rows(L, n if limit is None else limit, TOLERANCE, Q, Z, R, order, *rooms)
    if rank == n:
        R = np.eye(n)
    return Q, Z, R, order, rank


def random_rows(rng, n, m, rank, condition=1.0):
    """n rows of length m that span `rank` dimensions, of very different lengths."""
    rows = (
        rng.normal(size=(n, rank))
        @ np.diag(np.geomspace(1.0, condition, rank))
        @ rng.normal(size=(rank, m))
    )
    return np.ascontiguousarray(rows * np.geomspace(1e-3, 1e3, n)[rng.permutation(n)][:, None])


@given(seed=st.integers(0, 2**32 - 1))
def test_factors(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 12)), int(rng.integers(1, 14))
    wanted = int(rng.integers(1, min(n, m) + 1))
    L = random_rows(rng, n, m, wanted)
    Q, Z, R, order, rank = factored(L)
    assert rank == wanted
    assert sorted(order) == list(range(n))
    Q = Q[:rank]
    Z = Z[:, :rank]
    R = R[:rank, :rank]
    assert np.abs(Q @ Q.T - np.eye(rank)).max() < 1e-14
    scale = np.linalg.norm(L, axis=1, keepdims=True)
    assert np.abs((Z @ R @ Q - L) / scale).max() < 1e-12
    if rank < n:
        assert np.abs(Z.T @ Z - np.eye(rank)).max() < 1e-14
        assert np.abs(np.tril(R, -1)).max() == 0.0
    else:
        assert np.abs(np.triu(Z[order], 1)).max() == 0.0


@given(seed=st.integers(0, 2**32 - 1))
def test_least_motion_and_smallest_multipliers(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 10)), int(rng.integers(1, 10))
    wanted = int(rng.integers(1, min(n, m) + 1))
    L = rng.normal(size=(n, wanted)) @ rng.normal(size=(wanted, m))
    Q, Z, R, order, rank = factored(L)
    u = rng.normal(size=n)
    x = np.zeros(n)
    y = np.zeros(m)
    forces = np.zeros(n)
    coordinates_of(Z, R, order, rank, u, x)
    combine_rows(Q, rank, x, y)
    expected = np.linalg.pinv(L, rcond=1e-10) @ u
    size = 1.0 + np.abs(expected).max()
    singular = np.linalg.svd(L, compute_uv=False)[:rank]
    loss = 1e-13 * (singular[0] / singular[-1]) ** 2
    assert np.abs(y - expected).max() < loss * size
    multipliers_of(Z, R, order, rank, x, forces)
    smallest = np.linalg.pinv(L.T, rcond=1e-10) @ y
    assert np.abs(forces - smallest).max() < loss * (1.0 + np.abs(smallest).max())


def test_redundant_rows_ask_what_the_others_do(rng):
    """Rows that are all but redundant, as of closures that are open, see no motion along Q."""
    L = rng.normal(size=(7, 4)) @ rng.normal(size=(4, 9)) + 1e-6 * rng.normal(size=(7, 9))
    Q, Z, R, order, rank = factored(L, limit=4)
    v = rng.normal(size=9)
    u, x = -L @ v, np.zeros(7)
    y = np.zeros(9)
    agree(Z, R, order, rank, u, x)
    coordinates_of(Z, R, order, rank, u, x)
    combine_rows(Q, rank, x, y)
    assert np.abs(Q[:rank] @ (v + y)).max() < 1e-13


def test_zero_rows_and_no_rows():
    L = np.zeros((3, 4))
    L[1] = 2.0
    Q, _, _, order, rank = factored(L)
    assert (rank, order[0]) == (1, 1)
    assert np.allclose(Q[0], 0.5)
    assert factored(np.zeros((2, 3)))[-1] == 0
    assert factored(np.zeros((0, 3)))[-1] == 0


def test_the_limit_is_kept(rng):
    assert factored(rng.normal(size=(4, 6)), limit=2)[-1] == 2


def test_later_rows_are_the_redundant_ones(rng):
    """Of rows that say the same, the first is taken."""
    rows = rng.normal(size=(3, 8))
    order, rank = factored(np.concatenate([rows, rows + 1e-13, rows]))[-2:]
    assert rank == 3
    assert sorted(order[:3]) == [0, 1, 2]


@pytest.mark.parametrize("tilt", [1e-4, 1e-6, 1e-7])
def test_nearly_parallel_rows_are_resolved(rng, tilt):
    """Q stays orthonormal to rounding however little of a row is left."""
    base = rng.normal(size=(1, 9))
    rows = np.concatenate([base, base + tilt * rng.normal(size=(3, 9))])
    Q, _, _, _, rank = factored(rows)
    assert rank == 4
    assert np.abs(Q @ Q.T - np.eye(4)).max() < 1e-14


def test_projection_of_other_rows(rng):
    L, rows = rng.normal(size=(3, 8)), rng.normal(size=(5, 8))
    held = rng.normal(size=3) @ L
    both = np.concatenate([rows, held[None]])
    Q, _, _, _, rank = factored(L)
    found, parts = both.copy(), np.zeros((6, 3))
    project_rows(Q, rank, found.ravel(), 6, parts)
    expected = both - both @ np.linalg.pinv(L) @ L
    assert np.allclose(found, expected, atol=1e-13)
    assert np.allclose(parts[:, :rank], both @ Q[:rank].T, atol=1e-13)
    assert np.all(found[5] == 0.0)  # exactly: contacts that the closures hold are recognised by it
    assert np.abs(found @ L.T).max() < 1e-13
