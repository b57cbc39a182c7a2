"""The convex relaxation: a law of its own, and its error against the exact one."""

import numpy as np
import pytest

from spatialops.contact import ConeProblem, ConvexCone, ConvexSolution, solve
from tests.support.heaps import box_on_plane, box_stack, pile, random_cone_problem


def test_one_sliding_contact_leaves_the_plane():
    # min r^2 / 2 + b.r over the cone, W = 1: the projection of -b; by hand on the edge of slope mu.
    mu, slip = 0.5, 3.0
    solution = solve(ConeProblem(np.eye(3), [-1.0, slip, 0.0], mu), "convex")
    assert isinstance(solution, ConvexSolution)
    assert solution.solved
    r_n = (1.0 + mu * slip) / (1.0 + mu**2)
    assert np.allclose(solution.r, [r_n, -mu * r_n, 0.0], rtol=0.0, atol=1e-10)
    assert solution.u[0] == pytest.approx(
        mu * solution.u[1], abs=1e-10
    )  # u is on the edge of the dual cone
    assert solution.separation == pytest.approx(mu * solution.u[1], abs=1e-9)
    assert solution.exact.relative > 0.1
    assert solution.exact == ConeProblem(np.eye(3), [-1.0, slip, 0.0], mu).residuals(solution.r)


@pytest.mark.parametrize("kind", ["box", "stack", "pile", "random"])
def test_optimality(kind, rng):
    problem = {
        "box": box_on_plane(8, velocity=(0.7, 0.2, -0.1)),
        "stack": box_stack(4, speed=0.3),
        "pile": pile(rng, 15, mu=0.4),
        "random": random_cone_problem(rng, 8, rank=12),
    }[kind]
    solution = ConvexCone().solve(problem)
    assert solution.solved
    r, u = solution.r.reshape(-1, 3), (problem.W @ solution.r + problem.b).reshape(-1, 3)
    scale, impulse = np.abs(problem.b).max(), np.abs(r).max()
    assert (np.linalg.norm(r[:, 1:], axis=1) - problem.mu * r[:, 0]).max() <= 1e-8 * impulse
    assert (problem.mu * np.linalg.norm(u[:, 1:], axis=1) - u[:, 0]).max() <= 1e-8 * scale
    assert abs((r * u).sum(axis=1)).max() <= 1e-7 * impulse * scale

    def cost(x):
        return 0.5 * x @ problem.W @ x + problem.b @ x

    for _ in range(20):  # no other point of the cones is lower
        other = r + impulse * 0.1 * rng.normal(size=r.shape)
        other[:, 0] = np.maximum(other[:, 0], 0.0)
        size = np.linalg.norm(other[:, 1:], axis=1)
        other[:, 1:] *= np.minimum(1.0, problem.mu * other[:, 0] / np.maximum(size, 1e-300))[
            :, None
        ]
        assert cost(other.ravel()) >= cost(r.ravel()) - 1e-9 * abs(cost(r.ravel()))


def test_exact_where_nothing_slides():
    problem = box_stack(4)
    relaxed, exact = solve(problem, ConvexCone()), solve(problem)
    assert relaxed.exact.worst <= 1e-9
    assert relaxed.separation <= 1e-12
    assert np.abs(relaxed.u - exact.u).max() <= 1e-10


def test_several_kinds_of_friction(rng):
    G = rng.normal(size=(10, 8))
    problem = ConeProblem(G @ G.T, G @ rng.normal(size=8), 0.5, rolling=0.2)
    solution = solve(problem, "convex")
    assert solution.solved
    assert problem.residuals(solution.r, exact=False).worst <= 1e-8


def test_warm_start_and_nothing_to_do(rng):
    problem = random_cone_problem(rng, 5)
    cold = ConvexCone().solve(problem)
    warm = ConvexCone().solve(problem, warm_start=cold.r)
    assert warm.solved
    assert warm.iterations < cold.iterations
    rest = ConvexCone().solve(ConeProblem(np.eye(3), np.zeros(3), 0.5))
    assert rest.solved
    assert not rest.r.any()


def test_compared_with_clarabel(rng):
    clarabel = pytest.importorskip("clarabel", reason="the reference solver is not installed")
    sp = pytest.importorskip("scipy.sparse")
    for _ in range(5):
        problem = random_cone_problem(rng, 4, rank=14, mu=rng.uniform(0.2, 1.0, 4))
        n = problem.size
        D = np.ones(n)
        D[::3] = problem.mu
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
        peer = clarabel.DefaultSolver(
            sp.csc_matrix(np.triu(problem.W)), problem.b, sp.csc_matrix(-np.diag(D)), np.zeros(n),
            [clarabel.SecondOrderConeT(3)] * 4, settings,
        ).solve()  # fmt: skip
        ours = ConvexCone().solve(problem)
        peer_u = problem.W @ np.array(peer.x) + problem.b
        assert np.abs(ours.u - peer_u).max() <= 1e-6 * np.abs(problem.b).max()
