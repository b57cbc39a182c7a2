"""Paths of answers end at one, judged by the assembled problem; also where contacts wedge."""

import numpy as np
import pytest

from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.path_following import CHANGES, can_be_followed, follow_path
from spatialops.contact.newton.residual import speed_scale
from spatialops.contact.newton.row_products import spread_out
from spatialops.contact.newton.rows import Problem
from spatialops.contact.newton.statuses import find_parts
from tests.contact.newton.test_central import assembled_residual, body
from tests.support.contact_rows import scratch_of

TOLERANCE = 1e-9


def followed(rows, start):
    """Changes of statuses, residual, impulses."""
    scratch = scratch_of(rows)
    s = find_parts(rows, scratch)
    spread_out(rows, scratch)
    p = np.array(start, dtype=np.float64)
    share = 1.0 if not p.any() else 1.0 / p.size
    problem = Problem(rows, s, speed_scale(rows, s))
    changes, residual = follow_path(problem, share, TOLERANCE, CHANGES, p, scratch)
    return changes, residual, p.reshape(-1, 3)


def corner_body(rng, friction, n_f):
    """A body in a corner, up to eight contacts along three axes, that slides."""
    m = int(rng.integers(2, 9))
    points, normals = rng.uniform(-0.3, 0.3, (m, 3)), np.eye(3)[np.arange(m) % 3]
    twist = np.array([0.0, 0.0, 0.0, *rng.normal(size=3)]) - [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    return body(points, normals, friction, twist, n_f)


# Friction, and how many of forty bodies' paths end at an answer: steep friction wedges in a corner,
# and some paths have no end.
@pytest.mark.parametrize("n_f", [2, 4, 6])
@pytest.mark.parametrize(("friction", "least"), [(0.0, 40), (0.5, 34), (1.5, 26)])
def test_paths_from_zero_end_at_answers(n_f, friction, least):
    rng, ended = np.random.default_rng(0), 0
    for _ in range(40):
        rows = corner_body(rng, friction, n_f)
        assert can_be_followed(rows)
        _, residual, p = followed(rows, np.zeros(3 * rows.friction.size))
        if residual <= TOLERANCE:
            ended += 1
            assert assembled_residual(rows, p) < 2.0 * TOLERANCE
    assert ended >= least


def test_of_a_problem_that_has_hardly_changed_paths_are_short():
    rng, short = np.random.default_rng(1), 0
    begun = 0
    for _ in range(40):
        rows = corner_body(rng, 0.5, 4)
        _, residual, p = followed(rows, np.zeros(3 * rows.friction.size))
        if residual > TOLERANCE:
            continue
        begun += 1
        rows.u[:] += 1e-4 * rng.normal(size=rows.u.size)
        changes, residual, p = followed(rows, p.ravel())
        if residual <= TOLERANCE and changes <= 5:
            short += 1
            assert assembled_residual(rows, p) < 2.0 * TOLERANCE
    assert begun >= 30
    assert short >= 0.75 * begun  # of five seeds, compiled or not, 0.79 to 0.95


def test_only_contacts_of_the_polygon_that_nothing_presses_are_followed():
    rows = corner_body(np.random.default_rng(2), 0.5, 4)
    assert can_be_followed(rows)
    assert not can_be_followed(rows._replace(law=at.CONE))
    assert not can_be_followed(rows._replace(prior=np.full(rows.friction.size, 0.1)))
