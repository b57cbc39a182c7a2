"""Fewer triangles for a picture: corners that lie in one cell of a grid become one.

J. Rossignac, P. Borrel, Multi-resolution 3D approximations for rendering complex scenes (1993).
"""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array, IntArray

_FINEST = 512  # cells along the longest edge of the mesh
_COARSEST = 8


def coarser(vertices: Array, faces: IntArray, *, most: int) -> tuple[Array, IntArray]:
    """The same surface with at most so many faces, if the coarsest grid can do it."""
    cells = _FINEST
    found = vertices, faces
    while len(found[1]) > most and cells >= _COARSEST:
        found = _clustered(vertices, faces, cells)
        cells //= 2
    return found


def _clustered(vertices: Array, faces: IntArray, cells: int) -> tuple[Array, IntArray]:
    low = vertices.min(axis=0)
    size = float(np.ptp(vertices, axis=0).max()) / cells
    keys = np.floor((vertices - low) / size).astype(np.int64)
    _, group, counts = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    group = group.reshape(-1)
    means = np.zeros((len(counts), 3))
    np.add.at(means, group, vertices)
    merged = group[faces]
    a, b, c = merged.T
    kept = (a != b) & (b != c) & (c != a)
    return means / counts[:, None], merged[kept]
