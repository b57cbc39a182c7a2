"""The barrier's derivatives against differences, and steps that carry slacks along."""

import numpy as np
import pytest

from spatialops.control.friction_cone.barrier_function import (
    EPS,
    GRADIENT,
    SIGMA,
    Program,
    assemble,
    cone_value,
    inside,
    longest,
    move,
    slacks,
    slope,
)
from spatialops.control.friction_cone.solve_kernel import work_of


@pytest.fixture
def program():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(4, 4))
    k = 0.3 * rng.normal(size=6)
    k[::3] = 8.0
    return Program(
        root @ root.T,
        rng.normal(size=4),
        rng.normal(size=(5, 4)),
        np.full(5, 4.0),
        rng.normal(size=(6, 4)),
        k,
        np.array([0.5, 0.8]),
    )


def point(program, x):
    at, changes, newton = work_of(np.array(x), program.d.size, program.mu.size, np.empty(500))
    slacks(program, at)
    return at, changes, newton


def barrier(program, x, eta):
    """The barrier function from its definition."""
    l = program.D @ x + program.d
    f = (program.K @ x + program.k).reshape(-1, 3)
    c = (program.mu * f[:, 0]) ** 2 - f[:, 1] ** 2 - f[:, 2] ** 2
    return 0.5 * x @ program.H @ x + program.g @ x - eta * (np.log(l).sum() + np.log(c).sum())


def test_a_cones_value_keeps_its_digits_on_the_cone():
    assert cone_value(0.5, 2.0, 0.6, -0.8) == 0.0
    n, s = 2.0, 1.0 - 1e-14
    assert cone_value(0.5, n, s, 0.0) == pytest.approx(2e-14, rel=1e-1)


def test_slacks_are_what_they_are_called(program):
    x = np.array([0.1, -0.2, 0.3, 0.05])
    at, _, _ = point(program, x)
    assert at.l == pytest.approx(program.D @ x + program.d)
    assert at.f == pytest.approx(program.K @ x + program.k)
    n, s, t = at.f.reshape(-1, 3).T
    assert at.c == pytest.approx((program.mu * n) ** 2 - s**2 - t**2)
    assert inside(at)
    assert (at.errors[:, :2] < 100.0 * EPS * 100.0).all()
    at.l[2] = 0.0
    assert not inside(at)


def test_gradient_and_hessian_are_derivatives(program):
    x = np.array([0.1, -0.2, 0.3, 0.05])
    eta, h = 0.7, 1e-5
    at, _, newton = point(program, x)
    assemble(program, at, eta, newton)
    gradient = newton.vectors[GRADIENT] - eta * newton.vectors[SIGMA]
    moves = h * np.eye(4)
    expected = [
        (barrier(program, x + m, eta) - barrier(program, x - m, eta)) / (2 * h) for m in moves
    ]
    assert gradient == pytest.approx(expected, abs=1e-7)

    def slope_at(y):
        there, _, work = point(program, y)
        assemble(program, there, eta, work)
        return work.vectors[GRADIENT] - eta * work.vectors[SIGMA]

    hessian = np.array([(slope_at(x + m) - slope_at(x - m)) / (2 * h) for m in moves])
    lower = np.tril(newton.B)
    assert lower + np.tril(lower, -1).T == pytest.approx(hessian, abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_the_longest_step_ends_where_a_constraint_is_met(program, seed):
    step = 3.0 * np.random.default_rng(seed).normal(size=4)
    at, changes, _ = point(program, np.zeros(4))
    reach = longest(program, at, step, changes)
    for share, good in ((0.999, True), (1.001, False)):
        assert inside(point(program, share * reach * step)[0]) == good
    assert changes.dl == pytest.approx(program.D @ step)
    assert changes.df == pytest.approx(program.K @ step)


def test_no_constraint_on_the_way_is_an_endless_step():
    up = Program(
        np.eye(1),
        np.zeros(1),
        np.ones((1, 1)),
        np.ones(1),
        np.zeros((0, 1)),
        np.zeros(0),
        np.zeros(0),
    )
    at, changes, _ = point(up, np.zeros(1))
    assert longest(up, at, np.ones(1), changes) == 1e30


def test_slacks_carried_along_are_those_computed_anew(program):
    at, changes, _ = point(program, np.zeros(4))
    step = np.array([0.2, 0.1, -0.3, 0.2])
    reach = longest(program, at, step, changes)
    for _ in range(3):
        move(0.2 * reach, program.mu, step, changes, at)
        longest(program, at, step, changes)
    anew, _, _ = point(program, at.x)
    assert at.l == pytest.approx(anew.l, rel=1e-12)
    assert at.f == pytest.approx(anew.f, abs=1e-12)
    assert at.c == pytest.approx(anew.c, rel=1e-11)


def test_slope_is_the_derivative_along_a_step(program):
    eta, h = 0.3, 1e-5
    step = np.array([0.2, 0.1, -0.3, 0.2])
    at, changes, _ = point(program, np.zeros(4))
    longest(program, at, step, changes)
    linear, curved = program.g @ step, step @ program.H @ step
    for alpha in (0.0, 0.3):
        ends = [barrier(program, (alpha + s * h) * step, eta) for s in (1.0, -1.0)]
        expected = (ends[0] - ends[1]) / (2 * h)
        assert slope(at, changes, eta, linear, curved, alpha) == pytest.approx(expected, abs=1e-7)
