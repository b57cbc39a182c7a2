"""What a state between events violates, in units, as `contact.certify` says of a problem."""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array
from spatialops.contact.certificate import Certificate
from spatialops.contact.constraint_rows import DRY
from spatialops.simulation.event_driven.constrained_motion import NOTHING, Mechanics, Motion
from spatialops.simulation.event_driven.contact_modes import Modes


def state_certificate(
    mechanics: Mechanics, modes: Modes, v: Array, motion: Motion, dt: float
) -> Certificate:
    """The certificate of closed contacts and closures, with the impulses of their forces in `dt`.

    Velocities of what is closed: approach, slip of what sticks, closures (m/s, rad/s). Impulses:
    pull, and friction beyond its limit. `residual` is the worst of the velocities relative to 1 +
    the largest joint velocity, of the impulses relative to the largest, and of the accelerations'
    own. Where forces are not determined by the motion neither is which of them pull: they do not
    count for `residual`, since the law itself is asked there.
    """
    bodies = (
        motion.contacts.kinds != DRY
    )  # dry friction of joints is in the accelerations' residual
    contacts, p = motion.contacts.take(np.flatnonzero(bodies)), dt * motion.forces[bodies]
    sticks = np.array([mode.sticks for mode in modes.values()], dtype=bool)[bodies]
    u, friction = contacts.velocities, contacts.friction
    slip = np.hypot(u[:, 1], u[:, 2])
    drag = dt * mechanics.drag(contacts)
    sideways = np.linalg.norm(p[:, 1:] + drag, axis=1)
    beyond = np.where(
        np.isinf(friction), 0.0, sideways - np.where(np.isinf(friction), 0.0, friction) * p[:, 0]
    )
    values = {
        "approach": _largest(-u[:, 0]),
        "pull": _largest(-p[:, 0]),
        "cone": _largest(beyond),
        "slip": _largest(slip[sticks]),
        "closures": _opening_speed(mechanics, v),
    }
    speed, largest = 1.0 + float(np.abs(v).max(initial=0.0)), float(np.abs(p).max(initial=0.0))
    worst = max(
        max(values["approach"], values["slip"], values["closures"]) / speed, motion.residual
    )
    if motion.determined and largest > 0.0:
        worst = max(worst, max(values["pull"], values["cone"]) / largest)
    return Certificate(**values, residual=worst)


def _opening_speed(mechanics: Mechanics, v: Array) -> float:
    """Largest rate at which a closure opens; poses must be in `work`."""
    if not mechanics.n_b:
        return 0.0
    G = mechanics.jacobian(NOTHING)[0]
    return _largest(np.abs(G @ v))


def _largest(values: Array) -> float:
    return float(np.max(values, initial=0.0))
