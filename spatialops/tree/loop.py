"""Closures: what ties two bodies of a tree together where a loop has been cut ([J] section 4).

A closure holds a frame on body A against a frame on body B. Which of the frame's directions it
holds is its kind:

    kind        linear rows   angular rows   holds
    ball        x y z                        the two origins together
    weld        x y z         x y z          the two frames together
    revolute    x y z         x y            all but turning about the axis z
    prismatic   x y           x y z          all but sliding along the axis z
    distance    1                            the distance of the two origins
    coupler                                  a sum of joint coordinates: gear, mimic, rack

Rows are taken along the axes of the frame on B, and linear ones at the origin of the frame on A.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, Axis, AxisLike, Vec3, dimensions, given, is_one_of
from spatialops.algebra.rotation import rotation_matrix
from spatialops.errors import ModelError
from spatialops.tree.joint import NAMED_AXES, NO_LENGTH, z_to

LoopKind: TypeAlias = Literal["ball", "weld", "revolute", "prismatic", "distance", "coupler"]

# kind: number in the kernels' table, names of its rows
CLOSURES: dict[str, tuple[int, tuple[str, ...]]] = {
    "ball": (layout.CLOSE_BALL, ("x", "y", "z")),
    "weld": (layout.CLOSE_WELD, ("x", "y", "z", "turn x", "turn y", "turn z")),
    "revolute": (layout.CLOSE_REVOLUTE, ("x", "y", "z", "turn x", "turn y")),
    "prismatic": (layout.CLOSE_PRISMATIC, ("x", "y", "turn x", "turn y", "turn z")),
    "distance": (layout.CLOSE_DISTANCE, ("length",)),
    "coupler": (layout.CLOSE_COUPLER, ("sum",)),
}

Rate: TypeAlias = Callable[[float], ArrayLike]


@dataclass(frozen=True, eq=False, kw_only=True)
class Loop:
    """A closure between two bodies, or among the coordinates of several joints.

    Parameters
    ----------
    kind : {"ball", "weld", "revolute", "prismatic", "distance", "coupler"}
        What it holds; see the table of CONVENTIONS.md.
    a : str or int
        Body A, by name (also of a merged body, or "world") or index. Not for a coupler.
    b : str or int
        Body B likewise; default: "world".
    position_a : (3,) array_like
        Origin of the closure's frame on A in the frame of that body, m; default: its origin.
    position_b : (3,) array_like
        The same on B.
    rotation_a : (3, 3) or (4,) array_like, optional
        Rotation of the frame on A: matrix or quaternion (x, y, z, w); default: none.
    rotation_b : (3, 3) or (4,) array_like, optional
        The same on B.
    axis : (3,) array_like or {"x", "y", "z"}
        Axis of a revolute or prismatic closure, in both frames; default: "z".
    distance : float
        Of the two origins, m; positive. Distance closures only.
    joints : mapping of str to float
        Coupler only: factors by names of joints of one degree of freedom; the sum of factor times
        coordinate is `offset`.
    offset : float
        Coupler only; default: 0.
    rate : float, (n_rows,) array_like or callable, optional
        Prescribed velocity U(t) of the rows ([J] 29), m/s and rad/s; a callable takes the time in
        seconds. The frame on B (the distance, the offset) moves at this rate, along its own axes,
        from where it stands when a simulation begins; where all linear, or all angular, rates are
        constant zeros, those directions are closed as without. A prismatic closure's angular rates
        must be zero.
    name : str
        Default: made from its kind and bodies.

    Raises
    ------
    ModelError
        For an unknown kind, or an option that is missing, wrong, or does not belong to the kind.

    Examples
    --------
    >>> import spatialops as so
    >>> so.Loop(kind="revolute", a="rocker", position_b=(1.0, 0.0, 0.0), axis="y").n_rows
    5
    >>> so.Loop.mimic("left finger", of="right finger", multiplier=-1.0).n_rows
    1
    """

    kind: LoopKind
    a: str | int | None = None
    b: str | int = "world"
    position_a: Vec3 = (0.0, 0.0, 0.0)
    position_b: Vec3 = (0.0, 0.0, 0.0)
    rotation_a: Array | None = None
    rotation_b: Array | None = None
    axis: Axis = "z"
    distance: float | None = None
    joints: Mapping[str, float] | None = None
    offset: float = 0.0
    rate: Rate | tuple[float, ...] | None = None
    name: str = given(None)
    _frames: tuple[Array, Array] = field(init=False, repr=False)

    if TYPE_CHECKING:  # what may be given, where the fields say what becomes of it

        def __init__(
            self,
            *,
            kind: LoopKind | str,
            a: str | int | None = ...,
            b: str | int = ...,
            position_a: ArrayLike = ...,
            position_b: ArrayLike = ...,
            rotation_a: ArrayLike | None = ...,
            rotation_b: ArrayLike | None = ...,
            axis: AxisLike = ...,
            distance: float | None = ...,
            joints: Mapping[str, float] | None = ...,
            offset: float = ...,
            rate: Rate | ArrayLike | None = ...,
            name: str | None = ...,
        ) -> None: ...

    def __post_init__(self) -> None:
        if not is_one_of(self.kind, CLOSURES):
            raise ModelError(
                f"loop {self.name!r}: kind {self.kind!r} is unknown; choose one of "
                f"{', '.join(CLOSURES)}"
            )
        if self.kind == "coupler":
            object.__setattr__(self, "joints", self._checked_joints())
        elif self.joints is not None:
            raise self._error("joints", "belongs to a coupler")
        elif self.a is None:
            raise self._error("a", "missing: which body is closed?")
        object.__setattr__(self, "name", self._checked_name(self.name))
        object.__setattr__(self, "offset", self._number("offset", self.offset))
        if self.kind == "distance":
            distance = self._number("distance", self.distance)
            if distance <= 0.0:
                raise self._error(
                    "distance", f"must be positive, got {distance:g}; use a ball for zero"
                )
            object.__setattr__(self, "distance", distance)
        elif self.distance is not None:
            raise self._error("distance", "belongs to a distance closure")
        for side in ("position_a", "position_b"):
            object.__setattr__(
                self, side, tuple(self._numbers(side, getattr(self, side), 3).tolist())
            )
        object.__setattr__(self, "axis", self._checked_axis())
        turn = z_to(self._unit_axis()) if self.kind in ("revolute", "prismatic") else np.eye(3)
        object.__setattr__(self, "_frames", (self._side("a") @ turn, self._side("b") @ turn))
        if self.rate is not None and not callable(self.rate):
            object.__setattr__(self, "rate", tuple(self._checked_rate(self.rate).tolist()))

    @classmethod
    def mimic(
        cls,
        joint: str,
        *,
        of: str,
        multiplier: float = 1.0,
        offset: float = 0.0,
        name: str | None = None,
    ) -> Loop:
        """The coupler q(joint) = multiplier q(of) + offset.

        A pair of gears has the multiplier -z(of) / z(joint); a rack that a pinion drives its
        radius, m.

        Parameters
        ----------
        joint : str
            Name of the joint that follows.
        of : str
            Name of the joint that it follows.
        multiplier : float
            Default: 1.
        offset : float
            rad or m; default: 0.
        name : str, optional
            Default: made from the two joints.

        Returns
        -------
        Loop
            Of kind "coupler".

        Raises
        ------
        ModelError
            For a multiplier that is zero, or numbers that are not finite.
        """
        if joint == of:
            raise ModelError(f"mimic: a joint does not follow itself: {joint!r}")
        try:
            joints = {joint: 1.0, of: -float(multiplier)}
        except (TypeError, ValueError):
            raise ModelError(f"mimic: multiplier: expected a number, got {multiplier!r}") from None
        return cls(kind="coupler", joints=joints, offset=offset, name=name)

    @property
    def bodies(self) -> tuple[str | int, str | int]:
        """Bodies A and B; a coupler has none, which reads as the world twice."""
        return ("world" if self.a is None else self.a), self.b

    @property
    def factors(self) -> Mapping[str, float]:
        """Factors of a coupler's sum by names of joints; empty for other kinds."""
        return self.joints or {}

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
        """Prescribed velocities of the rows.

        Parameters
        ----------
        time : float
            s.

        Returns
        -------
        (n_rows,) array
            m/s and rad/s, zero where there are none.

        Raises
        ------
        ModelError
            Where a function of the time gives something else.
        """
        if self.rate is None:
            return np.zeros(self.n_rows)
        return self._checked_rate(self.rate(time) if callable(self.rate) else self.rate)

    def node_frame(self, side: int) -> tuple[Array, Array]:
        """One of its two frames in the frame of that body.

        Parameters
        ----------
        side : {0, 1}
            0 for body A, 1 for body B.

        Returns
        -------
        origin : (3,) array
            m.
        rotation : (3, 3) array
            Its z is the axis of a revolute or prismatic closure.
        """
        return np.array((self.position_a, self.position_b)[side]), self._frames[side]

    def to_data(self) -> dict[str, object]:
        """Plain data for `from_data`.

        A rate that is a function cannot be stored, only that there was one.

        Returns
        -------
        dict of str to object
            Strings, numbers and lists, by names of fields.
        """
        data = {item.name: getattr(self, item.name) for item in fields(self) if item.init}
        for side, turn in (("rotation_a", self.rotation_a), ("rotation_b", self.rotation_b)):
            data[side] = None if turn is None else turn.tolist()
        data["axis"] = self.axis if isinstance(self.axis, str) else list(self.axis)
        data["rate"] = "function" if callable(self.rate) else self.rate
        return data

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Loop:
        """Inverse of `to_data`.

        A rate that was a function must be given anew before the loop is simulated.

        Parameters
        ----------
        data : mapping of str to object
            What `to_data` returned, also by way of a file.

        Returns
        -------
        Loop
            The same closure.
        """
        lost = data["rate"] == "function"
        return cls(**{**data, "rate": _LostRate(str(data["name"])) if lost else data["rate"]})

    def _checked_name(self, name: object) -> str:
        if name is None:
            parts: Iterable[object] = self.factors if self.kind == "coupler" else (self.a, self.b)
            return f"{self.kind} " + " - ".join(str(part) for part in parts)
        if not isinstance(name, str) or not name:
            raise self._error("name", "expected a non-empty string")
        return name

    def _checked_rate(self, value: ArrayLike) -> Array:
        rates = self._numbers(
            "rate",
            np.broadcast_to(value, (1,)) if dimensions(value, "rate") == 0 else value,
            self.n_rows,
        )
        if self.kind == "prismatic" and rates[2:].any():
            raise self._error(
                "rate",
                "a prismatic closure that slides cannot be turned; use a weld for the turning",
            )
        return rates

    def _checked_joints(self) -> dict[str, float]:
        joints: object = self.joints
        if not isinstance(joints, Mapping) or not joints:
            raise self._error("joints", f"expected factors by names of joints, got {joints!r}")
        factors = {str(joint): self._number("joints", factor) for joint, factor in joints.items()}
        if not all(factors.values()):
            raise self._error("joints", "a factor must not be zero")
        return factors

    def _side(self, side: str) -> Array:
        """Rotation of the frame on a side; kept as it was given, in numbers."""
        name = f"rotation_{side}"
        value = getattr(self, name)
        turn = rotation_matrix(value, f"loop {self.name!r}: rotation")
        if value is not None:
            object.__setattr__(self, name, np.array(value, dtype=np.float64))
        return turn

    def _checked_axis(self) -> Axis:
        if not isinstance(self.axis, str):
            x, y, z = self._numbers("axis", self.axis, 3).tolist()
            return x, y, z
        if self.axis not in NAMED_AXES:
            raise self._error("axis", f"expected 3 numbers or 'x', 'y', 'z', got {self.axis!r}")
        return self.axis

    def _unit_axis(self) -> Array:
        vector = np.array(NAMED_AXES[self.axis] if isinstance(self.axis, str) else self.axis)
        length = float(np.linalg.norm(vector))
        if length < NO_LENGTH:
            raise self._error("axis", "must not be zero")
        return vector / length

    def _number(self, name: str, value: float | None) -> float:
        return float(self._numbers(name, [value], 1)[0])

    def _numbers(self, name: str, value: object, size: int) -> Array:
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

    def __call__(self, time: float) -> ArrayLike:
        raise ModelError(
            f"loop {self.name!r}: rate: functions are not stored in files; make the loop anew "
            "with its rate"
        )
