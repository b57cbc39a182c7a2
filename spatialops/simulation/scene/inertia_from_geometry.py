"""Mass, centre and inertia from shapes, for bodies of a file that says nothing of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from spatialops._arrays import scalar
from spatialops.algebra.inertia import Inertia
from spatialops.collision.inertia import shape_inertia
from spatialops.collision.shapes import Geom
from spatialops.errors import ShapeError
from spatialops.io.description import BodySpec, Description
from spatialops.simulation.scene.geoms import GeomMaker
from spatialops.tree.node import Frame


def with_inertias(description: Description, density: float, *, strict: bool = True) -> Description:
    """The same with inertias of bodies that have none, from its shapes by density, kg/m^3.

    Meshes count by their hull. What was made up is among the warnings.

    Raises
    ------
    AssetError, ShapeError
        As `load_scene`, for shapes.
    """
    density = scalar(density, "density", low=0.0, strict=True)
    bare = {body.name for body in description.bodies if body.inertia is None}
    shapes = tuple(shape for shape in description.shapes if shape.body in bare)
    own = Frame(0, np.zeros(3), np.eye(3))
    geoms = GeomMaker(replace(description, shapes=shapes), lambda name: own, strict=strict).geoms()
    made = {
        body.name: _inertia([geom for geom in geoms if geom.body == body.name], density)
        for body in description.bodies
    }
    names = [name for name, inertia in made.items() if inertia is not None]
    if not names:
        return description
    bodies = [_with(body, made[body.name]) for body in description.bodies]
    told = ", ".join(map(repr, names[:4])) + (
        f" and {len(names) - 4} more" if len(names) > 4 else ""
    )
    text = f"mass and inertia are those of the shapes with {density:g} kg/m^3: {told}"
    return replace(description, bodies=tuple(bodies), warnings=(*description.warnings, text))


def _with(body: BodySpec, inertia: Inertia | None) -> BodySpec:
    return body if inertia is None else replace(body, inertia=inertia)


def _inertia(geoms: Sequence[Geom], density: float) -> Inertia | None:
    """Sum over the shapes of a body, in its frame; None where they have no volume."""
    total: Inertia | None = None
    for geom in geoms:
        try:
            own = shape_inertia(geom.shape, density).rotated(geom.turn).shifted(geom.position)
        except ShapeError:  # a plane or height field
            continue
        total = own if total is None else total + own
    return total
