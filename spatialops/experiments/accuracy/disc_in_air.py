"""Euler's disc as the air under it brings it to rest: the law of K. Moffatt (Nature 404, 2000).

Air that is squeezed under a disc at the inclination alpha takes the power k / alpha^2. A disc whose
middle is at rest has the energy 3/2 m g a sin(alpha). So alpha^3 falls evenly in time where alpha
is small,

    alpha^3 = alpha_0^3 - 2 k t / (m g a),

to zero at a finite time t0: alpha ~ (t0 - t)^(1/3). Here that power is taken by a moment against
the angular velocity. It is handed to the engine as a force of a controller, which holds for a step:
the one in the middle of it, so that nothing of first order enters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from spatialops._arrays import Array
from spatialops.dynamics.jacobian import body_poses
from spatialops.experiments.accuracy.measures import Figure, order
from spatialops.experiments.accuracy.references import GRAVITY
from spatialops.experiments.accuracy.rolling import DISC_RADIUS, Rolling, disc
from spatialops.simulation.records.record import Record
from spatialops.simulation.simulator import Simulator
from spatialops.tree.model import Model
from spatialops.tree.state import State, integrate

_POWER = 5e-3  # W rad^2, of the air under a disc at 30 degrees: it loses a third of its energy
_SLOW = (1e-5, 5e-6)  # the same from 5 degrees, where the law, of small angles, holds to 0.2 %
_SLOW_TILT = np.radians(5.0)
_STRETCH = 0.75  # of t0 = 5.4 and 10.8 s: the inclination falls to 63 %, in 80 and 160 turns
_ROWS = 0.1  # s, between inclinations that are compared
_STEPS = (1e-3, 5e-4)  # s; below 0.1 rad a step errors fall as they should


def run(stretch: float = _STRETCH) -> Iterator[Figure]:
    """All figures of this file, over a `stretch` of the time to rest."""
    yield thin_air()
    for power in _SLOW:
        yield from cube_root(power, stretch)


def thin_air(dt: float = 1e-3) -> Figure:
    """Euler's disc in thin air: it loses what the air takes, and nothing else.

    The figure is the largest departure of the energy from that, over the loss.
    """
    made = in_air(disc(1.0), _POWER)
    record = blown(made, dt, made.duration, 1)
    taken = _POWER / inclinations(record) ** 2
    work = np.append(0.0, np.cumsum(0.5 * dt * (taken[1:] + taken[:-1])))
    error = float(np.abs(record.energy[0] - record.energy - work).max() / work[-1])
    return Figure("Euler's disc: energy lost in thin air", f"dt {1e3 * dt:g} ms", error, "1", 1e-2)


def cube_root(power: float, stretch: float) -> Iterator[Figure]:
    """Inclinations over a long stretch beside Moffatt's law and the equations of rolling."""
    made = in_air(disc(1.0, _SLOW_TILT), power)
    rate = 2.0 * power / (made.reference.mass * GRAVITY * DISC_RADIUS)  # of alpha^3
    duration = stretch * _SLOW_TILT**3 / rate
    times = np.arange(0.0, duration, _ROWS)
    gammas, _ = made.reference.path(made.rotation[2], made.omega, times)
    rolling, law = np.arccos(gammas[:, 2]), np.cbrt(_SLOW_TILT**3 - rate * times)
    records = [blown(made, dt, float(times[-1]), round(_ROWS / dt)) for dt in _STEPS]
    found = [inclinations(record) for record in records]
    errors = [_departure(inclination, rolling) for inclination in found]
    case, probe = f"dt 1 ms, {duration:.1f} s", "Euler's disc stops"
    yield Figure(f"{probe}: alpha ~ (t0 - t)^(1/3)", case, _departure(found[0], law), "1", 1e-2)
    yield Figure(f"{probe}: alpha, the reference", case, errors[0], "1", 1e-2)
    yield Figure(f"{probe}: order short of 2", "dt 1 to 0.5 ms", 2.0 - order(errors), "1", 0.3)


def in_air(made: Rolling, power: float) -> Rolling:
    """The same disc where air takes `power` / alpha^2, W."""

    def moment(gamma: Array, omega: Array) -> Array:
        inclination = np.arccos(min(gamma[2], 1.0))
        return np.asarray(-power / inclination**2 * omega / (omega @ omega))

    return replace(made, reference=replace(made.reference, moment=moment))


def blown(made: Rolling, dt: float, duration: float, every: int) -> Record:
    """The engine's disc under the moment of the reference, a row every so many steps."""
    scene = made.scene()
    moment = made.reference.moment
    assert moment is not None
    controller = _AtMiddle(scene.model, moment, dt)
    return Simulator(scene, dt=dt, certify="off").run(
        duration=duration, controller=controller, record_every=every
    )


class _AtMiddle:
    """Moment at the middle of the step that comes, to which the state is continued."""

    def __init__(self, model: Model, moment: Callable[[Array, Array], Array], dt: float) -> None:
        self.model = model
        self.moment = moment
        self.dt = dt
        self.before: Array | None = None

    def __call__(self, time: float, state: State, contacts: object) -> Array:
        before = state.v if self.before is None else self.before
        v = 1.5 * state.v - 0.5 * before
        self.before = state.v.copy()
        q = integrate(self.model, state.q, 0.5 * self.dt * v)
        tau = np.zeros(6)
        tau[:3] = self.moment(_normal(self.model, q), v[:3])
        return tau


def inclinations(record: Record) -> Array:
    """Angles between the disc and the floor, rad."""
    normals = np.array([_normal(record.scene.model, q) for q in record.q])
    return np.asarray(np.arccos(np.minimum(normals[:, 2], 1.0)))


def _normal(model: Model, q: Array) -> Array:
    """The floor's normal in body axes."""
    return np.asarray(body_poses(model, q).rotations[0][2])


def _departure(found: Array, expected: Array) -> float:
    return float(np.abs(found / expected - 1.0).max())
