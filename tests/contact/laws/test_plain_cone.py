"""The short way of the exact cone against the long one, which knows all kinds of contacts."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import spatialops as so
from spatialops.contact.laws.cone import round_answer, settled_cones
from spatialops.contact.laws.law import TOLERANCE, cone_errors, normal_errors, unit_compliance
from spatialops.contact.laws.plain_cone import cone_violation, is_plain, solve_plain
from spatialops.control.inverse_dynamics.inverse_problem import inverse_problem
from tests.control.cases import MOTORS, prediction


def pushed(seed):
    """The quadruped's step with some velocity, and another friction at each foot."""
    problem = prediction()[2].problem
    rng = np.random.default_rng(seed)
    return replace(
        problem,
        velocity=problem.velocity + 0.3 * rng.normal(size=problem.model.nv),
        friction=rng.uniform(0.0, 1.5, problem.n_contacts),
    )


@pytest.mark.parametrize("seed", range(20))
def test_it_is_the_first_try_of_the_long_way(seed):
    problem = pushed(seed)
    start = np.abs(np.random.default_rng(seed).normal(size=(4, 3)))
    for warm in (None, start):
        kept = None if warm is None else warm.copy()
        find = partial(round_answer, solver="auto", start=warm)
        short = solve_plain(problem, warm, TOLERANCE)
        long = settled_cones(problem, find, TOLERANCE)
        assert short is not None
        assert np.array_equal(short.impulses, long.impulses)
        assert short.residual == pytest.approx(long.residual, abs=1e-14)
        assert short.slip == pytest.approx(long.slip, abs=1e-14)
        assert warm is None or np.array_equal(warm, kept)


def test_its_residual_is_that_of_the_law():
    """Also of impulses that are no solution."""
    problem = pushed(3)
    rng = np.random.default_rng(0)
    for _ in range(50):
        p = rng.normal(size=(4, 3))
        u = rng.normal(size=(4, 3))
        slip = np.empty(4)
        worst = cone_violation(1.0, p, u, problem.friction, slip)
        errors = np.maximum(normal_errors(1.0, p, u), cone_errors(problem, 1.0, p, u))
        assert worst == pytest.approx(errors.max(), rel=1e-14)
    assert np.isnan(cone_violation(1.0, np.full((4, 3), np.nan), u, problem.friction, slip))


def test_other_contacts_go_the_long_way():
    problem = pushed(0)
    assert is_plain(problem)
    ones = np.ones(4)
    for name in ("prior_normal_impulse", "viscous", "torsion", "rolling"):
        assert not is_plain(replace(problem, **{name: ones}))
    assert not is_plain(replace(problem, friction=np.full(4, np.inf)))
    assert not is_plain(problem.part(np.zeros(4, dtype=bool)))
    solved = so.contact.ConeCoulomb().solve(replace(problem, friction=np.full(4, np.inf)))
    assert solved.solved


@pytest.mark.parametrize("seed", range(10))
def test_soles_of_many_points_are_solved_without_the_ladder(seed):
    """Rows of rank 6, the given joints' velocities aside: five points on each foot."""
    rng = np.random.default_rng(seed)
    ahead = prediction()[2]
    problem = inverse_problem(ahead, MOTORS, 0.01 * rng.normal(size=12))
    many = problem.part(np.repeat(np.arange(4), 5))
    shift = np.column_stack([0.02 * rng.normal(size=(20, 2)), np.zeros(20)])
    soles = replace(many, points=many.points + shift)
    found = solve_plain(soles, None, TOLERANCE)
    assert found is not None
    errors = np.maximum(
        normal_errors(unit_compliance(soles), found.impulses, velocities(soles, found)),
        cone_errors(soles, unit_compliance(soles), found.impulses, velocities(soles, found)),
    )
    assert errors.max() <= 1e-9 * np.abs(soles.velocities).max()


def velocities(problem, found):
    after = problem.after(found.impulses.ravel())
    return (problem.jacobian @ after).reshape(-1, 3) + problem.bias
