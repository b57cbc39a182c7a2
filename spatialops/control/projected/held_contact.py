"""A contact as a constraint: a point, or a flat foot, of a body that is held where it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spatialops._arrays import Array, ArrayLike, array, given, scalar
from spatialops.algebra.vectors import cross
from spatialops.errors import ArgumentError
from spatialops.tree.node import Node

# Fields that take three (or two) numbers are kept as they are given: `HeldContact.frame` and
# `HeldContacts` convert them.
Numbers = Sequence[float] | Array

_WORLD = np.eye(3)
_PARALLEL = 1e-9  # sine below which a tangent is along the normal


@dataclass(frozen=True, eq=False, kw_only=True)
class HeldContact:
    """A contact that must not slip, open or tip.

    Parameters
    ----------
    node : Node
        The point on the body that the force is on.
    other : Node, optional
        The point on the body that it stands on; default: the world, which does not move.
    friction : float, default 0.5
        Coefficient mu > 0.
    normal : (3,) array_like, default (0, 0, 1)
        From the other body to the first one, world axes.
    half_lengths : (2,) array_like, optional
        Of a flat foot's rectangle along the first and second tangent, m: the foot is also held
        against turning, the centre of pressure stays in the rectangle ([A] 34), and the moment
        about the normal below `torsion` N_n.
    torsion : float, default 0
        m; of a flat foot, positive. Of a point: it is soft, held against spinning about the normal
        too, by a moment below `torsion` N_n.
    radius : float, default 0
        Of a round foot about the node, m: the point of contact is that far along -normal, and the
        foot rolls on it.
    slide : (3,) array_like, optional
        Direction in which it slides, world axes: only the normal row is held, and friction is mu
        `pressed` against it. A controller regulates the normal force to `pressed`, so that friction
        is known.
    pressed : float, default 0
        N; of a sliding contact, positive.
    least, most : float
        Bounds of the normal force, N; default: 0 and infinity.
    tangent : (3,) array_like, optional
        Direction of the first tangent; default: the world axis farthest from the normal.
    name : str, optional
        What reports call it; default: "contact of" and the body.

    Raises
    ------
    ArgumentError
        For numbers out of range, and for kinds of contact that do not go together.

    Examples
    --------
    >>> import spatialops as so
    >>> from spatialops.control import HeldContact
    >>> foot = HeldContact(node=so.Node("shank", (0.0, 0.0, -0.2)), friction=0.6)
    >>> foot.rows, foot.name
    (3, 'contact of shank')
    """

    node: Node
    other: Node | None = None
    friction: float = 0.5
    normal: Numbers = (0.0, 0.0, 1.0)
    half_lengths: Numbers | None = None
    torsion: float = 0.0
    radius: float = 0.0
    slide: Numbers | None = None
    pressed: float = 0.0
    least: float = 0.0
    most: float = np.inf
    tangent: Numbers | None = None
    name: str = ""

    def __post_init__(self) -> None:
        scalar(self.friction, "friction", low=0.0, strict=True)
        scalar(self.least, "least", low=0.0)
        scalar(self.radius, "radius", low=0.0)
        scalar(self.torsion, "torsion", low=0.0)
        node, most = given(self.node), given(self.most)
        if not isinstance(node, tuple):
            raise ArgumentError(f"node: expected a Node, got {type(node).__name__}")
        if not isinstance(most, (float, int)) or not most > self.least:
            raise ArgumentError(
                f"most: expected more than least = {self.least:g} N, got {self.most!r}"
            )
        if self.half_lengths is not None:
            lengths = array(self.half_lengths, (2,), "half_lengths", finite=True)
            if not (lengths.min() > 0.0 and self.torsion > 0.0):
                raise ArgumentError("half_lengths, torsion: a flat foot needs positive ones")
        if self.slide is not None:
            direction = array(self.slide, (3,), "slide", finite=True)
            flat = self.half_lengths is not None
            if flat or not (np.linalg.norm(direction) > 0.0 and self.pressed > 0.0):
                raise ArgumentError(
                    "slide: needs a direction with a length, a positive pressed force, "
                    "and no flat foot"
                )
        object.__setattr__(self, "name", self.name or f"contact of {self.node[0]}")

    @property
    def rows(self) -> int:
        """Number of rows: 3 of a point, 4 if it is soft, 6 of a flat foot, 1 while it slides."""
        if self.slide is not None:
            return 1
        if self.half_lengths is not None:
            return 6
        return 4 if self.torsion > 0.0 else 3

    def frame(self) -> Array:
        """The contact's frame.

        Returns
        -------
        (3, 3) array
            Rows normal, tangent, tangent, world axes.
        """
        return frame_of(self.normal, self.tangent)


def frame_of(normal: ArrayLike, tangent: ArrayLike | None = None) -> Array:
    """A right-handed frame with rows normal, tangent, tangent.

    Parameters
    ----------
    normal : (3,) array_like
        Of any length.
    tangent : (3,) array_like, optional
        Direction near which the first tangent lies; default: the world axis farthest from the
        normal.

    Returns
    -------
    (3, 3) array
        Rows of unit length.

    Raises
    ------
    ArgumentError
        For a normal of no length, and a tangent along it.
    """
    n = array(normal, (3,), "normal", finite=True)
    length = float(np.linalg.norm(n))
    if not length > 0.0:
        raise ArgumentError("normal: has no length")
    n = n / length
    near = (
        _WORLD[int(np.argmin(np.abs(n)))]
        if tangent is None
        else array(tangent, (3,), "tangent", finite=True)
    )
    first = near - (near @ n) * n
    if not np.linalg.norm(first) > _PARALLEL:
        raise ArgumentError("tangent: is along the normal")
    first = first / np.linalg.norm(first)
    return np.array([n, first, crossed(n, first[None])[0]])


def crossed(a: Array, rows: Array) -> Array:
    """A x b of every row b (k, 3): `np.cross` takes 30 us for as much."""
    left = tuple(a.tolist())
    return np.array([cross(left, tuple(row)) for row in rows.tolist()]).reshape(-1, 3)
