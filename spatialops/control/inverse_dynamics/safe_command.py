"""The last resort of a controller: forces against the motion of each joint."""

from __future__ import annotations

import numpy as np

from spatialops.control.actuation import Actuation
from spatialops.control.controller import Explanation

_SHARE = 0.1  # s/rad or s/m: at 10 rad/s or m/s a motor brakes with all it has
_UNLIMITED = 1.0  # N m or N with which a motor brakes at most that names no limit


def damped(nv: int, actuation: Actuation, state: object, notes: tuple[str, ...]) -> Explanation:
    """A command that brakes each joint, and does nothing where not even its velocity is known.

    A motor brakes with the share of its limit that its speed is of 10 rad/s (m/s), of 1 N m (N)
    where it names no limit.

    Parameters
    ----------
    nv : int
        Number of velocities.
    actuation : Actuation
        Joints with motors.
    state : object
        A state; what is none, or is not finite, gives no force.
    notes : tuple of str
        Why there is no better command.

    Returns
    -------
    Explanation
        With status "damped".
    """
    tau = np.zeros(nv)
    v = np.asarray(getattr(state, "v", np.zeros(nv)), dtype=np.float64)
    if v.shape == (nv,):
        strength = np.where(np.isfinite(actuation.limits), actuation.limits, _UNLIMITED)
        speed = np.nan_to_num(v[actuation.rows], nan=0.0, posinf=0.0, neginf=0.0)
        tau[actuation.rows] = -strength * np.clip(_SHARE * speed, -1.0, 1.0)
    still = np.zeros(nv)
    return Explanation(
        tau=tau,
        demanded=still,
        predicted=still,
        status="damped",
        residual=float("nan"),
        notes=notes,
    )
