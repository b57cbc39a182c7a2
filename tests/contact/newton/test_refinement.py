"""What is left of a problem's softest directions goes in few steps."""

import numpy as np
import pytest

from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.active_rows import factor_statuses, solve_rows
from spatialops.contact.newton.refinement import refined
from spatialops.contact.newton.residual import residual_at, speed_scale
from spatialops.contact.newton.row_products import spread_out
from spatialops.contact.newton.rows import Problem
from spatialops.contact.newton.statuses import find_parts, find_statuses
from tests.contact.newton.test_central import body
from tests.support.contact_rows import scratch_of

DOWN = (0.0, 0.0, 0.0, 0.0, 0.0, -1.0)


def standing(lean):
    """Three contacts that press, and a fourth whose normal leans a little, without friction."""
    points = [(-0.1, -0.1, -0.1), (0.1, -0.1, -0.1), (0.0, 0.1, -0.1)]
    tilted = np.array([lean, 0.0, 1.0])
    return body([*points, (0.0, 0.0, -0.1)], [(0.0, 0.0, 1.0)] * 3 + [tilted], 0.0, DOWN)


def begun(rows, term):
    """A problem, its scratch with factors of all pressing, impulses after the first step."""
    scratch = scratch_of(rows)
    spread_out(rows, scratch)
    s = find_parts(rows, scratch)
    problem = Problem(rows, s, speed_scale(rows, s))
    p = np.zeros(3 * rows.friction.size)
    residual_at(problem, p, scratch)
    find_statuses(rows, term * s, 1.0, p, scratch)
    count = factor_statuses(rows, term * s, scratch)
    assert count == rows.friction.size
    solve_rows(rows, term * s, count, p, np.zeros_like(p), scratch)
    return problem, scratch, p


@pytest.mark.parametrize("lean", [3e-3, 1e-3])
def test_one_soft_direction_takes_few_steps(lean):
    """The fourth contact yields by some lean^2 beside the others: of the size of the term."""
    term = 1e-5
    problem, scratch, p = begun(standing(lean), term)
    first = residual_at(problem, p, scratch)
    count = int(scratch.factored[at.UNKNOWNS])
    plain = p.copy()
    for _ in range(8):
        solve_rows(problem.rows, term * problem.s, count, plain, plain, scratch)
        left = residual_at(problem, plain, scratch)
    residual_at(problem, p, scratch)
    found = refined(problem, term * problem.s, count, first, p, scratch)
    assert found < 1e-13
    assert left > 100.0 * found
