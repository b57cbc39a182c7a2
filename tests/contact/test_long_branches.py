"""Compliance by the nodes that rows push, where branches are long."""

from dataclasses import replace

import numpy as np
import pytest

from spatialops.compare.problems import pendulum_case
from spatialops.contact.formulations.operational_space import OperationalSpace
from spatialops.errors import ArgumentError
from tests.support.contacts import random_problem

KEPT = {"terms", "_nodes", "_placed", "velocities", "compliance"}


def biased(links, contacts, rng):
    problem = pendulum_case(links, contacts).problem
    drift, gaps = rng.normal(size=(contacts, 3)), rng.uniform(size=contacts)
    return replace(problem, drift=drift, gap_bias=gaps, dry=rng.uniform(size=contacts))


def test_it_is_what_the_parts_make_one_after_the_other(rng, monkeypatch):
    """To the last bit, and what is kept on the way is what would be made of it."""
    problem = biased(300, 8, rng)
    other = replace(problem)
    made = OperationalSpace(4).assemble(problem)
    assert KEPT <= vars(problem).keys()
    monkeypatch.setattr("spatialops.contact.problem.LONG", 10**9)
    expected = OperationalSpace(4).assemble(other)
    assert np.array_equal(made.A, expected.A)
    assert np.allclose(made.b, expected.b, rtol=1e-15, atol=1e-15)
    for one, two in zip(problem.terms, other.terms, strict=True):
        assert np.array_equal(one, two)
    assert np.array_equal(problem._nodes, other._nodes)
    impulses = rng.normal(size=24)
    assert np.allclose(problem.after(impulses), other.after(impulses), rtol=1e-12)


def test_few_rows_of_a_long_branch_are_carried(rng):
    problem = biased(120, 2, rng)
    L = problem.response.L
    fresh = replace(problem)
    assert np.allclose(fresh.compliance, L @ L.T, rtol=1e-12, atol=1e-12)
    assert fresh._nodes is None


def test_closures_and_short_branches_are_left_alone(rng):
    for problem in (random_problem(rng, 3, loops=1), pendulum_case(3).problem):
        L = problem.response.L
        assert np.array_equal(problem.compliance, L @ L.T)


def test_what_became_nan_is_named(rng):
    problem = biased(300, 8, rng)
    problem.q[7] = np.nan
    with pytest.raises(ArgumentError, match="q"):
        OperationalSpace(4).assemble(problem)
