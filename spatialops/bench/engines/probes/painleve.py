"""Painleve's rod, pushed along the floor like chalk on a board: it jams.

Where friction turns the tip into the floor faster than the normal force lifts it, no finite force
obeys Coulomb's law while the tip slides. What rigid bodies do is an impact without a collision
(Darboux and Keller): the tip sinks no further and slides no further, so that the rod goes on by
rolling on its tip.

References
----------
F. Genot and B. Brogliato, New results on Painleve paradoxes (1999).
"""

from __future__ import annotations

import math

import numpy as np
from scipy.integrate import solve_ivp

from spatialops._arrays import Array
from spatialops.bench.engines.engine import Engine
from spatialops.bench.engines.probes.probe import Probe, relative
from spatialops.bench.engines.world import GRAVITY, Ball, Body, World

_LENGTH = 0.5  # m from the centre to the middle of the round tip
_TIP = 0.01  # m, its radius
_MASS = 1.0  # kg
_MOMENT = _MASS * _LENGTH**2 / 3.0  # of a thin rod about its centre, kg m^2


def all_probes() -> list[Probe]:
    """All probes of this file."""
    return [jamming()]


def jamming(angle: float = math.atan(2.0), friction: float = 2.0, speed: float = 1.0) -> Probe:
    """A rod at an angle to the floor that slides towards its tip, along -x."""
    half = 0.5 * angle
    rod = Body(
        _MASS,
        (1e-3 * _MOMENT, _MOMENT, _MOMENT),
        (0.0, 0.0, float(arm(angle)[1])),
        Ball(_TIP),
        quaternion=(0.0, -math.sin(half), 0.0, math.cos(half)),  # the rod rises along x
        velocity=(-speed, 0.0, 0.0),
        place=(-_LENGTH, 0.0, 0.0),
    )
    duration = 0.05
    expected = jammed(angle, speed, duration)

    def error(engine: Engine) -> float:
        return relative(float(engine.motion().spins[0, 1]), expected)

    return Probe(
        f"Painleve's rod, mu = {friction:g}",
        "the tip stops at once: w = m v h / (I + m r^2)",
        World((rod,), True, friction),
        duration,
        {"spin": error},
    )


def arm(angle: float) -> Array:
    """From the point that touches to the centre, along x and z (2,), m."""
    return np.array([_LENGTH * math.cos(angle), _LENGTH * math.sin(angle) + _TIP])


def lift(angle: float, friction: float) -> float:
    """How fast 1 N lifts a tip that slides along -x, m/s^2; a paradox where it is negative."""
    x, z = arm(angle).tolist()
    return 1.0 / _MASS + x * (x - friction * z) / _MOMENT


def jammed(angle: float, speed: float, time: float) -> float:
    """Spin about y of the rod after its tip has stopped, rad/s.

    Momentum about the point that touches is kept in the impact. Then the rod rolls on its tip, of
    radius r, at b from the upright: (I + m R^2) b'' = m L sin b (g + r b'^2), R^2 = L^2 + 2 L r
    cos b + r^2.
    """

    def inertia(b: float) -> float:
        return _MOMENT + _MASS * (_LENGTH**2 + 2.0 * _LENGTH * _TIP * math.cos(b) + _TIP**2)

    def slope(_: float, y: Array) -> tuple[float, float]:
        push = GRAVITY + _TIP * y[1] ** 2
        return y[1], _MASS * _LENGTH * math.sin(y[0]) * push / inertia(y[0])

    begin = 0.5 * math.pi - angle
    spin = -_MASS * float(arm(angle)[1]) * speed / inertia(begin)
    found = solve_ivp(slope, (0.0, time), (begin, spin), method="DOP853", rtol=1e-12, atol=1e-14)
    return float(found.y[1, -1])
