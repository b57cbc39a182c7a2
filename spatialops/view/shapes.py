"""Collision shapes as the replay draws them."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

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
from spatialops.tree.node import Frame


def drawn_shape(geom: Geom) -> dict[str, object]:
    """Kind, dimensions and name of a geom that is no half-space, as `write_replay` takes them."""
    shape, named = geom.shape, {"name": geom.name}
    if isinstance(shape, Sphere):
        return {"kind": "sphere", "radius": float(shape.radius), **named}
    if isinstance(shape, Box):
        return {"kind": "box", "size": list(shape.size), **named}
    if isinstance(shape, (Capsule, Cylinder, Cone)):
        kind = {Capsule: "capsule", Cylinder: "cylinder", Cone: "cone"}[type(shape)]
        return {"kind": kind, "radius": float(shape.radius), "length": float(shape.length), **named}
    if isinstance(shape, Ellipsoid):
        return {"kind": "ellipsoid", "semi_axes": list(shape.semi_axes), **named}
    if isinstance(shape, ConvexHull):
        return {
            "kind": "mesh",
            "vertices": shape.vertices,
            "faces": shape.solid.triangles(),
            **named,
        }
    assert isinstance(shape, (Mesh, HeightField))
    vertices, faces = (
        (shape.vertices, shape.faces) if isinstance(shape, Mesh) else shape.triangles()
    )
    return {"kind": "mesh", "vertices": vertices, "faces": faces, **named}


def drawn_fixture(geom: Geom, frame: Frame) -> dict[str, object]:
    """A geom on the world, with its place."""
    place = frame.position + frame.rotation @ np.asarray(geom.position)
    if isinstance(geom.shape, HalfSpace):
        normal = geom.turn @ np.asarray(geom.shape.normal)
        return {"kind": "half_space", "point": place, "normal": normal, "name": geom.name}
    turn = Rotation.from_matrix(frame.rotation @ geom.turn).as_quat()
    return {**drawn_shape(geom), "position": place, "quaternion": turn}
