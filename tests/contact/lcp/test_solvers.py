"""What is particular to single solvers: options, refusals, proofs, and the door."""

import sys

import numpy as np
import pytest

import spatialops.contact as contact
from spatialops.contact import (
    ConvexQP,
    Enumeration,
    ExactLemke,
    InteriorPoint,
    Lemke,
    MixedLCP,
    Newton,
    PrincipalPivoting,
    ProjectedGaussSeidel,
    Status,
    solve,
)
from spatialops.errors import ArgumentError, MissingLibraryError, SpatialOpsError
from tests.support.residuals import check_solved
from tests.support.zoo import fathi, harker_pang, murty

NAMES = (
    "auto",
    "lemke",
    "principal-pivoting",
    "gauss-seidel",
    "newton",
    "interior-point",
    "enumeration",
    "exact",
    "qp",
)


@pytest.mark.parametrize("name", NAMES)
def test_names(name):
    problem = MixedLCP([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0])
    solution = solve(problem, name)
    check_solved(problem, solution)
    assert solution.solver


@pytest.mark.parametrize("solver", ["simplex", Lemke, None, 3])
def test_unknown_solvers_are_refused(solver):
    with pytest.raises(ArgumentError, match="expected 'auto', 'lemke'"):
        solve(MixedLCP([[1.0]], [1.0]), solver)


def test_statuses_keep_their_numbers_and_say_what_to_do():
    assert [status.value for status in Status] == list(range(10))
    assert len({status.message for status in Status}) == len(Status)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Newton(function="max"),
        lambda: ProjectedGaussSeidel(relaxation=2.0),
        lambda: Enumeration(max_pairs=100),
        lambda: ConvexQP(library="cplex"),
    ],
)
def test_bad_options_are_refused(make):
    with pytest.raises(ArgumentError, match="expected"):
        make()


@pytest.mark.parametrize("solver", [Newton, PrincipalPivoting, InteriorPoint, Lemke, ExactLemke])
def test_options_are_fields(solver):
    with pytest.raises(TypeError):
        solver(tolerence=1e-9)
    assert hash(solver()) == hash(solver())


@pytest.mark.parametrize(
    ("solver", "status"),
    [
        (ExactLemke(max_pivots=2), Status.PIVOT_LIMIT),
        (PrincipalPivoting(max_pivots=1, blocks=0), Status.PIVOT_LIMIT),
        (ProjectedGaussSeidel(max_sweeps=1), Status.ITERATION_LIMIT),
        (InteriorPoint(max_iterations=1), Status.ITERATION_LIMIT),
    ],
)
def test_limits_are_kept_and_reported(solver, status):
    rng = np.random.default_rng(1)
    A = rng.normal(size=(20, 20))
    A = A @ A.T
    problem = MixedLCP(
        A, A @ rng.normal(size=20)
    )  # singular contacts' kind: semidefinite, dense, of many pivots
    solution = solve(problem, solver)
    assert solution.status == status
    assert solution.residual > 1e-9


@pytest.mark.parametrize(
    ("solver", "A", "word"),
    [
        (ProjectedGaussSeidel(), [[1.0, 0.0], [0.0, 0.0]], "row 1"),
        (ConvexQP(), [[1.0, 3.0], [3.0, 1.0]], "eigenvalue"),
        (PrincipalPivoting(), [[-1.0, 0.0], [0.0, 1.0]], "row sufficient"),
        (Enumeration(max_pairs=1), [[1.0, 0.0], [0.0, 1.0]], "max_pairs"),
        (ExactLemke(max_rows=1), [[1.0, 0.0], [0.0, 1.0]], "max_rows"),
    ],
)
def test_what_is_not_applicable_is_said_and_why(solver, A, word):
    solution = solve(MixedLCP(A, [-1.0, -2.0]), solver)
    assert solution.status == Status.NOT_APPLICABLE
    assert word in solution.message


def test_gauss_seidel_says_that_it_diverged():
    solution = solve(
        MixedLCP([[1.0, -5.0], [-5.0, 1.0]], [-1.0, -1.0]), ProjectedGaussSeidel(polish=False)
    )
    assert solution.status in (Status.STALLED, Status.ITERATION_LIMIT)
    assert not solution.solved


def test_gauss_seidel_converges_without_polish_and_from_a_warm_start():
    problem = fathi(3).problem
    cold = solve(problem, ProjectedGaussSeidel(polish=False))
    check_solved(problem, cold)
    warm = solve(problem, ProjectedGaussSeidel(polish=False), warm_start=cold.z)
    assert warm.iterations < cold.iterations


