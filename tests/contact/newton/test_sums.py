"""The sum of contacts for columns, from one set of statuses to the next."""

import numpy as np
import pytest

from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.active_rows import answer_factors, factor_statuses
from spatialops.contact.newton.row_products import spread_out
from spatialops.contact.newton.rows import BATCH
from spatialops.contact.newton.statuses import find_parts, put_friction
from tests.contact.newton.test_dense_factors import CORNERS, EPS, short_rows
from tests.contact.newton.test_moments import with_moments
from tests.support.contact_rows import dense_of, scratch_of


def begun(rows):
    """Scratch in which a problem begins."""
    scratch = scratch_of(rows)
    find_parts(rows, scratch)
    spread_out(rows, scratch)
    scratch.status[:, at.SIDE] = 0
    return scratch


def put_statuses(rows, scratch, which, rng):
    """Some statuses of the contacts `which`, sliding in any direction or along sides."""
    contacts = len(rows.friction) - len(rows.owners)
    for i in which:
        normal = rng.integers(2) if i < contacts else at.OPEN
        tangent = rng.choice([at.FREE, at.STICKS, at.AT_CORNER, at.AT_SIDE])
        scratch.status[i, at.NORMAL], scratch.status[i, at.TANGENT] = normal, tangent
        limit = 1.0 if tangent in (at.AT_CORNER, at.AT_SIDE) else 0.0
        angle = rng.uniform(0.0, 6.0)
        put_friction(scratch.friction, i, np.cos(angle), np.sin(angle), limit)
        scratch.friction[i, at.RESISTANCE] = rng.choice([0.0, 0.3])


def answer(rows, scratch, right):
    """Unknowns of the present statuses; what they do to the impulses counts."""
    count = factor_statuses(rows, EPS, scratch)
    assert count > scratch.y.size
    scratch.vectors[at.RIGHT, :count] = right[:count]
    answer_factors(rows, EPS, count, scratch)
    return scratch.vectors[at.STEP, :count].copy()


def expected(rows, scratch, right):
    """The same by dense rows."""
    L, m = dense_of(rows), len(rows.friction)
    contacts = m - len(rows.owners)
    rho, gamma = [], []
    share = []
    for i in range(m):
        n, *tangents = L[3 * i : 3 * i + 3]
        x, y, g, k, w = scratch.friction[i]
        acts = g * rows.friction[i] * (x * tangents[0] + y * tangents[1])
        if scratch.status[i, at.NORMAL] == at.PRESSES:
            rho.append(n)
            gamma.append(n + acts)
            share.append(1.0 / w)
            for j in np.flatnonzero(rows.owners == i) + contacts:
                x, y, g, *_ = scratch.friction[j]
                gamma[-1] += g * rows.friction[j] * (x * L[3 * j + 1] + y * L[3 * j + 2])
        x, y, *_ = scratch.friction[i]
        held = []
        if scratch.status[i, at.TANGENT] == at.STICKS:
            held = tangents[: 1 + (scratch.status[i, at.PARTS] & at.HAS_SECOND > 0)]
        elif scratch.status[i, at.TANGENT] == at.AT_SIDE:
            held = [x * tangents[1] - y * tangents[0]]
        rho += held
        gamma += held
        share += [EPS / (EPS * w + k)] * len(held)
    rho, gamma = np.array(rho), np.array(gamma)
    root = np.sqrt(share)
    A = root[:, None] * (rho @ gamma.T) * root + EPS * np.eye(len(rho))
    return np.linalg.solve(A, right[: len(rho)])


def assert_follows(rows, changed, rng):
    """Statuses of so many contacts at a time change, and the sum with them."""
    scratch = begun(rows)
    m = len(rows.friction)
    right = rng.standard_normal(3 * m)
    put_statuses(rows, scratch, range(m), rng)
    scratch.status[: m - len(rows.owners), at.NORMAL] = at.PRESSES
    scratch.status[:, at.TANGENT] = at.STICKS
    scratch.friction[:, at.SIZE] = 0.0
    looked = 0
    for _ in range(30):
        unknowns = (scratch.status[:, at.NORMAL] == at.PRESSES).sum()
        if unknowns > scratch.y.size:
            x, other = answer(rows, scratch, right), expected(rows, scratch, right)
            assert x == pytest.approx(other, abs=1e-8 * np.abs(other).max())
            looked += 1
        put_statuses(rows, scratch, rng.choice(m, changed, replace=False), rng)
    assert looked > 1


@pytest.mark.parametrize("changed", [1, 4, 80])
def test_the_sum_follows_statuses_of_two_trees(changed, rng):
    rows = short_rows(80, rng)
    assert 3 * len(rows.friction) > 2 * BATCH
    assert_follows(rows, changed, rng)


def test_the_sum_follows_moments(rng):
    rows = with_moments(rng)
    while len(rows.friction) - len(rows.owners) < 7:
        rows = with_moments(rng)
    assert_follows(rows._replace(corners=CORNERS), 2, rng)


def test_a_set_of_statuses_that_comes_again_takes_no_lines(rng):
    rows = short_rows(40, rng)
    scratch = begun(rows)
    scratch.status[:, at.NORMAL], scratch.status[:, at.TANGENT] = at.PRESSES, at.STICKS
    right = rng.standard_normal(120)
    first = answer(rows, scratch, right)
    scratch.dense.left[:] = scratch.dense.right[:] = np.nan
    assert np.array_equal(answer(rows, scratch, right), first)
