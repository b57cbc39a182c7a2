"""Projections, their derivatives, one contact, factors of small rank, the Newton methods."""

from itertools import pairwise

import numpy as np
import pytest

from spatialops.contact.cone.gauss_seidel import sweep
from spatialops.contact.cone.low_rank import factor_kernel, factored_step
from spatialops.contact.cone.newton import newton_dense, newton_step
from spatialops.contact.cone.one_contact import solve_contact
from spatialops.contact.cone.projection import (
    ALART_CURNIER,
    CONVEX,
    DE_SAXCE,
    contact_map,
    map_slopes,
    project_cone,
)
from spatialops.contact.cone.scaled_problem import ScaledProblem
from spatialops.contact.cone.scratch import DenseSystem, new_newton_scratch
from spatialops.contact.cone.sparse_newton import newton_direction, newton_large
from spatialops.contact.solve import solve
from tests.support.heaps import box_on_plane, box_stack, pile, random_cone_problem

LAYOUTS = {
    "plane": [1, 2],
    "space": [1, 3],
    "torsion": [1, 3, 4],
    "rolling": [1, 3, 5],
    "all": [1, 3, 4, 6],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_projection_is_the_nearest_point(layout, rng):
    # P is in K, x - P in the polar cone, and P . (x - P) = 0: this is Moreau's characterisation.
    starts = np.array(LAYOUTS[layout])
    dim, kinds = starts[-1], len(starts) - 1
    for _ in range(200):
        mu = rng.uniform(0.0, 2.0, (1, kinds)) * (rng.random((1, kinds)) < 0.8)
        x, P = rng.normal(size=dim), np.empty(dim)
        project_cone(x, mu, 0, starts, P)
        sizes = [np.linalg.norm(P[a:e]) for a, e in pairwise(starts)]
        assert (np.array(sizes) <= mu[0] * P[0] + 1e-12).all()
        rest = x - P
        polar = rest[0] + sum(
            mu[0, k] * np.linalg.norm(rest[starts[k] : starts[k + 1]]) for k in range(kinds)
        )
        assert polar <= 1e-12
        assert abs(P @ rest) <= 1e-12


@pytest.mark.parametrize("which", [DE_SAXCE, ALART_CURNIER, CONVEX])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_slopes_are_derivatives(layout, which, rng):
    starts = np.array(LAYOUTS[layout])
    dim = starts[-1]
    kinds = len(starts) - 1
    m = 5
    h = 1e-7
    for _ in range(20):
        mu = rng.uniform(0.1, 1.5, (m, kinds))
        r = rng.normal(size=m * dim)
        u = rng.normal(size=m * dim)
        dr, du = rng.normal(size=m * dim), rng.normal(size=m * dim)
        x, F, up, down = np.empty((4, m * dim))
        contact_map(which, r + h * dr, u + h * du, mu, starts, x, up)
        contact_map(which, r - h * dr, u - h * du, mu, starts, x, down)
        contact_map(which, r, u, mu, starts, x, F)
        P, Q = np.empty((2, m, dim, dim))
        map_slopes(which, r, u, mu, starts, x, F, P, Q)
        apply = lambda blocks, d: np.einsum("cij,cj->ci", blocks, d.reshape(m, dim)).ravel()  # noqa: E731
        expected = dr - apply(P, dr) + apply(Q, du)
        assert np.allclose((up - down) / (2.0 * h), expected, rtol=0.0, atol=1e-5)


@pytest.mark.parametrize("layout", ["plane", "space"])
def test_one_contact_is_solved(layout, rng):
    starts = np.array(LAYOUTS[layout])
    dim = starts[-1]
    for k in range(200):
        G = rng.normal(size=(dim, dim + 1))
        block = G @ G.T
        q = rng.normal(size=dim)
        mu = np.array([[rng.uniform(0.0, 2.0) if k % 5 else 0.0]])
        r = np.zeros(dim)
        x = np.empty(dim)
        F = np.empty(dim)
        solve_contact(block, q, 0.0, mu, 0, starts, r, 0, np.zeros((16, 6)))
        contact_map(DE_SAXCE, r, block @ r + q, mu, starts, x, F)
        assert np.abs(F).max() <= 1e-8 * (1.0 + np.abs(r).max())


def test_factors_of_small_rank():
    for problem in (box_on_plane(12), box_stack(3)):
        W = ScaledProblem.of(problem).W
        n = len(W)
        L, R = np.zeros((2, n, n))
        rank = factor_kernel(W, L, R, np.empty(n))
        assert rank == np.linalg.matrix_rank(W, tol=1e-10)
        assert np.allclose(L[:, :rank] @ R[:, :rank].T, W, rtol=0.0, atol=1e-12)


def test_newton_steps_of_three_kinds_agree(rng):
    system = ScaledProblem.of(box_on_plane(8, velocity=(0.3, -0.1, -1.0), spin=(1.0, -2.0, 0.5)))
    W, n = system.W, system.b.size
    r = np.zeros(n)
    sweep(system, r, 3)
    x, F = np.empty(n), np.empty(n)
    P, Q = np.empty((2, n // 3, 3, 3))
    contact_map(ALART_CURNIER, r, W @ r + system.b, system.mu, system.starts, x, F)
    map_slopes(ALART_CURNIER, r, W @ r + system.b, system.mu, system.starts, x, F, P, Q)
    L, R = np.empty((2, n, n))
    scratch = new_newton_scratch(n // 3, 3)
    for own, values in ((scratch.F, F), (scratch.P, P), (scratch.Q, Q)):
        own[:] = values
    shift = 1e-4
    dense_system = DenseSystem(W, L, R, system.b, system.mu, system.starts)
    assert newton_step(dense_system, shift, scratch)
    dense = scratch.step.copy()
    rank = factor_kernel(W, L, R, np.empty(n))
    assert factored_step(dense_system, rank, shift, scratch)
    factored = scratch.step.copy()
    large = newton_direction(system, shift, F, P, Q)
    size = np.abs(dense).max()
    assert 0.0 < size < np.inf
    assert np.allclose(factored, dense, rtol=0.0, atol=1e-9 * size)
    assert np.allclose(large, dense, rtol=0.0, atol=1e-9 * size)


@pytest.mark.parametrize("which", [DE_SAXCE, ALART_CURNIER])
def test_compiled_and_sparse_newton_agree(which, rng):
    for problem in (random_cone_problem(rng, 6, rank=20), pile(rng, 8, mu=0.3)):
        system = ScaledProblem.of(problem)
        first, second = np.zeros((2, problem.size))
        sweep(system, first, 20)
        second[:] = first
        a, b = (
            method(system, r, which, 20, 1e-13)
            for method, r in ((newton_dense, first), (newton_large, second))
        )
        assert a[1] <= 1e-12
        assert b[1] <= 1e-12
        assert np.allclose(system.W @ first, system.W @ second, rtol=0.0, atol=1e-10)


def test_blocks_hold_the_matrix(rng):
    for problem in (box_stack(2), pile(rng, 120, dense=False)):
        system = ScaledProblem.of(problem)
        rows, columns, blocks = system.blocks
        W = np.zeros((problem.size, problem.size))
        for c in range(problem.n_contacts):
            assert c in columns[rows[c] : rows[c + 1]]
            for k in range(rows[c], rows[c + 1]):
                W[3 * c : 3 * c + 3, 3 * columns[k] : 3 * columns[k] + 3] = blocks[k]
        assert np.array_equal(W, system.W if system.dense else system.W.toarray())


def test_scaling_goes_there_and_back(rng):
    problem = random_cone_problem(rng, 4)
    system, r = ScaledProblem.of(problem), solve(problem).r
    assert np.allclose(system.outward(system.inward(r)), r, rtol=0.0, atol=1e-14)
    scaled = system.W @ system.inward(r) + system.b
    assert np.allclose(scaled * system.unit / system.factor, problem.velocities(r), rtol=1e-12)
    assert np.abs(system.b).max() == 1.0
    assert np.allclose(system.W.diagonal().reshape(-1, 3).mean(axis=1), 1.0)
