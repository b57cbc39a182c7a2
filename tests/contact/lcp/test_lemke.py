"""Lemke and the door before it.

Problems of textbooks, random classes, contact problems, and those without a solution.

Solutions need not be unique: what counts is the residual, written here once more with numpy.
"""

import numpy as np
import pytest

from spatialops.contact import Lemke, MixedLCP, Status, solve
from spatialops.contact.formulations.operational_space import OperationalSpace
from spatialops.errors import ArgumentError
from tests.support.contacts import check_laws, feet_problem

TOLERANCE = 1e-9


def natural_residual(problem, z):
    """max |min(s z, w)| over max |b|, |w| on free rows; s = max |A|."""
    w = problem.A @ z + problem.b
    gaps = np.minimum(np.abs(problem.A).max() * z, w)
    gaps[: problem.n_free] = w[: problem.n_free]
    return np.abs(gaps).max() / np.abs(problem.b).max()


def check_solved(problem, solution, tolerance=TOLERANCE):
    assert solution.status == Status.SOLVED
    assert natural_residual(problem, solution.z) <= tolerance
    assert solution.residual == pytest.approx(problem.residual(solution.z), rel=1e-6, abs=1e-15)
    assert np.allclose(solution.w, problem.A @ solution.z + problem.b, rtol=1e-9, atol=1e-12)


# ----------------------------------------------------------------------------------- from textbooks
# Murty: K. G. Murty, Linear Complementarity, Linear and Nonlinear Programming, Heldermann 1988.
# CPS: R. W. Cottle, J.-S. Pang, R. E. Stone, The Linear Complementarity Problem, 1992.

TEXTBOOK = {
    # Murty, example 2.8: solved by complementary pivoting.
    "murty_2_8": (
        [[1, -1, -1, -1], [-1, 1, -1, -1], [1, 1, 2, 0], [1, 1, 0, 2]],
        [3, 5, -9, -5],
        [2, 1, 3, 1],
    ),
    # Murty: a triangular P-matrix.
    "murty_triangular": ([[1, 0, 0], [2, 1, 0], [2, 2, 1]], [-8, -12, -14], [8, 0, 0]),
    # Murty, example 2.11 (as QuantEcon.py's tests number it): not a P-matrix, one solution.
    "murty_2_11": ([[-1.5, 2], [-4, 4]], [-5, 17], [27, 22.75]),
    # Murty, and CPS: a P-matrix on which simple principal pivoting cycles.
    "murty_cycle": ([[1, 2, 0], [0, 1, 2], [2, 0, 1]], [-1, -1, -1], [1 / 3, 1 / 3, 1 / 3]),
    # CPS: semidefinite of rank one, a segment of solutions z1 + z2 = 1.
    "cps_segment": ([[1, 1], [1, 1]], [-1, -1], None),
    # CPS: semidefinite, an unbounded ray of solutions z2 = 1 + z1.
    "cps_ray": ([[1, -1], [-1, 1]], [1, -1], None),
    # CPS: the equilibrium of a bimatrix game.
    "cps_game": (
        [[0, 0, 10, 30], [0, 0, 20, 15], [10, 30, 0, 0], [20, 15, 0, 0]],
        [-1, -1, -1, -1],
        None,
    ),
    # CPS: the optimality conditions of a convex quadratic program.
    "cps_program": (
        [[11, 0, 10, -1], [0, 11, 10, -1], [10, 10, 21, -1], [1, 1, 1, 0]],
        [50, 50, 10, -6],
        [2, 2, 2, 92],
    ),
}


