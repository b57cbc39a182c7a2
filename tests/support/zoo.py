"""Complementarity problems of textbooks and papers, the classes of their matrices found out.

Murty: K. G. Murty, Linear Complementarity, Linear and Nonlinear Programming, Heldermann 1988.
CPS: R. W. Cottle, J.-S. Pang, R. E. Stone, The Linear Complementarity Problem, Academic Press 1992.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from spatialops.contact import MixedLCP


@dataclass(frozen=True, eq=False)
class Entry:
    """A problem, whether it has a solution, and the one it has where there is only one."""

    name: str
    problem: MixedLCP
    solvable: bool = True
    solution: tuple[float, ...] | None = None


def classes(problem):
    """Names, as in `Handles.proved`, of the matrix's classes (P only where n <= 10)."""
    A = problem.A
    n = problem.size
    found = {"all"}
    if n == 0:
        return found
    scale = np.abs(A).max()
    diagonal, symmetric = np.diag(A), np.array_equal(A, A.T)
    if np.linalg.eigvalsh(A + A.T)[0] >= -1e-13 * scale:
        found |= {"positive semidefinite", "row sufficient", "copositive-plus"}
        if symmetric and diagonal.min() > 0.0:
            found.add("symmetric positive semidefinite with a positive diagonal")
    if (A > 0.0).all():  # strictly copositive
        found.add("copositive-plus")
    if n - problem.n_free <= 13:
        found.add("all of up to 13 pairs")
    if problem.n_free:
        return found
    if diagonal.min() > 0.0:
        comparison = 2.0 * np.diag(diagonal) - np.abs(A)
        if np.linalg.cond(comparison) < 1e12 and np.linalg.inv(comparison).min() >= 0.0:
            found |= {"H with a positive diagonal", "P"}
    if n <= 8 and all(
        np.linalg.det(A[np.ix_(S, S)]) > 1e-12
        for k in range(1, n + 1)
        for S in combinations(range(n), k)
    ):
        found |= {"P", "row sufficient"}
    return found


def murty(n, lower=False):
    """Murty, chapter 6: ones and twos, on which complementary pivoting may take 2^n steps.

    z is a unit vector.
    """
    A = np.triu(2.0 * np.ones((n, n)), 1) + np.eye(n)
    A = A.T.copy() if lower else A
    return Entry(
        f"murty {n}{' lower' if lower else ''}",
        MixedLCP(A, -np.ones(n)),
        True,
        tuple(np.eye(n)[0 if lower else -1]),
    )


def fathi(n):
    """Y. Fathi, Math. Programming 17 (1979): L L^T of Murty's matrix, as slow. z = (1, 0, ..)."""
    L = np.tril(2.0 * np.ones((n, n)), -1) + np.eye(n)
    return Entry(f"fathi {n}", MixedLCP(L @ L.T, -np.ones(n)), True, tuple(np.eye(n)[0]))


def cycle(n):
    """Murty (Kostreva 1979 for n = 3): a circulant P-matrix on which block pivoting goes round.

    n is odd.
    """
    A = np.eye(n) + 2.0 * np.roll(np.eye(n), 1, axis=1)
    return Entry(f"cycle {n}", MixedLCP(A, -np.ones(n)), True, tuple(np.full(n, 1.0 / 3.0)))


def obstacle(n):
    """CPS, section 5.1: a string over an obstacle, a tridiagonal K-matrix."""
    A = 2.0 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    x = np.linspace(0.0, 1.0, n + 2)[1:-1]
    return Entry(f"obstacle {n}", MixedLCP(A, -A @ np.sin(6.0 * x) + 0.1 / n**2))


def harker_pang(n):
    """P. T. Harker, J.-S. Pang 1990: M = B'B + skew + diagonal, b in (-500, 0).

    In Lectures in Applied Math. 26.
    """
    rng = np.random.default_rng(n)
    B, S = rng.uniform(-5.0, 5.0, (n, n)), rng.uniform(-5.0, 5.0, (n, n))
    A = B.T @ B + np.triu(S, 1) - np.triu(S, 1).T + np.diag(rng.uniform(0.0, 0.3, n))
    return Entry(f"harker-pang {n}", MixedLCP(A, rng.uniform(-500.0, 0.0, n)))


def game(n, m, seed=0):
    """CPS, section 1.4: a bimatrix game with costs A, B > 0; Lemke's method meets a ray."""
    rng = np.random.default_rng(seed)
    A, B = rng.integers(1, 10, (n, m)), rng.integers(1, 10, (n, m))
    matrix = np.block([[np.zeros((n, n)), A], [B.T, np.zeros((m, m))]])
    return Entry(f"game {n} x {m}", MixedLCP(matrix, -np.ones(n + m)))


def hilbert(n):
    """Singular to rounding: Hilbert's matrix."""
    i = np.arange(n)
    A = 1.0 / (i[:, None] + i + 1.0)
    return Entry(f"hilbert {n}", MixedLCP(A, -A @ (np.arange(n) % 2)))


def ones(n):
    """Rank one: a simplex of solutions."""
    return Entry(f"ones {n}", MixedLCP(np.ones((n, n)), -np.ones(n)))


