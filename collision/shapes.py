"""Shapes, and the geoms that put them on bodies with friction and restitution.

Those that sit on the world only are in `fixed_shapes`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict, get_args

import numpy as np

from spatialops._arrays import Array, ArrayLike, Mat3, Vec3, given, is_one_of
from spatialops.algebra.rotation import rotation_matrix
from spatialops.collision.checks import (
    is_friction,
    is_number,
    positive_lengths,
    rows_of_three,
    three,
    three_lengths,
)
from spatialops.collision.fixed_shapes import FIXED, HalfSpace, HeightField, Mesh
from spatialops.collision.narrow_phase.hull import Polyhedron, convex_hull
from spatialops.errors import ModelError, ShapeError

__all__ = [
    "Box",
    "Capsule",
    "Coefficients",
    "Cone",
    "ConvexHull",
    "Cylinder",
    "Ellipsoid",
    "FIXED",
    "Geom",
    "HalfSpace",
    "HeightField",
    "Masks",
    "Mesh",
    "SHAPES",
    "Shape",
    "Sphere",
    "may_collide",
    "shape_data",
    "shape_from_data",
]


@dataclass(frozen=True, eq=False)
class Sphere:
    """A ball about the geom's position.

    Parameters
    ----------
    radius : float
        m, positive.

    Examples
    --------
    >>> import spatialops as so
    >>> so.Geom("ball", "world", so.Sphere(0.1)).shape
    Sphere(radius=0.1)
    """

    radius: float

    def __post_init__(self) -> None:
        positive_lengths(self, "sphere", "radius")


@dataclass(frozen=True, eq=False)
class Capsule:
    """All points near a segment along local z, about its middle.

    Parameters
    ----------
    radius : float
        How near, m, positive.
    length : float
        Of the segment, m, positive: the cylindrical part between the round ends.

    Examples
    --------
    >>> import spatialops as so
    >>> upright = so.Capsule(radius=0.05, length=0.3)
    >>> so.Geom("leg", "world", upright, position=(0.0, 0.0, 0.2)).shape
    Capsule(radius=0.05, length=0.3)
    """

    radius: float
    length: float

    def __post_init__(self) -> None:
        positive_lengths(self, "capsule", "radius", "length")


@dataclass(frozen=True, eq=False)
class Box:
    """A box about its middle.

    Parameters
    ----------
    size : (3,) array_like
        Full edges along the local axes, m, positive; kept as a tuple.

    Examples
    --------
    >>> from spatialops.collision import Box
    >>> Box([0.4, 0.2, 0.1])
    Box(size=(0.4, 0.2, 0.1))
    """

    size: Vec3

    if TYPE_CHECKING:  # what it is given; the fields are what is kept

        def __init__(self, size: ArrayLike) -> None: ...

    def __post_init__(self) -> None:
        three_lengths(self, "box", "size")


@dataclass(frozen=True, eq=False)
class Cylinder:
    """A cylinder along local z, about its middle.

    Parameters
    ----------
    radius : float
        m, positive.
    length : float
        m, positive.

    Examples
    --------
    >>> import spatialops as so
    >>> wheel = so.Cylinder(radius=0.3, length=0.05)
    >>> wheel.radius, wheel.length
    (0.3, 0.05)
    """

    radius: float
    length: float

    def __post_init__(self) -> None:
        positive_lengths(self, "cylinder", "radius", "length")


@dataclass(frozen=True, eq=False)
class Cone:
    """A cone along local z, its base at z = -length / 2 and its tip at z = length / 2.

    Parameters
    ----------
    radius : float
        Of the base, m, positive.
    length : float
        From base to tip, m, positive.

    Examples
    --------
    >>> import spatialops as so
    >>> so.Geom("spike", "world", so.Cone(radius=0.1, length=0.2)).shape
    Cone(radius=0.1, length=0.2)
    """

    radius: float
    length: float

    def __post_init__(self) -> None:
        positive_lengths(self, "cone", "radius", "length")


@dataclass(frozen=True, eq=False)
class Ellipsoid:
    """An ellipsoid about its middle.

    Parameters
    ----------
    semi_axes : (3,) array_like
        Along the local axes, m, positive; kept as a tuple.

    Examples
    --------
    >>> import spatialops as so
    >>> so.Ellipsoid((0.3, 0.2, 0.1)).semi_axes
    (0.3, 0.2, 0.1)
    """

    semi_axes: Vec3

    if TYPE_CHECKING:  # what it is given; the fields are what is kept

        def __init__(self, semi_axes: ArrayLike) -> None: ...

    def __post_init__(self) -> None:
        three_lengths(self, "ellipsoid", "semi_axes")


@dataclass(frozen=True, eq=False)
class ConvexHull:
    """The convex hull of points; coplanar triangles of it are joined to faces.

    Parameters
    ----------
    vertices : (n, 3) array_like
        m; four or more that do not lie in a plane. Only those on the hull are kept.

    Attributes
    ----------
    solid : Polyhedron
        Its corners, faces and planes.

    Examples
    --------
    >>> from spatialops.collision import ConvexHull
    >>> floor = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)]
    >>> tent = ConvexHull([*floor, (0.5, 0.5, 1), (0.5, 0.5, 0.5)])
    >>> len(tent.vertices), len(tent.solid.faces)
    (5, 5)
    """

    vertices: Array
    solid: Polyhedron = field(init=False, repr=False)

    if TYPE_CHECKING:  # what it is given; the fields are what is kept

        def __init__(self, vertices: ArrayLike) -> None: ...

    def __post_init__(self) -> None:
        solid = convex_hull(rows_of_three("convex hull: vertices", self.vertices))
        object.__setattr__(self, "vertices", solid.vertices)
        object.__setattr__(self, "solid", solid)


Shape: TypeAlias = (
    Sphere
    | HalfSpace
    | Capsule
    | Box
    | Cylinder
    | Cone
    | Ellipsoid
    | ConvexHull
    | Mesh
    | HeightField
)
SHAPES: dict[str, type[Shape]] = {
    "sphere": Sphere,
    "half_space": HalfSpace,
    "capsule": Capsule,
    "box": Box,
    "cylinder": Cylinder,
    "cone": Cone,
    "ellipsoid": Ellipsoid,
    "convex_hull": ConvexHull,
    "mesh": Mesh,
    "height_field": HeightField,
}
_NO_TURN = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


class Coefficients(TypedDict, total=False):
    """Coefficients that several geoms share: ``Geom("ball", "ball", Sphere(0.1), **rubber)``."""

    friction: float
    restitution: float
    torsion: float
    rolling: float


class Masks(TypedDict):
    """Bit masks that several geoms share."""

    group: int
    collides_with: int


Mixing: TypeAlias = Literal["mean", "maximum"]
Condim: TypeAlias = Literal[1, 3, 4, 6]


@dataclass(frozen=True, eq=False)
class Geom:
    """A shape on a body.

    Parameters
    ----------
    name : str
        What messages and plots call it; one of a kind in its scene.
    body : str
        Name of the body, of a merged body, or "world".
    shape : Shape
        A half-space, a mesh and a height field must sit on the world.
    position : (3,) array_like
        In the body's frame, m.
    friction, restitution : float
        Not negative; restitution at most 1, of which a pair has the geometric mean; friction as
        `mixing` says.
    rotation : (3, 3) or (4,) array_like, optional
        Of the shape in the body's frame: a matrix, or a quaternion (x, y, z, w). Kept as a matrix.
    group, collides_with : int
        Bit masks. Two geoms may touch if the group of one has a bit of what the other collides
        with.
    margin : float
        m; added to the simulator's: a pair takes the larger of its two sides'.
    torsion, rolling : float
        Coefficients of torsional and rolling friction, m, not negative.
    mixing : {"mean", "maximum"}
        What a pair makes of friction, torsion and rolling of its sides: their geometric means, so
        that a side that has none leaves none, or the larger ones, as MuJoCo. Where the sides
        differ, the larger ones. Default "mean".
    priority : int
        Where the sides differ in it, the coefficients of the higher one hold. Default 0.
    condim : {1, 3, 4, 6}, optional
        Which of the coefficients a pair may use, as MJCF counts: none, friction, torsion too,
        rolling too; a pair has the larger number of its sides. Default: those that are not zero.

    Examples
    --------
    >>> import spatialops as so
    >>> floor = so.Geom("floor", "world", so.HalfSpace(), friction=0.8)
    >>> quarter = (0.0, 0.0, 0.7071067811865476, 0.7071067811865476)
    >>> crate = so.Geom("crate", "crate", so.collision.Box((0.4, 0.4, 0.2)), rotation=quarter)
    >>> crate.turn.round(12) + 0.0
    array([[ 0., -1.,  0.],
           [ 1.,  0.,  0.],
           [ 0.,  0.,  1.]])
    """

    name: str
    body: str
    shape: Shape
    position: Vec3 = (0.0, 0.0, 0.0)
    friction: float = 0.5
    restitution: float = 0.0
    rotation: Mat3 = _NO_TURN
    group: int = 1
    collides_with: int = 1
    margin: float = 0.0
    torsion: float = 0.0
    rolling: float = 0.0
    mixing: Mixing = "mean"
    priority: int = 0
    condim: Condim = given(None)

    if TYPE_CHECKING:  # what it is given; the fields are what is kept

        def __init__(
            self,
            name: str,
            body: str,
            shape: Shape,
            position: ArrayLike = ...,
            friction: float = ...,
            restitution: float = ...,
            rotation: ArrayLike | None = ...,
            group: int = ...,
            collides_with: int = ...,
            margin: float = ...,
            torsion: float = ...,
            rolling: float = ...,
            mixing: Mixing = ...,
            priority: int = ...,
            condim: Condim | None = ...,
        ) -> None: ...

    def __post_init__(self) -> None:
        if not isinstance(self.shape, tuple(SHAPES.values())):
            names = ", ".join(kind.__name__ for kind in SHAPES.values())
            raise ShapeError(
                f"geom {self.name!r}: shape: expected one of {names}, got {self.shape!r}"
            )
        position = three(f"geom {self.name!r}: position", self.position)
        object.__setattr__(self, "position", tuple(float(x) for x in position))
        if not is_friction(self.friction):
            raise ShapeError(
                f"geom {self.name!r}: friction must be >= 0 and finite, got {self.friction!r}"
            )
        if not is_number(self.restitution) or not 0.0 <= self.restitution <= 1.0:
            raise ShapeError(
                f"geom {self.name!r}: restitution must lie in [0, 1], got {self.restitution!r}"
            )
        if not is_number(self.margin) or not 0.0 <= self.margin < np.inf:
            raise ShapeError(
                f"geom {self.name!r}: margin must be >= 0 and finite, got {self.margin!r} m"
            )
        for name in ("torsion", "rolling"):
            if not is_number(getattr(self, name)) or not 0.0 <= getattr(self, name) < np.inf:
                raise ShapeError(
                    f"geom {self.name!r}: {name} must be >= 0 and finite, "
                    f"got {getattr(self, name)!r} m"
                )
        for name in ("group", "collides_with"):
            mask = getattr(self, name)
            if not isinstance(mask, (int, np.integer)) or isinstance(mask, bool) or mask < 0:
                raise ShapeError(
                    f"geom {self.name!r}: {name} must be a bit mask >= 0, got {mask!r}"
                )
        if not is_one_of(self.mixing, get_args(Mixing)):
            raise ShapeError(
                f"geom {self.name!r}: mixing: expected 'mean' or 'maximum', got {self.mixing!r}"
            )
        if not is_number(self.priority) or self.priority % 1.0 != 0.0:
            raise ShapeError(
                f"geom {self.name!r}: priority: expected a whole number, got {self.priority!r}"
            )
        if self.condim is None:
            object.__setattr__(self, "condim", 6 if self.rolling else 4 if self.torsion else 3)
        if not is_number(self.condim) or self.condim not in get_args(Condim):
            raise ShapeError(
                f"geom {self.name!r}: condim: expected 1, 3, 4 or 6, got {self.condim!r}"
            )
        object.__setattr__(self, "rotation", _turn(self.name, self.rotation))

    @property
    def turn(self) -> Array:
        """The rotation as an array, (3, 3)."""
        return np.array(self.rotation)


def may_collide(a: Geom, b: Geom) -> bool:
    """Whether the masks of two geoms let them touch."""
    return bool(a.group & b.collides_with or b.group & a.collides_with)


def _turn(name: str, rotation: ArrayLike | None) -> Mat3:
    if rotation is None or rotation is _NO_TURN:
        return _NO_TURN
    try:
        matrix = rotation_matrix(rotation)
    except ModelError as error:
        raise ShapeError(f"geom {name!r}: rotation: {error}") from None
    x, y, z = ((float(row[0]), float(row[1]), float(row[2])) for row in matrix)
    return x, y, z


def shape_data(shape: Shape) -> dict[str, object]:
    """A shape as plain data: its kind and its numbers."""
    kind = next(name for name, made in SHAPES.items() if isinstance(shape, made))
    values = {item.name: getattr(shape, item.name) for item in fields(shape) if item.init}
    return {
        "kind": kind,
        **{k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in values.items()},
    }


def shape_from_data(data: Mapping[str, object]) -> Shape:
    """Inverse of `shape_data`."""
    make: Callable[..., Shape] = SHAPES[str(data["kind"])]
    return make(**{name: value for name, value in data.items() if name != "kind"})
