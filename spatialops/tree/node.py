"""Frames and points of bodies: as people name them, and as kernels take them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from spatialops._arrays import Array, ArrayLike, IntArray
from spatialops.errors import ArgumentError


class Frame(NamedTuple):
    """A named frame and the moving body that it sits on.

    Index of that body (-1: the world), and the frame's pose in it: position (3,), m, and rotation
    (3, 3).
    """

    body: int
    position: Array
    rotation: Array


class Node(NamedTuple):
    """A point of a body.

    Parameters
    ----------
    body : str or int
        Name of a body (also of a merged one, or "world"), or the index of a moving one.
    position : (3,) array_like
        Where the point is in the body's frame, m; default: its origin.

    Examples
    --------
    >>> import spatialops as so
    >>> so.Node("link2", (0.0, 0.0, -0.5))
    Node(body='link2', position=(0.0, 0.0, -0.5))
    """

    body: str | int
    position: ArrayLike = (0.0, 0.0, 0.0)


# How a node may be given: the position is its body's origin where there is none.
NodeLike: TypeAlias = Node | tuple[str | int, ArrayLike] | str | int


@dataclass(frozen=True, eq=False, slots=True)  # a NamedTuple costs 40 ns to take apart
class Nodes:
    """Nodes made ready for kernels: links (m,), -1 for the world, and offsets (m, 3) from them.

    Offsets are in link axes, m.
    """

    links: IntArray
    offsets: Array

    def __iter__(self) -> Iterator[Any]:
        """Links, then offsets."""
        return iter((self.links, self.offsets))


class FewNodes(Nodes):
    """Nodes so few, for their model, that Lambda is cheapest by the mass matrix."""

    __slots__ = ()


def alien_nodes() -> ArgumentError:
    """The error for nodes that do not fit a model."""
    return ArgumentError("nodes: they were made ready for another model")
