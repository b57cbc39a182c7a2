"""What contacts of a step do, and which of them are about to do something else."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array
from spatialops.collision import _layout as col
from spatialops.contact.friction import directions
from spatialops.simulation.linearization.contact_points import ContactPoints
from spatialops.simulation.stepping.tables import Tables

OPEN = "open"
STICKING = "sticking"
SLIDING = "sliding"
_LIMIT = 1e-9  # of the limit of friction that is the limit
_NEAR = 1e-7  # of what would have to change for another status


class Statuses(NamedTuple):
    """One entry a contact.

    Parameters
    ----------
    names : tuple of str
        "open", "sticking" or "sliding".
    directions : (m, 2) array
        Of those that slide: friction along the tangents, for each unit of the normal impulse.
    edges : (m, 2) array
        Of those that slide with friction between two directions of its polygon: along the edge,
        on which friction may move, while there is no slip along it. Else zero.
    switching : tuple of str
        Contacts whose status is about to change, and which derivative is taken.
    """

    names: tuple[str, ...]
    directions: Array
    edges: Array
    switching: tuple[str, ...]


def statuses(t: Tables, contacts: ContactPoints, names: tuple[str, ...], n_f: int) -> Statuses:
    """What contacts do, from their impulses."""
    corners, found = directions(n_f), []
    along = np.zeros((len(contacts), 2))
    edges = np.zeros((len(contacts), 2))
    switching = []
    largest = float(np.abs(contacts.impulses).max(initial=0.0))
    for n, i in enumerate(contacts.rows):
        normal, *friction = t.floats[i, col.IMPULSE : col.IMPULSE + 3].tolist()
        mu, name = float(t.floats[i, col.MU]), names[i]
        status = OPEN
        if normal > 0.0:
            share = np.array(friction) / normal
            status, along[n], edges[n], close = friction_status(share, mu, corners)
            if close:
                switching.append(f"{name}: at the limit of friction; taken as {status}")
            if normal < _NEAR * largest:
                switching.append(f"{name}: hardly presses; taken as closed")
        found.append(status)
    return Statuses(tuple(found), along, edges, tuple(switching))


def friction_status(share: Array, mu: float, corners: Array) -> tuple[str, Array, Array, bool]:
    """Status, direction of friction, edge that it is on, and whether it is near another status."""
    none = np.zeros(2)
    if mu == 0.0:
        return SLIDING, none, none, False
    distance = np.linalg.norm(share / mu - corners, axis=1)
    nearest = int(distance.argmin())
    if distance[nearest] <= _LIMIT:
        return SLIDING, mu * corners[nearest], none, False
    half = np.pi / len(corners)
    turn = np.array([[np.cos(half), np.sin(half)], [-np.sin(half), np.cos(half)]])
    reached = corners @ turn @ share / (mu * np.cos(half))
    side = int(reached.argmax())
    if reached[side] < 1.0 - _LIMIT:
        return STICKING, none, none, bool(reached[side] > 1.0 - _NEAR)
    edge = corners[side] - corners[(side + 1) % len(corners)]
    return SLIDING, share, edge, bool(distance[nearest] < _NEAR)
