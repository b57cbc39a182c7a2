"""Sparse problems: kept, stored, and their free rows eliminated by a sparse factorization."""

import numpy as np
import pytest
from scipy import sparse

from spatialops.contact import Lemke, MixedLCP, Status, solve
from spatialops.errors import ArgumentError, AssetError
from tests.support.residuals import check_solved

FORMATS = [
    sparse.csr_array,
    sparse.csc_matrix,
    sparse.coo_array,
    sparse.lil_array,
    sparse.dia_matrix,
]


def chain_on_ground(links, contacts=4, redundant=0, seed=0):
    """Bodies in a row, joined by balls, in maximal coordinates; the last one touches.

    [M, -J', -D'; J; D; ..].
    """
    rng = np.random.default_rng(seed)
    nv, joints = 6 * links, 3 * (links - 1)
    J = np.zeros((joints, nv))
    for k in range(links - 1):
        J[3 * k : 3 * k + 3, 6 * k : 6 * k + 12] = rng.normal(size=(3, 12))
    J = np.vstack([J, J[: 3 * redundant]])
    G = np.zeros((3 * contacts, nv))
    G[:, -6:] = rng.normal(size=(3 * contacts, 6))
    facets = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    D = np.vstack(
        [np.vstack([G[3 * c], facets @ G[3 * c + 1 : 3 * c + 3]]) for c in range(contacts)]
    )
    E, U = np.zeros((5 * contacts, contacts)), np.zeros((contacts, 5 * contacts))
    for c in range(contacts):
        E[5 * c + 1 : 5 * c + 5, c] = 1.0
        U[c, 5 * c + 1 : 5 * c + 5] = -1.0
        U[c, 5 * c] = 0.5
    M = np.diag(rng.uniform(0.5, 2.0, nv))
    blocks = [
        [M, -J.T, -D.T, None],
        [J, None, None, None],
        [D, None, None, E],
        [None, None, U, None],
    ]
    A = sparse.block_array(
        [[None if x is None else sparse.csr_array(x) for x in row] for row in blocks], format="csr"
    )
    return MixedLCP(
        A, np.concatenate([-M @ rng.normal(size=nv), np.zeros(len(J) + 6 * contacts)]), nv + len(J)
    )


@pytest.mark.parametrize("kind", FORMATS)
def test_any_format_is_kept_sparse(kind, tmp_path):
    A = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, -1.0, 1.0]])
    problem = MixedLCP(kind(A), [-5.0, -6.0, 1.0], 1)
    assert problem.is_sparse
    assert sparse.issparse(problem.A)
    assert np.array_equal(problem.dense().A, A)
    loaded = MixedLCP.load(problem.save(tmp_path / "sparse.npz"))
    assert loaded.is_sparse
    assert np.array_equal(loaded.dense().A, A)
    assert np.array_equal(loaded.b, problem.b)
    assert loaded.n_free == 1
    z = np.array([1.0, -2.0, 3.0])
    assert problem.residual(z) == problem.dense().residual(z)


def test_repeated_entries_are_summed_and_the_given_matrix_is_left_alone():
    A = sparse.csc_array((np.array([1.0, 2.0]), np.array([0, 0]), np.array([0, 2])), shape=(1, 1))
    assert MixedLCP(A, [1.0]).A.toarray().tolist() == [[3.0]]
    assert A.nnz == 2


@pytest.mark.parametrize(
    "A",
    [
        sparse.eye_array(3),
        sparse.csr_array([[np.nan, 0.0], [0.0, 1.0]]),
        sparse.csr_array([[1j, 0.0], [0.0, 1.0]]),
    ],
)
def test_bad_matrices_are_refused(A):
    with pytest.raises(ArgumentError, match=r"A: |as A is"):
        MixedLCP(A, [1.0, 2.0])


def test_damaged_patterns_are_refused(tmp_path):
    good = {"A_data": np.ones(1), "A_indices": np.array([0]), "A_indptr": np.array([0, 1, 1])}
    good |= {"b": np.ones(2), "n_free": np.array(0)}
    for change in (
        {"A_indices": np.array([7])},
        {"A_indptr": np.array([0, 9, 1])},
        {"A_data": np.ones((1, 1))},
    ):
        np.savez(tmp_path / "bad.npz", **{**good, **change})
        with pytest.raises(AssetError, match="not a stored MixedLCP"):
            MixedLCP.load(tmp_path / "bad.npz")


@pytest.mark.parametrize("solver", ["auto", "lemke", "newton", "interior-point", "qp", Lemke()])
def test_every_solver_takes_sparse_problems(solver):
    problem = chain_on_ground(2, contacts=1)
    solution = solve(problem, solver)
    if solution.status != Status.NOT_APPLICABLE:
        check_solved(problem, solution)


@pytest.mark.compiled
@pytest.mark.parametrize("links", [3, 17, 37])
def test_free_rows_are_eliminated(links):
    problem = chain_on_ground(links)
    solution = solve(problem)
    check_solved(problem, solution)
    assert "eliminated" in solution.solver
    assert solution.residual <= 1e-12
    dense = solve(problem.dense())
    check_solved(problem.dense(), dense)
    assert np.allclose(
        dense.z[: 6 * links], solution.z[: 6 * links], rtol=0.0, atol=1e-9
    )  # velocities are unique
    warm = solve(problem, warm_start=solution.z)
    check_solved(problem, warm)
    assert warm.iterations == 0


@pytest.mark.compiled
@pytest.mark.parametrize("redundant", [1, 2])
def test_redundant_joints_make_the_free_block_singular(redundant):
    problem = chain_on_ground(6, redundant=redundant)
    solution = solve(problem)
    check_solved(problem, solution)
    contradiction = problem.b.copy()
    contradiction[problem.n_free - 1] += 1.0
    assert solve(MixedLCP(problem.A, contradiction, problem.n_free)).status == Status.NO_SOLUTION


def test_no_rows_are_constrained():
    problem = MixedLCP(sparse.diags_array([1.0, 2.0]), [-1.0, 4.0], 2)
    assert solve(problem).z.tolist() == [1.0, -2.0]


def test_no_rows_are_free():
    problem = MixedLCP(sparse.csr_array([[2.0, 1.0], [1.0, 2.0]]), [-5.0, -6.0])
    check_solved(problem, solve(problem))
