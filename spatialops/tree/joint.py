"""Joints: what a body may do relative to its parent, and the data that go with it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import (
    Array,
    ArrayLike,
    Axis,
    AxisLike,
    IntArray,
    NamedAxis,
    given,
    is_one_of,
)
from spatialops.errors import ModelError

JointKind: TypeAlias = Literal[
    "fixed",
    "revolute",
    "prismatic",
    "screw",
    "cylindrical",
    "universal",
    "planar",
    "ball",
    "free",
]

# kind: (coordinates, velocities)
KINDS: dict[str, tuple[int, int]] = {
    "fixed": (0, 0),
    "revolute": (1, 1),
    "prismatic": (1, 1),
    "screw": (1, 1),
    "cylindrical": (2, 2),
    "universal": (2, 2),
    "planar": (3, 3),
    "ball": (4, 3),
    "free": (7, 6),
}

# How a kind breaks up into links of one degree of freedom: (frame, motion, axis column); see
# _layout.
LINKS: dict[str, tuple[tuple[int, int, int], ...]] = {
    "revolute": ((layout.TURN, layout.ROTARY, 2),),
    "prismatic": ((layout.SLIDE, layout.LINEAR, 2),),
    "screw": ((layout.SCREW, layout.HELICAL, 2),),
    "cylindrical": ((layout.TURN, layout.ROTARY, 2), (layout.SLIDE, layout.LINEAR, 2)),
    "universal": ((layout.TURN, layout.ROTARY, 2), (layout.TURN, layout.ROTARY, 2)),
    "planar": (
        (layout.SLIDE, layout.LINEAR, 2),
        (layout.SLIDE, layout.LINEAR, 2),
        (layout.TURN, layout.ROTARY, 2),
    ),
    "ball": (
        (layout.ATTITUDE, layout.ROTARY, 0),
        (layout.SAME, layout.ROTARY, 1),
        (layout.SAME, layout.ROTARY, 2),
    ),
    "free": (
        (layout.POSE, layout.ROTARY, 0),
        (layout.SAME, layout.ROTARY, 1),
        (layout.SAME, layout.ROTARY, 2),
        (layout.SAME, layout.LINEAR, 0),
        (layout.SAME, layout.LINEAR, 1),
        (layout.SAME, layout.LINEAR, 2),
    ),
}

_TURN_ROUND = (
    "but the tree goes through this joint the other way round, where they are those of the other "
    "body: exchange the two bodies, or choose another root"
)

# Fields with one number for each velocity.
PER_VELOCITY = (
    "damping",
    "stiffness",
    "reference",
    "armature",
    "dry_friction",
    "lower",
    "upper",
    "velocity_limit",
    "effort_limit",
)

_FINITE = ("damping", "stiffness", "armature", "dry_friction")  # and not negative

NAMED_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}

NO_LENGTH = 1e-12  # of an axis that is taken for zero, and
_ENDLESS = 1e12  # of one whose square may be none
_PARALLEL = 1e-6  # sine below which two axes are parallel
_ALONG_Z = 1.0 - 1e-15  # z component of a unit vector that is z but for rounding


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint between a body and its parent.

    Parameters
    ----------
    kind : str
        What it lets the body do: "fixed", "revolute", "prismatic", "screw", "cylindrical",
        "universal", "planar", "ball" or "free".
    axis : (3,) array_like or {"x", "y", "z"}
        Axis in the joint's frame (any length but zero): of rotation or sliding; of both for a
        cylindrical joint; the first axis of a universal joint; the normal of a planar joint's
        plane. Default: "z".
    second_axis : (3,) array_like or {"x", "y", "z"}, optional
        Second axis of a universal joint, fixed to the moving body (default: "y"); direction of a
        planar joint's first coordinate (default: any in the plane). Made perpendicular to `axis`.
    name : str, optional
        Default: the name of the body that the joint carries.
    pitch : float
        Screw: metres of travel per radian; default: 0.
    damping : float or (nv,) array_like
        Viscous, N m s or N s/m, not negative; default: 0.
    stiffness : float or (nv,) array_like
        Of a spring, N m/rad or N/m, not negative (not for ball and free joints); default: 0.
    reference : float or (nv,) array_like
        Coordinate at which the spring is at rest, rad or m; default: 0.
    armature : float or (nv,) array_like
        Reflected inertia of the drive, kg m^2 or kg, not negative; default: 0.
    dry_friction : float or (nv,) array_like
        N m or N, not negative; default: 0.
    lower : float or (nv,) array_like
        Lower limit of position, rad or m (not for ball and free joints); default: none.
    upper : float or (nv,) array_like
        Upper limit likewise; default: none.
    velocity_limit : float or (nv,) array_like
        rad/s or m/s, not negative; default: none.
    effort_limit : float or (nv,) array_like
        Largest force of its motor, N m or N, not negative; default: none.

    Raises
    ------
    ModelError
        For an unknown kind, a zero axis, NaN, negative data or lower > upper.

    Notes
    -----
    Coordinates: revolute, prismatic, screw: the angle or travel; cylindrical: (angle,
    travel); universal: the two angles; planar: (x, y, angle) along the plane's fixed axes; ball:
    quaternion (x, y, z, w), velocity the angular velocity in body axes; free: (x, y, z, qx, qy, qz,
    qw), velocity [angular; linear] in body axes.

    Examples
    --------
    >>> import spatialops as so
    >>> hinge = so.Joint("revolute", axis="y", lower=-1.0, upper=1.0, damping=0.1)
    >>> hinge.nq, hinge.nv
    (1, 1)
    >>> hinge.damping
    array([0.1])
    """

    kind: JointKind
    axis: Axis = "z"
    second_axis: Axis | None = None
    name: str | None = None
    pitch: float = 0.0
    damping: Array = given(0.0)
    stiffness: Array = given(0.0)
    reference: Array = given(0.0)
    armature: Array = given(0.0)
    dry_friction: Array = given(0.0)
    lower: Array = given(-np.inf)
    upper: Array = given(np.inf)
    velocity_limit: Array = given(np.inf)
    effort_limit: Array = given(np.inf)
    _axes: Array = field(init=False, repr=False)

    if TYPE_CHECKING:  # what may be given, where the fields say what becomes of it

        def __init__(
            self,
            kind: JointKind,
            axis: AxisLike = ...,
            second_axis: AxisLike | None = ...,
            name: str | None = ...,
            pitch: float = ...,
            damping: ArrayLike = ...,
            stiffness: ArrayLike = ...,
            reference: ArrayLike = ...,
            armature: ArrayLike = ...,
            dry_friction: ArrayLike = ...,
            lower: ArrayLike = ...,
            upper: ArrayLike = ...,
            velocity_limit: ArrayLike = ...,
            effort_limit: ArrayLike = ...,
        ) -> None: ...

    def __post_init__(self) -> None:
        if not is_one_of(self.kind, KINDS):
            raise ModelError(
                f"{self._called}: kind {self.kind!r} is unknown; choose one of {', '.join(KINDS)}"
            )
        for name in (*_FINITE, "velocity_limit", "effort_limit"):
            object.__setattr__(self, name, self._per_velocity(name, minimum=0.0))
        lower, upper = self._per_velocity("lower"), self._per_velocity("upper")
        if self.kind in ("ball", "free") and (np.isfinite(lower).any() or np.isfinite(upper).any()):
            raise self._error("lower/upper", "a ball or free joint has no position limits")
        if (lower > upper).any():
            raise self._error("lower", f"{lower} is above upper {upper}")
        object.__setattr__(self, "reference", self._per_velocity("reference"))
        if not np.isfinite(self.reference).all():
            raise self._error("reference", f"expected finite numbers, got {self.reference!r}")
        if self.kind in ("ball", "free") and self.stiffness.any():
            raise self._error("stiffness", "a ball or free joint has no spring")
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)
        if not _is_finite(self.pitch):
            raise self._error("pitch", f"expected a finite number, got {self.pitch!r}")
        object.__setattr__(self, "axis", self._direction("axis", self.axis))
        if self.second_axis is not None:
            second = self._direction("second_axis", self.second_axis)
            object.__setattr__(self, "second_axis", second)
        object.__setattr__(self, "_axes", self._link_axes())

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return KINDS[self.kind][0]

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return KINDS[self.kind][1]

    def values(self, name: str) -> Array:
        """One of the fields that have a number for each velocity.

        Parameters
        ----------
        name : str
            "damping", "stiffness", "reference", "armature", "dry_friction", "lower", "upper",
            "velocity_limit" or "effort_limit".

        Returns
        -------
        (nv,) array
            The field's checked values.
        """
        checked: Array = getattr(self, name)
        return checked

    def rotations(self) -> Array:
        """Turns of the frames of the joint's links of one degree of freedom.

        Returns
        -------
        (m, 3, 3) array
            One for each link, at least one. Entry i takes link i's frame (its axis along z) to the
            joint's frame; the last one takes the body's axes there.
        """
        return self._axes

    def renamed(self, name: str) -> Joint:
        """The same joint with another name.

        Parameters
        ----------
        name : str
            The new name.

        Returns
        -------
        Joint
            A copy.
        """
        return replace(self, name=name)

    def reversed(self) -> Joint:
        """The joint seen from the other side: what body and parent are, exchanged.

        Coordinates of revolute, prismatic, screw and cylindrical joints keep their meaning (all
        axes point the other way); those of a universal joint also change places; a ball's attitude
        is the inverse, and a planar joint's travel is along the axes of the other body.

        Returns
        -------
        Joint
            With the same name.

        Raises
        ------
        ModelError
            If its limits, springs, damping, friction or rotors act along axes that turn with the
            body: those of a planar joint's travel, and of a ball if they are not all the same.
        """
        self._check_values_stay()
        if self.kind == "universal":
            first, second = self._axes[0][:, 2], self._axes[1][:, 2]
            turned = replace(self, axis=tuple(-second), second_axis=tuple(-first))
            for name in PER_VELOCITY:
                object.__setattr__(turned, name, self.values(name)[::-1].copy())
            return turned
        return replace(self, axis=tuple(-_unit(self.axis)))

    def _check_values_stay(self) -> None:
        """Values of a planar joint's travel and of a ball mean the same from the other side."""
        plain = Joint(self.kind)
        for name in PER_VELOCITY:
            values = self.values(name)
            if self.kind == "planar" and not np.array_equal(values[:2], plain.values(name)[:2]):
                raise self._error(name, f"acts along its parent's axes, {_TURN_ROUND}")
            if self.kind == "ball" and (values != values[0]).any():
                raise self._error(name, f"differs along its body's axes, {_TURN_ROUND}")

    def _link_axes(self) -> Array:
        axis = _unit(self.axis)
        if self.kind in ("ball", "free", "fixed"):
            return np.eye(3)[None].repeat(max(len(LINKS.get(self.kind, ())), 1), axis=0)
        if self.kind == "universal":
            second = _unit(self.second_axis or "y")
            return np.stack([z_to(axis), z_to(self._perpendicular(second, axis))])
        if self.kind == "planar":
            first = z_to(axis)[:, 0] if self.second_axis is None else _unit(self.second_axis)
            first = self._perpendicular(first, axis)
            return np.stack([z_to(first), z_to(np.cross(axis, first)), z_to(axis)])
        return np.repeat(z_to(axis)[None], len(LINKS[self.kind]), axis=0)

    def _perpendicular(self, direction: Array, axis: Array) -> Array:
        rest = direction - (direction @ axis) * axis
        length = float(np.linalg.norm(rest))
        if length < _PARALLEL:
            raise self._error("second_axis", "must not be parallel to axis")
        return rest / length

    def _direction(self, name: str, value: AxisLike) -> Axis:
        """The name of an axis, or three numbers of any length but zero."""
        try:
            vector = np.array(
                NAMED_AXES[value] if isinstance(value, str) else value, dtype=np.float64
            )
        except (KeyError, TypeError, ValueError):
            raise self._error(name, f"expected 3 numbers or 'x', 'y', 'z', got {value!r}") from None
        length = float(np.linalg.norm(vector))
        if vector.shape != (3,) or not NO_LENGTH < length < _ENDLESS:
            raise self._error(name, f"expected 3 finite numbers of non-zero length, got {value!r}")
        if isinstance(value, str):
            return cast(NamedAxis, value)
        x, y, z = vector.tolist()
        return x, y, z

    def _per_velocity(self, name: str, minimum: float = -np.inf) -> Array:
        value = getattr(self, name)
        plain = type(value) is float and value >= minimum
        if plain and (name not in _FINITE or math.isfinite(value)):
            return np.full(self.nv, value)  # as most are, of thousands of joints
        try:
            values = np.broadcast_to(np.asarray(value, dtype=np.float64), (self.nv,)).copy()
        except (TypeError, ValueError):
            raise self._error(
                name, f"expected a number or {self.nv} numbers, got {value!r}"
            ) from None
        if np.isnan(values).any() or (values < minimum).any():
            raise self._error(
                name, f"expected numbers{' >= 0' if minimum == 0.0 else ''}, got {value!r}"
            )
        if name in _FINITE and not np.isfinite(values).all():
            raise self._error(name, f"expected finite numbers, got {value!r}")
        return values

    def _error(self, name: str, text: str) -> ModelError:
        return ModelError(f"{self._called} ({self.kind}): {name}: {text}")

    @property
    def _called(self) -> str:
        return "joint" if self.name is None else f"joint {self.name!r}"


