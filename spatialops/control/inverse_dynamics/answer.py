"""What a command for predicted forces comes to, before limits."""

from __future__ import annotations

from typing import NamedTuple

from spatialops._arrays import Array
from spatialops.control.inverse_dynamics.remembered import Remembered

OTHERS = "other contacts come under the command"
GAVE_WAY = "contacts cannot follow the demand: the nearest that they can"
LET_GO = "contacts that held without pressing were let go"
FEWER = "the law prefers to hold fewer contacts: other forces come"
TURN = "directions of friction do not settle"


def unsettled(miss: float) -> str:
    """The note where directions of friction do not settle, and what accelerations may miss."""
    return f"{TURN}: accelerations of joints may miss by {miss:.1e} rad/s^2 or m/s^2"


class Answer(NamedTuple):
    """Of the rounds in Python and of the compiled ones.

    Attributes
    ----------
    before, after : (nv,) arrays
        Velocities as the step begins, and at the horizon.
    tau : (nv,) array
        Joint forces, N m or N.
    impulses : (m, 3) array
        Along the contacts' frames, N s.
    forces : Remembered
        The same by names, with those of stops and dry friction of joints.
    residual : float
        Of the law.
    iterations : int
        Of its solver.
    lands : bool
        Whether contacts land.
    status : {"solved", "nearest"}
        Whether the law was met for the demand itself.
    notes : tuple of str
        What is worth knowing.
    miss : float
        rad/s^2 or m/s^2, of joints, where directions of friction do not settle.
    """

    before: Array
    after: Array
    tau: Array
    impulses: Array
    forces: Remembered
    residual: float
    iterations: int
    lands: bool
    status: str = "solved"
    notes: tuple[str, ...] = ()
    miss: float = 0.0
