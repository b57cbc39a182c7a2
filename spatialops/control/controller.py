"""What a controller is: asked before every step for joint forces, it can say why it chose them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, Self

import numpy as np

from spatialops._arrays import Array
from spatialops.collision.contact_set import ContactSet
from spatialops.errors import ArgumentError
from spatialops.tree.state import State


@dataclass(frozen=True, eq=False)
class Explanation:
    """What a controller expected when it chose its last command.

    Parameters
    ----------
    tau : (nv,) array
        The command, N m or N; zero where nothing is actuated.
    demanded, predicted : (nv,) arrays
        Accelerations that were asked for, and those that the controller's model answers with.
    forces : (m, 3) array
        Contact forces on A along the contacts' frames for which the command was computed, N.
        Contacts that it does not count on, such as those that land, are not among them.
    status : {"solved", "nearest", "held", "damped"}
        "nearest": the demand could not be met exactly, `predicted` is the nearest that could.
        "held" and "damped": no answer was to be had, and the command brings the joints to rest
        against forces that are still predicted, or only brakes them.
    residual : float
        Of the controller's own problem, relative.
    slack : float
        |predicted - demanded|, largest entry, rad/s^2 or m/s^2.
    iterations : int
        Pivots or iterations of its solver.
    seconds : float
        Time that the command took.
    notes : tuple of str
        What is worth knowing: the demand that was infeasible, limits that bind.
    unanswered : float
        s for which statuses have been "held" or "damped" without a break, up to this command; 0 for
        the first of them. What starts a robot's own emergency stop.
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
    unanswered: float = 0.0

    def timed(self, seconds: float, unanswered: float) -> Self:
        """The same of a command that took so long, with no answer for so long.

        Parameters
        ----------
        seconds, unanswered : float
            As of the class, s.

        Returns
        -------
        Explanation
            Of the same class.
        """
        result = object.__new__(type(self))  # a tenth of the time of `dataclasses.replace`
        times = {"seconds": seconds, "unanswered": unanswered}
        result.__dict__.update(self.__dict__ | times)
        return result


class Controller(Protocol):
    """A function of time, state and the contacts of the step before; it may keep a memory.

    What `Simulator.run(controller=...)` takes. Classes whose instances are controllers end in
    `Controller`; planners and feedback laws that a controller is made of do not.

    Examples
    --------
    >>> import numpy as np
    >>> import spatialops as so
    >>> from spatialops.control import PIDController, Reference
    >>> arm = so.models.pendulum(2)
    >>> still = Reference(np.zeros(2), np.zeros(2), np.zeros(2))
    >>> controller = PIDController(arm.model, lambda time, state: still)
    >>> controller(0.0, so.State(np.array([0.1, 0.0]), np.zeros(2))).round(3).tolist()
    [-1.0, 0.0]
    >>> controller.explain().status
    'solved'
    """

    def __call__(self, time: float, state: State, contacts: ContactSet) -> Array:
        """The command for the step that begins.

        Parameters
        ----------
        time : float
            Time, s.
        state : State
            Configuration and velocity.
        contacts : ContactSet
            Contacts of the step before with their impulses.

        Returns
        -------
        (nv,) array
            Joint forces, N m or N.
        """

    def explain(self) -> Explanation:
        """Why the last command was what it was.

        Returns
        -------
        Explanation
            Of the last call.

        Raises
        ------
        ArgumentError
            Before the first command.
        """


class ExplainedController:
    """What controllers share that make their explanation with the command."""

    _explanation: Explanation | None = None

    @property
    def status(self) -> str:
        """What the last command is worth, as in `Explanation`: nothing else is found for it."""
        return self.commanded_last().status

    def explain(self) -> Explanation:
        """Why the last command was what it was.

        Returns
        -------
        Explanation
            Of the last call.

        Raises
        ------
        ArgumentError
            Before the first command.
        """
        return self.commanded_last()

    def commanded_last(self) -> Explanation:
        """What was found with the last command, and nothing else.

        Returns
        -------
        Explanation
            Of the last call.

        Raises
        ------
        ArgumentError
            Before the first command.
        """
        if self._explanation is None:
            raise ArgumentError("explain: there has been no command yet")
        return self._explanation
