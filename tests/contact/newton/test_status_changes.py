"""What changes first along a path, beside the length of rays, and the way it goes on."""

import numpy as np
import pytest

from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.ray import FAR, ray_length
from spatialops.contact.newton.status_changes import goes_inward, next_change, take_change
from spatialops.contact.newton.statuses import polygon_status
from tests.contact.newton.test_ray import MU, M, ray


def path(seed, kinds):
    """A ray of `test_ray`, of velocities that statuses hold for."""
    rows, scratch, (p, v), (d, w) = ray(seed, kinds)
    scratch.vectors[at.AHEAD, : 3 * M] = v.ravel()
    return rows, scratch, p, v, d, w


@pytest.mark.parametrize("kinds", [(0,), (1,), (2,), (0, 1, 2)])
@pytest.mark.parametrize("seed", range(6))
def test_lengths_are_those_of_rays(seed, kinds):
    rows, scratch, p, _, _, _ = path(seed, kinds)
    change = next_change(rows, 1.0, FAR, p.ravel(), scratch)
    assert change[0] == pytest.approx(ray_length(rows, p.ravel(), scratch), rel=1e-12)
    shorter = next_change(rows, 1.0, 0.5 * change[0], p.ravel(), scratch)
    assert shorter[:2] == (0.5 * change[0], -1)


@pytest.mark.parametrize("seed", range(6))
def test_backwards_it_is_the_other_direction(seed):
    rows, scratch, p, _, _, _ = path(seed, (0, 1, 2, 3))
    back = next_change(rows, -1.0, FAR, p.ravel(), scratch)
    scratch.vectors[[at.CHANGE, at.ANSWER]] *= -1.0
    assert next_change(rows, 1.0, FAR, p.ravel(), scratch) == back


def direction_of(corners, status, rng):
    """A direction of impulses and velocities of one contact on the piece of its statuses."""
    normal, tangent, side = status
    d, w = rng.normal(size=(2, 3))
    after = corners[(side + 1) % 4]
    if normal == at.OPEN:
        return np.zeros(3), w
    if tangent == at.STICKS:
        return d, np.zeros(3)
    if tangent == at.AT_CORNER:
        return d[0] * np.array([1.0, *(MU * corners[side])]), np.array([0.0, *w[1:]])
    along = d[0] * MU * (corners[side] + after) / 2.0 + d[1] * (after - corners[side])
    return np.array([d[0], *along]), np.array([0.0, *(w[0] * (corners[side] + after))])


def status_of(corners, x):
    """Statuses that the law has at a point x = p - v."""
    if x[0] <= 0.0:
        return at.OPEN, at.FREE, 0
    return at.PRESSES, *polygon_status(corners, False, x[1], x[2], MU * x[0])


@pytest.mark.parametrize("seed", range(40))
def test_behind_a_change_the_law_has_the_new_status_where_the_path_goes_inward(seed):
    rows, scratch, p, v, d, w = path(seed, range(4))
    rng, statuses = np.random.default_rng(seed), scratch.status[:, [at.NORMAL, at.TANGENT, at.SIDE]]
    for i in range(M):
        d[i], w[i] = direction_of(rows.corners, statuses[i], rng)
    scratch.vectors[at.CHANGE, : 3 * M], scratch.vectors[at.ANSWER, : 3 * M] = d.ravel(), w.ravel()
    change = next_change(rows, 1.0, FAR, p.ravel(), scratch)
    length, i, *new = change
    beyond = length * (1.0 + 1e-6)
    assert status_of(rows.corners, p[i] + beyond * d[i] - v[i] - beyond * w[i]) == tuple(new)
    old = take_change(rows, change, scratch)
    assert old == tuple(statuses[i])
    for _ in range(20):
        d_i, w_i = direction_of(rows.corners, new, rng)
        scratch.vectors[at.CHANGE, 3 * i : 3 * i + 3] = d_i
        scratch.vectors[at.ANSWER, 3 * i : 3 * i + 3] = w_i
        x = p[i] + length * d[i] + 1e-6 * d_i - v[i] - length * w[i] - 1e-6 * w_i
        inward = status_of(rows.corners, x) == tuple(new)
        assert goes_inward(rows, change, old, scratch) == inward
