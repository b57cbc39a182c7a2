"""The ladder: invariances, random problems, scales, warm starts, and what has no solution."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from spatialops.contact import (
    ConeGaussSeidel,
    ConeInteriorPoint,
    ConeLadder,
    ConeNewton,
    ConeProblem,
    solve,
)
from spatialops.errors import ArgumentError
from tests.support.heaps import (
    box_on_plane,
    box_stack,
    brick_wall,
    changed,
    check_solved,
    natural_residual,
    permuted,
    pile,
    random_cone_problem,
    rescaled,
)

MOTIONS = {
    "rests": {},
    "slides": {"velocity": (0.7, 0.2, -0.0981)},
    "turns": {"spin": (0.0, 0.0, 2.0)},
    "falls": {"velocity": (0.0, 0.0, -3.0)},
    "tumbles": {"velocity": (0.3, -0.1, -1.0), "spin": (1.0, -2.0, 0.5)},
}


@pytest.mark.parametrize("mu", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("motion", MOTIONS)
@pytest.mark.parametrize("count", [1, 3, 4, 12, 40])
def test_boxes(count, motion, mu):
    problem = box_on_plane(count, mu=mu, **MOTIONS[motion])
    check_solved(problem, solve(problem))


@pytest.mark.compiled
@pytest.mark.parametrize("ratio", [1.0, 0.2, 5.0])
@pytest.mark.parametrize("speed", [0.0, 0.3])
def test_stacks_of_unequal_boxes(ratio, speed):
    problem = box_stack(6, ratio=ratio, speed=speed, mu=0.3)
    check_solved(problem, solve(problem))


@pytest.mark.compiled
@pytest.mark.parametrize("speed", [0.0, 0.2])
def test_wall_with_far_too_many_contacts(speed):
    problem = brick_wall(3, 4, mu=0.5, speed=speed)
    check_solved(problem, solve(problem))


@given(
    m=st.integers(1, 8),
    deficit=st.integers(0, 3),
    seed=st.integers(0, 10**6),
    size=st.sampled_from([1e-15, 1e-6, 1.0, 1e6]),
)
def test_random_problems(m, deficit, seed, size):
    # W = G G^T, also of a quarter of full rank; b in its range, so that there is a solution.
    rng = np.random.default_rng(seed)
    problem = random_cone_problem(rng, m, rank=3 * m // (1 + deficit) + 1)
    problem = changed(problem, b=size * problem.b)
    check_solved(problem, solve(problem), 1e-8)


@given(
    seed=st.integers(0, 10**6),
    size=st.integers(2, 12),
    spread=st.integers(0, 4),
    mu=st.floats(0.0, 2.0),
)
def test_random_piles(seed, size, spread, mu):
    problem = pile(np.random.default_rng(seed), size, mu=mu, spread=spread)
    check_solved(problem, solve(problem), 1e-8)


@given(seed=st.integers(0, 10**6), m=st.integers(1, 6), kind=st.integers(0, 4))
def test_random_problems_of_other_dimensions(seed, m, kind):
    rng = np.random.default_rng(seed)
    options = (
        {"dim": 2},
        {"torsion": 0.2},
        {"rolling": 0.1},
        {"torsion": 0.1, "rolling": 0.3},
        {"rolling": 0.2},
    )[kind]
    dim = options.get("dim", 3 + ("torsion" in options) + 2 * ("rolling" in options))
    G = rng.normal(size=(m * dim, rng.integers(1, m * dim + 1)))
    elliptic = kind == 4
    problem = ConeProblem(
        G @ G.T,
        G @ rng.normal(size=G.shape[1]),
        rng.uniform(0.1, 2.0, m),
        elliptic=elliptic,
        **options,
    )
    solution = solve(problem)
    assert solution.solved
    assert problem.residuals(solution.r).worst <= 1e-8


def test_contacts_of_which_some_have_no_friction(rng):
    for _ in range(10):
        problem = random_cone_problem(rng, 6, rank=9, mu=np.array([0.0, 0.5, 0.0, 2.0, 0.1, 0.0]))
        solution = solve(problem)
        check_solved(problem, solution)
        assert np.abs(solution.r.reshape(-1, 3)[[0, 2, 5], 1:]).max() == 0.0


# -------------------------------------------------------------------------------------- invariances


def cases(rng):
    return [
        box_on_plane(6, **MOTIONS["tumbles"]),
        box_stack(3, speed=0.3),
        pile(rng, 8),
        random_cone_problem(rng, 5),
    ]


def test_order_of_contacts(rng):
    for problem in cases(rng):
        order = rng.permutation(problem.n_contacts)
        first, second = solve(problem), solve(permuted(problem, order))
        check_solved(problem, first)
        check_solved(permuted(problem, order), second)
        back = np.empty_like(first.u.reshape(-1, 3))
        back[order] = second.u.reshape(-1, 3)
        assert np.abs(back.ravel() - first.u).max() <= 1e-8 * np.abs(problem.b).max()


def test_choice_of_tangents(rng):
    for problem in cases(rng):
        m = problem.n_contacts
        turn = np.zeros((3 * m, 3 * m))
        for c, angle in enumerate(rng.uniform(0.0, 2.0 * np.pi, m)):
            cos, sin = np.cos(angle), np.sin(angle)
            turn[3 * c : 3 * c + 3, 3 * c : 3 * c + 3] = [
                [1.0, 0.0, 0.0],
                [0.0, cos, -sin],
                [0.0, sin, cos],
            ]
        turned = changed(problem, W=turn @ problem.W @ turn.T, b=turn @ problem.b)
        first, second = solve(problem), solve(turned)
        check_solved(turned, second)
        assert np.abs(turn @ first.u - second.u).max() <= 1e-8 * np.abs(problem.b).max()


def test_scales_of_contacts(rng):
    for problem in cases(rng):
        scales = 10.0 ** rng.uniform(-2.0, 2.0, problem.n_contacts)
        first, second = solve(problem), solve(rescaled(problem, scales))
        assert second.solved
        assert second.scale_free <= 1e-9
        assert np.abs(second.u / scales.repeat(3) - first.u).max() <= 1e-8 * np.abs(problem.b).max()


@pytest.mark.parametrize("factor", [1e-12, 1e-6, 1e6, 1e12])
def test_units(factor, rng):
    for problem in cases(rng):
        base = solve(problem)
        for other, scale in (
            (changed(problem, W=factor * problem.W), 1.0),
            (changed(problem, b=factor * problem.b), factor),
        ):
            solution = solve(other)
            check_solved(other, solution)
            assert np.allclose(
                solution.u, scale * base.u, rtol=0.0, atol=1e-8 * scale * np.abs(problem.b).max()
            )


def test_the_same_twice(rng):
    for problem in cases(rng):
        W, b = problem.W.copy(), problem.b.copy()
        first, second = solve(problem), solve(problem)
        assert np.array_equal(first.r, second.r)
        assert (first.iterations, first.solver) == (second.iterations, second.solver)
        assert np.array_equal(problem.W, W)
        assert np.array_equal(problem.b, b)


def test_slightly_asymmetric_compliance_is_not_symmetrised(rng):
    moved = 0
    for _ in range(10):
        problem = random_cone_problem(rng, 5)
        skewed = changed(problem, W=problem.W * (1.0 + 1e-3 * rng.normal(size=problem.W.shape)))
        check_solved(skewed, solve(skewed))
        mean = solve(changed(skewed, W=0.5 * (skewed.W + skewed.W.T)))
        moved += natural_residual(skewed, mean.r) > 1e-7
    assert moved >= 5  # where there is contact at all, the symmetrised problem has another solution


def test_indefinite_to_rounding(rng):
    G = rng.normal(size=(12, 5))
    problem = ConeProblem(G @ G.T - 1e-15 * np.eye(12), G @ rng.normal(size=5), 0.7)
    check_solved(problem, solve(problem))


# -------------------------------------------------------------------------------------- warm starts


def test_warm_start(rng):
    for problem in cases(rng):
        cold = solve(problem)
        again = solve(problem, warm_start=cold.r)
        check_solved(problem, again)
        assert again.iterations <= 1
        nearby = changed(problem, b=problem.b + 1e-6 * problem.W @ rng.normal(size=problem.size))
        warm = solve(nearby, warm_start=cold.r.reshape(-1, 3))
        check_solved(nearby, warm)
        assert warm.iterations <= 8
        for guess in (np.zeros(problem.size), -cold.r, 1e6 * rng.normal(size=problem.size)):
            check_solved(problem, solve(problem, warm_start=guess))


# -------------------------------------------------------------------------- no solution, no success


def closing_walls(mu):
    """A body between two walls that close on it: no impulse satisfies both."""
    normal = np.array([[1.0, -1.0], [-1.0, 1.0]])
    return ConeProblem(
        np.kron(normal, np.diag([1.0, 0.0, 0.0])), [-1.0, 0.0, 0.0, -1.0, 0.3, 0.0], mu
    )


UNSOLVABLE = {
    "immovable": ConeProblem(np.zeros((3, 3)), [-1.0, 0.0, 0.0], 0.5),
    "immovable along the normal": ConeProblem(np.diag([0.0, 1.0, 1.0]), [-1.0, 0.3, 0.0], 0.5),
    "immovable, sparse": ConeProblem(sp.csr_array((3, 3)), [-1.0, 0.0, 0.0], 0.5),
    "pulled": ConeProblem(np.diag([-1.0, 1.0, 1.0]), [-1.0, 0.3, 0.0], 0.5),
    "in the plane": ConeProblem(np.diag([0.0, 1.0]), [-1.0, 0.3], 0.5, dim=2),
    "rolling": ConeProblem(
        np.diag([0.0, 1.0, 1.0, 1.0, 1.0]), [-1.0, 0.3, 0.0, 0.0, 1.0], 0.5, rolling=0.1
    ),
    "gap_bias walls": closing_walls(0.5),
    "gap_bias walls without friction": closing_walls(0.0),
    "nearly gap_bias": ConeProblem(
        np.diag([1e-13, 1.0, 1.0, 1.0, 1.0, 1.0]) * 0.0 + np.diag([0, 1.0] * 3), -np.ones(6), 1.0
    ),
}


@pytest.mark.compiled  # the whole ladder
@pytest.mark.parametrize("solver", ["auto", "gauss-seidel", "newton", "convex"])
@pytest.mark.parametrize("name", UNSOLVABLE)
def test_no_success_where_there_is_no_solution(name, solver):
    solution = solve(UNSOLVABLE[name], solver)
    assert not solution.solved
    assert not solution.residual <= 1e-8
    assert "no solution" in solution.status.message


@pytest.mark.compiled  # the whole ladder
def test_no_success_on_random_problems_without_solution(rng):
    for m in (1, 3, 6):
        for _ in range(4):
            problem = random_cone_problem(rng, m)
            W, b = problem.W.copy(), problem.b.copy()
            c = 3 * rng.integers(m)
            W[c] = 0.0  # whatever the impulses, this contact goes on approaching
            W[c, ::3], b[c] = -rng.uniform(0.0, 1.0, m), -1.0
            assert not solve(changed(problem, W=W, b=b)).solved


@pytest.mark.compiled  # the whole ladder
def test_warm_start_of_a_problem_without_solution():
    for guess in (np.zeros(3), np.array([1.0, 0.0, 0.0]), np.full(3, 1e12)):
        assert not solve(UNSOLVABLE["immovable"], warm_start=guess).solved


# ------------------------------------------------------------------------------- methods one by one


@pytest.mark.parametrize(
    "solver",
    [
        "auto",
        "gauss-seidel",
        "newton",
        "interior-point",
        ConeLadder(goal=1e-9),
        ConeGaussSeidel(max_sweeps=5000),
        ConeNewton(map="discs"), ConeInteriorPoint(max_steps=80),
    ],
)  # fmt: skip
def test_each_method_on_regular_problems(solver, rng):
    for _ in range(5):
        problem = random_cone_problem(rng, 4, rank=24, mu=rng.uniform(0.1, 0.8, 4))
        solution = solve(problem, solver)
        check_solved(problem, solution)
        check_solved(problem, solve(problem, solver, warm_start=solution.r))


def test_a_ladder_begins_no_other_method_beyond_its_budget():
    problem = UNSOLVABLE["immovable along the normal"]
    whole = ConeLadder().solve(problem)
    brief = ConeLadder(budget=50).solve(problem)
    assert not brief.solved
    assert brief.iterations < 300 < whole.iterations  # no method is cut short


def test_options_are_checked():
    with pytest.raises(ArgumentError, match="map: expected"):
        ConeNewton(map="normal")
    with pytest.raises(TypeError):
        ConeGaussSeidel(sweeps=3)
    with pytest.raises(ArgumentError, match="one kind of friction"):
        solve(ConeProblem(np.eye(4), -np.ones(4), 0.5, torsion=0.1), "interior-point")


@pytest.mark.parametrize(
    "solver", [ConeLadder(), ConeGaussSeidel(), ConeNewton(), ConeInteriorPoint()]
)
def test_methods_called_without_the_door(solver):
    for b in (np.zeros(3), np.array([1.0, 2.0, 0.0])):  # nothing approaches
        solution = solver.solve(ConeProblem(np.eye(3), b, 0.5))
        assert solution.solved
        assert np.abs(solution.r).max() <= 1e-7
    problem = box_on_plane(3)
    assert solver.solve(problem, warm_start=solver.solve(problem).r.reshape(-1, 3)).solved
