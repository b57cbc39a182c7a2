"""What controllers share that hold on to contacts: their own, or those that touch."""

from __future__ import annotations

from spatialops._arrays import Array
from spatialops.collision.contact_set import ContactSet
from spatialops.control.controller import Explanation
from spatialops.control.projected.held_contacts import HeldContacts
from spatialops.control.projected.present_contacts import PresentContacts, Schedule
from spatialops.control.safe_command import SafeController
from spatialops.errors import ArgumentError
from spatialops.tree.model import Model
from spatialops.tree.state import State, checked_state


class GrippingController(SafeController):
    """A controller whose commands count on contacts that hold.

    Subclasses make a command from a checked state and these.

    Parameters
    ----------
    model : Model
        The mechanism.
    contacts : HeldContacts, callable or None
        What is held: fixed, or by time and state; None: the contacts of the simulator's last step
        that touch.
    """

    def __init__(self, model: Model, contacts: HeldContacts | Schedule | None) -> None:
        self.model = model
        self.contacts = contacts
        self._present = PresentContacts(model)

    def __call__(self, time: float, state: State, contacts: ContactSet | None = None) -> Array:
        """The command.

        Parameters
        ----------
        time : float
            Time, s.
        state : State
            Configuration and velocity.
        contacts : ContactSet, optional
            Contacts of the simulator's last step; used where the controller has none of its own.

        Returns
        -------
        (nv,) array
            Joint forces, N m or N, zero where there is no motor.

        Raises
        ------
        ArgumentError
            If no contacts are named at all.
        """
        if self.contacts is None and contacts is None:
            raise ArgumentError("contacts: the controller has none of its own, and none were given")
        self._forget()

        def command() -> Explanation:
            checked_state(state, self.model)
            return self._command(time, state, self._present(self.contacts, time, state, contacts))

        return self._safe_command(time, state, command)

    def _forget(self) -> None:
        """The last command is over."""
        raise NotImplementedError

    def _command(self, time: float, state: State, grip: HeldContacts) -> Explanation:
        """The command of a checked state."""
        raise NotImplementedError