@pytest.mark.parametrize("solver", ["auto", "lemke"])
@pytest.mark.parametrize("name", TEXTBOOK)
def test_textbook(name, solver):
    A, b, expected = TEXTBOOK[name]
    problem = MixedLCP(A, b)
    solution = solve(problem, solver)
    check_solved(problem, solution)
    if expected is not None:
        assert np.allclose(solution.z, expected, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("n", [4, 8, 16, 32])
@pytest.mark.parametrize("lower", [False, True])
def test_murtys_triangular_family(n, lower):
    # Murty, chapter 6: ones on the diagonal, twos on one side; pivoting may take 2^n steps. One
    # solution: the vertex.
    upper = np.triu(2.0 * np.ones((n, n)), 1) + np.eye(n)
    problem = MixedLCP(upper.T.copy() if lower else upper, -np.ones(n))
    solution = solve(problem)
    check_solved(problem, solution)
    assert np.allclose(solution.z, np.eye(n)[0 if lower else -1], rtol=0.0, atol=1e-9)


UNSOLVABLE = {
    "one row": ([[-1]], [-1]),
    "one zero row": ([[0]], [-1]),
    "zero matrix": (np.zeros((3, 3)), [1, -1, 2]),
    "murty_2_9": (
        [[-1, 0, -3], [1, -2, -5], [-2, -1, -2]],
        [-3, -2, -1],
    ),  # Murty, example 2.9: a ray
    "skew": ([[0, -1], [1, 0]], [-1, -1]),
    "contradiction of a program": (
        [[0, 0, 1, -1], [0, 0, 1, -1], [-1, -1, 0, 0], [1, 1, 0, 0]],
        [0, 0, 1, -2],
    ),
}


@pytest.mark.parametrize("solver", ["auto", "lemke", Lemke(tolerance=1e-6)])
@pytest.mark.parametrize("name", UNSOLVABLE)
def test_no_success_where_there_is_no_solution(name, solver):
    A, b = UNSOLVABLE[name]
    solution = solve(MixedLCP(A, b), solver)
    assert not solution.solved
    assert solution.residual > TOLERANCE
    assert solution.status.message


def test_no_success_on_random_infeasible_problems(rng):
    for n in (2, 5, 9):
        for _ in range(5):
            A, b = rng.normal(size=(n, n)), rng.normal(size=n)
            row = rng.integers(n)
            A[row], b[row] = -np.abs(A[row]), -1.0  # this w is negative whatever z >= 0
            assert not solve(MixedLCP(A, b)).solved


@pytest.mark.parametrize(
    ("A", "b", "z"), [(2.0, -4.0, 2.0), (2.0, 4.0, 0.0), (2.0, 0.0, 0.0), (-1.0, 3.0, 0.0)]
)
def test_one_row(A, b, z):
    solution = solve(MixedLCP([[A]], [b]))
    assert solution.solved
    assert solution.z[0] in ({0.0, 3.0} if A < 0.0 else {z})


def test_one_free_row():
    assert solve(MixedLCP([[2.0]], [4.0], 1)).z.tolist() == [-2.0]
    assert solve(MixedLCP([[-2.0]], [4.0], 1)).z.tolist() == [2.0]
    assert not solve(MixedLCP([[0.0]], [1.0], 1)).solved


@pytest.mark.parametrize("warm_start", [None, []])
def test_empty(warm_start):
    solution = solve(MixedLCP(np.zeros((0, 0)), []), warm_start=warm_start)
    assert solution.solved
    assert solution.z.shape == solution.w.shape == (0,)
    assert solution.residual == 0.0


# ----------------------------------------------------------------------------------- random classes


def complementary_pair(rng, n):
    """z, w >= 0 with z w = 0."""
    active = rng.random(n) < 0.5
    return np.where(active, rng.uniform(0.1, 1.0, n), 0.0), np.where(
        active, 0.0, rng.uniform(0.0, 1.0, n)
    )


def positive_definite(rng, n):
    B = rng.normal(size=(n, n))
    return B @ B.T + 0.1 * np.eye(n)


def semidefinite(rng, n):
    B = rng.normal(size=(n, max(1, n // 2)))
    return B @ B.T


def semidefinite_and_skew(rng, n):
    S = rng.normal(size=(n, n))
    return semidefinite(rng, n) + S - S.T


def p_matrix(rng, n):
    """Diagonally dominant with a positive diagonal.

    All principal minors are positive (Gershgorin).
    """
    A = rng.normal(size=(n, n))
    np.fill_diagonal(A, 0.0)
    np.fill_diagonal(A, np.abs(A).sum(axis=1) + rng.uniform(0.1, 1.0, n))
    return A * rng.uniform(0.2, 5.0, n)  # columns scaled: still a P-matrix


def positive_copositive(rng, n):
    return rng.uniform(0.1, 1.0, (n, n))


CLASSES = [positive_definite, semidefinite, semidefinite_and_skew, p_matrix, positive_copositive]


@pytest.mark.parametrize("n", [2, 6, 15])
@pytest.mark.parametrize("kind", CLASSES)
def test_random_solvable_problems(kind, n, rng):
    for _ in range(4):
        A = kind(rng, n)
        z, w = complementary_pair(rng, n)
        problem = MixedLCP(A, w - A @ z)
        if np.abs(problem.b).max() > 0.0:
            check_solved(problem, solve(problem))


def quadratic_program(rng, n, m_e, m_i):
    """min x'Q x/2 + c'x with E x = d, G x >= h and x free, as a mixed problem."""
    B = rng.normal(size=(n, max(1, n - 1)))
    Q, c = B @ B.T + 1e-2 * np.eye(n), rng.normal(size=n)
    E = rng.normal(size=(m_e, n))
    G = rng.normal(size=(m_i, n))
    inside = rng.normal(size=n)
    d, h = E @ inside, G @ inside - rng.uniform(0.0, 0.3, m_i)
    A = np.block(
        [[Q, -E.T, -G.T], [E, np.zeros((m_e, m_e + m_i))], [G, np.zeros((m_i, m_e + m_i))]]
    )
    return (Q, c, E, d, G, h), MixedLCP(A, np.concatenate([c, -d, -h]), n + m_e)


@pytest.mark.parametrize(
    ("n", "m_e", "m_i"), [(3, 0, 4), (4, 2, 3), (8, 3, 10), (5, 5, 2), (6, 2, 0)]
)
def test_optimality_conditions_of_quadratic_programs(n, m_e, m_i, rng):
    for _ in range(4):
        (Q, c, E, d, G, h), problem = quadratic_program(rng, n, m_e, m_i)
        solution = solve(problem)
        check_solved(problem, solution)
        x, scale = solution.z[:n], np.abs(problem.b).max()
        assert np.abs(E @ x - d).max(initial=0.0) <= 1e-8 * scale
        assert (G @ x - h).min(initial=0.0) >= -1e-8 * scale

        def objective(y, Q=Q, c=c):
            return 0.5 * y @ Q @ y + c @ y

        # No feasible direction goes down: moves within the null space of E that stay inside.
        null = np.linalg.svd(E)[2][m_e:] if m_e else np.eye(n)
        for _ in range(20):
            step = 1e-3 * rng.normal(size=len(null)) @ null
            if (G @ (x + step) - h).min(initial=0.0) >= 0.0:
                assert objective(x + step) >= objective(x) - 1e-9 * (1.0 + abs(objective(x)))


def test_equalities_that_contradict_are_not_solved(rng):
    A = positive_definite(rng, 4)
    A[1] = A[0]
    b = rng.normal(size=4)
    b[1] = b[0] + 1.0
    assert not solve(MixedLCP(A, b, 2)).solved


# --------------------------------------------------------------------------------- contact problems


def box_contacts(count, *, velocity, spin=(0.0, 0.0, 0.0), mu=0.5, copies=1):
    """A box of 1 kg on a plane with `count` corners in a ring, each `copies` times.

    Rank 6 whatever the number.
    """
    angles = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False) + np.pi / 4.0
    arms = np.stack(
        [0.5 * np.cos(angles), 0.5 * np.sin(angles), np.full(count, -0.2)], axis=1
    ).repeat(copies, axis=0)
    return feet_problem(arms, velocity=velocity, spin=spin, mu=mu)


MOTIONS = {
    "rests": ((0.0, 0.0, -0.0098), (0.0, 0.0, 0.0)),
    "slides": ((0.7, 0.2, -0.0098), (0.0, 0.0, 0.0)),
    "turns": ((0.0, 0.0, -0.0098), (0.0, 0.0, 2.0)),
    "falls": ((0.0, 0.0, -3.0), (0.0, 0.0, 0.0)),
    "tumbles": ((0.3, -0.1, -1.0), (1.0, -2.0, 0.5)),
}


@pytest.mark.parametrize("mu", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("motion", MOTIONS)
@pytest.mark.parametrize(("count", "copies"), [(3, 1), (4, 1), (4, 2), (8, 1)])
def test_redundant_contacts(count, copies, motion, mu):
    velocity, spin = MOTIONS[motion]
    problem = box_contacts(count, velocity=velocity, spin=spin, mu=mu, copies=copies)
    lcp = OperationalSpace(4).assemble(problem)
    solution = solve(lcp)
    check_solved(lcp, solution)
    answer = OperationalSpace(4).recover(problem, solution)
    impulses = answer.impulses
    check_laws(problem, answer, 4)
    if motion in ("rests", "falls"):  # momentum: what falls is stopped
        assert impulses[:, 0].sum() == pytest.approx(-velocity[2], rel=1e-9)


# --------------------------------------------------------------------------- scales and warm starts


@pytest.mark.parametrize("factor", [1e-12, 1e-6, 1.0, 1e6, 1e12])
def test_units_of_matrix_and_vector(factor, rng):
    A, b = positive_definite(rng, 6), rng.normal(size=6)
    base = solve(MixedLCP(A, b)).z
    assert base.max() > 0.0
    for problem, scale in (
        (MixedLCP(factor * A, b), 1.0 / factor),
        (MixedLCP(A, factor * b), factor),
    ):
        solution = solve(problem)
        check_solved(problem, solution)
        assert np.allclose(solution.z, scale * base, rtol=1e-9, atol=1e-12 * scale)


def test_badly_scaled_rows_and_columns(rng):
    for _ in range(10):
        scale = 10.0 ** rng.uniform(-4.0, 4.0, 8)
        A = positive_definite(rng, 8) * scale[:, None] * scale
        z, w = complementary_pair(rng, 8)
        problem = MixedLCP(A, w * scale - A @ (z / scale))
        check_solved(problem, solve(problem))


def test_warm_start(rng):
    problem = MixedLCP(positive_definite(rng, 10), rng.normal(size=10))
    cold = solve(problem)
    assert cold.iterations > 0
    warm = solve(problem, warm_start=cold.z)
    assert warm.iterations == 0
    assert np.allclose(warm.z, cold.z, rtol=0.0, atol=1e-12)
    nearby = MixedLCP(problem.A, problem.b * (1.0 + 1e-6 * rng.normal(size=10)))
    assert solve(nearby, warm_start=cold.z).iterations == 0
    for guess in (np.zeros(10), np.ones(10), -cold.z, rng.normal(size=10)):
        solution = solve(problem, warm_start=guess)
        check_solved(problem, solution)
        assert np.allclose(solution.z, cold.z, rtol=0.0, atol=1e-9)


def test_warm_start_of_a_problem_without_solution_stays_unsolved():
    for guess in ([0.0, 0.0], [1.0, 1.0]):
        assert not solve(MixedLCP([[0, -1], [1, 0]], [-1, -1]), warm_start=guess).solved


@pytest.mark.parametrize("guess", [[1.0], [1.0, 2.0, 3.0], [np.nan, 1.0], [np.inf, 1.0], "warm"])
def test_warm_starts_are_checked(guess):
    with pytest.raises(ArgumentError, match="warm_start"):
        solve(MixedLCP(np.eye(2), [-1.0, -1.0]), warm_start=guess)


def test_problems_are_not_changed_and_answers_are_the_same_twice(rng):
    A, b = semidefinite(rng, 12), -rng.uniform(0.0, 1.0, 12)
    kept = A.copy(), b.copy()
    problem = MixedLCP(A, A @ b)
    first, second = solve(problem), solve(problem)
    assert np.array_equal(problem.A, kept[0])
    assert np.array_equal(problem.b, kept[0] @ kept[1])
    assert np.array_equal(first.z, second.z)
    assert first.iterations == second.iterations
