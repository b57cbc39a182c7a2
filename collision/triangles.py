"""Surfaces of triangles as tables: planes, neighbours, and a tree of boxes to find triangles by."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray

LEAF = 4  # triangles a leaf of the tree holds at most
TRIANGLE_INTS = 6  # corners, and the neighbours across the edges that begin at them (-1: none)
NODE_INTS = 2  # first and last of its triangles, or -1 - (left child) and the right child


class SurfaceTables(NamedTuple):
    """Rows of a surface: vertices (v, 3), planes (f, 4), triangles (f, 6).

    Of its tree: boxes (n, 6) and nodes (n, 2).
    """

    vertices: Array
    planes: Array
    triangles: IntArray
    boxes: Array
    nodes: IntArray


def surface_tables(vertices: Array, faces: IntArray) -> SurfaceTables:
    """Tables of a surface; its triangles are put in the order of the tree's leaves."""
    order, boxes, nodes = _tree(vertices[faces])
    faces = faces[order]
    triangles = np.hstack([faces, neighbours(vertices, faces)])
    return SurfaceTables(vertices, _planes(vertices[faces]), triangles, boxes, nodes)


def grid_tables(vertices: Array, faces: IntArray, cells: tuple[int, int]) -> SurfaceTables:
    """Tables of a height field, whose triangles stand in the grid's order and need no tree."""
    triangles = np.hstack([faces, grid_neighbours(cells)])
    none = np.zeros((0, NODE_INTS), dtype=np.int64)
    return SurfaceTables(vertices, _planes(vertices[faces]), triangles, np.zeros((0, 6)), none)


def grid_neighbours(cells: tuple[int, int]) -> IntArray:
    """What `neighbours` finds for a height field, from the places of its cells in the grid."""
    nx, ny = cells
    # Of the lower triangle of each cell, with a rim of none.
    number = np.full((nx + 2, ny + 2), -1, dtype=np.int64)
    number[1:-1, 1:-1] = 2 * np.arange(nx * ny).reshape(nx, ny)
    here, none = number[1:-1, 1:-1], number < 0
    upper = np.where(none, -1, number + 1)
    below = np.stack([upper[1:-1, :-2], upper[2:, 1:-1], here + 1], axis=-1)
    above = np.stack([here, number[1:-1, 2:], number[:-2, 1:-1]], axis=-1)
    return np.stack([below, above], axis=2).reshape(-1, 3)


def _planes(corners: Array) -> Array:
    """Unit normals and offsets of triangles, (f, 4)."""
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return np.column_stack([normals, np.einsum("fi,fi->f", normals, corners.mean(axis=1))])


def neighbours(vertices: Array, faces: IntArray) -> IntArray:
    """Triangle across each edge (f, 3), -1: none; corners at the same place are one."""
    _, number = np.unique(vertices, axis=0, return_inverse=True)
    corners = number.reshape(-1)[faces]
    found: dict[tuple[int, int], int] = {}
    for f, (a, b, c) in enumerate(corners.tolist()):
        for edge in ((a, b), (b, c), (c, a)):
            found[edge] = f
    result = np.full(faces.shape, -1, dtype=np.int64)
    for f, (a, b, c) in enumerate(corners.tolist()):
        for i, (u, v) in enumerate(((a, b), (b, c), (c, a))):
            result[f, i] = found.get((v, u), -1)
    return result


def _tree(corners: Array) -> tuple[IntArray, Array, IntArray]:
    """Halve the triangles along the longest side of their centres' box until few are left."""
    low = corners.min(axis=1)
    high = corners.max(axis=1)
    centres = corners.mean(axis=1)
    order = np.arange(len(corners))
    boxes = list[Array]()
    nodes = list[list[int]]()
    todo: list[tuple[int, int, int]] = [(0, len(corners), -1)]
    while todo:
        first, last, above = todo.pop()
        inside, node = order[first:last], len(nodes)
        boxes.append(np.concatenate([low[inside].min(axis=0), high[inside].max(axis=0)]))
        nodes.append([first, last])
        if above >= 0:
            nodes[above][1] = node
        if last - first <= LEAF:
            continue
        nodes[node][0] = -1 - (node + 1)  # the left child is next; the right one enters itself
        axis = int(np.ptp(centres[inside], axis=0).argmax())
        order[first:last] = inside[np.argsort(centres[inside, axis], kind="stable")]
        middle = (first + last) // 2
        todo.append((middle, last, node))
        todo.append((first, middle, -1))
    return order, np.array(boxes), np.array(nodes, dtype=np.int64)
