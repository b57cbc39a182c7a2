"""Meshes that a description names, read once each and within bounds."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.collision import load_mesh
from spatialops.errors import AssetError
from spatialops.io.description import Description, MeshFile, check_length
from spatialops.io.packages import Resolver

MAX_MESH_BYTES = 50 * 2**20
MAX_MESH_SIZE = 1e3  # m: larger ones are in millimetres

Surface: TypeAlias = tuple[Array, IntArray]  # vertices (n, 3), m, and faces (k, 3)


class MeshFiles:
    """Reads the meshes of one description.

    Parameters
    ----------
    description : Description
        What names them.
    """

    def __init__(self, description: Description) -> None:
        self.description = description
        self.resolver = Resolver(description.path or Path("robot"), description.packages)
        self._meshes: dict[MeshFile, Surface] = {}

    def surface(self, mesh: MeshFile | Surface) -> Surface:
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

    def _read(self, path: Path, mesh: MeshFile, where: str) -> Surface:
        loaded = load_mesh(path, mesh.scale)
        vertices, faces = np.asarray(loaded.vertices, dtype=np.float64), np.asarray(loaded.faces)
        if not len(vertices) or not np.isfinite(vertices).all():
            raise AssetError(f"{where}: {path} has no vertices, or some that are not finite")
        check_length(vertices, f"{where}: {path}", maximum=MAX_MESH_SIZE)
        return vertices, faces
