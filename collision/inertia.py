"""Mass, centre and inertia of shapes of even density."""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array, IntArray, scalar
from spatialops.algebra.inertia import Inertia
from spatialops.collision.shapes import (
    Box,
    Capsule,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    Mesh,
    Shape,
    Sphere,
)
from spatialops.errors import ShapeError


def shape_inertia(shape: Shape, density: float = 1000.0) -> Inertia:
    """Inertia of a solid shape in its own axes, about which its geom stands.

    Parameters
    ----------
    shape : Shape
        Not a half-space or height field; a mesh must be closed.
    density : float
        kg/m^3.

    Returns
    -------
    Inertia
        Mass, centre of mass and inertia in the shape's axes; `Inertia.shifted` and `.rotated` take
        it to a body's.

    Raises
    ------
    ShapeError
        For a shape without a volume.

    Examples
    --------
    >>> from spatialops.collision import Box, shape_inertia
    >>> round(shape_inertia(Box((0.1, 0.1, 0.1)), density=500.0).mass, 12)
    0.5
    """
    density = scalar(density, "density", low=0.0, strict=True)
    if isinstance(shape, Sphere):
        return Inertia.sphere(shape.radius, density=density)
    if isinstance(shape, Box):
        return Inertia.box(shape.size, density=density)
    if isinstance(shape, Capsule):
        return Inertia.capsule(shape.radius, shape.length, density=density)
    if isinstance(shape, Cylinder):
        return Inertia.cylinder(shape.radius, shape.length, density=density)
    if isinstance(shape, Cone):
        return Inertia.cone(shape.radius, shape.length, density=density)
    if isinstance(shape, Ellipsoid):
        return Inertia.ellipsoid(shape.semi_axes, density=density)
    if isinstance(shape, ConvexHull):
        return solid_inertia(shape.vertices, shape.solid.triangles(), density)
    if isinstance(shape, Mesh):
        _check_closed(shape)
        return solid_inertia(shape.vertices, shape.faces, density)
    raise ShapeError(f"inertia: a {type(shape).__name__} has no volume")


def solid_inertia(vertices: Array, faces: IntArray, density: float) -> Inertia:
    """Inertia of what a closed surface encloses, summed over tetrahedra to its triangles.

    A tetrahedron with corners 0, a, b, c has the volume V = det(a b c) / 6 and the second moments
    V / 20 (s s^T + a a^T + b b^T + c c^T) with s = a + b + c.
    """
    middle = 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))
    corners = vertices[faces] - middle
    volumes = np.linalg.det(corners) / 6.0
    volume = float(volumes.sum())
    if not volume > 0.0:
        raise ShapeError(
            f"inertia: the surface encloses {volume:.3g} m^3; are its triangles turned inside out?"
        )
    sums = corners.sum(axis=1)
    centre = np.einsum("f,fi->i", volumes, sums) / (4.0 * volume)
    second = np.einsum("f,fi,fj->ij", volumes, sums, sums) + np.einsum(
        "f,fki,fkj->ij", volumes, corners, corners
    )
    second = second / 20.0 - volume * np.outer(centre, centre)
    return Inertia(
        density * volume, centre + middle, density * (np.trace(second) * np.eye(3) - second)
    )


def _check_closed(mesh: Mesh) -> None:
    _, number = np.unique(mesh.vertices, axis=0, return_inverse=True)
    corners = number.reshape(-1)[mesh.faces]
    edges = {
        (int(a), int(b)) for face in corners for a, b in zip(face, np.roll(face, -1), strict=True)
    }
    open_edges = sum((b, a) not in edges for a, b in edges)
    if open_edges:
        raise ShapeError(
            f"inertia: the mesh is not closed: {open_edges} of its edges belong to one triangle "
            "only"
        )
