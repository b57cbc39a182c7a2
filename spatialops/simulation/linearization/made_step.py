"""A step that was made, to be differentiated."""

from __future__ import annotations

from typing import NamedTuple

from spatialops._arrays import Array
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization.contact_points import ContactPoints
from spatialops.simulation.linearization.statuses import Statuses
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.model import Model
from spatialops.tree.state import State


class Step(NamedTuple):
    """A step that was made.

    Parameters
    ----------
    model, damped, weightless : Model
        The mechanism, with the armature that damping has in the step, and without gravity.
    state : State
        Where it began.
    tau : (nv,) array
    t : Tables
        As the step left them.
    contacts : ContactPoints
    statuses : Statuses
    names : tuple of str
        Of all contacts in the loop's table.
    """

    model: Model
    damped: Model
    weightless: Model
    state: State
    tau: Array
    t: Tables
    contacts: ContactPoints
    statuses: Statuses
    names: tuple[str, ...]

    @property
    def external(self) -> Array | None:
        """Wrenches on bodies, if any."""
        return self.t.external.copy() if self.t.control[at.WRENCHED] else None

    @property
    def length(self) -> float:
        """S."""
        return float(self.t.monitor[at.PIECE])

    @property
    def half(self) -> float:
        """1/2 where q_e is in the middle, 0 where it is the beginning."""
        return 0.5 if self.t.control[at.SCHEME] == at.MOREAU else 0.0

    def vector(self, row: int) -> Array:
        """One of the loop's vectors of velocities."""
        return self.t.vectors[row, : self.model.nv].copy()


class Moves(NamedTuple):
    """Changes (nv, c) of coordinates and velocities at the beginning and where contacts are."""

    q: Array
    v: Array
    q_e: Array
    v_e: Array
