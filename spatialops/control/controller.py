"""What a controller is: asked before every step for joint forces, and able to say why it chose them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from spatialops._arrays import Array
from spatialops.collision.contact_set import ContactSet
from spatialops.tree.state import State

STATUSES = ("solved", "nearest", "held", "damped")


@dataclass(frozen=True, eq=False)
class Explanation:
    """What a controller expected when it chose its last command.

    Attributes
    ----------
    tau : (nv,) array
        The command, N m or N; zero where nothing is actuated.
    demanded, predicted : (nv,) arrays
        Accelerations that were asked for, and those that the controller's model answers with.
    forces : (m, 3) array
        Contact forces on A along the contact's frame that the controller expects, N.
    status : {"solved", "nearest", "held", "damped"}
        "nearest": the demand could not be met exactly, `predicted` is the nearest that could. "held" and "damped": no
        answer was to be had, and the command holds the joints where they are, or only brakes them.
    residual : float
        Of the controller's own problem, relative.
    slack : float
        |predicted - demanded|, largest entry.
    iterations : int
        Pivots or iterations of its solver.
    seconds : float
        Time that the command took.
    notes : tuple of str
        What is worth knowing: the demand that was infeasible, limits that bind.
    """

    tau: Array
    demanded: Array
    predicted: Array
    forces: Array = field(default_factory=lambda: np.zeros((0, 3)))
    status: str = "solved"
    residual: float = 0.0
    slack: float = 0.0
    iterations: int = 0
    seconds: float = 0.0
    notes: tuple[str, ...] = ()


class Controller(Protocol):
    """A function of time, state and the contacts of the step before; it may remember."""

    def __call__(self, time: float, state: State, contacts: ContactSet) -> Array:
        """Joint forces (nv,), N m or N."""

    def explain(self) -> Explanation:
        """Why the last command was what it was.

        Raises
        ------
        ArgumentError
            Before the first command.
        """
