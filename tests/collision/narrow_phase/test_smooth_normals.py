"""Normals and points of curved shapes are exact to rounding: they turn with the scene."""

from itertools import combinations_with_replacement

import numpy as np
import pytest

from spatialops.collision import (
    Box,
    Capsule,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    ShapePair,
    Sphere,
)
from tests.support.trees import random_rotation

_CORNERS = np.random.default_rng(1).normal(size=(12, 3))
_CORNERS /= np.linalg.norm(_CORNERS, axis=1)[:, None]
SHAPES = (
    Sphere(0.1),
    Capsule(0.08, 0.2),
    Box((0.2, 0.3, 0.15)),
    ConvexHull(0.15 * _CORNERS),
    Cylinder(0.12, 0.2),
    Cone(0.15, 0.25),
    Ellipsoid((0.2, 0.12, 0.07)),
)
CURVED = (Cylinder, Cone, Ellipsoid)
PAIRS = [
    pair
    for pair in combinations_with_replacement(SHAPES, 2)
    if any(isinstance(x, CURVED) for x in pair)
]
GAPS = (0.0, 1e-6, -1e-6, 1e-4, -1e-4, 5e-3, -5e-3)  # m


def along(pair, way, turn_a, turn_b, gap):
    """Where A is at a distance from B, to first order, in some direction."""
    place = 0.8 * way
    for _ in range(6):
        found = pair.separation(place, turn_a, rotation_b=turn_b)
        place = place - (found.distance - gap) / max(found.normal @ way, 0.2) * way
    return place


@pytest.mark.parametrize("shapes", PAIRS, ids=lambda pair: "-".join(type(x).__name__ for x in pair))
def test_normals_turn_with_the_scene_and_with_the_order(shapes, rng):
    # EPA's depth is good to 1e-8 of the size, and its normal was to 1e-4: which of two shapes came
    # first, and how both were turned, decided where they went by 1e-3 after one impact.
    pair, swapped = ShapePair(*shapes), ShapePair(*shapes[::-1])
    for gap in GAPS:
        turn_a, turn_b, turn = (random_rotation(rng) for _ in range(3))
        way = rng.normal(size=3)
        place = along(pair, way / np.linalg.norm(way), turn_a, turn_b, gap)
        found = pair.separation(place, turn_a, rotation_b=turn_b)
        turned = pair.separation(turn @ place, turn @ turn_a, rotation_b=turn @ turn_b)
        other = swapped.separation((0, 0, 0), turn_b, position_b=place, rotation_b=turn_a)
        for normal, point, distance in (
            (turn.T @ turned.normal, turn.T @ turned.point, turned.distance),
            (-other.normal, other.point, other.distance),
        ):
            np.testing.assert_allclose(normal, found.normal, atol=1e-12)
            np.testing.assert_allclose(point, found.point, atol=1e-12)
            assert distance == pytest.approx(found.distance, abs=1e-14)
