"""Which contacts a controller takes as held at a state: its own, or those that touch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from spatialops._arrays import Array
from spatialops.collision.contact_set import ContactSet
from spatialops.control.projected.held_contact import HeldContact
from spatialops.control.projected.held_contacts import HeldContacts
from spatialops.dynamics.jacobian import body_poses
from spatialops.errors import ArgumentError
from spatialops.tree.model import Model
from spatialops.tree.node import Node
from spatialops.tree.state import State

Schedule = Callable[[float, State], HeldContacts]


def touching_contacts(
    model: Model, q: Array, contacts: ContactSet, *, touching: float = 1e-4
) -> HeldContacts:
    """The contacts of a simulator's step that touch and have friction, as held ones.

    Contact points are taken as fixed to both bodies: of round feet that roll, what is left out is
    the acceleration omega^2 r of the point.

    Parameters
    ----------
    model : Model
        The mechanism of the simulator's scene.
    q : (nq,) array
        Coordinates.
    contacts : ContactSet
        Contacts of the step.
    touching : float, default 1e-4
        Gap below which a contact touches, m.

    Returns
    -------
    HeldContacts
        In the order of `contacts`.
    """
    poses, found = body_poses(model, q), []
    index = {int(link): body for body, link in enumerate(model.body_links)}

    def node(link: int, point: Array) -> Node:
        body = index[int(link)]
        return Node(body, poses.rotations[body].T @ (point - poses.positions[body]))

    for i in np.flatnonzero((contacts.gaps < touching) & (contacts.frictions > 0.0)):
        (a, b) = contacts.links[i]
        point = contacts.positions[i]
        frame = contacts.frames[i]
        sign = 1.0
        if a < 0:  # the world is on side A: turn the contact round
            a, b = b, a
            sign = -1.0
        found.append(
            HeldContact(
                node=node(a, point),
                other=None if b < 0 else node(b, point),
                friction=float(contacts.frictions[i]),
                normal=sign * frame[0],
                tangent=frame[1],
                name=f"contact {i} of {model.body_names[index[int(a)]]}",
            )
        )
    return HeldContacts(model, found)


def present_contacts(
    model: Model,
    given: HeldContacts | Schedule | None,
    time: float,
    state: State,
    contacts: ContactSet | None,
) -> HeldContacts:
    """What a controller takes as held now.

    Parameters
    ----------
    model : Model
        The mechanism.
    given : HeldContacts, callable or None
        The controller's own: fixed, or by time and state; None: those of the simulator's last step
        that touch.
    time : float
        Time, s.
    state : State
        Configuration and velocity.
    contacts : ContactSet or None
        Contacts of the simulator's last step.

    Returns
    -------
    HeldContacts
        Contacts that hold now.

    Raises
    ------
    ArgumentError
        Where neither the controller nor the simulator names any.
    """
    if isinstance(given, HeldContacts):
        return given
    if given is not None:
        return given(time, state)
    if contacts is None:
        raise ArgumentError("contacts: the controller has none of its own, and none were given")
    return touching_contacts(model, state.q, contacts)
