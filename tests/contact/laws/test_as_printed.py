"""[D]'s algorithms as printed beside ours: the same answers where the printed ones end."""

import numpy as np
import pytest

from spatialops.contact import Status, find_indices, modified_ppm
from spatialops.contact.laws.pivoting import pivot
from spatialops.errors import ArgumentError


def drawn(seed, n=6, nv=8):
    """Rows, a mass matrix with its factor, and accelerations."""
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(nv, nv))
    return rng.normal(size=(n, nv)), half @ half.T + np.eye(nv), rng.normal(size=nv)


def by_ours(N, M, f):
    """The same by `pivot`."""
    return pivot(np.linalg.solve(np.linalg.cholesky(M), N.T).T, N @ f)


@pytest.mark.parametrize(("n", "nv"), [(6, 8), (12, 12)])
def test_algorithm_1_finds_what_ours_finds(n, nv):
    for seed in range(100):
        N, M, f = drawn(seed, n, nv)
        found, ours = modified_ppm(N, M, f), by_ours(N, M, f)
        assert found.status == Status.SOLVED
        assert np.abs(found.z - ours.p).max() <= 1e-9 * max(1.0, ours.p.max())
        w = N @ (np.linalg.solve(M, N.T @ found.z) + f)
        assert np.abs(w - found.w).max() <= 1e-10 * max(1.0, np.abs(w).max())


def test_algorithm_1_can_come_back_to_a_set_that_it_left():
    """Two exchanges at once, with more rows than degrees of freedom: ours ends."""
    N, M, f = drawn(94, 12, 6)
    assert modified_ppm(N, M, f).status == Status.STALLED
    ours = by_ours(N, M, f)
    w = N @ (np.linalg.solve(M, N.T @ ours.p) + f)
    assert not ours.fell_back
    assert min(w.min(), ours.p.min()) > -1e-10
    assert np.abs(w * ours.p).max() < 1e-10 * np.abs(ours.p).max()


def test_algorithm_1_on_rows_that_depend():
    """Copies are never active together, as theorem 1 has it where velocities are N v."""
    N, M, f = drawn(3, n=3)
    once, twice = modified_ppm(N, M, f), modified_ppm(np.concatenate([N, N]), M, f)
    assert once.status == twice.status == Status.SOLVED
    assert np.allclose(twice.z[:3] + twice.z[3:], once.z, atol=1e-10)
    nothing = modified_ppm(N, M, np.zeros(8))
    assert nothing.pivots == 0
    assert not nothing.z.any()


def test_algorithm_2_keeps_as_many_rows_as_are_independent():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        _, M, _ = drawn(seed)
        J, S, T = (rng.normal(size=(k, 8)) for k in (2, 4, 4))
        J = np.concatenate([J, J[:1] - 2.0 * J[1:]])
        S[2] = T[0]
        kept = find_indices(M, J, S, T)
        assert kept.J == (0, 1)
        assert kept.S == (0, 1, 3)
        rows = np.concatenate([J[list(kept.J)], S[list(kept.S)], T[list(kept.T)]])
        assert len(rows) == np.linalg.matrix_rank(np.concatenate([J, S, T])) == 8
        assert np.linalg.cond(rows @ np.linalg.solve(M, rows.T)) < 1e12


def test_bad_input_is_refused():
    N, M, f = drawn(0)
    with pytest.raises(ArgumentError, match="N: "):
        modified_ppm(N[:, :3], M, f)
    with pytest.raises(ArgumentError, match="S: "):
        find_indices(M, N, N[:, :2], N)
