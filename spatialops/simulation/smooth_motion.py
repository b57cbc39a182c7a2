"""Smooth motion of a tree without contacts, to high order and at any time in between.

SciPy's DOP853 on the forward dynamics: a reference for integrators, and for plans. Coordinates are
integrated as plain numbers, quaternions too; states that are handed out have unit ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from spatialops._arrays import Array, scalar, vector
from spatialops._layout import OK
from spatialops.errors import ArgumentError
from spatialops.forces.passive import compensation, spring_forces
from spatialops.simulation.stepping.integrators.accelerations import accelerations
from spatialops.simulation.stepping.integrators.runge_kutta import rates
from spatialops.tree.model import Model, not_a_model
from spatialops.tree.state import State, checked_state

Forces = Callable[[float, State], Array]
_NO_EXTERNAL = np.zeros((0, 6))


@dataclass(frozen=True, eq=False)
class SmoothMotion:
    """States of a motion as a function of time.

    Parameters
    ----------
    model : Model
        What moves.
    start, end : float
        Times between which it is known, s.
    evaluations : int
        Of the dynamics, that it took.
    numbers : callable
        (nq + nv,) coordinates and velocities at a time, as they were integrated.
    """

    model: Model
    start: float
    end: float
    evaluations: int
    numbers: Callable[[float], Array]

    def __call__(self, time: float) -> State:
        """The state at a time.

        Parameters
        ----------
        time : float
            s.

        Returns
        -------
        State
            With unit quaternions.

        Raises
        ------
        ArgumentError
            Outside of the motion.
        """
        time = scalar(time, "time")
        if not self.start <= time <= self.end:
            raise ArgumentError(
                f"time: the motion goes from {self.start:g} to {self.end:g} s, got {time!r}"
            )
        y = self.numbers(time)
        return State(y[: self.model.nq], y[self.model.nq :], float(time)).checked(self.model)


def smooth_motion(
    model: Model,
    state: State,
    duration: float,
    *,
    forces: Forces | None = None,
    tolerance: float = 1e-12,
) -> SmoothMotion:
    """Motion of a tree from a state, without contacts, stops, dry friction and closures.

    Parameters
    ----------
    model : Model
        The mechanism.
    state : State
        Where it begins.
    duration : float
        s, positive.
    forces : callable, optional
        forces(time, state) -> joint forces (nv,), N m or N; smooth in time. Default: none. Damping
        and springs of joints act in any case, and what bears the weight of bodies.
    tolerance : float
        Error of a step, absolute (m, rad, m/s, rad/s) and relative. Default 1e-12.

    Returns
    -------
    SmoothMotion
        Callable with a time.

    Raises
    ------
    ArgumentError
        For arguments out of range, and where the motion cannot be followed to its end.

    References
    ----------
    Hairer, Norsett, Wanner, *Solving Ordinary Differential Equations I*, section II.10 (DOP853).

    Examples
    --------
    >>> import numpy as np, spatialops as so
    >>> pendulum = so.models.pendulum(1).model
    >>> motion = so.smooth_motion(pendulum, so.State(np.array([0.1]), np.zeros(1)), 1.0)
    >>> bool(abs(motion(0.0).q[0] - 0.1) < 1e-15)
    True
    """
    if type(model) is not Model:
        raise not_a_model(model)
    from scipy.integrate import solve_ivp

    begun = checked_state(state, model)
    span = scalar(duration, "duration", low=0.0, strict=True)
    allowed = scalar(tolerance, "tolerance", low=0.0, strict=True)
    work, room = model.workspace(), np.empty(model.nv)
    borne = bool(model.borne)

    def derivative(time: float, y: Array) -> Array:
        made = np.empty_like(y)
        q, v = y[: model.nq], y[model.nq :]
        tau = np.zeros(model.nv)
        if forces is not None:
            now = State(q, v, time).checked(model)
            tau = vector(forces(time, now), model.nv, "forces")
        rates(model.tree, q, v, made[: model.nq])
        a = made[model.nq :]
        tau = tau + spring_forces(model, q)
        external = compensation(model, q) if borne else _NO_EXTERNAL
        args = (model.tree, model.links, q, v, tau, external, work, room, a)
        if accelerations(*args) != OK:
            raise ArgumentError(f"no accelerations at t = {time:.6g} s: a state that is not finite")
        return made

    found = solve_ivp(
        derivative,
        (begun.time, begun.time + span),
        np.concatenate([begun.q, begun.v]),
        method="DOP853",
        dense_output=True,
        rtol=max(allowed, 3e-14),
        atol=allowed,
    )
    if not found.success or found.sol is None:
        raise ArgumentError(f"the motion ends at t = {found.t[-1]:.6g} s: {found.message}")
    return SmoothMotion(model, begun.time, begun.time + span, int(found.nfev), found.sol)
