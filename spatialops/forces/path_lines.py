"""Where the line of a path is, for pictures."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, Vec3
from spatialops.dynamics.jacobian import body_poses
from spatialops.forces.path_wraps import sphere_axis, wrapped
from spatialops.forces.paths import Around, TendonPath
from spatialops.tree.model import Model
from spatialops.tree.node import Node

ARC = 8  # straight pieces of an arc about a geom


class _Poses(NamedTuple):
    """Where bodies and their frames are."""

    model: Model
    positions: Array
    rotations: Array

    def turn(self, body: str | int) -> Array:
        """Rotation of a body, or of one that is merged into another."""
        frame = self.model.frame(body) if isinstance(body, str) else None
        if frame is None:
            return np.asarray(self.rotations[int(body)])
        above = np.eye(3) if frame.body < 0 else self.rotations[frame.body]
        return np.asarray(above @ frame.rotation)

    def place(self, node: Node) -> Array:
        """Of a node in the world."""
        frame = self.model.frame(node.body) if isinstance(node.body, str) else None
        point = np.asarray(node.position, dtype=np.float64)
        body = int(node.body) if frame is None else frame.body
        if frame is not None:
            point = frame.position + frame.rotation @ point
        if body < 0:
            return point
        return np.asarray(self.positions[body] + self.rotations[body] @ point)


def path_lines(model: Model, path: TendonPath, q: Array) -> Array:
    """Straight pieces (k, 2, 3), m, that the line of a path is made of at coordinates (nq,).

    As many at any coordinates: around a geom that it does not touch, most have no length.
    """
    found = body_poses(model, q)
    poses = _Poses(model, found.positions, found.rotations)
    pieces: list[Array] = []
    for branch in path.branches:
        corners = [_place_of(poses, branch[0])]
        for i, one in enumerate(branch[1:], start=1):
            if isinstance(one, Around):
                corners += _arc(poses, one, corners[-1], _place_of(poses, branch[i + 1]))
            else:
                corners.append(_place_of(poses, one))
        pieces += [np.array(ends) for ends in pairwise(corners)]
    return np.array(pieces)


def _place_of(poses: _Poses, one: object) -> Array:
    assert isinstance(one, Node)  # paths begin, go on after a geom, and end with nodes
    return poses.place(one)


def _arc(poses: _Poses, around: Around, here: Array, there: Array) -> list[Array]:
    """Corners along a geom, from where the line meets it to where it leaves it."""
    node = around.middle if isinstance(around.middle, Node) else Node(around.middle)  # type: ignore[arg-type]
    middle = poses.place(node)
    p0, p1 = _vec(here - middle), _vec(there - middle)
    if around.axis is None:
        axis = np.array(sphere_axis(p0, p1))
    else:
        axis = poses.turn(node.body) @ np.asarray(around.axis, dtype=np.float64)
        axis /= np.linalg.norm(axis)
    side = np.zeros(3)
    if around.side is not None:
        given = around.side if isinstance(around.side, Node) else Node(around.side)  # type: ignore[arg-type]
        side = poses.place(given) - middle
    wrap = wrapped(p0, p1, _vec(axis), around.radius, _vec(side))
    if not wrap.touches:
        return [here] * (ARC + 1)
    first, second = np.array(wrap.first), np.array(wrap.second)
    rise = float((second - first) @ axis)
    start = first - (first @ axis) * axis
    end = second - (second @ axis) * axis
    turn = math.sqrt(max(wrap.arc**2 - rise**2, 0.0)) / around.radius
    across = np.cross(axis, start)
    way = 1.0 if _misses(start, across, turn, end) <= _misses(start, across, -turn, end) else -1.0
    shares = np.linspace(0.0, 1.0, ARC + 1)
    angles = way * turn * shares
    flat = np.outer(np.cos(angles), start) + np.outer(np.sin(angles), across)
    heights = np.outer((first @ axis) + rise * shares, axis)
    return list(middle + flat + heights)


def _misses(start: Array, across: Array, angle: float, end: Array) -> float:
    """How far from its end an arc of this angle comes out, m."""
    return float(np.linalg.norm(math.cos(angle) * start + math.sin(angle) * across - end))


def _vec(point: Array) -> Vec3:
    x, y, z = (float(part) for part in point)
    return x, y, z
