"""Paths through space: from node to node in straight lines, over pulleys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, IntArray, given, scalar, vector
from spatialops.dynamics.kinematics import poses_kernel
from spatialops.errors import ModelError
from spatialops.forces import _layout as of
from spatialops.forces.path_length import Placed, path_length
from spatialops.tree.model import Model
from spatialops.tree.node import Node, NodeLike


@dataclass(frozen=True, eq=False)
class TendonPath:
    """A path along nodes: branches that add up, each over a pulley of its own.

    Parameters
    ----------
    branches : sequence of sequences of Node
        Two nodes or more each, on bodies or on the world; straight lines lie between them.
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
    >>> stay = so.TendonPath([[so.Node("world", (3.0, 0.0, 0.0)), so.Node("link1")]])
    >>> float(stay.length(model, [0.0]))
    3.0
    """

    branches: tuple[tuple[Node, ...], ...]
    divisors: tuple[float, ...] = given(None)
    factor: float = 1.0

    if TYPE_CHECKING:  # what may be given, where the fields say what is kept

        def __init__(
            self,
            branches: Sequence[Sequence[NodeLike]],
            divisors: Sequence[float] | None = ...,
            factor: float = ...,
        ) -> None: ...

    def __post_init__(self) -> None:
        branches = tuple(tuple(_node(node) for node in branch) for branch in self.branches)
        if not branches or min(len(branch) for branch in branches) < 2:
            raise ModelError("path: branches: expected one or more, of two nodes or more each")
        own: Sequence[float] | None = self.divisors
        found = (1.0,) * len(branches) if own is None else tuple(own)
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
            model.tree,
            model.links,
            vector(q, model.nq, "q"),
            np.empty((model.nv, layout.WORK_COLUMNS)),
            np.zeros(model.nv),
        )
        poses_kernel(model.tree, model.links, placed.q, placed.work)
        links, numbers = self.points(model)
        moved = links_of(model, links)
        ints = np.zeros((1, of.ELEMENT_INTS), dtype=np.int64)
        ints[0, [of.COUNT, of.POINT, of.POINTS]] = len(moved), len(moved), len(links)
        places = (of.POINT_FLOATS * np.arange(len(links))).tolist()
        rows = [(k, 0) for k in moved] + list(zip(links.tolist(), places, strict=True))
        joints = np.array(rows, dtype=np.int64)
        return path_length(ints, joints, numbers.ravel(), 0, placed), placed.arms

    def points(self, model: Model) -> tuple[IntArray, Array]:
        """Its nodes as kernels read them.

        Parameters
        ----------
        model : Model
            The mechanism.

        Returns
        -------
        links : (k,) int array
            Of its nodes in their order, -1 for the world.
        numbers : (k, 4) array
            Places in link axes, m, and weights of the lines that follow; 0 where none does.
        """
        links, rows = [], []
        for branch, divisor in zip(self.branches, self.divisors, strict=True):
            nodes = model.resolve(branch)
            weights = np.full(len(branch), self.factor / divisor)
            weights[-1] = 0.0
            links.append(nodes.links)
            rows.append(np.column_stack([nodes.offsets, weights]))
        return np.concatenate(links), np.concatenate(rows)

    def to_data(self) -> dict[str, object]:
        """The path as plain data; `TendonPath(**data)` is the inverse.

        Returns
        -------
        dict
            By names of fields.
        """
        branches = [
            [[node.body, np.asarray(node.position, dtype=np.float64).tolist()] for node in branch]
            for branch in self.branches
        ]
        return {"branches": branches, "divisors": list(self.divisors), "factor": self.factor}


def _node(given: NodeLike) -> Node:
    if isinstance(given, (str, int)):
        return Node(given)
    body, position = given
    return Node(body, position)


def links_of(model: Model, links: IntArray) -> list[int]:
    """All links that move any of these: those that arms may be of."""
    found: set[int] = set()
    for link in links.tolist():
        while link >= 0:
            found.add(link)
            link = int(model.tree[link, layout.PARENT])
    return sorted(found)
