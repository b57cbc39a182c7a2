"""Lengths along joints or through space: springs, dampers and stops on them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from spatialops._arrays import Array, given, scalar
from spatialops.errors import ModelError
from spatialops.forces.paths import TendonPath
from spatialops.tree.model import Model

Range: TypeAlias = tuple[float, float]
STOP_RATE = 200.0  # rad/s of the buffers at a tendon's limits


@dataclass(frozen=True, eq=False, kw_only=True)
class Tendon:
    """A spring, damper and stops along a length: a sum of factor times coordinate, or a path's.

    Parameters
    ----------
    joints : mapping of str to float, optional
        Factors by joint, m/rad or 1.
    path : TendonPath, optional
        From node to node through space; in place of `joints`.
    stiffness, damping : float
        N/m and N s/m, not negative. Default 0.
    rest : float or (float, float)
        Length at which the spring is at rest; of two, the range within which it is slack, as a
        string is up to its length: (-inf, length). Default 0.
    limits : (float, float)
        Range of the length. Beyond it a buffer pushes back: a critically damped spring of
        `STOP_RATE` (rad/s) for the least inertia that the length feels wherever the joints are,
        from one side alone. Default: without end.
    name : str
        Default "".

    Raises
    ------
    ModelError
        For numbers that are not finite, or negative ones.

    Examples
    --------
    A string of a finger that closes both of its joints:

    >>> import spatialops as so
    >>> hand = so.models.pendulum(2).model
    >>> string = so.Tendon(joints={"pin1": 0.01, "pin2": 0.008}, stiffness=2e4)
    >>> scene = so.Scene(hand, tendons=[string])
    """

    joints: Mapping[str, float] = given(None)
    path: TendonPath | None = None
    stiffness: float = 0.0
    damping: float = 0.0
    rest: float | Range = 0.0
    limits: Range = (-math.inf, math.inf)
    name: str = ""

    if TYPE_CHECKING:  # what may be given, where the fields say what is kept

        def __init__(
            self,
            *,
            joints: Mapping[str, float] | None = ...,
            path: TendonPath | None = ...,
            stiffness: float = ...,
            damping: float = ...,
            rest: float | Range = ...,
            limits: Range = ...,
            name: str = ...,
        ) -> None: ...

    def __post_init__(self) -> None:
        where = f"tendon {self.name!r}"
        put_length(self, where)
        scalar(self.stiffness, f"{where}: stiffness", low=0.0)
        scalar(self.damping, f"{where}: damping", low=0.0)
        if isinstance(self.rest, (tuple, list)):
            object.__setattr__(self, "rest", range_of(self.rest, f"{where}: rest"))
        else:
            scalar(self.rest, f"{where}: rest")
        object.__setattr__(self, "limits", range_of(self.limits, f"{where}: limits"))

    def __reduce__(self) -> tuple[Callable[[], Tendon], tuple[()]]:
        """Copied, and sent to other processes, as its plain data: what is kept is read-only."""
        return partial(type(self), **self.to_data()), ()

    @property
    def slack(self) -> Range:
        """Lengths between which its spring does nothing: one and the same where it has no slack."""
        return self.rest if isinstance(self.rest, tuple) else (self.rest, self.rest)

    def energy(self, model: Model, q: Array) -> float:
        """Energy of its spring, without that of its stops.

        Parameters
        ----------
        model : Model
            The mechanism.
        q : (nq,) array
            Coordinates, rad and m.

        Returns
        -------
        float
            J.
        """
        length = length_of(model, self, q)
        return 0.5 * self.stiffness * (length - min(max(length, self.slack[0]), self.slack[1])) ** 2

    def to_data(self) -> dict[str, Any]:
        """The tendon as plain data; `Tendon(**data)` is the inverse.

        Returns
        -------
        dict
            By names of fields.
        """
        data = {item.name: getattr(self, item.name) for item in fields(self)}
        return {**data, **length_data(self)}


class Length(Protocol):
    """What has a length: one of its two is there."""

    @property
    def joints(self) -> Mapping[str, float]:
        """Factors by joint; none where there is a path."""

    @property
    def path(self) -> TendonPath | None:
        """From node to node."""


def put_length(one: Length, where: str) -> None:
    """Check what a frozen object was given for its length, and put it there as it is kept."""
    path: object = one.path
    if path is None:
        object.__setattr__(one, "joints", factors_of(one.joints, where))
        return
    if isinstance(path, dict):  # of plain data
        path = TendonPath(**path)
    if not isinstance(path, TendonPath):
        raise ModelError(f"{where}: path: expected a TendonPath, got {path!r}")
    if one.joints:
        raise ModelError(f"{where}: expected joints or a path, got both")
    object.__setattr__(one, "joints", MappingProxyType({}))
    object.__setattr__(one, "path", path)


def length_data(one: Length) -> dict[str, object]:
    """The same as plain data."""
    path = None if one.path is None else one.path.to_data()
    return {"joints": dict(one.joints), "path": path}


def length_of(model: Model, one: Length, q: Array) -> float:
    """Length at coordinates (nq,)."""
    if one.path is not None:
        return one.path.length(model, q)
    joints = one.joints
    return sum(factor * float(q[model.q_slice(name)][0]) for name, factor in joints.items())


def range_of(values: object, where: str) -> Range:
    """Two numbers, of which the second is not below the first; infinite ones too."""
    try:
        low, high = (float(x) for x in values)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise ModelError(f"{where}: expected two numbers, got {values!r}") from None
    if not low <= high:
        raise ModelError(f"{where}: {low:g} is above {high:g}, or one is NaN")
    return low, high


def factors_of(joints: object, where: str) -> Mapping[str, float]:
    """Factors by joint; a name is one joint with a factor of 1."""
    if isinstance(joints, str):
        joints = {joints: 1.0}
    if not isinstance(joints, Mapping) or not joints:
        raise ModelError(f"{where}: joints: expected a joint or factors by joint, got {joints!r}")
    factors = {str(name): scalar(value, f"{where}: {name}") for name, value in joints.items()}
    return MappingProxyType(factors)


def arms_of(model: Model, one: Length, q: Array) -> Array:
    """How the length changes with each velocity, (nv,), at coordinates (nq,): factors, or arms."""
    if one.path is not None:
        return one.path.arms(model, q)
    arms = np.zeros(model.nv)
    for name, factor in one.joints.items():
        arms[model.v_slice(name).start] += factor
    return arms
