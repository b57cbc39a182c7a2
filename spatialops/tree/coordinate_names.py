"""Names and units of single coordinates, velocities and forces, for tables and figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from spatialops.tree.model import Model

# kind: label and unit of each number; CONVENTIONS.md, "Joints".
_POSITIONS: dict[str, tuple[tuple[str, str], ...]] = {
    "fixed": (),
    "revolute": (("", "rad"),),
    "prismatic": (("", "m"),),
    "screw": (("", "rad"),),
    "cylindrical": (("angle", "rad"), ("travel", "m")),
    "universal": (("first", "rad"), ("second", "rad")),
    "planar": (("x", "m"), ("y", "m"), ("angle", "rad")),
    "ball": tuple((name, "1") for name in ("qx", "qy", "qz", "qw")),
    "free": (
        *((name, "m") for name in ("x", "y", "z")),
        *((name, "1") for name in ("qx", "qy", "qz", "qw")),
    ),
}
_TURNING = (("wx", "rad"), ("wy", "rad"), ("wz", "rad"))
_MOTIONS = {
    **_POSITIONS,
    "ball": _TURNING,
    "free": (*_TURNING, ("vx", "m"), ("vy", "m"), ("vz", "m")),
}
_RATES = {"rad": "rad/s", "m": "m/s"}
_FORCES = {"rad": "N m", "m": "N"}


class Named(NamedTuple):
    """Names of numbers, such as "hip" or "base.x", and their units."""

    labels: tuple[str, ...]
    units: tuple[str, ...]


def coordinate_names(model: Model, joints: Sequence[str] | None = None) -> Named:
    """Of the entries of q that belong to the joints, in their order; default: all."""
    return _named(model, joints, _POSITIONS, {})


def velocity_names(model: Model, joints: Sequence[str] | None = None) -> Named:
    """Of the entries of v."""
    return _named(model, joints, _MOTIONS, _RATES)


def force_names(model: Model, joints: Sequence[str] | None = None) -> Named:
    """Of the entries of tau."""
    return _named(model, joints, _MOTIONS, _FORCES)


def _named(
    model: Model,
    joints: Sequence[str] | None,
    table: dict[str, tuple[tuple[str, str], ...]],
    units: dict[str, str],
) -> Named:
    chosen = model.joint_names if joints is None else joints
    found = [(name, *number) for name in chosen for number in table[model.joint_kind(name)]]
    labels = tuple(f"{name}.{label}" if label else name for name, label, _ in found)
    return Named(labels, tuple(units.get(unit, unit) for _, _, unit in found))
