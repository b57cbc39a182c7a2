"""Triangles as a picture, by a depth buffer: pictures without a display or a graphics card."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from spatialops._arrays import Array
from spatialops._compile.jit import kernel


@kernel
def draw_triangles(
    corners: Array, colors: Array, image: NDArray[np.float32], depth: NDArray[np.float32]
) -> None:
    """Draw triangles over what nearer ones have left.

    Every pixel whose centre lies in a triangle, by its barycentric coordinates (J. Pineda, *A
    Parallel Algorithm for Polygon Rasterization*, SIGGRAPH 1988); the inverse of the distance is
    linear on the screen.

    Parameters
    ----------
    corners : (n, 3, 3) array
        Column and row [pixels] and inverse distance [1/m] of every corner.
    colors : (n, 3) array
        Of the triangles, 0 to 1.
    image : (height, width, 3) float32 array
        Drawn into.
    depth : (height, width) float32 array
        Inverse distances of what is drawn already; written.
    """
    height = depth.shape[0]
    width = depth.shape[1]
    for k in range(corners.shape[0]):
        ax = corners[k, 0, 0]
        ay = corners[k, 0, 1]
        bx = corners[k, 1, 0] - ax
        by = corners[k, 1, 1] - ay
        cx = corners[k, 2, 0] - ax
        cy = corners[k, 2, 1] - ay
        area = bx * cy - by * cx
        if area == 0.0:
            continue
        left = max(math.ceil(ax + min(0.0, bx, cx)), 0)
        right = min(math.floor(ax + max(0.0, bx, cx)), width - 1)
        top = max(math.ceil(ay + min(0.0, by, cy)), 0)
        bottom = min(math.floor(ay + max(0.0, by, cy)), height - 1)
        for row in range(top, bottom + 1):
            for column in range(left, right + 1):
                x = column - ax
                y = row - ay
                b = (x * cy - y * cx) / area
                c = (y * bx - x * by) / area
                near = (1.0 - b - c) * corners[k, 0, 2] + b * corners[k, 1, 2]
                near += c * corners[k, 2, 2]
                if min(b, c, 1.0 - b - c) < 0.0 or near <= depth[row, column]:
                    continue
                depth[row, column] = near
                image[row, column, 0] = colors[k, 0]
                image[row, column, 1] = colors[k, 1]
                image[row, column, 2] = colors[k, 2]
