"""Meshes that a description names, read once each and within bounds."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.collision import Mesh, load_mesh
from spatialops.collision.mesh_files import Piece, joined, read_pieces
from spatialops.errors import AssetError
from spatialops.io.description import Color, Description, MeshFile, check_length
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
            path, where = self._found(mesh)
            self._meshes[mesh] = _whole(load_mesh(path, mesh.scale), f"{where}: {path}")
        return self._meshes[mesh]

    def pieces(self, mesh: MeshFile | Surface) -> list[tuple[Surface, Color | None]]:
        """Surfaces of one colour each, those that the file says; one without colour of no file."""
        if not isinstance(mesh, MeshFile):
            return [(self.surface(mesh), None)]
        self.surface(mesh)  # within bounds
        path, _ = self._found(mesh)
        by_color: dict[Color | None, list[Piece]] = {}
        for piece in read_pieces(path):
            by_color.setdefault(piece.color, []).append(piece)
        scale = np.asarray(mesh.scale, dtype=np.float64)
        return [(joined(some, scale), color) for color, some in by_color.items()]

    def _found(self, mesh: MeshFile) -> tuple[Path, str]:
        """The file, and where it is named."""
        where = f"{self.description.path}:{mesh.line}"
        path = self.resolver.resolve(mesh.uri, where)
        if path.stat().st_size > MAX_MESH_BYTES:
            raise AssetError(f"{where}: {path} is larger than {MAX_MESH_BYTES // 2**20} MB")
        return path, where


def _whole(mesh: Mesh, where: str) -> Surface:
    """Vertices and faces of a mesh that has some, of a size in metres."""
    vertices, faces = np.asarray(mesh.vertices, dtype=np.float64), np.asarray(mesh.faces)
    if not len(vertices) or not np.isfinite(vertices).all():
        raise AssetError(f"{where} has no vertices, or some that are not finite")
    check_length(vertices, where, maximum=MAX_MESH_SIZE)
    return vertices, faces
