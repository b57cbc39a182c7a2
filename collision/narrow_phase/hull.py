"""Convex polyhedra: corners, faces as polygons, planes, and which faces stand about a corner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.errors import ShapeError

_FLAT = 1e-7  # triangles whose planes differ by less (relative to the size) are one face
_NO_VOLUME = 1e-9  # of a hull of size one that is flat
_STRAIGHT = 1e-12  # twice the area, at size one, of a corner and its neighbours on a straight edge


@dataclass(frozen=True, eq=False)
class Polyhedron:
    """A convex polyhedron.

    Attributes
    ----------
    vertices : (v, 3) array
        Corners, m.
    faces : tuple of int arrays
        Corners of each face, counter-clockwise seen from outside.
    planes : (f, 4) array
        Outward unit normal n and offset d of every face: n . x <= d inside.
    edges : (e, 2) int array
        Corners of each edge once, those within faces that are flat to rounding included.
    """

    vertices: Array
    faces: tuple[IntArray, ...]
    planes: Array
    edges: IntArray

    def fans(self) -> list[list[int]]:
        """Faces about each corner."""
        fans: list[list[int]] = [[] for _ in self.vertices]
        for f, face in enumerate(self.faces):
            for v in face:
                fans[int(v)].append(f)
        return fans

    def triangles(self) -> IntArray:
        """The faces cut into fans of triangles, (n, 3)."""
        cut = [
            (face[0], face[i], face[i + 1]) for face in self.faces for i in range(1, len(face) - 1)
        ]
        return np.array(cut, dtype=np.int64)


def convex_hull(points: Array) -> Polyhedron:
    """Convex hull of points (n, 3), its coplanar triangles joined.

    Raises
    ------
    ShapeError
        For fewer than four points, or points in a plane.
    """
    from scipy.spatial import ConvexHull as Hull
    from scipy.spatial import QhullError

    if len(points) < 4:
        raise ShapeError(f"convex hull: expected at least 4 points, got {len(points)}")
    centre, size = points.mean(axis=0), float(np.ptp(points, axis=0).max())
    if not size > 0.0:
        raise ShapeError("convex hull: all points coincide")
    scaled = (points - centre) / size
    try:
        hull = Hull(scaled)
    except QhullError:
        raise ShapeError("convex hull: the points lie in a plane or nearly so") from None
    if hull.volume < _NO_VOLUME:
        raise ShapeError(
            f"convex hull: it is flat: {hull.volume * size**3:.2e} m^3 at a size of {size:g} m"
        )
    simplices, neighbours = hull.simplices.astype(np.int64), hull.neighbors.astype(np.int64)
    groups = _coplanar(simplices, neighbours, hull.equations)
    loops = [
        loop
        for group in groups
        if len(loop := _loop(simplices[group], hull.equations[group[0]], scaled)) > 2
    ]
    used = np.unique(np.concatenate(loops))
    number = np.full(len(points), -1)
    number[used] = np.arange(len(used))
    vertices = np.ascontiguousarray(points[used])
    faces = tuple(number[loop].astype(np.int64) for loop in loops)
    planes = np.array([_plane(vertices[face]) for face in faces])
    return Polyhedron(vertices, faces, planes, _edges(faces, number[simplices]))


def _edges(faces: Sequence[IntArray], triangles: IntArray) -> IntArray:
    """Edges of faces, and of the triangles that they were joined from; corners left out are -1.

    Within a face, too: it is flat to a tolerance only, and what goes from corner to corner to reach
    farther must not be held up there.
    """
    ends = [np.stack([face, np.roll(face, -1)], axis=1) for face in faces]
    ends += [triangles[:, pair] for pair in ([0, 1], [1, 2], [2, 0])]
    both = np.sort(np.concatenate(ends), axis=1)
    return np.unique(both[both[:, 0] >= 0], axis=0)


def _coplanar(simplices: IntArray, neighbours: IntArray, planes: Array) -> list[list[int]]:
    """Groups of triangles that hang together in one plane."""
    seen, groups = np.zeros(len(simplices), dtype=bool), []
    for start in range(len(simplices)):
        if seen[start]:
            continue
        seen[start] = True
        group = []
        todo = [start]
        while todo:
            one = todo.pop()
            group.append(one)
            for other in neighbours[one]:
                if not seen[other] and np.abs(planes[other] - planes[start]).max() < _FLAT:
                    seen[other] = True
                    todo.append(int(other))
        groups.append(sorted(group))
    return groups


def _loop(triangles: IntArray, plane: Array, points: Array) -> IntArray:
    """Corners about a group of triangles, counter-clockwise, those on straight edges left out."""
    corners = np.unique(triangles)
    normal = plane[:3]
    first = np.cross(normal, np.eye(3)[np.abs(normal).argmin()])
    first /= np.linalg.norm(first)
    flat = (points[corners] - points[corners].mean(axis=0)) @ np.stack(
        [first, np.cross(normal, first)], axis=1
    )
    order = np.argsort(np.arctan2(flat[:, 1], flat[:, 0]), kind="stable")
    corners, flat = corners[order], flat[order]
    before, after = flat - np.roll(flat, 1, axis=0), np.roll(flat, -1, axis=0) - flat
    turns = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
    return corners[turns > _STRAIGHT]


def _plane(corners: Array) -> Array:
    """Unit normal and offset of a polygon (Newell)."""
    after = np.roll(corners, -1, axis=0)
    centre = corners.mean(axis=0)
    normal = np.cross(corners - centre, after - centre).sum(axis=0)
    normal /= np.linalg.norm(normal)
    return np.append(normal, (corners @ normal).max())


def box_polyhedron(size: Sequence[float]) -> Polyhedron:
    """A box with full edges `size` about its middle: the cube, stretched along its axes."""
    cube, edges = _cube(), np.asarray(size, dtype=np.float64)
    planes = cube.planes.copy()
    planes[:, 3] = 0.5 * np.abs(planes[:, :3]) @ edges
    return replace(cube, vertices=cube.vertices * edges, planes=planes)


@cache
def _cube() -> Polyhedron:
    """The cube with edges of one."""
    return convex_hull(np.array(list(product((-0.5, 0.5), repeat=3))))
