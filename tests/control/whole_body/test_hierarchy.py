"""Levels never give way to lower ones, and each is met as well as those above allow."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from spatialops.control.whole_body.hierarchy import Constraints, Cost, Level, lexicographic

N = 4


def free(n=N, low=-1.0, high=1.0, E=None, e=None):
    """Unknowns in a box."""
    E = np.zeros((0, n)) if E is None else E
    e = np.zeros(0) if e is None else e
    return Constraints(E, e, np.eye(n), np.full(n, low), np.full(n, high))


def least(n=N):
    return Cost(np.eye(n), np.zeros(n))


def missed(level, x):
    return float(np.sum((level.J @ x - level.r) ** 2))


def test_levels_that_can_all_be_met_are_met():
    levels = [Level(np.eye(N)[:1], np.array([0.3])), Level(np.eye(N)[1:2], np.array([-0.2]))]
    found = lexicographic(free(), levels, least())
    assert found.met
    np.testing.assert_allclose(found.x, [0.3, -0.2, 0.0, 0.0], atol=1e-9)


def test_the_first_level_wins():
    row = np.eye(N)[:1]
    found = lexicographic(
        free(), [Level(row, np.array([0.5])), Level(row, np.array([-0.5]))], least()
    )
    assert not found.met
    assert found.x[0] == pytest.approx(0.5, abs=1e-8)


def test_within_a_level_weights_decide():
    J = np.array([[3.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]])  # weights 9 and 1
    found = lexicographic(free(), [Level(J, np.array([1.5, -0.5]))], least())
    assert found.x[0] == pytest.approx((9.0 * 0.5 - 0.5) / 10.0, abs=1e-8)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.integers(0, 10**6))
def test_each_level_is_best_for_what_the_levels_above_leave(seed):
    rng = np.random.default_rng(seed)
    constraints = free(E=rng.normal(size=(1, N)), e=0.1 * rng.normal(size=1))
    levels = [Level(rng.normal(size=(2, N)), 3.0 * rng.normal(size=2)) for _ in range(2)]
    found = lexicographic(constraints, levels, least())
    assert found is not None
    np.testing.assert_allclose(constraints.E @ found.x, constraints.e, atol=1e-8)
    assert np.all(np.abs(found.x) <= 1.0 + 1e-8)
    given_rows = [{"type": "eq", "fun": lambda x: constraints.E @ x - constraints.e}]
    first = minimize(
        lambda x: missed(levels[0], x),
        np.zeros(N),
        bounds=[(-1.0, 1.0)] * N,
        constraints=given_rows,
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    best = missed(levels[0], found.x)
    assert best <= first.fun + 1e-5 * (1.0 + first.fun)
    for _ in range(200):  # no step that keeps the first level makes the second better
        step = 0.05 * rng.normal(size=N)
        other = np.clip(found.x + step, -1.0, 1.0)
        fits = np.abs(constraints.E @ other - constraints.e).max() < 1e-9
        if fits and missed(levels[0], other) <= best:
            assert missed(levels[1], other) >= missed(levels[1], found.x) - 1e-6


def test_constraints_that_contradict_have_no_answer():
    E = np.array([[1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]])
    assert lexicographic(free(E=E, e=np.array([0.0, 1.0])), [], least()) is None
    assert lexicographic(free(E=E, e=np.array([2.0, 2.0])), [], least()) is None
    levels = [Level(np.eye(N), np.ones(N))]
    assert lexicographic(free(E=E, e=np.array([2.0, 2.0])), levels, least()) is None


def test_constraints_that_leave_one_point_are_that_point():
    found = lexicographic(free(E=np.eye(N), e=np.full(N, 0.5)), [], least())
    np.testing.assert_allclose(found.x, 0.5)
    assert lexicographic(free(E=np.eye(N), e=np.full(N, 2.0)), [], least()) is None


@pytest.mark.parametrize("demand", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("rows", [1, N])  # where something is left free, and where nothing is
def test_demands_that_are_no_numbers_have_no_answer(demand, rows):
    e = np.append(np.zeros(rows - 1), demand)
    given = free(E=np.eye(N)[:rows], e=e)
    assert lexicographic(given, [], least()) is None


@pytest.mark.compiled
@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.integers(0, 10**6))
def test_rounding_loses_nothing_that_levels_have_reached(seed):
    """Many bounds are active where levels end: what is left may be one point."""
    rng = np.random.default_rng(seed)
    n = 12
    constraints = Constraints(
        rng.normal(size=(3, n)),
        1e-3 * rng.normal(size=3),
        1e3 * rng.normal(size=(30, n)),
        np.full(30, -1.0),
        np.full(30, 1.0),
    )
    levels = [Level(rng.normal(size=(4, n)), 1e3 * rng.normal(size=4)) for _ in range(3)]
    first = lexicographic(constraints, levels[:1], least(n))
    found = lexicographic(constraints, levels, least(n))
    assert (first is None) == (found is None)
    if found is None:
        return
    value = constraints.C @ found.x
    assert np.maximum(value - constraints.high, constraints.low - value).max() < 1e-6
    assert missed(levels[0], found.x) <= missed(levels[0], first.x) * (1.0 + 1e-6)
