"""Lengths along joints, and springs and dampers on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType

from spatialops._arrays import Array, scalar
from spatialops.errors import ModelError
from spatialops.tree.model import Model


@dataclass(frozen=True, eq=False, kw_only=True)
class Tendon:
    """A spring and damper along a length of several joints, the sum of factor times coordinate.

    Parameters
    ----------
    joints : mapping of str to float
        Factors by joint, m/rad or 1.
    stiffness, damping : float
        N/m and N s/m, not negative. Default 0.
    rest : float
        Length at which the spring is at rest. Default 0.
    name : str
        Default "".

    Raises
    ------
    ModelError
        For numbers that are not finite, or negative ones.
    """

    joints: Mapping[str, float]
    stiffness: float = 0.0
    damping: float = 0.0
    rest: float = 0.0
    name: str = ""

    def __post_init__(self) -> None:
        where = f"tendon {self.name!r}"
        object.__setattr__(self, "joints", factors_of(self.joints, where))
        scalar(self.stiffness, f"{where}: stiffness", low=0.0)
        scalar(self.damping, f"{where}: damping", low=0.0)
        scalar(self.rest, f"{where}: rest")

    def energy(self, model: Model, q: Array) -> float:
        """Energy of its spring.

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
        return 0.5 * self.stiffness * (length_of(model, self.joints, q) - self.rest) ** 2

    def to_data(self) -> dict[str, object]:
        """The tendon as plain data; `Tendon(**data)` is the inverse.

        Returns
        -------
        dict
            By names of fields.
        """
        data: dict[str, object] = {item.name: getattr(self, item.name) for item in fields(self)}
        return {**data, "joints": dict(self.joints)}


def length_of(model: Model, joints: Mapping[str, float], q: Array) -> float:
    """Sum of factor times coordinate at coordinates (nq,)."""
    return sum(factor * float(q[model.q_slice(name)][0]) for name, factor in joints.items())


def factors_of(joints: object, where: str) -> Mapping[str, float]:
    """Factors by joint; a name is one joint with a factor of 1."""
    if isinstance(joints, str):
        joints = {joints: 1.0}
    if not isinstance(joints, Mapping) or not joints:
        raise ModelError(f"{where}: joints: expected a joint or factors by joint, got {joints!r}")
    factors = {str(name): scalar(value, f"{where}: {name}") for name, value in joints.items()}
    return MappingProxyType(factors)
