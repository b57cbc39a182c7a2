"""Climbing to the farthest corner ends where going through all corners ends."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatialops.collision import _layout as col
from spatialops.collision.geom_tables import Placed, geom_tables
from spatialops.collision.narrow_phase.farthest_corner import SCAN_TO, farthest_corner
from spatialops.collision.shapes import ConvexHull, Geom

# Of the size: a corner as far to rounding is the farthest.
ROUNDING = 8.0 * np.finfo(float).eps


def ball(rng, n):
    """Corners all over."""
    points = rng.normal(size=(n, 3))
    return points / np.linalg.norm(points, axis=1)[:, None]


def prism(rng, n):
    """Two flat faces of many corners, and ties along the axis and across."""
    angles = 2.0 * np.pi * np.arange(max(3, n // 2)) / max(3, n // 2)
    rim = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return np.concatenate([np.insert(rim, 2, z, axis=1) for z in (-0.4, 0.4)])


def grid(rng, n):
    """Points of a lattice in a ball: flat faces, points within them and on straight edges."""
    size = max(2, round(n ** (1.0 / 3.0)))
    along = np.linspace(-1.0, 1.0, size)
    points = np.stack(np.meshgrid(along, along, along), axis=-1).reshape(-1, 3)
    inside = points[np.linalg.norm(points, axis=1) <= 1.3]
    return inside if size > 2 else points


def nearly_flat(rng, n):
    """Faces that are flat but for as much as the hull joins triangles over."""
    points = prism(rng, n)
    return points + 1e-8 * rng.normal(size=points.shape)


def thin(rng, n):
    """Edges far from even: a needle."""
    return ball(rng, n) * (1.0, 0.03, 0.001)


def away(rng, n):
    """About a far origin."""
    return ball(rng, n) + (3.0, -50.0, 7.0)


def tables_of(points):
    still = Placed(0, -1, np.zeros(3), np.eye(3))
    return geom_tables([Geom("hull", "world", ConvexHull(points))], [still])


def directions(rng, corners):
    """Any, along axes and diagonals, and across faces: there corners tie."""
    signs = np.array([[x, y, z] for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)])
    sides = np.cross(
        corners[rng.integers(len(corners), size=20)], corners[rng.integers(len(corners), size=20)]
    )
    return np.concatenate([rng.normal(size=(60, 3)), signs, sides, 1e-200 * signs, 1e12 * sides])


@settings(max_examples=60, deadline=None)
@given(
    make=st.sampled_from([ball, prism, grid, nearly_flat, thin, away]),
    n=st.one_of(st.integers(4, 60), st.integers(60, 2000)),
    seed=st.integers(0, 2**32 - 1),
)
def test_it_is_the_farthest_of_all(make, n, seed):
    rng = np.random.default_rng(seed)
    tables = tables_of(make(rng, n))
    first, count = tables.ints[0, [col.GEOM_VERTICES, col.GEOM_VERTEX_COUNT]]
    corners = tables.solids[first : first + count, :3]
    size = np.abs(corners).max()
    assert (tables.ints[0, col.GEOM_CLIMBS] > 0) == (count > SCAN_TO)
    for d in directions(rng, corners):
        found = farthest_corner(tables.ints, tables.solids, tables.lists, 0, tuple(d.tolist()))
        short = (corners @ d).max() - corners[found] @ d
        assert short <= ROUNDING * size * np.abs(d).max()


@pytest.mark.parametrize("d", [(0.0, 0.0, 1.0), (0.0, 0.0, -1.0), (1.0, 0.0, 0.0)])
def test_a_tie_ends_at_one_corner_whatever_was_asked_before(d):
    tables = tables_of(prism(None, 400))
    asked = (tables.ints, tables.solids, tables.lists, 0)
    first = farthest_corner(*asked, d)
    for other in np.random.default_rng(0).normal(size=(20, 3)):
        farthest_corner(*asked, tuple(other.tolist()))
        assert farthest_corner(*asked, d) == first


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_direction_that_is_no_number_ends_at_some_corner(bad):
    tables = tables_of(ball(np.random.default_rng(1), 200))
    for d in [(bad, 0.0, 0.0), (0.0, bad, 1.0), (bad, bad, bad), (1.0, 2.0, bad)]:
        found = farthest_corner(tables.ints, tables.solids, tables.lists, 0, d)
        assert 0 <= found < tables.ints[0, col.GEOM_VERTEX_COUNT]
