"""Joints: what a body may do relative to its parent, and the data that go with it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from spatialops._arrays import Array
from spatialops._layout import ATTITUDE, HELICAL, LINEAR, POSE, ROTARY, SAME, SCREW, SLIDE, TURN
from spatialops.errors import ModelError

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

# How a kind breaks up into links of one degree of freedom: (frame, motion, axis column); see _layout.
LINKS: dict[str, tuple[tuple[int, int, int], ...]] = {
    "revolute": ((TURN, ROTARY, 2),),
    "prismatic": ((SLIDE, LINEAR, 2),),
    "screw": ((SCREW, HELICAL, 2),),
    "cylindrical": ((TURN, ROTARY, 2), (SLIDE, LINEAR, 2)),
    "universal": ((TURN, ROTARY, 2), (TURN, ROTARY, 2)),
    "planar": ((SLIDE, LINEAR, 2), (SLIDE, LINEAR, 2), (TURN, ROTARY, 2)),
    "ball": ((ATTITUDE, ROTARY, 0), (SAME, ROTARY, 1), (SAME, ROTARY, 2)),
    "free": (
        (POSE, ROTARY, 0),
        (SAME, ROTARY, 1),
        (SAME, ROTARY, 2),
        (SAME, LINEAR, 0),
        (SAME, LINEAR, 1),
        (SAME, LINEAR, 2),
    ),
}

NAMED_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint between a body and its parent.

    Parameters
    ----------
    kind : str
        One of "fixed", "revolute", "prismatic", "screw", "cylindrical", "universal", "planar", "ball", "free".
    axis : (3,) array_like or "x", "y", "z"
        Axis in the joint's frame (any length but zero): of rotation or sliding; of both for a cylindrical joint; the
        first axis of a universal joint; the normal of a planar joint's plane.
    second_axis : (3,) array_like or "x", "y", "z"
        Second axis of a universal joint, fixed to the moving body (default "y"); direction of a planar joint's first
        coordinate (default: any in the plane). Made perpendicular to `axis`.
    name : str, optional
        Defaults to the name of the body that the joint carries.
    pitch : float
        Screw: metres of travel per radian.
    damping, armature, dry_friction : float or array_like, one per velocity
        N m s (N s/m), kg m^2 (kg), N m (N); not negative.
    lower, upper : float or array_like, one per velocity
        Limits of position, rad or m (not for ball and free joints).
    velocity_limit, effort_limit : float or array_like, one per velocity
        Positive.

    Raises
    ------
    ModelError
        For an unknown kind, a zero axis, NaN, negative data or lower > upper.

    Notes
    -----
    Coordinates: revolute, prismatic, screw: the angle or travel; cylindrical: (angle, travel); universal: the two
    angles; planar: (x, y, angle) along the plane's fixed axes; ball: quaternion (x, y, z, w), velocity the angular
    velocity in body axes; free: (x, y, z, qx, qy, qz, qw), velocity [angular; linear] in body axes.
    """

    kind: Any
    axis: Any = "z"
    second_axis: Any = None
    name: str | None = None
    pitch: Any = 0.0
    damping: Any = 0.0
    armature: Any = 0.0
    dry_friction: Any = 0.0
    lower: Any = -np.inf
    upper: Any = np.inf
    velocity_limit: Any = np.inf
    effort_limit: Any = np.inf
    _data: dict[str, Array] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.kind, str) or self.kind not in KINDS:
            raise ModelError(f"joint {self.name!r}: kind {self.kind!r} is unknown; choose one of {', '.join(KINDS)}")
        for name in ("damping", "armature", "dry_friction"):
            self._data[name] = self._per_velocity(name, minimum=0.0)
        for name in ("velocity_limit", "effort_limit"):
            self._data[name] = self._per_velocity(name, minimum=0.0)
        lower, upper = self._per_velocity("lower"), self._per_velocity("upper")
        if self.kind in ("ball", "free") and (np.isfinite(lower).any() or np.isfinite(upper).any()):
            raise self._error("lower/upper", "a ball or free joint has no position limits")
        if (lower > upper).any():
            raise self._error("lower", f"{lower} is above upper {upper}")
        self._data["lower"], self._data["upper"] = lower, upper
        if not (isinstance(self.pitch, (int, float, np.number)) and np.isfinite(self.pitch)):
            raise self._error("pitch", f"expected a finite number, got {self.pitch!r}")
        self._data["axes"] = self._axes()

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return KINDS[self.kind][0]

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return KINDS[self.kind][1]

    def values(self, name: str) -> Array:
        """Checked per-velocity values of a field, (nv,)."""
        return self._data[name]

    def rotations(self) -> Array:
        """Turns of the frames of the joint's links, (m + 1, 3, 3) for m = number of axes that need one.

        Entry i takes link i's frame (its axis along z) to the joint's frame; the last one takes the body's axes there.
        """
        return self._data["axes"]

    def renamed(self, name: str) -> Joint:
        """The same joint with another name."""
        return replace(self, name=name)

    def reversed(self) -> Joint:
        """The joint seen from the other side: what body and parent are, exchanged.

        Coordinates of revolute, prismatic, screw and cylindrical joints keep their meaning (all axes point the other
        way); those of a universal joint also change places; a ball's attitude is the inverse, and a planar joint's
        travel is along the axes of the other body.
        """
        axis, frames = tuple(-self._unit("axis", self.axis)), self._data["axes"]
        if self.kind == "universal":
            first, second = frames[0][:, 2], frames[1][:, 2]
            swapped: Any = {name: self._data[name][::-1] for name in self._data if name != "axes"}
            return replace(self, axis=tuple(-second), second_axis=tuple(-first), **swapped)
        return replace(self, axis=axis)

    def _axes(self) -> Array:
        axis = self._unit("axis", self.axis)
        if self.kind in ("ball", "free", "fixed"):
            return np.eye(3)[None].repeat(max(len(LINKS.get(self.kind, ())), 1), axis=0)
        if self.kind == "universal":
            second = self._unit("second_axis", "y" if self.second_axis is None else self.second_axis)
            return np.stack([z_to(axis), z_to(self._perpendicular(second, axis))])
        if self.kind == "planar":
            first = z_to(axis)[:, 0] if self.second_axis is None else self._unit("second_axis", self.second_axis)
            first = self._perpendicular(first, axis)
            return np.stack([z_to(first), z_to(np.cross(axis, first)), z_to(axis)])
        return np.repeat(z_to(axis)[None], len(LINKS[self.kind]), axis=0)

    def _perpendicular(self, direction: Array, axis: Array) -> Array:
        rest = direction - (direction @ axis) * axis
        length = float(np.linalg.norm(rest))
        if length < 1e-6:
            raise self._error("second_axis", "must not be parallel to axis")
        return rest / length

    def _unit(self, name: str, value: Any) -> Array:
        try:
            vector = np.array(NAMED_AXES[value] if isinstance(value, str) else value, dtype=np.float64)
        except (KeyError, TypeError, ValueError):
            raise self._error(name, f"expected 3 numbers or 'x', 'y', 'z', got {value!r}") from None
        length = float(np.linalg.norm(vector))
        if vector.shape != (3,) or not 1e-12 < length < 1e12:
            raise self._error(name, f"expected 3 finite numbers of non-zero length, got {value!r}")
        return vector / length

    def _per_velocity(self, name: str, minimum: float = -np.inf) -> Array:
        value = getattr(self, name)
        try:
            values = np.broadcast_to(np.asarray(value, dtype=np.float64), (self.nv,)).copy()
        except (TypeError, ValueError):
            raise self._error(name, f"expected a number or {self.nv} numbers, got {value!r}") from None
        if np.isnan(values).any() or (values < minimum).any():
            raise self._error(name, f"expected numbers{' >= 0' if minimum == 0.0 else ''}, got {value!r}")
        if name in ("damping", "armature", "dry_friction") and not np.isfinite(values).all():
            raise self._error(name, f"expected finite numbers, got {value!r}")
        return values

    def _error(self, name: str, text: str) -> ModelError:
        return ModelError(f"joint {self.name!r} ({self.kind}): {name}: {text}")


def z_to(axis: Array) -> Array:
    """A rotation whose third column is the unit vector `axis`; the identity for z itself."""
    x, y, z = (float(c) for c in axis)
    if z > 1.0 - 1e-15:
        return np.eye(3)
    # Perpendicular to the axis and the world axis least aligned with it: never degenerate.
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    first = np.cross(helper, axis)
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(axis, first), np.array([x, y, z])], axis=1)