def _is_finite(value: object) -> bool:
    return isinstance(value, (int, float, np.number)) and bool(np.isfinite(value))


def _unit(direction: Axis) -> Array:
    vector = np.array(NAMED_AXES[direction] if isinstance(direction, str) else direction)
    return vector / float(np.linalg.norm(vector))


def z_to(axis: Array) -> Array:
    """A rotation whose third column is the unit vector `axis`; the identity for z itself."""
    x, y, z = (float(c) for c in axis)
    if z > _ALONG_Z:
        return np.eye(3)
    # Perpendicular to the axis and the world axis least aligned with it: never degenerate.
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    first = np.cross(helper, axis)
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(axis, first), np.array([x, y, z])], axis=1)


def joint_rows(kind: str, first: int, parent: int, first_q: int, body: int) -> IntArray:
    """Rows of the tree for one joint's links, all columns but the number of coordinates.

    Parameters
    ----------
    kind : str
        Of the joint.
    first : int
        Its first link.
    parent : int
        The link that it hangs on, -1 for the world.
    first_q : int
        Its first coordinate.
    body : int
        The body that its last link is.

    Returns
    -------
    (n, TREE_COLUMNS) int array
        A row a link.
    """
    links = LINKS[kind]
    grouped = kind in ("ball", "free")
    rows = np.zeros((len(links), layout.TREE_COLUMNS), dtype=np.int64)
    for i, (frame, motion, axis) in enumerate(links):
        row = rows[i]
        row[layout.PARENT] = parent if i == 0 else first + i - 1
        row[layout.MOTION] = motion
        row[layout.FRAME] = frame
        row[layout.AXIS] = axis
        row[layout.FIRST_Q] = first_q if grouped else first_q + i
        row[layout.GROUP] = 1
        row[layout.BODY] = body if i == len(links) - 1 else -1
    if grouped:
        rows[:, layout.GROUP] = 0
        rows[0, layout.GROUP] = len(links)
    return rows
