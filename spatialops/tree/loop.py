"""Closures: what ties two bodies of a tree together where a loop of the mechanism has been cut ([J] section 4).

A closure holds a frame on body A against a frame on body B. Which of the frame's directions it holds is its kind:

    kind        linear rows   angular rows   holds
    ball        x y z                        the two origins together
    weld        x y z         x y z          the two frames together
    revolute    x y z         x y            all but turning about the axis z
    prismatic   x y           x y z          all but sliding along the axis z
    distance    1                            the distance of the two origins
    coupler                                  a sum of joint coordinates: gear, mimic, rack and pinion

Rows are taken along the axes of the frame on B, and linear ones at the origin of the frame on A.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from spatialops._arrays import Array
from spatialops._layout import (
    CLOSE_BALL,
    CLOSE_COUPLER,
    CLOSE_DISTANCE,
    CLOSE_PRISMATIC,
    CLOSE_REVOLUTE,
    CLOSE_WELD,
)
from spatialops.algebra.rotation import rotation_matrix
from spatialops.errors import ModelError
from spatialops.tree.joint import NAMED_AXES, z_to

# kind: number in the kernels' table, names of its rows
CLOSURES: dict[str, tuple[int, tuple[str, ...]]] = {
    "ball": (CLOSE_BALL, ("x", "y", "z")),
    "weld": (CLOSE_WELD, ("x", "y", "z", "turn x", "turn y", "turn z")),
    "revolute": (CLOSE_REVOLUTE, ("x", "y", "z", "turn x", "turn y")),
    "prismatic": (CLOSE_PRISMATIC, ("x", "y", "turn x", "turn y", "turn z")),
    "distance": (CLOSE_DISTANCE, ("length",)),
    "coupler": (CLOSE_COUPLER, ("sum",)),
}

Rate = Callable[[float], Any]


@dataclass(frozen=True, eq=False, kw_only=True)
class Loop:
    """A closure between two bodies, or among the coordinates of several joints.

    Parameters
    ----------
    kind : str
        "ball", "weld", "revolute", "prismatic", "distance" or "coupler".
    a, b : str or int
        Bodies, by name (also of a merged body, or "world") or index. Not for a coupler.
    position_a, position_b : (3,) array_like
        Origins of the closure's frames in the frames of the two bodies, m.
    rotation_a, rotation_b : (3, 3) or (4,) array_like, optional
        Their rotations: matrix or quaternion (x, y, z, w).
    axis : (3,) array_like or "x", "y", "z"
        Axis of a revolute or prismatic closure, in both frames.
    distance : float
        Of the two origins, m; positive. Distance closures only.
    joints : mapping of str to float
        Coupler only: factors by names of joints of one degree of freedom; the sum of factor times coordinate is
        `offset`.
    offset : float
        Coupler only.
    rate : float, (rows,) array_like or callable, optional
        Prescribed velocity U(t) of the rows ([J] 29), m/s and rad/s; a callable takes the time in seconds. The frame on
        B (the distance, the offset) moves at this rate, along its own axes, from where it stands when a simulation
        begins; where all linear, or all angular, rates are constant zeros, those directions are closed as without.
        A prismatic closure's angular rates must be zero.
    name : str
        Default: made from its kind and bodies.

    Raises
    ------
    ModelError
        For an unknown kind, or an option that is missing, wrong, or does not belong to the kind.

    Examples
    --------
    >>> import spatialops as so
    >>> so.Loop(kind="revolute", a="rocker", b="world", position_b=(1.0, 0.0, 0.0), axis="y").n_rows
    5
    >>> so.Loop.mimic("left finger", of="right finger", multiplier=-1.0).n_rows
    1
    """

    kind: Any
    a: Any = None
    b: Any = "world"
    position_a: Any = (0.0, 0.0, 0.0)
    position_b: Any = (0.0, 0.0, 0.0)
    rotation_a: Any = None
    rotation_b: Any = None
    axis: Any = "z"
    distance: Any = None
    joints: Any = None
    offset: Any = 0.0
    rate: Any = None
    name: Any = None
    _frames: tuple[Array, Array] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.kind, str) or self.kind not in CLOSURES:
            raise ModelError(f"loop {self.name!r}: kind {self.kind!r} is unknown; choose one of {', '.join(CLOSURES)}")
        if self.kind == "coupler":
            object.__setattr__(self, "joints", self._checked_joints())
        elif self.joints is not None:
            raise self._error("joints", "belongs to a coupler")
        elif self.a is None:
            raise self._error("a", "missing: which body is closed?")
        if self.name is None:
            parts = self.joints if self.kind == "coupler" else (self.a, self.b)
            object.__setattr__(self, "name", f"{self.kind} " + " - ".join(str(part) for part in parts))
        if not isinstance(self.name, str) or not self.name:
            raise self._error("name", "expected a non-empty string")
        object.__setattr__(self, "offset", self._number("offset", self.offset))
        if self.kind == "distance":
            object.__setattr__(self, "distance", self._number("distance", self.distance))
            if self.distance <= 0.0:
                raise self._error("distance", f"must be positive, got {self.distance:g}; use a ball for zero")
        elif self.distance is not None:
            raise self._error("distance", "belongs to a distance closure")
        for side in ("position_a", "position_b"):
            object.__setattr__(self, side, tuple(self._numbers(side, getattr(self, side), 3).tolist()))
        turn = z_to(self._unit_axis()) if self.kind in ("revolute", "prismatic") else np.eye(3)
        sides = [rotation_matrix(r, f"loop {self.name!r}: rotation") @ turn for r in (self.rotation_a, self.rotation_b)]
        object.__setattr__(self, "_frames", (sides[0], sides[1]))
        if self.rate is not None and not callable(self.rate):
            object.__setattr__(self, "rate", tuple(self._checked_rate(self.rate).tolist()))

    @classmethod
    def mimic(cls, joint: str, *, of: str, multiplier: float = 1.0, offset: float = 0.0, name: Any = None) -> Loop:
        """The coupler q(joint) = multiplier q(of) + offset.

        A pair of gears has the multiplier -z(of) / z(joint); a rack that a pinion drives its radius, m.
        """
        return cls(kind="coupler", joints={joint: 1.0, of: -float(multiplier)}, offset=offset, name=name)

    @property
    def n_rows(self) -> int:
        """Number of rows: of velocities that it takes away, unless some are redundant."""
        return len(CLOSURES[self.kind][1])

    @property
    def n_slides(self) -> int:
        """Number of its linear rows, the first ones; a coupler's one row counts as such."""
        return sum(not row.startswith("turn") for row in CLOSURES[self.kind][1])

    @property
    def row_names(self) -> tuple[str, ...]:
        """What each row holds, with the closure's name."""
        return tuple(f"{self.name}: {row}" for row in CLOSURES[self.kind][1])

    def rates(self, time: float) -> Array:
        """Prescribed velocities (n_rows,) at a time, zero where there are none."""
        if self.rate is None:
            return np.zeros(self.n_rows)
        return self._checked_rate(self.rate(time) if callable(self.rate) else self.rate)

    def node_frame(self, side: int) -> tuple[Array, Array]:
        """Origin (3,) and rotation (3, 3), z along the axis, of its frame in the frame of body A (0) or B (1)."""
        return np.array((self.position_a, self.position_b)[side]), self._frames[side]

    def to_data(self) -> dict[str, Any]:
        """Plain data for `from_data`. A rate given by a function cannot be stored; only that there was one."""
        data = {item.name: getattr(self, item.name) for item in fields(self) if item.init}
        for key in ("rotation_a", "rotation_b"):
            data[key] = None if data[key] is None else np.asarray(data[key], dtype=np.float64).tolist()
        data["axis"] = self.axis if isinstance(self.axis, str) else np.asarray(self.axis, dtype=np.float64).tolist()
        data["rate"] = "function" if callable(self.rate) else self.rate
        return data

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Loop:
        """Inverse of `to_data`; a rate that was a function must be given anew before the loop is simulated."""
        lost = data["rate"] == "function"
        return cls(**{**data, "rate": _LostRate(str(data["name"])) if lost else data["rate"]})

    def _checked_rate(self, value: Any) -> Array:
        rates = self._numbers("rate", np.broadcast_to(value, (1,)) if np.ndim(value) == 0 else value, self.n_rows)
        if self.kind == "prismatic" and rates[2:].any():
            raise self._error("rate", "a prismatic closure that slides cannot be turned; use a weld for the turning")
        return rates

    def _checked_joints(self) -> dict[str, float]:
        if not isinstance(self.joints, Mapping) or not self.joints:
            raise self._error("joints", f"expected factors by names of joints, got {self.joints!r}")
        factors = {str(joint): self._number("joints", factor) for joint, factor in self.joints.items()}
        if not all(factors.values()):
            raise self._error("joints", "a factor must not be zero")
        return factors

    def _unit_axis(self) -> Array:
        if isinstance(self.axis, str) and self.axis not in NAMED_AXES:
            raise self._error("axis", f"expected 3 numbers or 'x', 'y', 'z', got {self.axis!r}")
        vector = self._numbers("axis", NAMED_AXES[self.axis] if isinstance(self.axis, str) else self.axis, 3)
        length = float(np.linalg.norm(vector))
        if length < 1e-12:
            raise self._error("axis", "must not be zero")
        return vector / length

    def _number(self, name: str, value: Any) -> float:
        return float(self._numbers(name, [value], 1)[0])

    def _numbers(self, name: str, value: Any, size: int) -> Array:
        try:
            numbers = np.array(value, dtype=np.float64)
        except (TypeError, ValueError):
            raise self._error(name, f"expected {size} number(s), got {value!r}") from None
        if numbers.shape != (size,) or not np.isfinite(numbers).all():
            raise self._error(name, f"expected {size} finite number(s), got {value!r}")
        return numbers

    def _error(self, name: str, text: str) -> ModelError:
        return ModelError(f"loop {self.name!r} ({self.kind}): {name}: {text}")


class _LostRate:
    """In place of a function that a file could not keep."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, time: float) -> Any:
        raise ModelError(
            f"loop {self.name!r}: rate: functions are not stored in files; make the loop anew with its rate"
        )
