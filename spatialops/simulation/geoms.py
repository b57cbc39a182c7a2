"""Shapes of a description as geoms: one table from kinds to classes, and a list of what could not be made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from spatialops import collision
from spatialops._arrays import Array
from spatialops.collision import Geom
from spatialops.errors import AssetError, ShapeError
from spatialops.io.description import Description, MeshFile, Notes, ShapeSpec, check_length
from spatialops.io.packages import Resolver
from spatialops.tree.model import Frame

MAX_MESH_BYTES = 50 * 2**20
MAX_MESH_SIZE = 1e3  # m: larger ones are in millimetres
DEFAULT_FRICTION = 0.5

_FIELDS = frozenset(Geom.__dataclass_fields__)
_TURNLESS = ("sphere", "half_space")


class GeomMaker:
    """Makes the geoms of one description.

    Parameters
    ----------
    description : Description
    frame_of : callable
        The frame of a body by name: which moving body it sits on, -1 for the world.
    strict : bool
        Refuse what is wrong with a shape; otherwise it is left out and listed.
    """

    def __init__(self, description: Description, frame_of: Callable[[str], Frame], *, strict: bool) -> None:
        self.description = description
        self.frame_of = frame_of
        self.strict = strict
        self.notes = Notes()
        self.resolver = Resolver(description.path or Path("robot"), description.packages)
        self._meshes: dict[MeshFile, tuple[Array, Any]] = {}

    def geoms(self) -> list[Geom]:
        """Geoms of everything that collides."""
        made = [self._geom(spec) for spec in self.description.shapes if spec.collides]
        return [geom for geom in made if geom is not None]

    def _geom(self, spec: ShapeSpec) -> Geom | None:
        try:
            return self._made(spec)
        except (AssetError, ShapeError) as error:
            if self.strict:
                raise
            self.notes.add(f"a shape is left out: {error}", spec.name)
            return None

    def _made(self, spec: ShapeSpec) -> Geom | None:
        turned = not np.allclose(spec.rotation, np.eye(3), rtol=0.0, atol=1e-12)
        if spec.kind not in _TURNLESS and turned and "rotation" not in _FIELDS:
            self._unsupported(spec, "shapes that are turned are")
            return None
        frame = self.frame_of(spec.body)
        shape = self._shape(spec, frame)
        if shape is None:
            return None
        options: dict[str, Any] = {
            "friction": DEFAULT_FRICTION if spec.friction is None else spec.friction[0],
            "restitution": spec.restitution,
            "group": spec.group,
            "collides_with": spec.collides_with,
            "rotation": spec.rotation,
        }
        if spec.kind in _TURNLESS:
            del options["rotation"]
        known = {key: value for key, value in options.items() if key in _FIELDS}
        return Geom(spec.name, spec.body, shape, position=spec.position, **known)

    def _shape(self, spec: ShapeSpec, frame: Frame) -> Any:
        kind, sizes, still = spec.kind, spec.sizes, frame.body < 0
        if kind in ("half_space", "height_field") and not still:
            self.notes.add(f"a {kind.replace('_', '-')} on a body that moves is left out", spec.name)
            return None
        if kind == "half_space":
            return self._new(spec, "HalfSpace", frame.rotation @ spec.rotation[:, 2])
        if kind == "mesh" and not hasattr(collision, "Mesh" if still else "ConvexHull"):
            self._unsupported(spec, "meshes are")
            return None
        if kind == "mesh":
            vertices, faces = self._mesh(spec.mesh)
            inline = not isinstance(spec.mesh, MeshFile)  # MuJoCo collides with the hull, of what stands still too
            return self._new(spec, "Mesh", vertices, faces) if still and not inline else self._hull(spec, vertices)
        if kind == "height_field":
            return self._new(spec, "HeightField", spec.mesh.T, (2.0 * sizes[0], 2.0 * sizes[1]))
        names = {
            "sphere": "Sphere",
            "capsule": "Capsule",
            "cylinder": "Cylinder",
            "box": "Box",
            "ellipsoid": "Ellipsoid",
        }
        return self._new(spec, names[kind], *((sizes,) if kind in ("box", "ellipsoid") else sizes))

    def _hull(self, spec: ShapeSpec, vertices: Array) -> Any:
        spread = np.linalg.svd(vertices - vertices.mean(axis=0), compute_uv=False)
        if len(vertices) < 4 or not spread[-1] > 1e-9 * spread[0]:
            raise ShapeError(f"shape {spec.name!r}: the mesh has no volume: all its points lie in a plane")
        return self._new(spec, "ConvexHull", vertices)

    def _new(self, spec: ShapeSpec, name: str, *arguments: Any) -> Any:
        made = getattr(collision, name, None)
        if made is None:
            self._unsupported(spec, f"{name} is")
            return None
        return made(*arguments)

    def _unsupported(self, spec: ShapeSpec, what: str) -> None:
        self.notes.add(f"shapes are left out: {what} not supported yet", spec.name)

    def _mesh(self, mesh: Any) -> tuple[Array, Any]:
        """Vertices and faces; a file is looked up and read now."""
        if not isinstance(mesh, MeshFile):
            vertices, faces = mesh
            return vertices, faces
        if mesh not in self._meshes:
            where = f"{self.description.path}:{mesh.line}"
            path = self.resolver.resolve(mesh.uri, where)
            if path.stat().st_size > MAX_MESH_BYTES:
                raise AssetError(f"{where}: {path} is larger than {MAX_MESH_BYTES // 2**20} MB")
            self._meshes[mesh] = self._read(path, mesh, where)
        return self._meshes[mesh]

    def _read(self, path: Path, mesh: MeshFile, where: str) -> tuple[Array, Any]:
        loaded = collision.load_mesh(path, mesh.scale)  # type: ignore[attr-defined, unused-ignore]
        vertices, faces = np.asarray(loaded.vertices, dtype=np.float64), np.asarray(loaded.faces)
        if not len(vertices) or not np.isfinite(vertices).all():
            raise AssetError(f"{where}: {path} has no vertices, or some that are not finite")
        check_length(vertices, f"{where}: {path}", maximum=MAX_MESH_SIZE)
        return vertices, faces
