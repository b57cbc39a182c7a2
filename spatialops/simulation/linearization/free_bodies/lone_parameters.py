"""What inertial parameters do to lone bodies, which turn by an equation of their own.

With the mass m, c the centre, I the inertia about it, f the force, and F of `lone_moves`,

    dI l + dF(w + l/2) + I dl + F' dl / 2 = h f x dc

is the change of the turn without contacts: that of a moment mu more, h mu = h f x dc - dI l - dF,
which is known already (`lone_moves`). The equation of the whole about the origin is

    d[m (x_v / h - g)], d[m c x (x_v / h - g) + I_o x / h] + dF(w + x/2) / h

on the right, less mu, which does not act there. Where the centre is counts where origins are found
from it, with the columns `by_center` of the equations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array
from spatialops.derivatives.inertial_regressor import PARAMETERS, body_turns, inertial_regressor
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.made_step import Room
from spatialops.simulation.stepping.integrators.lone_bodies import tangent_over
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.model import Model

_UPPER = (0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)


class LoneChanges(NamedTuple):
    """Changes, by the inertial parameters of all bodies, of what makes lone bodies turn.

    Attributes
    ----------
    forces : (nv, 10 n_bodies) array
        The moments mu, N m.
    centers : (3 lone, 10 n_bodies) array
        Of the centres of mass, along the links' axes, m.
    """

    forces: Array
    centers: Array


def lone_changes(model: Model, t: Tables, room: Room) -> LoneChanges:
    """Of the piece that is in the tables."""
    count, columns = int(room.results[of.LONE]), PARAMETERS * model.n_bodies
    forces, centers = np.zeros((model.nv, columns)), np.zeros((3 * count, columns))
    s = float(t.monitor[at.PIECE])
    for i, k in enumerate(room.lone[:count]):
        own = _columns(t, int(k))
        by_center, by_inertia = changes_of_inertia(model, t, int(k))
        centers[3 * i : 3 * i + 3, own] = by_center
        lead = room.lone_moves[i, of.LEAD, 0, :3]
        middle = t.vectors[at.V_E, k : k + 3] + 0.5 * lead
        changed = by_inertia @ lead / s + gyroscopic(by_inertia, middle, s)
        forces[k : k + 3, own] = np.cross(t.tau[k + 3 : k + 6], by_center, axisb=0, axisc=0)
        forces[k : k + 3, own] -= changed.T
    return LoneChanges(forces, centers)


def momenta_by_masses(model: Model, t: Tables, room: Room, rate: Array) -> Array:
    """Y (nv, 10 n_bodies) of the step's equation where velocities change at a `rate`.

    The `rate` has w x v of free bodies taken off, but for those of lone bodies.
    """
    q, v = t.vectors[at.Q_E, : model.nq].copy(), room.vectors[of.V_MIDDLE].copy()
    lone, s = room.lone[: room.results[of.LONE]], float(t.monitor[at.PIECE])
    for k in lone:
        v[k : k + 6] = 0.0
    Y: Array = inertial_regressor(model, q, v, rate)
    for k in lone:
        _, by_inertia = changes_of_inertia(model, t, int(k))
        middle = room.vectors[of.V_MIDDLE, k : k + 3]
        Y[k : k + 3, _columns(t, int(k))] += gyroscopic(by_inertia, middle, s).T
    return Y


def rate_of(t: Tables, room: Room, vector: int, end: int) -> Array:
    """The rate in a vector of the room, of lone bodies as the velocity in another one ends it."""
    rate = room.vectors[vector].copy()
    for k in room.lone[: room.results[of.LONE]]:
        own = slice(k, k + 6)
        rate[own] = (room.vectors[end, own] - t.vectors[at.V_E, own]) / t.monitor[at.PIECE]
    return rate


def gyroscopic(by_inertia: Array, w: Array, s: float) -> Array:
    """Changes (10, 3) of k w x I w for those of I."""
    k = tangent_over(0.5 * s * float(np.linalg.norm(w)))
    return k * np.cross(w, by_inertia @ w)


def changes_of_inertia(model: Model, t: Tables, k: int) -> tuple[Array, Array]:
    """Changes of c (3, 10) and I (10, 3, 3) of the body at k, by its ten numbers, link axes."""
    link = k + 5
    turn = body_turns(model)[t.tree[link, layout.BODY]]
    mass, c = t.links[link, layout.MASS], t.links[link, layout.COM : layout.COM + 3]
    by_mass, by_moment = np.eye(PARAMETERS)[0], np.zeros((3, PARAMETERS))
    by_moment[:, 1:4] = turn
    by_inertia = np.zeros((PARAMETERS, 3, 3))
    for row, (a, b) in enumerate(_UPPER, start=4):
        by_inertia[row, a, b] = by_inertia[row, b, a] = 1.0
    by_inertia = turn @ by_inertia @ turn.T
    # I = I_o - (h.h 1 - h h*) / m with the first moment h = m c.
    swung = 2.0 * np.einsum("i,ij->j", c, by_moment)[:, None, None] * np.eye(3)
    swung -= np.einsum("i,jk->kij", c, by_moment) + np.einsum("j,ik->kij", c, by_moment)
    by_inertia -= swung
    by_inertia += by_mass[:, None, None] * (c @ c * np.eye(3) - np.outer(c, c))
    return (by_moment - np.outer(c, by_mass)) / mass, by_inertia


def _columns(t: Tables, k: int) -> slice:
    """Those of the body at k."""
    first = PARAMETERS * int(t.tree[k + 5, layout.BODY])
    return slice(first, first + PARAMETERS)
