"""Shapes, pairs and contact points."""

from spatialops.collision.contact_set import ContactSet
from spatialops.collision.query import ShapePair
from spatialops.collision.shapes import (
    Box,
    Capsule,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    Geom,
    HalfSpace,
    HeightField,
    Mesh,
    Sphere,
)

__all__ = [
    "Box",
    "Capsule",
    "Cone",
    "ContactSet",
    "ConvexHull",
    "Cylinder",
    "Ellipsoid",
    "Geom",
    "HalfSpace",
    "HeightField",
    "Mesh",
    "ShapePair",
    "Sphere",
]
