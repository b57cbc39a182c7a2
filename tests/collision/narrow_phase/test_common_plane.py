"""Points of a patch stand on one plane between the surfaces: a flat foot can stick everywhere."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from spatialops.collision import Box, ConvexHull, Cylinder, HalfSpace, Mesh, ShapePair
from spatialops.collision import _layout as col
from spatialops.collision.narrow_phase.common_plane import put_on_common_planes

BOX = Box((0.4, 0.3, 0.2))
GRID = [(x, y) for x in (-1.0, -0.13, 0.21, 1.0) for y in (-1.0, 0.07, 1.0)]
CELLS = [(3 * i + j, 3 * i + j + 3, 3 * i + j + 4, 3 * i + j + 1) for i in range(3) for j in (0, 1)]
FLOOR = Mesh(
    [(x, y, 0.1) for x, y in GRID],
    [triangle for a, b, c, d in CELLS for triangle in ((a, b, c), (a, c, d))],
)
FEET = {
    "box": BOX,
    "cylinder": Cylinder(0.2, 0.2),
    "hull": ConvexHull(
        [(x, y, z) for x, y in ((0.2, 0), (-0.1, 0.2), (-0.2, -0.2)) for z in (-0.1, 0.1)]
    ),
}
GROUNDS = {
    "plane": (HalfSpace(), -0.1),
    "box": (Box((1.0, 1.0, 0.2)), -0.2),
    "mesh": (FLOOR, -0.2),
}


def standing(rng, foot, ground, angle):
    """Contacts of a foot that leans by up to an angle over a ground, which it nearly touches."""
    shape, height = GROUNDS[ground]
    turn = Rotation.from_rotvec(rng.uniform(-angle, angle, 3)).as_matrix()
    place = np.array([0.01, 0.02, rng.uniform(-1e-7, 1e-7)])
    pair = ShapePair(FEET[foot], shape)
    found = pair.contacts(place, turn, position_b=(0.0, 0.0, height), limit=1e-4)
    # The mesh is 0.1 above its origin, the half-space passes through its own.
    return found


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("foot", FEET)
def test_a_flat_foot_can_close_its_gaps_and_stick_everywhere(rng, foot, ground):
    """Some twist closes the gaps of three points at any rates and moves no point sideways.

    (The fourth gap of a plane foot over plane ground closes at the rate that the three imply.)
    """
    for _ in range(20):
        found = standing(rng, foot, ground, 1e-6)
        count = len(found.gaps)
        assert count >= 3
        n = found.normals[0]
        assert found.normals @ n == pytest.approx(np.ones(count), abs=1e-15)
        assert np.ptp(found.positions @ n) < 1e-15
        tangents = np.linalg.svd(n[None])[2][1:]
        middle = found.positions.mean(axis=0)
        rows = [
            np.concatenate([np.cross(x - middle, d), d])
            for x in found.positions[:3]
            for d in (n, *tangents)
        ]
        rates = np.zeros(9)
        rates[::3] = rng.uniform(-1.0, 1.0, 3)
        twist = np.linalg.lstsq(np.array(rows), rates, rcond=None)[0]
        assert np.abs(np.array(rows) @ twist - rates).max() < 1e-13


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("foot", FEET)
def test_points_stay_between_the_surfaces(rng, foot, ground):
    """The ground's surface is at the height -0.1: points are no farther from it than their gaps."""
    for _ in range(20):
        found = standing(rng, foot, ground, 1e-3)
        heights = found.positions[:, 2] + 0.1
        assert np.all(heights <= np.maximum(found.gaps, 0.0) + 1e-7)
        assert np.all(heights >= np.minimum(found.gaps, 0.0) - 1e-7)


def test_points_of_different_normals_or_planes_are_not_mixed():
    found = np.zeros((4, col.AT_COLUMNS))
    found[:, col.AT_NORMAL + 2] = 1.0
    found[2, col.AT_NORMAL : col.AT_NORMAL + 3] = (1.0, 0.0, 0.0)
    found[:, col.AT_POINT + 2] = (0.0, 0.01, 0.5, 0.2)  # a step of 0.2 below a leaning foot
    found[:, col.AT_GAP] = (0.0, 0.02, 0.0, 0.0)
    before = found.copy()
    put_on_common_planes(found, 4, 1.0)
    moved = np.abs(found[:, col.AT_POINT + 2] - before[:, col.AT_POINT + 2])
    assert moved[2] == 0.0  # alone with its normal
    assert np.all(moved <= 0.5 * found[:, col.AT_GAP] + 1.1e-7)
    assert np.array_equal(found[:, col.AT_GAP], before[:, col.AT_GAP])
