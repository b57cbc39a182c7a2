"""Which contacts a controller takes as held at a state: its own, or those that touch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._layout import BODY
from spatialops.collision.contact_set import ContactSet
from spatialops.control.projected.held_contacts import HeldContacts
from spatialops.control.projected.point_contacts import (
    PointContacts,
    PointLayout,
    point_layout,
    point_offsets,
)
from spatialops.errors import ArgumentError
from spatialops.tree.model import Model
from spatialops.tree.state import State

Schedule = Callable[[float, State], HeldContacts]


class PresentContacts:
    """Contacts held at a command; what those of the step before have in common is kept.

    Of contacts that touch, points are taken as fixed to both bodies: of round feet that roll, what
    is left out is the acceleration omega^2 r of the point.

    Parameters
    ----------
    model : Model
        The mechanism.
    touching : float, default 1e-4
        Gap below which a contact touches, m.
    """

    def __init__(self, model: Model, *, touching: float = 1e-4) -> None:
        self.model = model
        self.touching = touching
        self._kept: tuple[bytes, PointLayout] = (b"", point_layout(()))

    def __call__(
        self,
        given: HeldContacts | Schedule | None,
        time: float,
        state: State,
        contacts: ContactSet | None,
    ) -> HeldContacts:
        """What holds now.

        Parameters
        ----------
        given : HeldContacts, callable or None
            The controller's own: fixed, or by time and state; None: those of the simulator's last
            step that touch and have friction.
        time : float
            Time, s.
        state : State
            Configuration and velocity.
        contacts : ContactSet or None
            Contacts of the simulator's last step.

        Returns
        -------
        HeldContacts
            In the order of `contacts`.

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
        return self._touching(state.q, contacts)

    def _touching(self, q: Array, contacts: ContactSet) -> PointContacts:
        """Those of a step that touch and have friction."""
        mu = contacts.frictions
        chosen = np.flatnonzero((contacts.gaps < self.touching) & (mu > 0.0))
        links, frames = contacts.links[chosen], contacts.frames[chosen]
        turned = links[:, 0] < 0  # the world is on side A: turn the contact round
        if turned.any():
            links[turned] = links[turned, ::-1]
            frames[turned, ::2] *= -1.0  # the frame stays right-handed
        points = np.ascontiguousarray(contacts.positions[chosen])
        offsets = point_offsets(self.model, q, links, points)
        layout = self._layout(chosen, links)
        return PointContacts(self.model, links, offsets, frames, mu[chosen], layout)

    def _layout(self, chosen: IntArray, links: IntArray) -> PointLayout:
        """Rows and names of contacts of these numbers on these links."""
        key = chosen.tobytes() + links.tobytes()
        if self._kept[0] != key:
            bodies = [self.model.body_names[self.model.tree[a, BODY]] for a in links[:, 0]]
            each = zip(chosen.tolist(), bodies, strict=True)
            self._kept = key, point_layout(tuple(f"contact {i} of {name}" for i, name in each))
        return self._kept[1]
