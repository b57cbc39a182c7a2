"""Rows of contacts as maps of the motion of points: soles, round feet, bodies that hold others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, Vec3, not_finite, vector
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import dot, vec3
from spatialops.dynamics.nodes import joint_motion, node_motion_kernel, node_point
from spatialops.tree.model import Model

# Columns of spans: first row of the contact, number of rows, first row of the map.
_FIRST, _COUNT, _MAP = range(3)


class NodeMaps(NamedTuple):
    """Points of bodies, and what their motion does to contacts.

    Parameters
    ----------
    links : (k,) int array
        Kernel links of the points, -1 for the world.
    offsets : (k, 3) array
        The points in axes of their links, m.
    spans : (k, 3) int array
        First row of the contact of each, number of its rows, first row of its map.
    maps : (s, 6) array
        Rows from the motion [angular; linear] of each point, one map after the other.
    """

    links: IntArray
    offsets: Array
    spans: IntArray
    maps: Array

    @classmethod
    def of(cls, links: IntArray, offsets: Array, places: list[tuple[int, Array]]) -> NodeMaps:
        """Of nodes with the first row and the map of each."""
        spans = np.zeros((len(places), 3), dtype=np.int64)
        spans[:, _FIRST] = [first for first, _ in places]
        spans[:, _COUNT] = [len(rows) for _, rows in places]
        spans[1:, _MAP] = np.cumsum(spans[:-1, _COUNT])
        maps = np.concatenate([rows for _, rows in places])
        return cls(links.copy(), offsets.copy(), spans, maps)


def rows_of_maps(
    model: Model, q: Array, v: Array, nodes: NodeMaps, count: int
) -> tuple[Array, Array, Array]:
    """The rows A, their drift, and how the points move.

    Parameters
    ----------
    model : Model
        The mechanism.
    q, v : (nq,), (nv,) arrays
        Coordinates and velocities.
    nodes : NodeMaps
        The points.
    count : int
        Number of rows.

    Returns
    -------
    A : (count, nv) array
        Rows of all contacts.
    drift : (count,) array
        Adot v for maps that do not change, m/s^2 and rad/s^2.
    velocities : (k, 6) array
        Of the points, [angular; linear] in world axes.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN or infinity.
    """
    q, v = vector(q, model.nq, "q"), vector(v, model.nv, "v")
    A, drift = np.empty((count, model.nv)), np.empty(count)
    moves = np.empty((2, len(nodes.links), 6))
    work = model.workspace()
    motion = q, v, model.branches.rest
    tables = nodes.links, nodes.offsets, nodes.spans, nodes.maps
    status = mapped_rows(model.tree, model.links, motion, tables, work, moves, A, drift)
    if status != layout.OK:
        raise not_finite(q=q, v=v)
    model.spare.append(work)
    return A, drift, moves[0]


@kernel
def mapped_rows(
    tree: IntArray,
    links: Array,
    motion: tuple[Array, Array, Array],
    nodes: tuple[IntArray, Array, IntArray, Array],
    work: Array,
    moves: Array,
    A: Array,
    drift: Array,
) -> int:
    """Rows A (count, nv) and drift (count,) of `NodeMaps`; the motion is q, v and no acceleration.

    `moves` (2, k, 6) become velocities and drifts of the points.
    """
    q, v, still = motion
    own, offsets, spans, maps = nodes
    status = node_motion_kernel(tree, links, q, v, still, own, offsets, work, moves)
    if status != layout.OK:
        return status
    A[:] = 0.0
    drift[:] = 0.0
    for i in range(own.size):
        place = spans[i, _MAP]
        mapped = maps[place : place + spans[i, _COUNT]]
        row = spans[i, _FIRST]
        for c in range(mapped.shape[0]):
            for j in range(6):
                drift[row + c] += mapped[c, j] * moves[1, i, j]
        point = node_point(work, own[i], vec3(offsets, i, 0))
        add_mapped_path(tree, links, mapped, point, work, own[i], A[row:])
    return layout.OK


@inlined
def add_mapped_path(
    tree: IntArray, links: Array, mapped: Array, point: Vec3, work: Array, k: int, rows: Array
) -> None:
    """What the joints that move a world point of link k do to rows of its contact."""
    while k >= 0:
        angular, linear = joint_motion(tree, links, point, work, k)
        for c in range(mapped.shape[0]):
            rows[c, k] += dot(vec3(mapped, c, 0), angular) + dot(vec3(mapped, c, 3), linear)
        k = tree[k, layout.PARENT]
