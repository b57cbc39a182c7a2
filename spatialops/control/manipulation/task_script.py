"""A task as phases that end when their guards hold, and fail with a reason when they do not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from spatialops._arrays import scalar, several
from spatialops.control.manipulation.grasp_force import Grip
from spatialops.control.trajectory import Bounds, Pose
from spatialops.errors import ArgumentError

S = TypeVar("S")


@dataclass(frozen=True)
class Guard(Generic[S]):
    """Something that must be so, in words, and how it is told from what is observed.

    Parameters
    ----------
    words : str
        What must be so.
    measure : callable
        Observation -> the figure that decides; a report says it when the guard does not hold.
    test : callable
        Figure -> whether it is so.
    unit : str, default ""
        Of the figure.

    Examples
    --------
    >>> from spatialops.control import Guard
    >>> warm = Guard("it is warm", lambda room: room["heat"], lambda x: x > 20.0, "C")
    >>> warm.holds({"heat": 12.5}), warm.told({"heat": 12.5})
    (False, 'it is warm (now 12.5 C)')
    """

    words: str
    measure: Callable[[S], float]
    test: Callable[[float], bool]
    unit: str = ""

    def holds(self, observation: S) -> bool:
        """Whether it is so now.

        Parameters
        ----------
        observation : S
            What the controller observes now.

        Returns
        -------
        bool
            Of `test`.
        """
        return self.test(self.measure(observation))

    def told(self, observation: S) -> str:
        """Its words with the present figure.

        Parameters
        ----------
        observation : S
            What the controller observes now.

        Returns
        -------
        str
            For reports.
        """
        figure = f"{self.measure(observation):.4g} {self.unit}".rstrip()
        return f"{self.words} (now {figure})"


@dataclass(frozen=True, kw_only=True)
class Phase(Generic[S]):
    """One phase of a task.

    Parameters
    ----------
    name : str
        What reports call it.
    move : callable, optional
        Observation -> the poses that hands go to; asked once, as the phase begins. Hands without
        one stay.
    grips : mapping of str to Grip, optional
        What fingers do from now on.
    loads : callable, optional
        Observation -> the weight (N) that hands carry from now on.
    bounds : Bounds, optional
        Of the motion; default: `Bounds()`.
    until : sequence of Guard, optional
        All must hold at once, for `hold` s, before the next phase.
    during : sequence of Guard, optional
        All must hold throughout; else the task fails.
    hold : float, default 0.05
        s.
    timeout : float, default 5
        s after which the task fails.

    Raises
    ------
    ArgumentError
        For times that are negative.

    Examples
    --------
    >>> from spatialops.control import Guard, Phase, Squeeze
    >>> full = Guard("the thumb presses", lambda seen: seen["thumb"], lambda x: x > 18.0, "N")
    >>> grasp = Phase(name="grasp", grips={"hand": Squeeze(20.0)}, until=[full], timeout=2.0)
    >>> grasp.name, all(guard.holds({"thumb": 19.0}) for guard in grasp.until)
    ('grasp', True)
    """

    name: str
    move: Callable[[S], Mapping[str, Pose]] | None = None
    grips: Mapping[str, Grip] = field(default_factory=dict)
    loads: Callable[[S], Mapping[str, float]] | None = None
    bounds: Bounds = field(default_factory=Bounds)
    until: Sequence[Guard[S]] = ()
    during: Sequence[Guard[S]] = ()
    hold: float = 0.05
    timeout: float = 5.0

    def __post_init__(self) -> None:
        scalar(self.hold, f"phase {self.name!r}: hold", low=0.0)
        scalar(self.timeout, f"phase {self.name!r}: timeout", low=0.0, strict=True)


@dataclass(frozen=True)
class Passed:
    """A phase that is over: its name, and when it began and ended, s."""

    name: str
    begin: float
    end: float


class Script(Generic[S]):
    """Goes through phases by their guards.

    Parameters
    ----------
    phases : sequence of Phase
        In their order.

    Attributes
    ----------
    passed : list of Passed
        Phases that are over.
    failure : str
        Why it failed; empty while it has not.

    Raises
    ------
    ArgumentError
        For no phases.

    Examples
    --------
    >>> from spatialops.control import Guard, Phase, Script
    >>> warm = Guard("it is warm", lambda heat: heat, lambda x: x > 20.0)
    >>> script = Script([Phase(name="wait", until=[warm], hold=0.0)])
    >>> begun = [script.advance(time, heat) for time, heat in ((0.0, 10.0), (0.1, 30.0))]
    >>> begun[0].name, script.succeeded
    ('wait', True)
    """

    def __init__(self, phases: Sequence[Phase[S]]) -> None:
        self.phases = several(phases, "phases", "Phase objects")
        if not self.phases:
            raise ArgumentError("phases: a script must have at least one")
        self.passed: list[Passed] = []
        self.failure = ""
        self._number = -1
        self._begun = 0.0
        self._since = float("nan")

    @property
    def phase(self) -> Phase[S] | None:
        """The present phase; None before the first, after the last, and once it has failed."""
        running = 0 <= self._number < len(self.phases) and not self.failure
        return self.phases[self._number] if running else None

    @property
    def finished(self) -> bool:
        """Whether it is over, well or badly."""
        return bool(self.failure) or self._number >= len(self.phases)

    @property
    def succeeded(self) -> bool:
        """Whether all phases are over."""
        return self._number >= len(self.phases)

    def advance(self, time: float, observation: S) -> Phase[S] | None:
        """Test the guards.

        Parameters
        ----------
        time : float
            Time, s.
        observation : S
            What the controller observes now.

        Returns
        -------
        Phase or None
            The phase that begins now, if one does.
        """
        if self.finished:
            return None
        phase = self.phase
        if phase is None:
            return self._begin(0, time)
        if broken := next((guard for guard in phase.during if not guard.holds(observation)), None):
            self.failure = (
                f"phase {phase.name!r} at t = {time:.3f} s: no longer so: "
                f"{broken.told(observation)}"
            )
            return None
        waiting = [guard for guard in phase.until if not guard.holds(observation)]
        if waiting:
            self._since = float("nan")
        elif not self._since <= time:  # also where it is NaN
            self._since = time
        if not waiting and time - self._since >= phase.hold:
            self.passed.append(Passed(phase.name, self._begun, time))
            return self._begin(self._number + 1, time)
        if time - self._begun > phase.timeout:
            wanted = (
                "; ".join(guard.told(observation) for guard in waiting)
                or f"guards to hold for {phase.hold:g} s"
            )
            self.failure = (
                f"phase {phase.name!r} timed out after {phase.timeout:g} s at t = {time:.3f} s, "
                f"waiting for: {wanted}"
            )
        return None

    def _begin(self, number: int, time: float) -> Phase[S] | None:
        self._number = number
        self._begun = time
        self._since = float("nan")
        return self.phase
