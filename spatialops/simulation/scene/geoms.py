"""Shapes of a description as geoms, and a list of what could not be made."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from spatialops.collision import (
    Box,
    Capsule,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    Geom,
    HalfSpace,
    HeightField,
    Mesh,
    Sphere,
    convex_parts,
)
from spatialops.collision.shapes import Shape
from spatialops.errors import AssetError, MissingLibraryError, ShapeError
from spatialops.io.description import Description, MeshFile, Notes, ShapeSpec
from spatialops.simulation.plain_data import PlainData
from spatialops.simulation.scene.mesh_files import MeshFiles
from spatialops.tree.node import Frame

DEFAULT_FRICTION = 0.5
_FLAT = 1e-9  # singular value of a mesh's points, relative, below which they lie in a plane

_TURNLESS = ("sphere", "half_space")
_BY_SIZE: dict[str, Callable[..., Shape]] = {
    "sphere": Sphere,
    "capsule": Capsule,
    "cylinder": Cylinder,
    "box": Box,
    "ellipsoid": Ellipsoid,
}


class GeomMaker:
    """Makes the geoms of one description.

    Parameters
    ----------
    description : Description
        What was read.
    frame_of : callable
        The frame of a body by name: which moving body it sits on, -1 for the world.
    strict : bool
        Refuse what is wrong with a shape; otherwise it is left out and listed.
    decompose : float, optional
        Concavity of the convex parts that moving meshes are cut into; default: their hulls.
    """

    def __init__(
        self,
        description: Description,
        frame_of: Callable[[str], Frame],
        *,
        strict: bool,
        decompose: float | None = None,
    ) -> None:
        self.description = description
        self.frame_of = frame_of
        self.strict = strict
        self.decompose = decompose
        self.notes = Notes()
        self.meshes = MeshFiles(description)

    def geoms(self) -> list[Geom]:
        """Geoms of everything that collides."""
        return [
            geom for spec in self.description.shapes if spec.collides for geom in self._made(spec)
        ]

    def _made(self, spec: ShapeSpec) -> list[Geom]:
        try:
            shapes = self._shapes(spec, self.frame_of(spec.body))
        except (AssetError, ShapeError, MissingLibraryError) as error:
            if self.strict:
                raise type(error)(f"{error} (strict=False leaves such shapes out)") from error
            self.notes.add(f"a shape is left out: {error}", spec.name)
            return []
        names = (
            [spec.name] if len(shapes) == 1 else [f"{spec.name}/{i}" for i in range(len(shapes))]
        )
        options: PlainData = {
            "friction": DEFAULT_FRICTION if spec.friction is None else spec.friction[0],
            "restitution": spec.restitution,
            "mixing": spec.mixing,
            "priority": spec.priority,
            **_moments(spec),
            "group": spec.group,
            "collides_with": spec.collides_with,
            "rotation": spec.rotation,
        }
        if spec.kind in _TURNLESS:
            del options["rotation"]
        return [
            Geom(name, spec.body, shape, position=spec.position, **options)
            for name, shape in zip(names, shapes, strict=True)
        ]

    def _shapes(self, spec: ShapeSpec, frame: Frame) -> list[Shape]:
        """The shape, or several convex parts of it; none where it cannot collide here."""
        kind = spec.kind
        sizes = spec.sizes
        still = frame.body < 0
        if kind in ("half_space", "height_field") and not still:
            self.notes.add(
                f"a {kind.replace('_', '-')} on a body that moves is left out", spec.name
            )
            return []
        if kind == "half_space":
            return [HalfSpace(frame.rotation @ spec.rotation[:, 2])]
        if kind == "mesh":
            return self._from_mesh(spec, still)
        if kind == "height_field":
            return [HeightField(spec.mesh.T, (2.0 * sizes[0], 2.0 * sizes[1]))]
        return [_BY_SIZE[kind](*((sizes,) if kind in ("box", "ellipsoid") else sizes))]

    def _from_mesh(self, spec: ShapeSpec, still: bool) -> list[Shape]:
        vertices, faces = self.meshes.surface(spec.mesh)
        # MuJoCo collides with the hull, of what stands still too.
        inline = not isinstance(spec.mesh, MeshFile)
        if still and not inline:
            return [Mesh(vertices, faces)]
        spread = np.linalg.svd(vertices - vertices.mean(axis=0), compute_uv=False)
        if len(vertices) < 4 or not spread[-1] > _FLAT * spread[0]:
            raise ShapeError(
                f"shape {spec.name!r}: the mesh has no volume: all its points lie in a plane"
            )
        if self.decompose is not None and not inline:
            return [*convex_parts(Mesh(vertices, faces), threshold=self.decompose)]
        return [ConvexHull(vertices)]


def _moments(spec: ShapeSpec) -> PlainData:
    """Torsional and rolling friction, where the file says which of them act."""
    if spec.friction is None or spec.condim is None:
        return {}
    _, torsion, rolling = spec.friction
    return {"torsion": torsion, "rolling": rolling, "condim": spec.condim}
