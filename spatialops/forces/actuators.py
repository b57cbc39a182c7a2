"""Actuators: what turns controls into joint forces.

One law has them all (`forces.elements`): a force affine in a control, a length and its rate.
Motors, servos of position and velocity and DC motors are choices of its numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, Unpack

import numpy as np

from spatialops._arrays import Array, ArrayLike, array, given, instance, scalar
from spatialops.errors import ModelError
from spatialops.forces.paths import TendonPath
from spatialops.forces.tendons import Range, length_data, length_of, put_length, range_of
from spatialops.tree.model import Model

Dynamics: TypeAlias = Literal["none", "integrator", "filter"]


class Ranges(TypedDict, total=False):
    """Ranges of an actuator, as `Actuator` takes them."""

    ctrl_range: Range
    force_range: Range
    activation_range: Range


DYNAMICS = ("none", "integrator", "filter")
_UNBOUNDED = (-np.inf, np.inf)


@dataclass(frozen=True, eq=False, kw_only=True)
class Actuator:
    """A force along a length of joints or of a path, driven by a control.

    The length is l = sum of factor times coordinate, or the path's. The force is (g0 + g1 l +
    g2 l') u + b0 + b1 l + b2 l', cut to `force_range`; joint j feels it times its factor, or the
    path's moment arm. u is the control, cut to `ctrl_range`, or the activation that follows it.

    Parameters
    ----------
    name : str
        Unique in a scene.
    joints : str or mapping of str to float, optional
        A joint, or factors by joint: gear of one, lever arms of a tendon along several. Joints of
        one coordinate only.
    path : TendonPath, optional
        From node to node through space, with its gear as `factor`; in place of `joints`.
    gain, bias : (3,) array_like
        g and b. Default: gain 1, no bias: a motor.
    dynamics : {"none", "integrator", "filter"}
        How the activation a follows the control u: it is u; a' = u; a' = (u - a) / time_constant.
        Default "none".
    time_constant : float
        Of a filter, s. Default 0: it follows at once.
    ctrl_range, force_range, activation_range : (float, float)
        Default: without bounds.

    Raises
    ------
    ModelError
        For numbers that are not finite, or ranges that are none.

    References
    ----------
    E. Todorov et al., *MuJoCo documentation*, "Actuation model".

    Examples
    --------
    >>> import spatialops as so
    >>> so.Actuator.position("servo", "elbow", kp=100.0, kv=10.0, force_range=(-20.0, 20.0)).bias
    array([   0., -100.,  -10.])
    """

    name: str
    joints: Mapping[str, float] = given(None)
    path: TendonPath | None = None
    gain: Array = given((1.0, 0.0, 0.0))
    bias: Array = given((0.0, 0.0, 0.0))
    dynamics: Dynamics = "none"
    time_constant: float = 0.0
    ctrl_range: Range = _UNBOUNDED
    force_range: Range = _UNBOUNDED
    activation_range: Range = _UNBOUNDED

    if TYPE_CHECKING:  # what may be given, where the fields say what becomes of it

        def __init__(
            self,
            *,
            name: str,
            joints: str | Mapping[str, float] | None = ...,
            path: TendonPath | None = ...,
            gain: ArrayLike = ...,
            bias: ArrayLike = ...,
            dynamics: Dynamics = ...,
            time_constant: float = ...,
            ctrl_range: Range = ...,
            force_range: Range = ...,
            activation_range: Range = ...,
        ) -> None: ...

    def __post_init__(self) -> None:
        where = f"actuator {self.name!r}"
        if not is_text(self.name):
            raise ModelError(f"actuator: name: expected a text, got {self.name!r}")
        put_length(self, where)
        for name in ("gain", "bias"):
            values = array(getattr(self, name), (3,), f"{where}: {name}", finite=True)
            object.__setattr__(self, name, values)
        if self.dynamics not in DYNAMICS:
            raise ModelError(
                f"{where}: dynamics: expected one of {', '.join(DYNAMICS)}, got {self.dynamics!r}"
            )
        scalar(self.time_constant, f"{where}: time_constant", low=0.0)
        for name in ("ctrl_range", "force_range", "activation_range"):
            object.__setattr__(self, name, range_of(getattr(self, name), f"{where}: {name}"))

    def __reduce__(self) -> tuple[Callable[[], Actuator], tuple[()]]:
        """Copied, and sent to other processes, as its plain data: what is kept is read-only."""
        return partial(type(self), **self.to_data()), ()

    @classmethod
    def motor(
        cls, name: str, joint: str, *, gear: float = 1.0, **ranges: Unpack[Ranges]
    ) -> Actuator:
        """A force that is its control, times a gear.

        Parameters
        ----------
        name, joint : str
            Of the actuator, and what it moves.
        gear : float
            Force of the joint for one of the motor. Its rotor adds gear^2 times its inertia to the
            joint's `armature`. Default 1.
        **ranges
            Of `Actuator`; may be asymmetric.

        Returns
        -------
        Actuator
            With these numbers.

        Examples
        --------
        >>> import spatialops as so
        >>> dict(so.Actuator.motor("motor", "elbow", gear=50.0).joints)
        {'elbow': 50.0}
        """
        instance(joint, str, "joint")
        return cls(name=name, joints={joint: gear}, **ranges)

    @classmethod
    def position(
        cls, name: str, joint: str, *, kp: float, kv: float = 0.0, **ranges: Unpack[Ranges]
    ) -> Actuator:
        """A servo that draws a joint to its control: kp (u - q) - kv v.

        Its gains are taken implicitly: stable at any step.

        Parameters
        ----------
        name, joint : str
            Of the actuator, and what it moves.
        kp : float
            N m/rad or N/m.
        kv : float
            N m s or N s/m. Default 0.
        **ranges
            Of `Actuator`.

        Returns
        -------
        Actuator
            With these numbers.

        Examples
        --------
        >>> import spatialops as so
        >>> servo = so.Actuator.position("servo", "elbow", kp=100.0, kv=10.0)
        >>> servo.gain, servo.bias
        (array([100.,   0.,   0.]), array([   0., -100.,  -10.]))
        """
        kp, kv = scalar(kp, f"actuator {name!r}: kp"), scalar(kv, f"actuator {name!r}: kv")
        bias = (0.0, -kp, -kv)
        return cls(name=name, joints=joint, gain=(kp, 0.0, 0.0), bias=bias, **ranges)

    @classmethod
    def velocity(cls, name: str, joint: str, *, kv: float, **ranges: Unpack[Ranges]) -> Actuator:
        """A servo that draws the rate of a joint to its control: kv (u - v).

        Parameters
        ----------
        name, joint : str
            Of the actuator, and what it moves.
        kv : float
            N m s or N s/m.
        **ranges
            Of `Actuator`.

        Returns
        -------
        Actuator
            With these numbers.

        Examples
        --------
        >>> import spatialops as so
        >>> wheel = so.Actuator.velocity("wheel", "axle", kv=3.0)
        >>> wheel.gain, wheel.bias
        (array([3., 0., 0.]), array([ 0.,  0., -3.]))
        """
        kv = scalar(kv, f"actuator {name!r}: kv")
        return cls(name=name, joints=joint, gain=(kv, 0.0, 0.0), bias=(0.0, 0.0, -kv), **ranges)

    @classmethod
    def dc_motor(
        cls,
        name: str,
        joint: str,
        *,
        torque_constant: float,
        resistance: float,
        gear: float = 1.0,
        **ranges: Unpack[Ranges],
    ) -> Actuator:
        """A DC motor whose control is its voltage: torque k i of the current i = (u - k w) / R.

        The rotor turns at w = gear v. Inductance is left out.

        Parameters
        ----------
        name, joint : str
            Of the actuator, and what it moves.
        torque_constant : float
            k, N m/A, and V s of the back electromotive force.
        resistance : float
            R, Ohm.
        gear : float
            Turns of the rotor for one of the joint. Default 1.
        **ranges
            Of `Actuator`; `force_range` is of the rotor, N m.

        Returns
        -------
        Actuator
            With these numbers.
        """
        R = scalar(resistance, "resistance", low=0.0, strict=True)
        k = scalar(torque_constant, "torque_constant")
        gain, bias = (k / R, 0.0, 0.0), (0.0, 0.0, -k * k / R)
        return cls(name=name, joints={joint: gear}, gain=gain, bias=bias, **ranges)

    def to_data(self) -> dict[str, Any]:
        """The actuator as plain data; `Actuator(**data)` is the inverse.

        Returns
        -------
        dict
            By names of fields.
        """
        data = {item.name: getattr(self, item.name) for item in fields(self)}
        data |= length_data(self)
        return {
            key: item.tolist() if isinstance(item, np.ndarray) else item
            for key, item in data.items()
        }


def holding(model: Model, actuator: Actuator, q: Array) -> float:
    """The control at which a servo of position pulls with nothing at coordinates (nq,); else 0."""
    kp, _, _ = actuator.gain
    if kp == 0.0 or kp != -actuator.bias[1] or actuator.dynamics == "integrator":
        return 0.0
    control = length_of(model, actuator, q) - float(actuator.bias[0] / kp)
    return float(np.clip(control, *actuator.ctrl_range)) + 0.0


def is_text(name: object) -> bool:
    """Whether it is a text of some length."""
    return isinstance(name, str) and bool(name)
