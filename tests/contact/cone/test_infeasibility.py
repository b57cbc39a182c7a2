"""Cone problems that ask the impossible are refused with a proof, others are not."""

import numpy as np
import pytest

from spatialops.contact import ConeProblem, solve
from spatialops.contact.cone.infeasibility import infeasible
from spatialops.contact.lcp.status import Status
from tests.support.trees import random_rotation


def squeezed(m, seed, mu=0.5, closing=1.0, **more):
    """A free body between two plates that close at m random points of each."""
    rng = np.random.default_rng(seed)
    inertia = np.diag([2.0, 2.0, 2.0, 0.1, 0.2, 0.3])
    rows, b = [], []
    for side in (1.0, -1.0):
        for _ in range(m):
            x, y = rng.uniform(-0.5, 0.5, 2)
            point = np.array([x, y, -0.5 * side])
            for k, axis in enumerate((np.array([0, 0, side]), np.eye(3)[0], np.eye(3)[1])):
                rows.append(np.concatenate([axis, np.cross(point, axis)]))
                b.append(-closing if k == 0 else rng.normal())
    G = np.array(rows)
    return ConeProblem(G @ np.linalg.inv(inertia) @ G.T, b, mu, **more)


def proves(problem, y):
    """The certificate, checked with nothing of ours: any impulses leave some contact closing."""
    d = problem.dim
    W, b = np.asarray(problem.W), problem.b
    return (
        (y >= 0.0).all()
        and np.abs(W[::d].T @ y).max() < 1e-12 * np.abs(W).max() * y.sum()
        and y @ b[::d] < -1e-3 * y.sum() * np.abs(b).max()
    )


@pytest.mark.parametrize("m", [6, 10, 50])
@pytest.mark.parametrize("mu", [0.0, 0.5, 5.0])
def test_a_body_that_is_squashed_is_refused_with_a_proof(m, mu):
    problem = squeezed(m, 3 * m, mu)
    found = solve(problem)
    assert found.status == Status.NO_SOLUTION
    assert found.solver == "certificate"
    assert proves(problem, found.proof)


def test_torsion_and_rolling_do_not_help():
    plain = squeezed(6, 1)
    m = plain.n_contacts
    W, b = np.zeros((6 * m, 6 * m)), np.zeros(6 * m)
    place = (6 * np.arange(m)[:, None] + np.arange(3)).ravel()
    W[np.ix_(place, place)], b[place] = plain.W, plain.b
    turning = np.setdiff1d(np.arange(6 * m), place)
    W[turning, turning] = 1.0
    problem = ConeProblem(W, b, 0.5, torsion=0.1, rolling=0.1)
    y = infeasible(problem)
    assert y is not None
    assert proves(problem, y)


@pytest.mark.parametrize("seed", range(20))
def test_what_can_be_solved_is_not_refused(seed):
    """Plates that open, or close on one side only, and bodies on random contacts."""
    rng = np.random.default_rng(seed)
    assert infeasible(squeezed(4, seed, closing=-1e-3)) is None
    inertia = np.diag(rng.uniform(0.1, 2.0, 6))
    m = int(rng.integers(1, 12))
    G = np.concatenate(
        [
            np.hstack([frame, np.cross(point, frame)])
            for frame, point in ((random_rotation(rng), rng.normal(size=3)) for _ in range(m))
        ]
    )
    v = rng.normal(size=6)
    problem = ConeProblem(G @ np.linalg.inv(inertia) @ G.T, G @ v, 0.7)
    found = solve(problem)
    if found.solved:
        assert infeasible(problem) is None


def test_nothing_to_do_is_nothing_to_prove():
    assert infeasible(ConeProblem(np.zeros((0, 0)), [], 0.5)) is None
    assert infeasible(ConeProblem(np.eye(3), [1.0, 0.0, 0.0], 0.5)) is None
    assert infeasible(ConeProblem(np.zeros((3, 3)), [-1.0, 0.0, 0.0], 0.5)) is None
