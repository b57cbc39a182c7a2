"""Following the central path: factors, line search, and every way to stop."""

import numpy as np
import pytest

from spatialops.control.friction_cone import barrier_kernel as kernel
from spatialops.control.friction_cone.barrier_function import Program
from spatialops.control.friction_cone.solve_kernel import work_of


def box(g, low=-1.0, high=1.0, H=1.0):
    """Minimise H x^2 / 2 + g x for low <= x <= high."""
    D, d = np.array([[1.0], [-1.0]]), np.array([-low, high])
    none = np.zeros((0, 1)), np.zeros(0), np.zeros(0)
    return Program(np.array([[H]]), np.array([g]), D, d, *none)


def follow(program, x=0.0, *, last=1e-12, stop=-np.inf, steps=100, proves=np.inf):
    at, changes, newton = work_of(np.array([x]), program.d.size, program.mu.size, np.empty(100))
    options = np.array([1.0, last, stop, steps, 1.0, proves])
    center = at.x.copy()
    return kernel.follow(program, at, changes, newton, options, center), at, options, center


def test_cholesky_and_its_solutions():
    rng = np.random.default_rng(1)
    root = rng.normal(size=(5, 5))
    A = root @ root.T
    B, y = np.tril(A), rng.normal(size=5)
    x = y.copy()
    assert kernel.cholesky(B, 5)
    assert np.tril(B) @ np.tril(B).T == pytest.approx(A)
    kernel.solve(B, x, 5)
    assert A @ x == pytest.approx(y)


def test_what_is_no_number_is_not_factored():
    for bad in (np.nan, -1.0, 0.0):
        assert not kernel.cholesky(np.array([[bad]]), 1)
    B = np.array([[1.0, 0.0], [1.0, 1.0]])  # singular: its second direction does not move
    assert kernel.cholesky(B, 2)
    y = np.array([1.0, 3.0])
    kernel.solve(B, y, 2)
    assert abs(y[1]) < 1e-90


@pytest.mark.parametrize(("g", "best"), [(0.5, -0.5), (-0.2, 0.2), (3.0, -1.0), (-7.0, 1.0)])
def test_a_box_in_closed_form(g, best):
    status, at, options, center = follow(box(g))
    assert status == kernel.SOLVED
    assert at.x[0] == pytest.approx(best, abs=1e-6)
    assert 0 < options[kernel.STEPS] < 100
    # The first point on the path, at eta = 1: the barrier of a box pushes to its middle.
    assert abs(center[0]) < abs(best)


def test_multipliers_are_eta_over_slacks():
    _, at, options, _ = follow(box(3.0))
    multipliers = options[kernel.ETA] / at.l
    assert multipliers == pytest.approx([2.0, 0.0], abs=1e-6)  # 3 - 1: the gradient at x = -1


def test_every_way_to_stop():
    assert follow(box(3.0), stop=-0.5)[0] == kernel.STOPPED
    assert follow(box(3.0), steps=3)[0] == kernel.STALLED
    assert follow(box(3.0), x=1.5)[0] == kernel.OUTSIDE
    assert follow(box(np.nan, H=np.nan))[0] == kernel.INDEFINITE


def test_what_cannot_be_reached_is_proved_before_the_least_is_found():
    beyond = box(1.0, low=0.5, high=2.0, H=0.0)
    least = follow(beyond, x=1.0)
    proved = follow(beyond, x=1.0, proves=0.4)
    assert least[0] == kernel.SOLVED
    assert proved[0] == kernel.PROVED
    assert proved[2][kernel.STEPS] < least[2][kernel.STEPS]
    assert follow(beyond, x=1.0, proves=0.5)[0] == kernel.SOLVED
