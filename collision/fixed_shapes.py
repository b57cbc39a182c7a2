"""Shapes that sit on the world only: half-spaces, and surfaces that are solid below."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from spatialops._arrays import Array, ArrayLike, IntArray, Vec3, dimensions
from spatialops.collision.checks import freeze, rows_of_three, three
from spatialops.errors import ShapeError

_NO_LENGTH = 1e-12  # of a vector that is taken for zero
_NO_AREA = 1e-12  # twice the area of a triangle, relative to its longest edge squared, left out


@dataclass(frozen=True, eq=False)
class HalfSpace:
    """Everything below a plane through the geom's position; on the world only.

    Parameters
    ----------
    normal : (3,) array_like
        Outward normal in the geom's axes, made a unit vector; default: up.

    Examples
    --------
    >>> import spatialops as so
    >>> ramp = so.HalfSpace(normal=(3.0, 0.0, 4.0))
    >>> ramp.normal
    (0.6, 0.0, 0.8)
    >>> so.Geom("ramp", "world", ramp, friction=0.5).friction
    0.5
    """

    normal: Vec3 = (0.0, 0.0, 1.0)

    if TYPE_CHECKING:  # what it is given; the fields are what is kept

        def __init__(self, normal: ArrayLike = ...) -> None: ...

    def __post_init__(self) -> None:
        normal = three("half-space: normal", self.normal)
        length = float(np.linalg.norm(normal))
        if not length > _NO_LENGTH:
            raise ShapeError("half-space: normal must not be zero")
        object.__setattr__(self, "normal", tuple(float(x) for x in normal / length))


@dataclass(frozen=True, eq=False)
class Mesh:
    """A surface of triangles that does not move, solid behind each; on the world only.

    Parameters
    ----------
    vertices : (n, 3) array_like
        m, in the geom's axes.
    faces : (f, 3) array_like of int
        Corners counter-clockwise seen from outside. Triangles without area are left out.

    Examples
    --------
    >>> import spatialops as so
    >>> corners = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)]
    >>> roof = so.Mesh(corners, [(0, 1, 2)])
    >>> roof.vertices.shape, roof.faces.tolist()
    ((3, 3), [[0, 1, 2]])
    """

    vertices: Array
    faces: IntArray

    if TYPE_CHECKING:  # what it is given; the fields are what is kept

        def __init__(self, vertices: ArrayLike, faces: ArrayLike) -> None: ...

    def __post_init__(self) -> None:
        vertices = rows_of_three("mesh: vertices", self.vertices)
        dimensions(self.faces, "faces")
        faces = np.array(self.faces)
        if (
            faces.ndim != 2
            or faces.shape[1:] != (3,)
            or not len(faces)
            or faces.dtype.kind not in "iu"
        ):
            raise ShapeError(
                "mesh: faces: expected whole numbers of shape (f, 3), "
                f"got {faces.dtype} {faces.shape}"
            )
        if faces.min() < 0 or faces.max() >= len(vertices):
            raise ShapeError(f"mesh: faces: indices must lie in 0 to {len(vertices) - 1}")
        corners = vertices[faces]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        edges = np.max(np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2), axis=1)
        flat = np.linalg.norm(normals, axis=1) <= _NO_AREA * edges**2
        if flat.all():
            raise ShapeError("mesh: no triangle has an area")
        freeze(self, vertices=vertices, faces=np.ascontiguousarray(faces[~flat], dtype=np.int64))


@dataclass(frozen=True, eq=False)
class HeightField:
    """Ground of given heights that does not move, solid below; on the world only.

    Parameters
    ----------
    heights : (nx, ny) array_like
        Heights (m) over a regular grid; heights[i, j] stands at x_i, y_j. Cells are cut into two
        triangles along the diagonal from (i, j) to (i + 1, j + 1).
    size : (2,) array_like
        Edges (m) along local x and y; the grid is centred about the geom's position.

    Examples
    --------
    >>> import numpy as np, spatialops as so
    >>> x = np.linspace(-1.0, 1.0, 21)
    >>> dune = so.HeightField(0.1 * np.cos(np.pi * x)[:, None] * np.ones(11), size=(2.0, 1.0))
    >>> dune.heights.shape, dune.size
    ((21, 11), (2.0, 1.0))
    """

    heights: Array
    size: tuple[float, float]

    if TYPE_CHECKING:  # what it is given; the fields are what is kept

        def __init__(self, heights: ArrayLike, size: ArrayLike) -> None: ...

    def __post_init__(self) -> None:
        try:
            heights = np.array(self.heights, dtype=np.float64)
            size = np.array(self.size, dtype=np.float64)
        except (TypeError, ValueError):
            raise ShapeError("height field: heights and size must be numbers") from None
        if heights.ndim != 2 or min(heights.shape) < 2 or not np.isfinite(heights).all():
            raise ShapeError(
                "height field: heights: expected a finite table of 2 x 2 or more, "
                f"got {heights.shape}"
            )
        if size.shape != (2,) or not np.isfinite(size).all() or not (size > 0.0).all():
            raise ShapeError(f"height field: size: expected 2 positive numbers, got {self.size!r}")
        heights.flags.writeable = False
        freeze(self, heights=heights, size=tuple(float(x) for x in size))

    def triangles(self) -> tuple[Array, IntArray]:
        """The ground as a surface of triangles, two a cell, normals up.

        Returns
        -------
        vertices : (nx ny, 3) array
            m, in the geom's axes.
        faces : (2 (nx - 1) (ny - 1), 3) int array
            Corners of each triangle.
        """
        nx, ny = self.heights.shape
        x, y = (
            np.linspace(-0.5 * edge, 0.5 * edge, n)
            for edge, n in zip(self.size, (nx, ny), strict=True)
        )
        vertices = np.stack([np.repeat(x, ny), np.tile(y, nx), self.heights.ravel()], axis=1)
        i = (np.arange(nx - 1)[:, None] * ny + np.arange(ny - 1)[None, :]).ravel()
        lower = np.stack([i, i + ny, i + ny + 1], axis=1)
        upper = np.stack([i, i + ny + 1, i + 1], axis=1)
        return vertices, np.stack([lower, upper], axis=1).reshape(-1, 3).astype(np.int64)


FIXED = (HalfSpace, Mesh, HeightField)  # what must sit on the world
