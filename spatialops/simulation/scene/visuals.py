"""What a robot file wants drawn: shapes and colours, which need not be those that collide."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spatialops._arrays import Array
from spatialops.errors import AssetError, MissingLibraryError, ShapeError
from spatialops.io.description import Color, Description, ShapeSpec
from spatialops.simulation.scene.mesh_files import MeshFiles, Surface

_PLAIN = ("half_space", "height_field")  # drawn as they collide


@dataclass(frozen=True, eq=False, kw_only=True)
class Visual:
    """A shape that is drawn.

    Attributes
    ----------
    name, body, kind : str
        `spatialops.io.description.SHAPE_KINDS` has the kinds.
    sizes : tuple of float
        m; see there.
    position, rotation : (3,), (3, 3) arrays
        In the frame of the body, m.
    surface : (vertices, faces), or None
        Of a mesh, m.
    color : tuple of 3 floats, or None
        Red, green, blue in [0, 1].
    """

    name: str
    body: str
    kind: str
    sizes: tuple[float, ...]
    position: Array
    rotation: Array
    surface: Surface | None = None
    color: Color | None = None


def visuals_of(description: Description) -> list[Visual]:
    """What a file wants drawn; meshes are read now, and those that cannot be are left out."""
    meshes = MeshFiles(description)
    found = []
    for spec in description.shapes:
        if not spec.visible or spec.kind in _PLAIN:
            continue
        try:
            pieces = _pieces(meshes, spec)
        except (AssetError, ShapeError, MissingLibraryError):
            continue
        for i, (surface, color) in enumerate(pieces):
            found.append(
                Visual(
                    name=f"{spec.name}/{i}" if len(pieces) > 1 else spec.name,
                    body=spec.body,
                    kind=spec.kind,
                    sizes=spec.sizes,
                    position=np.asarray(spec.position, dtype=np.float64),
                    rotation=spec.rotation,
                    surface=surface,
                    color=color,
                )
            )
    return found


def _pieces(meshes: MeshFiles, spec: ShapeSpec) -> list[tuple[Surface | None, Color | None]]:
    """A shape in the colour that its file says; else a mesh in those that its own file says."""
    if spec.mesh is None:
        return [(None, spec.color)]
    if spec.color is not None:
        return [(meshes.surface(spec.mesh), spec.color)]
    return list(meshes.pieces(spec.mesh))