def empty_sum(n):
    """Infeasible, positive semidefinite: the rows of a skew matrix add up to nothing, b to less."""
    A = np.triu(np.ones((n, n)), 1)
    A = A - A.T
    A[-1] = -A[:-1].sum(axis=0)
    A[:, -1] = -A[-1]
    A[-1, -1] = 0.0
    b = np.ones(n)
    b[-1] = -float(n)
    return Entry(f"contradiction {n}", MixedLCP(A, b), False)


def mixed_program(n, m, redundant):
    """Optimality of a quadratic program with repeated equalities: singular but consistent."""
    rng = np.random.default_rng(n + m)
    B, E = rng.normal(size=(n, n - 1)), rng.normal(size=(m, n))
    E = np.vstack([E, E[:redundant]])
    G = rng.normal(size=(n, n))
    inside = rng.normal(size=n)
    k = len(E)
    A = np.block([[B @ B.T, -E.T, -G.T], [E, np.zeros((k, k + n))], [G, np.zeros((n, k + n))]])
    b = np.concatenate([rng.normal(size=n), -E @ inside, -G @ inside + rng.uniform(0.0, 0.2, n)])
    return Entry(f"program {n}, {m} equalities, {redundant} twice", MixedLCP(A, b, n + k))


def through_complement():
    """Free block zero: x and lambda are determined only through the complementary pair."""
    A = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 2.0]])
    return Entry("zero block", MixedLCP(A, [-1.0, 2.0, 1.0], 2), True, (3.0, -2.0, 1.0))


def inconsistent():
    """Two equal equalities with different right-hand sides."""
    A = np.array([[1.0, 2.0, 0.0], [1.0, 2.0, 0.0], [0.0, 1.0, 1.0]])
    return Entry("inconsistent equalities", MixedLCP(A, [1.0, 2.0, 1.0], 2), False)


def _entries():
    yield Entry("empty", MixedLCP(np.zeros((0, 0)), []), True, ())
    yield Entry("one row", MixedLCP([[2.0]], [-4.0]), True, (2.0,))
    yield Entry("one row, negative", MixedLCP([[-1.0]], [-1.0]), False)
    yield Entry("one zero row", MixedLCP([[0.0]], [-1.0]), False)
    yield Entry("one free row", MixedLCP([[-2.0]], [4.0], 1), True, (2.0,))
    yield Entry("zero matrix, b >= 0", MixedLCP(np.zeros((3, 3)), [1.0, 0.0, 2.0]))
    yield Entry("b = 0", MixedLCP([[1.0, -2.0], [3.0, 1.0]], [0.0, 0.0]))
    yield Entry(
        "murty 2.8",
        MixedLCP([[1, -1, -1, -1], [-1, 1, -1, -1], [1, 1, 2, 0], [1, 1, 0, 2]], [3, 5, -9, -5]),
    )
    yield Entry(
        "murty 2.9, a ray", MixedLCP([[-1, 0, -3], [1, -2, -5], [-2, -1, -2]], [-3, -2, -1]), False
    )
    yield Entry("murty 2.11", MixedLCP([[-1.5, 2], [-4, 4]], [-5, 17]), True, (27.0, 22.75))
    yield Entry("cps segment", MixedLCP([[1, 1], [1, 1]], [-1, -1]))
    yield Entry("cps ray of solutions", MixedLCP([[1, -1], [-1, 1]], [1, -1]))
    yield Entry(
        "cps game",
        MixedLCP(
            [[0, 0, 10, 30], [0, 0, 20, 15], [10, 30, 0, 0], [20, 15, 0, 0]], [-1, -1, -1, -1]
        ),
    )
    program = [[11, 0, 10, -1], [0, 11, 10, -1], [10, 10, 21, -1], [1, 1, 1, 0]]
    yield Entry("cps program", MixedLCP(program, [50, 50, 10, -6]), True, (2.0, 2.0, 2.0, 92.0))
    yield Entry("skew", MixedLCP([[0, -1], [1, 0]], [-1, -1]), False)
    yield Entry(
        "no complementary basis", MixedLCP([[0, 0], [1, 0]], [0, -1])
    )  # every solution has a singular basis
    for n in (2, 5, 8):
        yield murty(n)
        yield murty(n, lower=True)
        yield fathi(n)
    for n in (3, 5, 7):
        yield cycle(n)
    for n in (2, 4, 9):
        yield obstacle(n)
        yield harker_pang(n)
        yield ones(n)
    for n in (3, 6):
        yield empty_sum(n)
        yield hilbert(n)
    for n, m in ((2, 2), (2, 3), (3, 4)):
        yield game(n, m)
    for arguments in ((3, 1, 0), (4, 2, 1), (5, 2, 2)):
        yield mixed_program(*arguments)
    yield through_complement()
    yield inconsistent()


ZOO = {entry.name: entry for entry in _entries()}


def badly_scaled(entry, decades=3.0):
    """The same problem with z and w of every row in units up to 10^decades apart."""
    problem = entry.problem
    scale = 2.0 ** np.round(
        np.log2(10.0) * np.random.default_rng(problem.size).uniform(-decades, decades, problem.size)
    )
    A = problem.A * scale[:, None] * scale
    solution = None if entry.solution is None else tuple(np.array(entry.solution) / scale)
    return Entry(
        f"{entry.name}, badly scaled",
        MixedLCP(A, problem.b * scale, problem.n_free),
        entry.solvable,
        solution,
    )
