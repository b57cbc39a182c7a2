"""Meshes from files, and bodies cut into convex parts, kept by the hash of their content."""

from __future__ import annotations

import hashlib
import os
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from spatialops._arrays import Array, ArrayLike, scalar
from spatialops._arrays import array as checked
from spatialops._compile.cache import cache_directory
from spatialops._files import load_arrays, save_arrays
from spatialops.collision.mesh_files import joined, read_pieces
from spatialops.collision.shapes import ConvexHull, Mesh
from spatialops.errors import MissingLibraryError, ShapeError


def load_mesh(path: str | os.PathLike[str], scale: ArrayLike = 1.0) -> Mesh:
    """Read a surface of triangles from a file.

    Parameters
    ----------
    path : path-like
        A file that trimesh reads: obj, stl, ply, glb, ...; a changed file is read again.
    scale : float or (3,) array_like
        Metres a unit of the file, along its axes; a COLLADA file says its unit itself, and is
        scaled beyond that. A mirrored mesh keeps its normals outside.

    Returns
    -------
    Mesh
        The surface, in m, in the file's axes.

    Raises
    ------
    AssetError
        If the file is missing or holds no triangles.
    MissingLibraryError
        For a COLLADA file (.dae) without pycollada.
    """
    factors = checked(
        np.broadcast_to(np.asarray(scale, dtype=np.float64), (3,)), (3,), "scale", finite=True
    )
    return Mesh(*joined(read_pieces(path), factors))


def load_hull(path: str | os.PathLike[str], scale: ArrayLike = 1.0) -> ConvexHull:
    """Convex hull of the mesh in a file.

    Parameters
    ----------
    path : path-like
        As in `load_mesh`.
    scale : float or (3,) array_like
        Metres a unit of the file, along its axes.

    Returns
    -------
    ConvexHull
        Of all vertices of the file, in m, in its axes.

    Raises
    ------
    AssetError, MissingLibraryError
        As `load_mesh`.
    ShapeError
        If the vertices lie in a plane.
    """
    return ConvexHull(load_mesh(path, scale).vertices)


def convex_parts(
    mesh: Mesh, *, threshold: float = 0.05, cache_dir: str | os.PathLike[str] | None = None
) -> list[ConvexHull]:
    """A closed mesh as convex parts, for a body that moves.

    They are cut by CoACD, or V-HACD where that is not installed, hulled again here, and kept in
    `cache_dir` under the hash of the mesh and the threshold: a second call reads them.

    Parameters
    ----------
    mesh : Mesh
        A closed surface.
    threshold : float
        CoACD's concavity, from 0.01 (many parts) to 1.
    cache_dir : path-like, optional
        Default: the user's cache folder.

    Returns
    -------
    list of ConvexHull
        In the mesh's axes; together they fill it, and a little more.

    Raises
    ------
    MissingLibraryError
        If neither coacd nor vhacdx is installed.
    ShapeError
        If no part has a volume.
    """
    tool = next((name for name in ("coacd", "vhacdx") if find_spec(name)), "none")
    threshold = scalar(threshold, "threshold", low=0.0, strict=True)
    release = version(tool) if tool != "none" else ""  # another release may cut another way
    settings = f"{tool} {release} {threshold!r}".encode()
    key = hashlib.sha256(mesh.vertices.tobytes() + mesh.faces.tobytes() + settings).hexdigest()
    place = Path(cache_dir) if cache_dir else cache_directory("parts")
    file = None if place is None else place / f"parts-{key[:32]}.npz"
    if file is not None and file.exists():
        arrays = load_arrays(file, "convex parts")
        parts = [np.asarray(arrays[f"part{i}"], dtype=np.float64) for i in range(len(arrays))]
        return [ConvexHull(part) for part in parts]
    if tool == "none":
        raise MissingLibraryError(
            "convex parts: install spatialops[decompose], or take the hull of the whole: ConvexHull"
        )
    found = [_solid(points) for points in _decompose(tool, mesh, threshold)]
    hulls = [hull for hull in found if hull is not None]
    if not hulls:
        raise ShapeError(f"convex parts: {tool} finds none that has a volume; is the mesh closed?")
    if file is not None:
        save_arrays(file, {f"part{i}": hull.vertices for i, hull in enumerate(hulls)})
    return hulls


def _solid(points: Array) -> ConvexHull | None:
    """The hull of a part; None for one without a volume, as V-HACD leaves some."""
    try:
        return ConvexHull(points)
    except ShapeError:
        return None


def _decompose(tool: str, mesh: Mesh, threshold: float) -> list[Array]:
    module = import_module(tool)
    if tool == "coacd":
        module.set_log_level("error")
        found = module.run_coacd(
            module.Mesh(mesh.vertices, mesh.faces), threshold=threshold, seed=0
        )
        return [np.asarray(vertices, dtype=np.float64) for vertices, _ in found]
    counted = np.column_stack([np.full(len(mesh.faces), 3), mesh.faces]).ravel()
    return [
        np.asarray(vertices, dtype=np.float64)
        for vertices, _ in module.compute_vhacd(mesh.vertices, counted)
    ]
