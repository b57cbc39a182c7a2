"""How time goes on: in steps of a contact problem each, or smoothly from event to event.

A time method makes a runner, which steps and runs what `Simulator` has set up. See docs/time.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, get_args

from spatialops._arrays import is_one_of, scalar, whole
from spatialops.errors import ArgumentError
from spatialops.simulation import _layout as at
from spatialops.simulation.options import ACCEPTED, SETTLED, TOLERANCE
from spatialops.simulation.runs.runner import Runner
from spatialops.simulation.runs.setup import Setup

Method: TypeAlias = Literal["dormand-prince", "rk4"]


class TimeMethod(Protocol):
    """A way through time: options as fields, and one method."""

    def runner(self, setup: Setup) -> Runner:
        """What steps and runs a scene; raises ArgumentError for what it cannot take."""


@dataclass(frozen=True, kw_only=True)
class TimeStepping:
    """Steps of `dt` with a contact problem each, compiled.

    Parameters
    ----------
    tolerance : float
        Residual that contact problems are solved to, relative, and above which the certificate
        fails; from 1e-12. Default 1e-9.
    settled : float
        What the middle velocity of the integrator "moreau" may be off, of the velocities, where
        joint forces act; elsewhere a share of the rule's own error, at most ten times as much, or
        ten thousand times where contacts push (and joint forces, if any, are those of the step
        before). From 1e-13, which finite differences of steps ask for: they see what is not
        settled. Default 1e-8.
    sleep : bool
        Count steps that change nothing, not a bit, instead of making them: where all that moves has
        come to rest, until a force, a control or a wrench is another. Results are the same to the
        bit. Default True.

    Raises
    ------
    ArgumentError
        For numbers outside their range.

    References
    ----------
    A. Jain, Minimal Coordinates Formulation of Contact Dynamics, equation 53.

    Examples
    --------
    >>> import spatialops as so
    >>> so.Simulator(so.models.pendulum(2).scene(), time=so.TimeStepping()).time
    TimeStepping(tolerance=1e-09, settled=1e-08, sleep=True)
    """

    tolerance: float = TOLERANCE
    settled: float = SETTLED
    sleep: bool = True

    def __post_init__(self) -> None:
        scalar(self.tolerance, "tolerance", low=1e-12, high=1e-2)
        scalar(self.settled, "settled", low=1e-13, high=1e-2)
        if not isinstance(self.sleep, bool):
            raise ArgumentError(f"sleep: expected True or False, got {self.sleep!r}")

    def runner(self, setup: Setup) -> Runner:
        """The compiled loop on a scene.

        Parameters
        ----------
        setup : Setup
            Scene and checked options.

        Returns
        -------
        Runner
            Steps and runs it.
        """
        from spatialops.simulation.runs.stepping_run import SteppingRunner

        setup.settings[[at.TOLERANCE, at.SETTLED]] = self.tolerance, self.settled
        setup.settings[at.SLEEPS] = self.sleep
        goes_on = setup.options.certify in ("warn", "off")
        setup.settings[at.ACCEPTED] = ACCEPTED if goes_on else 0.0
        return SteppingRunner(setup)


@dataclass(frozen=True, kw_only=True)
class EventDriven:
    """Smooth motion between events that are met at their time: accurate, and run from Python.

    Between events the contacts' acceleration-level complementarity problem holds with modes that do
    not change (open, sticking, sliding); `dt` of the simulator is only how often a controller is
    asked and a row recorded. An impact below the simulator's `impact_threshold` is without
    restitution, and so are those beyond `max_impacts` in one `dt`: this ends sequences of impacts
    that accumulate.

    Parameters
    ----------
    method : {"dormand-prince", "rk4"}
        Embedded pair of order 5(4) with steps that adapt, or the classical rule with steps of `dt`.
        Default "dormand-prince".
    tolerance : float
        Error of a step, absolute (m, rad, m/s) and relative. Default 1e-9.
    continuous : bool
        Ask the controller at every evaluation of the dynamics instead of every `dt`; it must be a
        function of its arguments alone. Default False.
    max_impacts : int
        Impacts in one `dt` after which restitution is dropped. Default 1000.
    max_steps : int
        Steps in one `dt`, with those that are tried in vain, after which a run ends with an error:
        so many mean forces too stiff for explicit rules. Default 10000.

    Raises
    ------
    ArgumentError
        For an unknown method, a tolerance that is not positive, and no impacts or
        steps.

    Examples
    --------
    >>> import spatialops as so
    >>> so.EventDriven(tolerance=1e-10).method
    'dormand-prince'
    """

    method: Method = "dormand-prince"
    tolerance: float = 1e-9
    continuous: bool = False
    max_impacts: int = 1000
    max_steps: int = 10_000

    def __post_init__(self) -> None:
        known = get_args(Method)
        if not is_one_of(self.method, known):
            raise ArgumentError(f"method: expected one of {', '.join(known)}, got {self.method!r}")
        scalar(self.tolerance, "tolerance", low=0.0, strict=True)
        whole(self.max_impacts, "max_impacts", low=1)
        whole(self.max_steps, "max_steps", low=1)
        if not isinstance(self.continuous, bool):
            raise ArgumentError(f"continuous: expected True or False, got {self.continuous!r}")

    def runner(self, setup: Setup) -> Runner:
        """The event-driven engine on a scene.

        Parameters
        ----------
        setup : Setup
            Scene and checked options.

        Returns
        -------
        Runner
            Steps and runs it.

        Raises
        ------
        ArgumentError
            For laws, friction and closures that it does not have.
        """
        from spatialops.simulation.event_driven.contact_state import Accuracy  # with more of SciPy
        from spatialops.simulation.event_driven.run import EventRunner

        accuracy = Accuracy(self.method, self.tolerance, self.max_impacts, self.max_steps)
        return EventRunner(setup, accuracy, self.continuous)


def check_time(time: object) -> TimeMethod:
    """The object itself; ArgumentError for anything else, a class included."""
    if isinstance(time, type) or not hasattr(time, "runner"):
        raise ArgumentError(f"time: expected TimeStepping() or EventDriven(), got {time!r}")
    made: TimeMethod = time
    return made
