"""Rays of impulses end where the first status changes, seen contact by contact."""

import numpy as np
import pytest

from spatialops.contact.friction import directions
from spatialops.contact.newton import _layout as at
from spatialops.contact.newton.ray import FAR, ray_length
from tests.support.contact_rows import contact_rows_of, scratch_of

M = 12
MU = 0.5


def ray(seed, kinds=range(4)):
    """Contacts of all statuses, where each holds, and a direction of impulses and velocities.

    Contacts of other kinds do not change along it.
    """
    rng, corners = np.random.default_rng(seed), directions(4)
    rows = contact_rows_of(
        rng.normal(size=(3 * M, 6)), np.zeros(3 * M), np.full(M, MU), *np.zeros((2, M)), corners
    )
    scratch = scratch_of(rows)
    scratch.status[:, at.PARTS] = at.HAS_NORMAL | at.HAS_FIRST | at.HAS_SECOND
    p, v = np.zeros((M, 3)), np.zeros((M, 3))
    for i in range(M):
        p[i, 0], side = rng.uniform(0.5, 1.0), int(rng.integers(4))
        along, after = corners[side], corners[(side + 1) % 4]
        status = (at.PRESSES, at.STICKS, 0)
        if i % 4 == 0:
            status, p[i] = (at.OPEN, at.FREE, 0), 0.0
            v[i] = [rng.uniform(0.1, 1.0), *rng.normal(size=2)]
        elif i % 4 == 1:
            p[i, 1:] = 0.3 * MU * p[i, 0] * along
        elif i % 4 == 2:  # slides nearly against a corner
            status, p[i, 1:] = (at.PRESSES, at.AT_CORNER, side), MU * p[i, 0] * along
            v[i, 1:] = -along + rng.uniform(-0.9, 0.9) * np.array([-along[1], along[0]])
        else:  # slides against a side
            share = rng.uniform(0.2, 0.8)
            status = (at.PRESSES, at.AT_SIDE, side)
            p[i, 1:] = MU * p[i, 0] * (share * along + (1.0 - share) * after)
            v[i, 1:] = -(along + after)
        scratch.status[i, [at.NORMAL, at.TANGENT, at.SIDE]] = status
    scratch.vectors[at.VELOCITY, : 3 * M] = v.ravel()
    d, w = rng.normal(size=(2, M, 3))
    for i in range(M):  # what slides keeps to its corner and its side
        if i % 4 == 2:
            d[i, 1:] = d[i, 0] * p[i, 1:] / p[i, 0]
        elif i % 4 == 3:
            k = scratch.status[i, at.SIDE]
            along, after = corners[k], corners[(k + 1) % 4]
            share = rng.normal()
            d[i, 1:] = MU * d[i, 0] * (share * along + (1.0 - share) * after)
    moving = np.isin(np.arange(M) % 4, list(kinds))[:, None]
    d, w = d * moving, w * moving
    scratch.vectors[at.CHANGE, : 3 * M] = d.ravel()
    scratch.vectors[at.ANSWER, : 3 * M] = w.ravel()
    return rows, scratch, (p, v), (d, w)


def holds(rows, scratch, p, v):
    """Whether all contacts are where their statuses say, by what a status means."""
    corners, result = rows.corners, True
    for i in range(M):
        normal, tangent, k = scratch.status[i, [at.NORMAL, at.TANGENT, at.SIDE]]
        if normal == at.OPEN:
            result &= v[i, 0] >= 0.0
            continue
        result &= p[i, 0] >= 0.0
        limit = MU * p[i, 0]
        if tangent == at.STICKS:
            result &= np.abs(p[i, 1:]).sum() <= limit  # the polygon of four corners
        elif tangent == at.AT_CORNER:  # friction there does the most work against the slip
            result &= np.argmin(corners @ v[i, 1:]) == k
        else:
            shares = np.linalg.solve(np.stack([corners[k], corners[(k + 1) % 4]]).T, p[i, 1:])
            result &= bool((shares >= 0.0).all())
    return bool(result)


@pytest.mark.parametrize("kinds", [[0], [1], [2], [3], range(4)], ids=str)
def test_a_ray_ends_at_the_first_change(kinds):
    ended = 0
    for seed in range(20):
        rows, scratch, (p, v), (d, w) = ray(seed, kinds)
        assert holds(rows, scratch, p, v)
        t = ray_length(rows, p.ravel(), scratch)
        assert t > 0.0
        if t == FAR:
            assert holds(rows, scratch, p + 1e6 * d, v + 1e6 * w)
            continue
        ended += 1
        assert holds(rows, scratch, p + 0.999 * t * d, v + 0.999 * t * w)
        assert not holds(rows, scratch, p + 1.001 * t * d, v + 1.001 * t * w)
    assert ended > 12
