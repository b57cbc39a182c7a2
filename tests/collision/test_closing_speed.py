"""Bounds of how fast shapes come together, against the points that they consist of."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import spatialops as so
from spatialops.collision import (
    Box,
    Capsule,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    Sphere,
    shape_inertia,
)
from spatialops.collision._layout import GEOM_LINK
from spatialops.collision.detector import closing_speed, turning_along, turning_speed
from tests.collision.test_detector import Eyes

RNG = np.random.default_rng(8)
CORNERS = RNG.normal(size=(12, 3)) * (0.3, 0.1, 0.05)
SHAPES = (
    Box((0.5, 0.02, 0.04)),
    Capsule(0.02, 0.4),
    Cylinder(0.1, 0.01),
    Ellipsoid((0.1, 0.2, 0.05)),
    ConvexHull(CORNERS),
    Sphere(0.1),
)


def core_points(shape):
    """Points (n, 3) of a shape about its position, without what a radius adds all about."""
    units = RNG.normal(size=(4000, 3))
    units /= np.linalg.norm(units, axis=1)[:, None]
    if isinstance(shape, Sphere):
        return np.zeros((1, 3))
    if isinstance(shape, Capsule):
        return np.array([[0.0, 0.0, 0.5 * shape.length], [0.0, 0.0, -0.5 * shape.length]])
    if isinstance(shape, Box):
        return 0.5 * np.sign(units) * shape.size
    if isinstance(shape, Ellipsoid):
        return units * shape.semi_axes
    if isinstance(shape, Cylinder):
        across = units[:, :2] / np.linalg.norm(units[:, :2], axis=1)[:, None]
        return np.column_stack([shape.radius * across, 0.5 * shape.length * np.sign(units[:, 2])])
    assert isinstance(shape, ConvexHull)
    return shape.vertices - 0.5 * (shape.vertices.min(axis=0) + shape.vertices.max(axis=0))


def placed(shape, q, v):
    """A free body of this shape in a motion, as the detector sees it."""
    builder = so.TreeBuilder()
    builder.add_body("b", joint=so.Joint("free"), inertia=shape_inertia(shape))
    scene = so.Scene(builder.build(), [so.Geom("g", "b", shape)])
    eyes = Eyes(scene, 0.0)
    eyes.place(q, v)
    return scene, eyes


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)
def test_no_point_of_a_shape_is_faster(shape):
    for _ in range(20):
        turn, omega, normal = Rotation.random(random_state=RNG), *RNG.normal(size=(2, 3))
        normal /= np.linalg.norm(normal)
        q = np.concatenate([np.zeros(3), turn.as_quat()])
        v = np.concatenate([turn.inv().apply(omega), np.zeros(3)])
        scene, eyes = placed(shape, q, v)
        speeds = np.cross(omega, turn.apply(core_points(shape)))
        bound = turning_speed(scene.geom_floats, eyes.centers, 0, tuple(omega))
        assert np.linalg.norm(speeds, axis=1).max() <= bound * (1.0 + 1e-12)
        along = turning_along(scene.geom_floats, eyes.centers, 0, tuple(omega), tuple(normal))
        most = (speeds @ normal).max()
        assert most <= along * (1.0 + 1e-12) + 1e-15
        assert along <= bound * (1.0 + 1e-12) or not isinstance(shape, Box)
        if isinstance(shape, (Box, Capsule)):  # a box about them holds nothing else
            assert along == pytest.approx(most, rel=1e-12)


def test_a_rod_that_rolls_does_not_sweep_its_length():
    rod = Box((0.01, 0.01, 0.5))
    v = np.array([0.0, 0.0, 300.0, 0.0, 0.0, 0.0])  # about its own axis
    scene, eyes = placed(rod, np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]), v)
    link = int(scene.geom_ints[0, GEOM_LINK])
    speed = closing_speed(scene.geom_floats, eyes.centers, eyes.work, 0, 0, link, -1)
    assert speed == pytest.approx(300.0 * 0.005 * np.sqrt(2.0))
