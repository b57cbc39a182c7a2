"""Names and counts of contacts under jitter of 1e-5 rad, also at ties of faces, edges and rims."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from spatialops.collision import (
    Box,
    Capsule,
    Cone,
    ConvexHull,
    Cylinder,
    HalfSpace,
    HeightField,
    Mesh,
    ShapePair,
)


def prism(n):
    """A prism over a regular polygon, its axis along z."""
    angles = 2.0 * np.pi * np.arange(n) / n
    return ConvexHull([(0.2 * np.cos(a), 0.2 * np.sin(a), z) for a in angles for z in (-0.2, 0.2)])


def turned(sequence, *angles):
    return Rotation.from_euler(sequence, angles)


FLAT = Rotation.identity()
GROUNDS = {
    "plane": (HalfSpace(), 0.0),
    "box": (Box((1.0, 1.0, 0.2)), 0.1),
    "field": (HeightField(np.zeros((8, 8)), (2.1, 2.1)), 0.0),
    "mesh": (Mesh([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], [(0, 1, 2), (0, 2, 3)]), 0.0),
}
LYING = {
    "box": (Box((0.4, 0.4, 0.4)), FLAT),
    "box on an edge, between two faces": (Box((0.4, 0.4, 0.4)), turned("y", np.pi / 4)),
    "box on a corner": (Box((0.4, 0.4, 0.4)), turned("xy", np.arctan(1 / np.sqrt(2)), np.pi / 4)),
    "cylinder": (Cylinder(0.2, 0.4), FLAT),
    "cylinder on its rim, between cap and side": (Cylinder(0.2, 0.4), turned("x", np.pi / 4)),
    "cylinder on its side": (Cylinder(0.2, 0.4), turned("x", np.pi / 2)),
    "cone": (Cone(0.2, 0.4), FLAT),
    "cone on its side": (Cone(0.2, 0.4), turned("x", -np.pi / 2 - np.arctan(0.5))),
    "capsule": (Capsule(0.1, 0.4), turned("x", np.pi / 2)),
    "prism of 5": (prism(5), FLAT),
    "prism of 8": (prism(8), FLAT),
    "prism of 8 on a side": (prism(8), turned("zy", np.pi / 8, np.pi / 2)),
    "prism of 8 on an edge, between two sides": (prism(8), turned("y", np.pi / 2)),
    "prism of 32": (prism(32), FLAT),
}
TILTED = {
    f"cylinder tilted by {tilt}": (Cylinder(0.2, 0.4), turned("x", tilt))
    for tilt in (1e-5, 2e-5, 5e-5, 1e-3)
}


def names_under_jitter(rng, ground, shape, turn, samples=40):
    """The sets of names, and the counts, that were seen."""
    under, height = GROUNDS[ground]
    pair = ShapePair(shape, under)
    seen = set()
    counts = set()
    low = (
        ShapePair(shape, HalfSpace())
        .contacts((0.0, 0.0, 0.0), turn.as_matrix(), limit=10.0)
        .gaps.min()
    )
    for _ in range(samples):
        shaken = Rotation.from_rotvec(rng.uniform(-1e-5, 1e-5, 3)) * turn
        place = np.array([0.013, 0.027, height - low]) + rng.uniform(-1e-6, 1e-6, 3)
        found = pair.contacts(place, shaken.as_matrix(), limit=1e-4)
        seen.add(frozenset(map(tuple, found.features)))
        counts.add(len(found.gaps))
    return seen, counts


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("name", LYING)
def test_names_and_counts_never_flip(rng, ground, name):
    seen, counts = names_under_jitter(rng, ground, *LYING[name])
    assert len(counts) == 1
    assert len(seen) == 1


@pytest.mark.parametrize("ground", ["plane", "box"])
@pytest.mark.parametrize("name", TILTED)
def test_names_stay_while_the_lowest_point_of_a_rim_wanders(rng, ground, name):
    """From 2e-5 rad on a circle's points are counted from the lowest one.

    On meshes triangles change with it.
    """
    seen, counts = names_under_jitter(rng, ground, *TILTED[name])
    assert counts == {4} or name.endswith("0.001")
    assert len(seen) == 1


@pytest.mark.parametrize("n", [5, 6, 8, 12])
def test_the_four_points_of_a_polygon_span_it(n):
    """Along any direction at least half of what all corners span; for the hexagon exactly half."""
    found = ShapePair(prism(n), HalfSpace()).contacts((0.0, 0.0, 0.2), limit=1e-4)
    corners = np.array([(np.cos(a), np.sin(a)) for a in 2.0 * np.pi * np.arange(n) / n]) * 0.2
    assert len(found.gaps) == 4
    for angle in np.linspace(0.0, np.pi, 37):
        d = np.array([np.cos(angle), np.sin(angle)])
        assert np.ptp(found.positions[:, :2] @ d) >= (0.5 - 1e-9) * np.ptp(corners @ d)
