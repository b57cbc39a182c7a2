"""Paths through space: from node to node, straight or around geoms, over pulleys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, cast

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, IntArray, given, instance, scalar, several, vector
from spatialops.dynamics.kinematics import poses_kernel
from spatialops.errors import ModelError
from spatialops.forces import _layout as of
from spatialops.forces.path_length import Placed, path_length
from spatialops.tree.model import Model
from spatialops.tree.node import Node, NodeLike


@dataclass(frozen=True, eq=False, kw_only=True)
class Around:
    """A sphere or a cylinder that a path may go around, between two of its nodes.

    Parameters
    ----------
    middle : Node
        On a body or on the world.
    radius : float
        m, positive.
    axis : (3,) array_like, optional
        Of a cylinder of no end, in the body's frame. Default: a sphere.
    side : Node, optional
        On the side of the geom that the path goes by, outside of it. Default: the shorter way.

    Raises
    ------
    ModelError
        For numbers that do not fit.
    """

    middle: NodeLike
    radius: float
    axis: ArrayLike | None = None
    side: NodeLike | None = None

    def __post_init__(self) -> None:
        scalar(self.radius, "around: radius", low=0.0, strict=True)
        if self.axis is not None:
            axis = vector(self.axis, 3, "around: axis")
            if not np.linalg.norm(axis) > 0.0:
                raise ModelError("around: axis: expected a direction, got zero")

    def numbers(self, model: Model) -> tuple[int, int, Array]:
        """It as kernels read it.

        Parameters
        ----------
        model : Model
            The mechanism.

        Returns
        -------
        link, kind : int
            Of its body (-1: the world); sphere or cylinder.
        numbers : (12,) array
            Middle and radius, axis, side.
        """
        middle = model.resolve([self.middle])
        row = np.zeros(of.GEOM_FLOATS)
        row[:3], row[3] = middle.offsets[0], self.radius
        if self.axis is not None:
            body = _node(self.middle).body
            ends = model.resolve([Node(body, vector(self.axis, 3, "axis")), Node(body)])
            line = ends.offsets[0] - ends.offsets[1]
            row[of.AXIS : of.AXIS + 3] = line / np.linalg.norm(line)
        if self.side is not None:
            side = model.resolve([self.side])
            row[of.HAS_SIDE], row[of.SIDE_LINK] = 1.0, side.links[0]
            row[of.SIDE : of.SIDE + 3] = side.offsets[0]
        return int(middle.links[0]), of.SPHERE if self.axis is None else of.CYLINDER, row

    def to_data(self) -> dict[str, object]:
        """It as plain data; `Around(**data)` is the inverse.

        Returns
        -------
        dict
            By names of fields.
        """
        axis = None if self.axis is None else np.asarray(self.axis, dtype=np.float64).tolist()
        side = None if self.side is None else _plain(_node(self.side))
        return {
            "middle": _plain(_node(self.middle)),
            "radius": self.radius,
            "axis": axis,
            "side": side,
        }


@dataclass(frozen=True, eq=False)
class TendonPath:
    """A path along nodes: branches that add up, each over a pulley of its own.

    Parameters
    ----------
    branches : sequence of sequences of Node or Around
        Two nodes or more each, on bodies or on the world; straight lines lie between them, or those
        around a geom that stands between two.
    divisors : sequence of float, optional
        What the length of each branch is divided by, positive: 2 where two strands of it share the
        pull of one. Default: 1.
    factor : float
        What all is multiplied by: an actuator's gear. Default 1.

    Raises
    ------
    ModelError
        For branches that are too short, and numbers that do not fit.

    Examples
    --------
    >>> import spatialops as so
    >>> model = so.models.pendulum(1, angle=0.0).model
    >>> stay = so.TendonPath([[so.Node("world", (3.0, 0.0, 10.0)), so.Node("link1")]])
    >>> float(stay.length(model, [0.0]))
    3.0
    """

    branches: tuple[tuple[Node | Around, ...], ...]
    divisors: tuple[float, ...] = given(None)
    factor: float = 1.0

    if TYPE_CHECKING:  # what may be given, where the fields say what is kept

        def __init__(
            self,
            branches: Sequence[Sequence[NodeLike | Around]],
            divisors: Sequence[float] | None = ...,
            factor: float = ...,
        ) -> None: ...

    def __post_init__(self) -> None:
        what = "branches, each of nodes"
        branches = tuple(
            tuple(_point(one) for one in several(branch, "path: branches", what, ModelError))
            for branch in several(self.branches, "path: branches", what, ModelError)
        )
        if not branches or min(len(branch) for branch in branches) < 2:
            raise ModelError("path: branches: expected one or more, of two nodes or more each")
        for branch in branches:
            geoms = [isinstance(one, Around) for one in branch]
            if geoms[0] or geoms[-1] or any(a and b for a, b in pairwise(geoms)):
                raise ModelError("path: branches: expected a node before and after every Around")
        own: Sequence[float] | None = self.divisors
        one = (1.0,) * len(branches)
        found = one if own is None else several(own, "path: divisors", "numbers", ModelError)
        divisors = tuple(scalar(x, "path: divisors", low=0.0, strict=True) for x in found)
        if len(divisors) != len(branches):
            raise ModelError(f"path: divisors: expected {len(branches)} numbers, got {found!r}")
        object.__setattr__(self, "branches", branches)
        object.__setattr__(self, "divisors", divisors)
        object.__setattr__(self, "factor", scalar(self.factor, "path: factor"))

    def length(self, model: Model, q: ArrayLike) -> float:
        """Its length.

        Parameters
        ----------
        model : Model
            The mechanism.
        q : (nq,) array_like
            Coordinates, rad and m.

        Returns
        -------
        float
            m, times its factor.
        """
        return self._measured(model, q)[0]

    def arms(self, model: Model, q: ArrayLike) -> Array:
        """Its moment arms dl/dv.

        Parameters
        ----------
        model : Model
            The mechanism.
        q : (nq,) array_like
            Coordinates, rad and m.

        Returns
        -------
        (nv,) array
            m or 1, times its factor.
        """
        return self._measured(model, q)[1]

    def _measured(self, model: Model, q: ArrayLike) -> tuple[float, Array]:
        placed = Placed(
            instance(model, Model, "model").tree,
            model.links,
            vector(q, model.nq, "q"),
            np.empty((model.nv, layout.WORK_COLUMNS)),
            np.zeros(model.nv),
        )
        poses_kernel(model.tree, model.links, placed.q, placed.work)
        points, numbers = self.points(model)
        moved = links_of(model, points[:, of.LINK])
        ints = np.zeros((1, of.ELEMENT_INTS), dtype=np.int64)
        ints[0, [of.COUNT, of.POINT, of.POINTS]] = len(moved), len(moved), len(points)
        joints = np.vstack([[(k, 0, 0) for k in moved], points]) if moved else points
        return path_length(ints, joints, numbers, 0, placed), placed.arms

    def points(self, model: Model) -> tuple[IntArray, Array]:
        """Its nodes and geoms as kernels read them.

        Parameters
        ----------
        model : Model
            The mechanism.

        Returns
        -------
        points : (k, 3) int array
            Link (-1: the world), where its numbers begin, and kind of each, in their order.
        numbers : array
            Of all of them.
        """
        points: list[tuple[int, int, int]] = []
        numbers: list[float] = []
        for branch, divisor in zip(self.branches, self.divisors, strict=True):
            for i, one in enumerate(branch):
                if isinstance(one, Around):
                    link, kind, row = one.numbers(model)
                else:
                    node, kind = model.resolve([one]), of.NODE
                    link, weight = int(node.links[0]), self.factor / divisor
                    row = np.append(node.offsets[0], weight if i + 1 < len(branch) else 0.0)
                points.append((link, len(numbers), kind))
                numbers += row.tolist()
        return np.array(points, dtype=np.int64), np.array(numbers)

    def to_data(self) -> dict[str, object]:
        """The path as plain data; `TendonPath(**data)` is the inverse.

        Returns
        -------
        dict
            By names of fields.
        """
        branches = [
            [one.to_data() if isinstance(one, Around) else _plain(one) for one in branch]
            for branch in self.branches
        ]
        return {"branches": branches, "divisors": list(self.divisors), "factor": self.factor}


def _point(given: object) -> Node | Around:
    if isinstance(given, dict):  # of plain data
        return Around(**given)
    return given if isinstance(given, Around) else _node(cast(NodeLike, given))


def _plain(node: Node) -> list[object]:
    return [node.body, np.asarray(node.position, dtype=np.float64).tolist()]


def _node(given: NodeLike) -> Node:
    if isinstance(given, (str, int)):
        return Node(given)
    try:
        body, position = given
    except (TypeError, ValueError):
        raise ModelError(f"path: expected a node (body, position), got {given!r}") from None
    return Node(body, position)


def links_of(model: Model, links: IntArray) -> list[int]:
    """All links that move any of these: those that arms may be of."""
    found: set[int] = set()
    for link in links.tolist():
        while link >= 0:
            found.add(link)
            link = int(model.tree[link, layout.PARENT])
    return sorted(found)
