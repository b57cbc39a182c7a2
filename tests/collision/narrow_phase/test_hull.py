"""Convex polyhedra: a box is the hull of its corners."""

import numpy as np
import pytest

from spatialops.collision.narrow_phase.hull import box_polyhedron, convex_hull


@pytest.mark.parametrize("size", [(1.0, 1.0, 1.0), (0.2, 0.3, 1e-3), (1e3, 2.0, 5.0)])
def test_a_box_is_the_hull_of_its_corners(size):
    box = box_polyhedron(size)
    hull = convex_hull(box.vertices)
    assert np.array_equal(np.unique(box.vertices, axis=0), np.unique(hull.vertices, axis=0))
    assert np.allclose(np.ptp(box.vertices, axis=0), size, rtol=1e-15, atol=0.0)
    assert np.allclose(
        np.unique(box.planes, axis=0), np.unique(hull.planes, axis=0), rtol=1e-14, atol=0.0
    )
    for face, plane in zip(box.faces, box.planes, strict=True):
        corners = box.vertices[face]
        assert np.allclose(corners @ plane[:3], plane[3], rtol=1e-14)
        turned = np.cross(corners[1] - corners[0], corners[2] - corners[1])
        assert turned @ plane[:3] > 0.0  # counter-clockwise, seen from outside
