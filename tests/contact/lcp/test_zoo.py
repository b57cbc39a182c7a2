"""Every solver on every problem of the zoo: it solves what it claims, and says why where it cannot.

A new solver is a line in `SOLVERS`: what it must do follows from its own `handles`.
"""

import numpy as np
import pytest

from spatialops.contact import (
    Auto,
    ConvexQP,
    Enumeration,
    ExactLemke,
    InteriorPoint,
    Lemke,
    Newton,
    PrincipalPivoting,
    ProjectedGaussSeidel,
    Status,
    solve,
)
from tests.support.residuals import check_honest, check_solved
from tests.support.zoo import (
    ZOO,
    badly_scaled,
    classes,
    cycle,
    fathi,
    game,
    harker_pang,
    murty,
    obstacle,
)

SOLVERS = {
    "auto": Auto(),
    "lemke": Lemke(),
    "principal-pivoting": PrincipalPivoting(),
    "gauss-seidel": ProjectedGaussSeidel(),
    "newton": Newton(),
    "newton on the minimum map": Newton(function="min"),
    "interior-point": InteriorPoint(),
    "enumeration": Enumeration(),
    "exact": ExactLemke(),
    "qp": ConvexQP(),
    "qp by clarabel": ConvexQP(library="clarabel"),
}


def takes(solver, problem):
    """Whether the solver is proved for this problem."""
    handles = solver.handles
    return bool(classes(problem) & set(handles.proved)) and (
        handles.free_rows or problem.n_free == 0
    )


@pytest.mark.parametrize("entry", ZOO.values(), ids=ZOO)
@pytest.mark.parametrize("name", SOLVERS)
def test_zoo(name, entry):
    solver, problem = SOLVERS[name], entry.problem
    solution = solve(problem, solver)
    check_honest(problem, solution, entry.solvable)
    if not takes(solver, problem):
        return
    if entry.solvable:
        check_solved(problem, solution)
        if entry.solution is not None:
            assert np.allclose(solution.z, entry.solution, rtol=1e-9, atol=1e-9)
    elif solver.handles.shows_no_solution:
        assert solution.status == Status.NO_SOLUTION


@pytest.mark.parametrize("entry", ZOO.values(), ids=ZOO)
def test_auto_decides_the_whole_zoo(entry):
    solution = solve(entry.problem)
    assert solution.status == (Status.SOLVED if entry.solvable else Status.NO_SOLUTION)


@pytest.mark.parametrize("entry", ZOO.values(), ids=ZOO)
@pytest.mark.parametrize("name", ["auto", "lemke", "principal-pivoting", "exact"])
def test_badly_scaled(name, entry):
    easy, hard = entry.problem, badly_scaled(entry)
    solution = solve(hard.problem, SOLVERS[name])
    check_honest(hard.problem, solution, hard.solvable)
    if name == "auto" or (name == "exact" and takes(SOLVERS[name], easy) and hard.solvable):
        assert solution.status == (Status.SOLVED if hard.solvable else Status.NO_SOLUTION)


@pytest.mark.parametrize("name", SOLVERS)
def test_solvers_say_what_they_take(name):
    problem = ZOO["cps game"].problem  # zero diagonal, not semidefinite
    solver = SOLVERS[name]
    solution = solve(problem, solver)
    if solver.handles.positive_diagonal or solver.handles.semidefinite:
        assert solution.status == Status.NOT_APPLICABLE
        assert solution.detail


@pytest.mark.parametrize(
    "name", [name for name, solver in SOLVERS.items() if solver.handles.warm_start]
)
@pytest.mark.parametrize(
    "entry", ["fathi 8", "harker-pang 9", "ones 4", "program 5, 2 equalities, 2 twice"]
)
def test_warm_starts_change_nothing_but_the_work(name, entry):
    problem = ZOO[entry].problem
    cold = solve(problem, SOLVERS[name])
    for guess in (cold.z, np.zeros(problem.size), np.ones(problem.size), -cold.z):
        warm = solve(problem, SOLVERS[name], warm_start=guess)
        check_honest(problem, warm)
        assert warm.solved >= cold.solved


@pytest.mark.parametrize("name", SOLVERS)
def test_answers_are_the_same_twice_and_problems_are_not_changed(name):
    problem = ZOO["harker-pang 9"].problem
    kept = problem.A.copy(), problem.b.copy()
    first, second = solve(problem, SOLVERS[name]), solve(problem, SOLVERS[name])
    assert np.array_equal(first.z, second.z)
    assert first.status == second.status
    assert np.array_equal(problem.A, kept[0])
    assert np.array_equal(problem.b, kept[1])


@pytest.mark.compiled
@pytest.mark.parametrize("n", [1, 2, 10, 50, 101])
@pytest.mark.parametrize("family", [murty, fathi, obstacle, harker_pang, cycle])
def test_families_of_many_sizes(family, n):
    if family is cycle and (n % 2 == 0 or n == 1):
        n += 1 if n > 1 else 2
    entry = family(n)
    check_solved(entry.problem, solve(entry.problem))


@pytest.mark.compiled
@pytest.mark.parametrize(
    "name", ["lemke", "principal-pivoting", "newton", "interior-point", "qp by clarabel"]
)
@pytest.mark.parametrize("family", [obstacle, harker_pang])
def test_solvers_on_a_hundred_rows(family, name):
    problem = family(100).problem
    check_solved(problem, solve(problem, SOLVERS[name]))


@pytest.mark.compiled
@pytest.mark.parametrize("shape", [(5, 6), (10, 12), (20, 20)])
def test_larger_games(shape):
    problem = game(*shape).problem
    check_solved(problem, solve(problem))


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("family", [obstacle, harker_pang, murty])
def test_five_hundred_rows(family):
    problem = family(500).problem
    check_solved(problem, solve(problem))
