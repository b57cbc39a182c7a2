"""What a command comes to: forces within limits, and what they do beside what was demanded."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._compile.held import Held, held
from spatialops._compile.jit import inlined
from spatialops.control.actuation import Actuation
from spatialops.control.inverse_dynamics.answer import Answer
from spatialops.errors import ArgumentError

# What `judge` says, bit by bit.
_ANSWERED = 1
_BINDS = 2
_FINITE = 4

# Rows of what comes out, (nv,) each,
_TAU = 0
_DEMANDED = 1
_PREDICTED = 2
_ROWS = 3
# and its numbers.
_MISSED = 0
_LARGEST = 1


class Motors(NamedTuple):
    """Joints with motors, and what they can do.

    Attributes
    ----------
    rows : (n,) int array
        Their velocities.
    limits : (n,) array
        Up to which commands are cut, N m or N.
    effort : (nv,) array
        Up to which whoever takes the command cuts joint forces, N m or N.
    numbers : (2,) array
        Largest error of an acceleration that was demanded, and largest that was.
    """

    rows: IntArray
    limits: Array
    effort: Array
    numbers: Array


class Outcome(NamedTuple):
    """Of a command.

    Attributes
    ----------
    tau, demanded, predicted : (nv,) arrays
        Joint forces, accelerations that were demanded, and that come.
    binds : bool
        Whether limits cut it.
    missed, largest : float
        Largest error of an acceleration that was demanded, and largest that was.
    """

    tau: Array
    demanded: Array
    predicted: Array
    binds: bool
    missed: float
    largest: float


class Judge:
    """Cuts commands, and measures them.

    Parameters
    ----------
    actuation : Actuation
        Motors whose motion is demanded.
    effort : (nv,) array
        Limits of the simulator.
    dt : float
        Time over which velocities change, s.
    """

    def __init__(self, actuation: Actuation, effort: Array, dt: float) -> None:
        motors = Motors(actuation.rows, actuation.limits, effort.copy(), np.zeros(2))
        self._numbers = motors.numbers
        self._held = Held(motors)
        self._dt = dt

    def __call__(self, found: Answer, base: Array, demand: Array, cuts: bool) -> Outcome:
        """The outcome; forces (nv,) of other motors are added to the command.

        Where it is predicted that velocities overflow, `missed` is NaN.

        Raises
        ------
        ArgumentError
            If the forces are not finite.
        """
        out = np.empty((_ROWS, len(base)))
        velocities = found.before, found.after
        given = found.tau, velocities, base, demand
        told = judge(self._held.address, cuts, self._dt, *given, out)
        if not told & _ANSWERED:
            raise ArgumentError("the predicted forces are not finite")
        missed, largest = self._numbers.tolist()
        if not told & _FINITE:
            missed = math.nan
        binds = bool(told & _BINDS)
        return Outcome(out[_TAU], out[_DEMANDED], out[_PREDICTED], binds, missed, largest)


@held
def judge(
    motors: Motors,
    cuts: bool,
    dt: float,
    tau: Array,
    velocities: tuple[Array, Array],
    base: Array,
    demand: Array,
    out: Array,
) -> int:
    """Write the rows of `out`; what is to be said of them, bit by bit."""
    before, after = velocities
    told = _FINITE
    for k in range(tau.size):
        if not math.isfinite(tau[k]):
            return 0
        out[_PREDICTED, k] = (after[k] - before[k]) / dt
        if not math.isfinite(out[_PREDICTED, k]):
            told = 0
        out[_DEMANDED, k] = 0.0
    for a in range(motors.rows.size):
        out[_DEMANDED, motors.rows[a]] = demand[a]
    compare(motors, demand, out)
    if put_forces(motors, cuts, tau, out):
        told |= _BINDS
    for k in range(tau.size):
        out[_TAU, k] += base[k]
    return told | _ANSWERED


@inlined
def compare(motors: Motors, demand: Array, out: Array) -> None:
    """Numbers of the accelerations."""
    missed = 0.0
    largest = 0.0
    for a in range(motors.rows.size):
        missed = max(missed, abs(out[_PREDICTED, motors.rows[a]] - demand[a]))
        largest = max(largest, abs(demand[a]))
    motors.numbers[_MISSED] = missed
    motors.numbers[_LARGEST] = largest


@inlined
def put_forces(motors: Motors, cuts: bool, tau: Array, out: Array) -> bool:
    """Forces that are asked for, cut or not; whether they are more than motors can."""
    binds = False
    for k in range(tau.size):
        out[_TAU, k] = 0.0 if cuts else tau[k]
        binds = binds or (not cuts and within(tau[k], motors.effort[k]) != tau[k])
    if not cuts:
        return binds
    for a in range(motors.rows.size):
        k = motors.rows[a]
        out[_TAU, k] = within(tau[k], motors.limits[a])
    for k in range(tau.size):
        binds = binds or out[_TAU, k] != tau[k]
    return binds


@inlined
def within(force: float, limit: float) -> float:
    """A force cut to a limit."""
    return min(max(force, -limit), limit)
