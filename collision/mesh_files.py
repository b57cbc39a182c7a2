"""Files of meshes, read by trimesh: pieces of one colour each, in the file's unit made metres."""

from __future__ import annotations

import hashlib
import os
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._files import checked_path, opened
from spatialops.errors import AssetError, MissingLibraryError

if TYPE_CHECKING:
    from trimesh import Trimesh


class Piece(NamedTuple):
    """Triangles of one colour.

    Attributes
    ----------
    vertices : (n, 3) array
        m, before any scale.
    faces : (k, 3) int array
    color : tuple of 3 floats, or None
        Red, green, blue in [0, 1], where the file says one; the mean of a texture.
    """

    vertices: Array
    faces: IntArray
    color: tuple[float, float, float] | None


def joined(pieces: list[Piece], scale: Array) -> tuple[Array, IntArray]:
    """Vertices (n, 3) and faces (k, 3) of all pieces, in their order, scaled along the axes (3,).

    Mirrored pieces keep their normals outside.
    """
    firsts = np.cumsum([0, *(len(piece.vertices) for piece in pieces)])
    faces = np.concatenate([piece.faces + first for piece, first in zip(pieces, firsts)])
    if np.prod(scale) < 0.0:
        faces = faces[:, ::-1]
    return np.concatenate([piece.vertices for piece in pieces]) * scale, faces


def read_pieces(path: str | os.PathLike[str]) -> list[Piece]:
    """All triangles of a file, in its order; a changed file is read again.

    Parameters
    ----------
    path : path-like
        What trimesh reads.

    Returns
    -------
    list of Piece
        At least one.

    Raises
    ------
    AssetError
        If the file is missing or holds no triangles.
    MissingLibraryError
        For a COLLADA file (.dae) without pycollada.
    """
    place = checked_path(path)
    return _read(str(place.absolute()), _content_hash(place))


@cache
def _read(path: str, content: str) -> list[Piece]:
    """Pieces of a file; `content` is its hash, so that a changed file is read again."""
    import trimesh

    collada = Path(path).suffix.lower() == ".dae"
    if collada and not find_spec("collada"):
        raise MissingLibraryError(f"{path}: COLLADA files need pycollada: install spatialops[dae]")
    unit = 1.0  # m; trimesh leaves lengths in the file's
    try:
        scene = trimesh.load(path, force="scene", process=False)
        assert isinstance(scene, trimesh.Scene), "what `force` asks for"
        placed = [scene.graph[node] for node in scene.graph.nodes_geometry]
        if collada:
            unit = import_module("collada").Collada(path).assetInfo.unitmeter or 1.0
        found = [
            _piece(scene.geometry[name], np.asarray(place, dtype=np.float64), unit)
            for place, name in placed
            if isinstance(scene.geometry[name], trimesh.Trimesh)
        ]
    except Exception as error:  # trimesh raises whatever its readers do
        raise AssetError(f"{path}: not a readable mesh: {type(error).__name__}: {error}") from error
    if not any(len(piece.faces) for piece in found):
        raise AssetError(f"{path}: holds no triangles, or ends before them")
    if any(piece.vertices.ndim != 2 or piece.vertices.shape[1] != 3 for piece in found):
        raise AssetError(f"{path}: holds points that are not three numbers")  # a broken .obj's
    if not all(np.isfinite(piece.vertices).all() for piece in found):
        raise AssetError(f"{path}: holds points that are not finite")
    return found


def _piece(mesh: Trimesh, place: Array, unit: float) -> Piece:
    """A mesh of the file's tree, in the axes of the file."""
    moved = type(mesh)(mesh.vertices, mesh.faces, process=False)  # a copy without its looks
    moved.apply_transform(place)
    vertices = unit * np.array(moved.vertices, dtype=np.float64)
    return Piece(vertices, np.array(moved.faces, dtype=np.int64), _color(mesh))


def _color(mesh: Trimesh) -> tuple[float, float, float] | None:
    """Of its material, or what most of its vertices have; None where it has none.

    Textures are read by Pillow, of the extra `plots`; without, the material's own colour counts.
    """
    look = mesh.visual
    if look is None or look.kind is None:
        return None
    material = getattr(look, "material", None)
    picture = getattr(material, "image", None) or getattr(material, "baseColorTexture", None)
    if picture is not None and find_spec("PIL"):
        given = np.asarray(picture.convert("RGB").resize((1, 1))).ravel()
    else:
        given = np.asarray(getattr(material or look, "main_color"))  # noqa: B009  of either kind
    red, green, blue = (float(part) / 255.0 for part in given[:3])
    return red, green, blue


def _content_hash(path: str | os.PathLike[str]) -> str:
    try:
        with opened(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise AssetError(f"cannot read {path}: {error.strerror or error}") from error
