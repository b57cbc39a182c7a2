"""Shapes, pairs and contact points."""

from spatialops.collision.assets import convex_parts, load_hull, load_mesh
from spatialops.collision.contact_set import ContactSet
from spatialops.collision.inertia import shape_inertia
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
    "convex_parts",
    "load_hull",
    "load_mesh",
    "shape_inertia",
]