def test_principal_pivoting_does_without_blocks():
    for entry in (murty(6), murty(6, lower=True), fathi(6), harker_pang(9)):
        check_solved(entry.problem, solve(entry.problem, PrincipalPivoting(blocks=0)))


# -------------------------------------------------------------------------------------- enumeration


def test_all_solutions_of_a_game():
    # The costs of CPS's game: two pure equilibria and a mixed one; -A has 2^n basic points, these
    # are solutions.
    A = np.array([[-1.0, 0.0], [0.0, -1.0]])
    found = Enumeration().all_solutions(MixedLCP(A, [1.0, 2.0]))
    assert sorted(z.tolist() for z in found) == [[0.0, 0.0], [0.0, 2.0], [1.0, 0.0], [1.0, 2.0]]


def test_all_solutions_where_there_is_none_or_a_face():
    assert Enumeration().all_solutions(MixedLCP([[0.0, -1.0], [1.0, 0.0]], [-1.0, -1.0])) == []
    segment = Enumeration().all_solutions(MixedLCP([[1.0, 1.0], [1.0, 1.0]], [-1.0, -1.0]))
    corners = [z.round(9).tolist() for z in segment]
    assert [1.0, 0.0] in corners
    assert [0.0, 1.0] in corners
    only_singular = Enumeration().all_solutions(MixedLCP([[0.0, 0.0], [1.0, 0.0]], [0.0, -1.0]))
    assert len(only_singular) == 1
    assert only_singular[0][0] >= 1.0


def test_all_solutions_with_free_rows():
    # x + z = 1 and w = x + 1 >= 0 with z >= 0: z = 0, x = 1; or w = 0, x = -1, z = 2.
    found = Enumeration().all_solutions(MixedLCP([[1.0, 1.0], [1.0, 0.0]], [-1.0, 1.0], 1))
    assert sorted(z.round(9).tolist() for z in found) == [[-1.0, 2.0], [1.0, 0.0]]


def test_all_solutions_refuses_what_is_too_large():
    with pytest.raises(ArgumentError, match="max_pairs"):
        Enumeration(max_pairs=3).all_solutions(MixedLCP(np.eye(4), np.ones(4)))


# --------------------------------------------------------------------------------- exact, libraries


def test_exact_arithmetic_solves_what_doubles_cannot():
    # The solution of Hilbert's matrix of order 13 has 18 digits of cancellation.
    n = 13
    i = np.arange(n)
    A = 1.0 / (i[:, None] + i + 1.0)
    b = -(A @ np.ones(n)) - 1e-8 * (np.arange(n) % 3 == 0)
    solution = solve(MixedLCP(A, b), ExactLemke(tolerance=1e-9))
    check_solved(MixedLCP(A, b), solution)


@pytest.mark.parametrize("library", ["daqp", "clarabel"])
def test_a_missing_library_names_the_extra(library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingLibraryError, match=r"spatialops\[qp\]"):
        solve(MixedLCP([[1.0]], [1.0]), ConvexQP(library=library))
    assert issubclass(MissingLibraryError, SpatialOpsError)
    assert solve(MixedLCP([[1.0]], [-1.0])).solved  # auto does without


def test_every_solver_class_is_exported_and_declares_what_it_handles():
    for kind in (
        Lemke,
        PrincipalPivoting,
        ProjectedGaussSeidel,
        Newton,
        InteriorPoint,
        Enumeration,
        ExactLemke,
        ConvexQP,
        contact.Auto,
    ):
        assert kind.__name__ in contact.__all__
        assert isinstance(kind.handles, contact.Handles)
        for word in kind.handles.proved:
            assert isinstance(word, str)


def test_exact_arithmetic_stops_where_its_work_is_used_up(rng):
    """The same problem is solved with room for it; numbers grow with every pivot."""
    A = rng.normal(size=(12, 12))
    problem = MixedLCP(A @ A.T, -np.abs(rng.normal(size=12)))
    assert ExactLemke().solve(problem).solved
    stopped = ExactLemke(max_work=1e4).solve(problem)
    assert stopped.status == Status.PIVOT_LIMIT
    assert 0 < stopped.iterations < 12


@pytest.mark.compiled
def test_a_ladder_that_is_not_thorough_ends_with_lemkes_method(rng):
    """Of matrices of no class: what it solves is the same, what it does not others may."""
    more = 0
    for _ in range(60):
        problem = MixedLCP(rng.normal(size=(6, 6)), -np.abs(rng.normal(size=6)))
        whole, brief = contact.Auto().solve(problem), contact.Auto(thorough=False).solve(problem)
        assert brief.solver.startswith(("lemke", "certificate"))
        assert whole.solved or not brief.solved
        more += whole.solved and not brief.solved
    assert more > 0
