"""Shapes and geoms: what they keep, and what they refuse by name."""

import dataclasses

import numpy as np
import pytest

from spatialops.collision import Geom, HalfSpace, Sphere
from spatialops.errors import ShapeError

NOT_NUMBERS = ["wide", None, [1.0]]


@pytest.mark.parametrize("radius", [0.0, -1.0, np.nan, np.inf, *NOT_NUMBERS])
def test_sphere_refuses_a_radius_that_is_none(radius):
    with pytest.raises(ShapeError, match="radius"):
        Sphere(radius)


def test_half_space_takes_any_length_of_normal():
    assert np.allclose(HalfSpace((0.0, 3.0, 4.0)).normal, (0.0, 0.6, 0.8), rtol=0.0, atol=1e-16)
    assert HalfSpace().normal == (0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    "normal", [(0.0, 0.0, 0.0), (1.0, 0.0), (np.nan, 0.0, 1.0), (np.inf, 0.0, 0.0), "up", None, np.eye(3)]
)
def test_half_space_refuses_a_normal_that_is_none(normal):
    with pytest.raises(ShapeError, match="normal"):
        HalfSpace(normal)


@pytest.mark.parametrize("position", [(0.0, 0.0), (0.0, 0.0, np.nan), "here", 1.0])
def test_geom_refuses_a_position_and_names_itself(position):
    with pytest.raises(ShapeError, match="geom 'foot': position"):
        Geom("foot", "leg", Sphere(0.1), position=position)


@pytest.mark.parametrize("friction", [-0.1, np.nan, np.inf, *NOT_NUMBERS])
def test_geom_refuses_friction(friction):
    with pytest.raises(ShapeError, match="geom 'foot': friction"):
        Geom("foot", "leg", Sphere(0.1), friction=friction)


@pytest.mark.parametrize("restitution", [-0.1, 1.1, np.nan, *NOT_NUMBERS])
def test_geom_refuses_restitution(restitution):
    with pytest.raises(ShapeError, match="geom 'foot': restitution"):
        Geom("foot", "leg", Sphere(0.1), restitution=restitution)


@pytest.mark.parametrize("shape", [None, 0.1, Sphere, "sphere"])
def test_geom_refuses_what_is_no_shape(shape):
    with pytest.raises(ShapeError, match="geom 'foot': shape"):
        Geom("foot", "leg", shape)


def test_geoms_keep_their_own_copy_and_cannot_be_changed():
    place = np.array([1.0, 2.0, 3.0])
    geom = Geom("foot", "leg", Sphere(0.1), position=place)
    place[0] = 9.0
    assert geom.position == (1.0, 2.0, 3.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        geom.friction = 1.0
    with pytest.raises(TypeError):
        Geom("foot", "leg", Sphere(0.1), frition=0.3)
