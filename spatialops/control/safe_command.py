"""What all controllers do where they have no answer: a safe command, why, and for how long.

A controller never raises inside the loop for what it meets there: states and demands that are not
finite, contacts that are lost, programs without a solution. It brakes each joint, and says so.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np

from spatialops._arrays import Array, all_finite
from spatialops.control.actuation import Actuation
from spatialops.control.controller import ExplainedController, Explanation
from spatialops.errors import ArgumentError, SpatialOpsError
from spatialops.tree.state import State

# What the mathematics of a command may fail with; a mistake in a user's function is another matter.
UNANSWERED = (SpatialOpsError, np.linalg.LinAlgError, ArithmeticError, ValueError)
SAFE = ("held", "damped")  # statuses of commands that stand in for an answer
LIMITS_BIND = "limits of motors bind"

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


class SafeController(ExplainedController):
    """A controller whose commands are always finite, and explained.

    Subclasses hand their command to `_safe_command`.
    """

    actuation: Actuation
    _since: float | None = None

    def _safe_command(self, time: float, state: State, command: Callable[[], Explanation]) -> Array:
        """The command's forces, or braking ones where it has none."""
        begun = perf_counter()
        try:
            with np.errstate(all="ignore"):  # overflow is seen in what comes of it
                found = command()
            if not all_finite(found.tau):
                raise ArgumentError("the command is not finite")
        except UNANSWERED as error:
            nv = self.actuation.model.nv
            found = damped(nv, self.actuation, state, (f"no command: {error}",))
        unanswered = self._unanswered(time, found.status)
        self._explanation = found.timed(perf_counter() - begun, unanswered)
        return found.tau

    def _unanswered(self, time: float, status: str) -> float:
        """For how long there has been no answer, s."""
        if status not in SAFE:
            self._since = None
            return 0.0
        if self._since is None or not self._since <= time:
            self._since = time
        return float(time - self._since)
