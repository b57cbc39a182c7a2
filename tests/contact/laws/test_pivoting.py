"""Principal pivoting on normals, elimination of held rows, against definitions and the ladder."""

import numpy as np
import pytest

from spatialops.contact import MixedLCP, solve
from spatialops.contact.laws.elimination import Elimination
from spatialops.contact.laws.pivoting import pivot


def random_rows(rng, n, nv, rank, copies=0):
    """Rows of a given rank, with copies and multiples among them, and velocities of some motion."""
    L = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, nv))
    if copies:
        L[-copies:] = L[:copies] * rng.uniform(0.5, 2.0, (copies, 1))
    return L, L @ rng.normal(size=nv) + rng.uniform(0.0, 0.3, n) * (rng.random(n) < 0.3)


def check(L, u, p):
    x = L.T @ p
    w, scale = u + L @ x, np.abs(u).max()
    assert p.min() >= 0.0
    assert w.min() >= -1e-9 * scale
    assert np.abs(w[p > 0.0]).max(initial=0.0) <= 1e-9 * scale


SIZES = [(1, 6, 6, 0), (8, 6, 6, 0), (40, 6, 6, 5), (200, 12, 8, 20), (30, 40, 30, 3)]


@pytest.mark.parametrize(("n", "nv", "rank", "copies"), SIZES)
def test_pivots_solve_without_help(n, nv, rank, copies, rng):
    for _ in range(15):
        L, u = random_rows(rng, n, nv, min(rank, n, nv), min(copies, n // 2))
        found = pivot(L, u)
        assert not found.fell_back
        check(L, u, found.p)
        assert (found.p > 0.0).sum() <= min(rank, nv)
        reference = solve(MixedLCP(L @ L.T, u))
        assert reference.solved
        assert L.T @ found.p == pytest.approx(
            L.T @ reference.z, abs=1e-7 * np.abs(L.T @ reference.z).max(initial=1e-9)
        )


def test_warm_start_keeps_the_loads_where_they_were(rng):
    L, u = random_rows(rng, 60, 6, 6, 20)
    first = pivot(L, u)
    again = pivot(L, u * (1.0 + 1e-6), first.active)
    assert np.array_equal(again.active, first.active)
    assert again.iterations == 0
    wrong = pivot(L, u, np.arange(60))  # a start of far too many rows
    check(L, u, wrong.p)


def test_symmetric_ties_do_not_cycle():
    """A table on many legs: all are equal, most are redundant."""
    angles = np.linspace(0.0, 2.0 * np.pi, 64, endpoint=False)
    L = np.column_stack([np.ones(64), np.cos(angles), np.sin(angles)])
    for tilt in ((0.0, 0.0), (1e-9, 0.0), (0.5, 0.5), (1.0, 0.0)):
        u = L @ np.array([-1.0, *tilt])
        found = pivot(L, u)
        assert not found.fell_back
        assert found.iterations < 40
        check(L, u, found.p)


def test_a_problem_without_solution_is_left_to_the_ladder():
    L = np.array([[1.0, 0.0], [-1.0, 0.0]])
    found = pivot(L, np.array([-1.0, -1.0]))  # squeezed from both sides
    assert found.fell_back
    assert (np.array([-1.0, -1.0]) + L @ (L.T @ found.p)).min() < -0.5


def test_no_rows():
    found = pivot(np.zeros((0, 3)), np.zeros(0))
    assert found.p.shape == (0,)
    still = pivot(np.eye(3), np.ones(3))
    assert not still.p.any()
    assert still.iterations == 0


def test_eliminated_rows_are_held(rng):
    for rank in (0, 3, 5):
        rows = rng.normal(size=(7, max(rank, 1))) @ rng.normal(size=(max(rank, 1), 9)) * (rank > 0)
        v = rows @ rng.normal(size=9)
        held = Elimination(rows, v)
        assert len(held.chosen) == rank
        others, u = rng.normal(size=(4, 9)), rng.normal(size=4)
        p = rng.normal(size=4)
        x = others.T @ p
        total = x + rows.T @ held.impulses(x)
        assert v + rows @ total == pytest.approx(np.zeros(7), abs=1e-12)
        reduced, shifted = held.reduce(others, u)
        assert u + others @ total == pytest.approx(shifted + reduced @ (reduced.T @ p), abs=1e-12)


def test_rows_that_the_held_ones_imply_are_locked(rng):
    rows = rng.normal(size=(3, 5))
    held = Elimination(rows, np.zeros(3))
    reduced, u = held.reduce(
        np.array([rows[0] + 2.0 * rows[2], rng.normal(size=5)]), np.array([1e-17, 1.0])
    )
    assert not reduced[0].any()
    assert u[0] == 0.0
    assert reduced[1].any()
