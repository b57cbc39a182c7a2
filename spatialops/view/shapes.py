"""Collision shapes as the replay draws them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from spatialops._arrays import Array
from spatialops.collision.shapes import (
    Box,
    Capsule,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    Geom,
    HeightField,
    Mesh,
    Sphere,
)
from spatialops.simulation.scene.visuals import Visual
from spatialops.view.coarser import coarser
from spatialops.view.replay_shapes import TEXTS

MOST_FACES = 20_000  # of a mesh that is drawn


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


def outline(shape: Mapping[str, object]) -> Array:
    """Points (k, 3) [m] whose hull is a drawn shape, nearly: round ones are of 24 sides."""
    sizes = {name: np.asarray(shape[name]) for name in shape if name not in TEXTS}
    kind = shape["kind"]
    if kind == "mesh":
        return np.asarray(sizes["vertices"], dtype=np.float64)
    if kind == "box":
        corners = np.array(np.meshgrid([-0.5, 0.5], [-0.5, 0.5], [-0.5, 0.5])).reshape(3, -1).T
        return np.asarray(corners * sizes["size"])
    turns = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
    ring = np.column_stack([np.cos(turns), np.sin(turns), np.zeros(24)])
    heights = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 13)
    ball = np.vstack([ring * np.cos(a) + [0.0, 0.0, np.sin(a)] for a in heights])
    if kind == "ellipsoid":
        return np.asarray(ball * sizes["semi_axes"])
    ball, ring = ball * sizes["radius"], ring * sizes["radius"]
    if kind == "sphere":
        return np.asarray(ball)
    end = np.array([0.0, 0.0, 0.5 * float(sizes["length"])])
    ends = {"capsule": (ball, ball), "cylinder": (ring, ring), "cone": (ring, np.zeros((1, 3)))}
    low, high = ends[str(kind)]
    return np.vstack([low - end, high + end])


def drawn_visual(visual: Visual) -> dict[str, object]:
    """The same of what a file wants drawn, with its colour where it says one."""
    named: dict[str, object] = {"name": visual.name}
    if visual.color is not None:
        named["color"] = "#" + "".join(f"{round(255.0 * part):02x}" for part in visual.color)
    sizes = list(visual.sizes)
    if visual.surface is not None:
        vertices, faces = coarser(*visual.surface, most=MOST_FACES)
        return {"kind": "mesh", "vertices": vertices, "faces": faces, **named}
    if visual.kind == "sphere":
        return {"kind": "sphere", "radius": sizes[0], **named}
    if visual.kind == "box":
        return {"kind": "box", "size": sizes, **named}
    if visual.kind == "ellipsoid":
        return {"kind": "ellipsoid", "semi_axes": sizes, **named}
    return {"kind": visual.kind, "radius": sizes[0], "length": sizes[1], **named}
