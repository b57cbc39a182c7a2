"""Poses of a diverging motion, which are huge or no numbers: no kernel leaves its tables.

Bounds checks (`make test-bounds`) see every index; here the features that contacts are named by are
those of the shapes.
"""

import itertools

import numpy as np
import pytest

from spatialops.collision import (
    Box,
    Capsule,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    HeightField,
    Mesh,
    ShapePair,
    Sphere,
)
from spatialops.collision import _layout as col
from spatialops.collision.narrow_phase.pair_contacts import pair_points
from spatialops.collision.narrow_phase.scratch import FOUND, name_at

CONVEX = {
    "sphere": Sphere(0.2),
    "capsule": Capsule(0.1, 0.3),
    "box": Box((0.4, 0.3, 0.2)),
    "cylinder": Cylinder(0.2, 0.4),
    "cone": Cone(0.2, 0.4),
    "ellipsoid": Ellipsoid((0.2, 0.15, 0.1)),
    "tetrahedron": ConvexHull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]),
}
OTHERS = CONVEX | {
    "half-space": HalfSpace(),
    "mesh": Mesh([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], [(0, 1, 2), (0, 2, 3)]),
    "field": HeightField(np.zeros((4, 4)), (2.1, 2.1)),
}
MOST_NAMES = 3 * (64 * col.EDGE_BASE + 64)


def place(rng, value):
    """Position and rotation of which some entries are `value`."""
    numbers = rng.normal(size=12)
    spoilt = rng.random(12) < rng.choice([0.1, 0.5, 1.0])
    return np.where(spoilt, value * rng.choice([-1.0, 1.0], 12), numbers)


@pytest.mark.compiled  # Python's math raises where a kernel's gives NaN
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e160, 1e300], ids=str)
@pytest.mark.parametrize("names", list(itertools.product(CONVEX, OTHERS)), ids="-".join)
def test_a_pose_that_is_no_number_leaves_no_table(names, value):
    rng = np.random.default_rng(0)
    pair = ShapePair(CONVEX[names[0]], OTHERS[names[1]])
    for _ in range(20):
        moved = place(rng, value)
        places = pair._places.copy()
        places[0, col.PLACE : col.PLACE + 3] = moved[:3]
        places[0, col.TURN : col.TURN + 9] = moved[3:]
        count = pair_points(pair._tables, places, 0, 1, 1e-3, pair._scratch)
        assert 0 <= count <= pair._scratch.rows.shape[0]
        begin = name_at(pair._scratch.ints, FOUND)
        features = pair._scratch.ints[begin : begin + count, 0]  # of A; a surface's are larger
        assert (features >= 0).all()
        assert (features <= MOST_NAMES).all()
