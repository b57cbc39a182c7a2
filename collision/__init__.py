"""Shapes, pairs and contact points."""

from spatialops.collision.contact_set import ContactSet
from spatialops.collision.shapes import Geom, HalfSpace, Sphere

__all__ = ["ContactSet", "Geom", "HalfSpace", "Sphere"]
