"""Shapes, pairs and contact points."""

from spatialops.collision.assets import convex_parts, load_hull, load_mesh
from spatialops.collision.contact_set import ContactSet
from spatialops.collision.inertia import shape_inertia
from spatialops.collision.shape_pair import ShapePair
from spatialops.collision.shapes import (
    Box,
    Capsule,
    Coefficients,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    Geom,
    HalfSpace,
    HeightField,
    Masks,
    Mesh,
    Sphere,
)

__all__ = [
    "Box",
    "Capsule",
    "Coefficients",
    "Cone",
    "ContactSet",
    "ConvexHull",
    "Cylinder",
    "Ellipsoid",
    "Geom",
    "HalfSpace",
    "HeightField",
    "Masks",
    "Mesh",
    "ShapePair",
    "Sphere",
    "convex_parts",
    "load_hull",
    "load_mesh",
    "shape_inertia",
]
