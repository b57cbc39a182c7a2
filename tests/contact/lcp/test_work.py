"""Work is limited, and what it is spent on ends with the best point so far."""

import numpy as np
import pytest

import spatialops as so
from spatialops.contact import Auto, MixedLCP, solve
from spatialops.contact.lcp.solver import Work
from spatialops.contact.lcp.status import Status


def problem(n, seed=0):
    """A monotone one, all but skew, which a few pivots do not solve."""
    rng = np.random.default_rng(seed)
    J, S = rng.normal(size=(2, n, n))
    return MixedLCP(0.01 * J @ J.T + S - S.T, rng.normal(size=n))


def test_steps_are_what_is_left():
    work = Work(100.0)
    assert work.steps(10.0, 50) == 10
    assert work.steps(10.0, 5) == 5
    work.spend(10.0, 8)
    assert work.steps(10.0, 50) == 2
    work.spend(10.0, 8)
    assert work.steps(10.0, 50) == 0


def test_a_ladder_stops_where_its_work_is_spent():
    lcp = problem(60)
    assert solve(lcp, Auto()).solved
    found = solve(lcp, Auto(max_work=5 * 60.0**2))
    assert found.status == Status.WORK_LIMIT
    assert "max_work = 1.8e+04" in found.message
    assert found.residual == pytest.approx(lcp.residual(found.z))
    assert found.residual > 1e-9


def test_more_work_is_no_worse():
    lcp = problem(60)
    figures = [solve(lcp, Auto(max_work=c * 60.0**2)).residual for c in (2, 30, 2000)]
    assert figures == sorted(figures, reverse=True)
    assert figures[-1] < 1e-9


def test_islands_share_the_work():
    """Ten of 12 rows that no pivoting method solves, and one limit for all."""
    rng = np.random.default_rng(3)
    blocks = [-np.abs(rng.normal(size=(12, 12))) for _ in range(10)]
    A = np.zeros((120, 120))
    for k, block in enumerate(blocks):
        A[12 * k : 12 * k + 12, 12 * k : 12 * k + 12] = block
    found = solve(MixedLCP(A, -np.ones(120)), Auto(max_work=1.0))
    assert not found.solved


def test_a_simulation_hands_the_limit_on():
    scene = so.models.puck(velocity=(1.0, 0.0)).scene(friction=0.3)
    limited = so.Simulator(scene, solver=Auto(max_work=1e6))
    method = limited.stepping.external.method
    assert method.compiled
    assert method.ladder == Auto(max_work=1e6)
    one, other = limited.run(duration=0.05), so.Simulator(scene).run(duration=0.05)
    assert np.array_equal(one.q, other.q)
    sharper = so.Simulator(scene, solver=Auto(tolerance=1e-12))
    assert not sharper.stepping.external.method.compiled
