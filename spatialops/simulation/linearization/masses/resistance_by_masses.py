"""How armature that is fitted to damping, and pulls of stiff springs, change with masses.

As in `resistance`: the inertia m that a joint feels is y* M y, with y the velocities of the joints
that it carries which answer a unit rate of its own. Since y makes this a minimum,

    dm = y* dM y,    d(1 / m) = -dm / m^2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops.derivatives.inertial_regressor import inertial_regressor
from spatialops.forces import _layout as el
from spatialops.forces.elements import affine, element_motion, signal, slope
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.made_step import Room
from spatialops.simulation.stepping.integrators.joint_forces import (
    RESOLVED,
    fitted,
    fitted_slope,
    too_stiff,
)
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.model import Model


class Resists(NamedTuple):
    """What an element adds to damping where it is within its range, and that by 1 / m.

    Attributes
    ----------
    rate : float
        Of its length, m/s or rad/s.
    damping, by_inverse : float
    """

    rate: float
    damping: float
    by_inverse: float


def momentum_regressor(model: Model, q: Array, y: Array) -> Array:
    """Change (nv, 10 n_bodies) of M y by inertial parameters."""
    still = np.zeros(y.size)
    found: Array = inertial_regressor(model, q, still, y)
    return found - inertial_regressor(model, q, still, still)


def resistance_by_masses(model: Model, t: Tables, room: Room) -> tuple[Array, Array]:
    """Changes (nv, 10 n_bodies) of armature, and of pulls, in the piece that is in the tables."""
    s, inverse = float(t.monitor[at.PIECE]), room.factors[:, layout.D_INVERSE]
    by_masses = inverses_by_masses(model, t, room)
    fit, pull = np.zeros_like(by_masses), np.zeros_like(by_masses)
    damping = t.links[:, layout.DAMPING].copy()
    for e, row in enumerate(t.element_ints):
        terms = slice(row[el.FIRST], row[el.FIRST] + row[el.COUNT])
        arms, links = t.arms[terms], t.element_joints[terms, el.LINK]
        resists = element_resists(t, e, float(arms**2 @ inverse[links]))
        if resists is None:
            continue
        size = np.abs(arms) * np.abs(arms).sum()
        np.add.at(damping, links, size * resists.damping)
        change = resists.by_inverse * (arms**2 @ by_masses[links])
        np.add.at(pull, links, -resists.rate * np.outer(arms, change))
        np.add.at(fit, links, s * np.outer(size, change))
    for k, x in enumerate(s * damping * inverse):
        if x > 0.0:
            steep = fitted_slope(x)
            fit[k] *= fitted(x) + x * steep
            fit[k] += (s * damping[k]) ** 2 * steep * by_masses[k]
    return fit, pull


def inverses_by_masses(model: Model, t: Tables, room: Room) -> Array:
    """Changes (nv, 10 n_bodies) of 1 / m of every joint."""
    q_e = t.vectors[at.Q_E, : t.q.size].copy()
    mass = room.squares[of.MASS] - np.diag((t.damped - t.links)[:, layout.ARMATURE])
    rows = []
    for k in range(model.nv):
        below, y = carried_by(t.tree, k), np.zeros(model.nv)
        y[k] = 1.0
        y[below] = -np.linalg.solve(mass[np.ix_(below, below)], mass[below, k])
        squared = room.factors[k, layout.D_INVERSE] ** 2
        rows.append(-squared * (y @ momentum_regressor(model, q_e, y)))
    return np.array(rows)


def carried_by(tree: IntArray, k: int) -> list[int]:
    """Links that link k carries."""
    found: list[int] = []
    for j in range(k + 1, len(tree)):
        if tree[j, layout.PARENT] == k or tree[j, layout.PARENT] in found:
            found.append(j)
    return found


def element_resists(t: Tables, e: int, inverse: float) -> Resists | None:
    """Of element e, as `joint_forces.put_element`; None where it is at a limit of its force."""
    s, midpoint = float(t.monitor[at.PIECE]), t.control[at.SCHEME] == at.MOREAU
    q_e, v_e = t.vectors[at.Q_E, : t.q.size].copy(), t.vectors[at.V_E, : t.v.size].copy()
    ints, floats = t.element_ints, t.elements
    length, rate = element_motion(ints, t.element_joints, t.arms, e, q_e, v_e)
    length += 0.0 if midpoint else s * rate
    u = signal(ints, floats, e, t.ctrl, t.activation, 0.5 * float(t.settings[at.DT]))
    force = affine(floats, e, el.GAIN, length, rate) * u + affine(floats, e, el.BIAS, length, rate)
    stiffness, damping = slope(floats, e, u, 1), slope(floats, e, u, 2)
    by_inverse, share = 0.0, 0.25 if midpoint else 1.0
    if midpoint:
        x = s * s * stiffness * inverse
        added = s * stiffness * too_stiff(x)
        damping, force = damping + added, force - added * rate
        by_inverse = s**3 * stiffness**2 / (x * x) if x > RESOLVED else 0.0
    resists = s * damping * fitted(s * damping * inverse) + share * s * s * stiffness
    alone = force / (1.0 + resists * inverse)
    if alone < floats[e, el.FORCE_LOW] or alone > floats[e, el.FORCE_HIGH]:
        return None
    return Resists(rate, damping, by_inverse)
