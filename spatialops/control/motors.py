"""Electric motors behind the joints: what a joint force costs in heat ([A] 25-26)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from spatialops._arrays import Array, ArrayLike, IntArray, array, dimensions, instance
from spatialops.control.actuation import Actuation
from spatialops.errors import ArgumentError


@dataclass(frozen=True, eq=False)
class Motors:
    """Motors of a model's actuated velocities.

    A motor gives torque_constant * current, its gear that many times the torque at the joint: u = N
    K_t i. Losses in the windings are P = i.R i = u.W u, W_jj = R_j / (N_j K_t,j)^2 ([A] 26 has
    gears of 1).

    Parameters
    ----------
    actuation : Actuation
        Which velocities have a motor, and the largest force of each.
    torque_constant : float or (n,) array_like, default 1
        K_t, N m/A (N/A of a linear motor). An array (n,) afterwards, as the next two.
    resistance : float or (n,) array_like, default 1
        R of the windings, ohm.
    gear : float or (n,) array_like, default 1
        N, turns of the motor per turn of the joint.

    Raises
    ------
    ArgumentError
        For values that are not positive, or too many.

    Examples
    --------
    >>> import spatialops as so
    >>> from spatialops.control import Actuation, Motors
    >>> joints = Actuation(so.models.pendulum(2).model)
    >>> motors = Motors(joints, torque_constant=0.1, resistance=0.5, gear=10.0)
    >>> motors.power([2.0, 0.0])
    2.0
    """

    actuation: Actuation
    torque_constant: Array | Sequence[float] | float = 1.0
    resistance: Array | Sequence[float] | float = 1.0
    gear: Array | Sequence[float] | float = 1.0

    def __post_init__(self) -> None:
        n = len(instance(self.actuation, Actuation, "actuation"))
        for name in ("torque_constant", "resistance", "gear"):
            given = getattr(self, name)
            values = array(
                np.full(n, given) if dimensions(given, name) == 0 else given,
                (n,),
                name,
                finite=True,
            )
            if n and not values.min() > 0.0:
                raise ArgumentError(f"{name}: expected positive numbers, got {values.min():g}")
            object.__setattr__(self, name, values)

    @cached_property
    def strong(self) -> tuple[IntArray, tuple[str, ...]]:
        """Which motors have a finite limit: their indices (k,), and a name for each."""
        own = self.actuation
        at = np.flatnonzero(np.isfinite(own.limits))
        return at, tuple(f"motor {i} of {own.model.joint_of_link(int(own.rows[i]))}" for i in at)

    @cached_property
    def ends(self) -> tuple[str, ...]:
        """Names of the finite limits: upper ones, then lower ones."""
        return tuple(f"{label}: {end}" for end in ("upper", "lower") for label in self.strong[1])

    @cached_property
    def weights(self) -> Array:
        """Diagonal of W, (n,), W per N^2 m^2."""
        gear, torque = np.asarray(self.gear), np.asarray(self.torque_constant)
        return np.asarray(self.resistance / (gear * torque) ** 2)

    def currents(self, forces: ArrayLike) -> Array:
        """Currents for forces at the joints.

        Parameters
        ----------
        forces : (n,) array_like
            Forces of the motors at the joints, N m or N.

        Returns
        -------
        (n,) array
            Currents, A.
        """
        gear, torque = np.asarray(self.gear), np.asarray(self.torque_constant)
        return np.asarray(array(forces, (len(self.actuation),), "forces") / (gear * torque))

    def power(self, forces: ArrayLike) -> float:
        """Losses in the windings for forces at the joints ([A] 26).

        Parameters
        ----------
        forces : (n,) array_like
            Forces of the motors at the joints, N m or N.

        Returns
        -------
        float
            Losses, W.
        """
        u = array(forces, (len(self.actuation),), "forces")
        return float(self.weights @ (u * u))
