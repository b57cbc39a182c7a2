"""Where the line of a path is, for pictures, and what it does to the bodies that it goes along."""

from __future__ import annotations

import math
from collections.abc import Sequence
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

    def body(self, node: Node) -> int:
        """The body that a node moves with."""
        return self.model.frame(node.body).body if isinstance(node.body, str) else int(node.body)

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
        corners = [place for _, place in _corners(poses, branch)]
        pieces += [np.array(ends) for ends in pairwise(corners)]
    return np.array(pieces)


def path_wrenches(model: Model, path: TendonPath, positions: Array, rotations: Array) -> Array:
    """[moment; force] (n_bodies, 6) that a unit force along a path does to bodies.

    At their origins (n_bodies, 3), world axes. A force along a length pushes the ends of each
    piece apart; of pieces of an arc both ends are on the geom, and nothing is left.
    """
    poses = _Poses(model, positions, rotations)
    found = np.zeros((model.n_bodies, 6))
    for branch, divisor in zip(path.branches, path.divisors, strict=True):
        for (a, here), (b, there) in pairwise(_corners(poses, branch)):
            size = float(np.linalg.norm(there - here))
            if size == 0.0:
                continue
            push = path.factor / divisor / size * (there - here)
            for body, place, force in ((a, here, -push), (b, there, push)):
                if body >= 0:
                    found[body, :3] += np.cross(place - positions[body], force)
                    found[body, 3:] += force
    return found


def _corners(poses: _Poses, branch: Sequence[Node | Around]) -> list[tuple[int, Array]]:
    """Corners of the line of a branch, each with its body, -1: the world."""
    first = branch[0]
    assert isinstance(first, Node)  # paths begin, go on after a geom, and end with nodes
    corners = [(poses.body(first), poses.place(first))]
    for i, one in enumerate(branch[1:], start=1):
        if isinstance(one, Node):
            corners.append((poses.body(one), poses.place(one)))
            continue
        after = branch[i + 1]
        assert isinstance(after, Node)
        here = corners[-1]
        arc = _arc(poses, one, here[1], poses.place(after))
        owner = poses.body(_middle(one)) if arc else here[0]
        corners += [(owner, place) for place in arc or [here[1]] * (ARC + 1)]
    return corners


def _middle(around: Around) -> Node:
    return around.middle if isinstance(around.middle, Node) else Node(around.middle)  # type: ignore[arg-type]


def _arc(poses: _Poses, around: Around, here: Array, there: Array) -> list[Array]:
    """Corners along a geom, from where the line meets it to where it leaves it, if it does."""
    node = _middle(around)
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
        return []
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
