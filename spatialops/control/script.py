"""A task as a list of phases that end when their guards hold, and fail with a reason when they do not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from spatialops._arrays import scalar
from spatialops.control.grasp_force import Grip
from spatialops.control.trajectory import Bounds, Pose
from spatialops.errors import ArgumentError

S = TypeVar("S")


@dataclass(frozen=True)
class Guard(Generic[S]):
    """Something that must be so, in words, and how it is told from what is sensed.

    `measure` gives the figure that `test` looks at; it is what a report says when the guard does not hold.
    """

    words: str
    measure: Callable[[S], float]
    test: Callable[[float], bool]
    unit: str = ""

    def holds(self, senses: S) -> bool:
        """Whether it is so now."""
        return self.test(self.measure(senses))

    def told(self, senses: S) -> str:
        """Its words with the present figure."""
        return f"{self.words} (now {self.measure(senses):.4g}{' ' if self.unit else ''}{self.unit})"


@dataclass(frozen=True, kw_only=True)
class Phase(Generic[S]):
    """One phase of a task.

    Parameters
    ----------
    name : str
    move : callable, optional
        Senses to the poses that hands go to; asked once, as the phase begins. Hands without one stay.
    grips : mapping of str to Grip
        What fingers do from now on.
    loads : callable, optional
        Senses to the weight (N) that hands carry from now on.
    bounds : Bounds
        Of the motion.
    until : sequence of Guard
        All must hold at once, for `hold` s, before the next phase.
    watch : sequence of Guard
        All must hold throughout; else the task fails.
    hold, timeout : float
        s.
    """

    name: str
    move: Callable[[S], Mapping[str, Pose]] | None = None
    grips: Mapping[str, Grip] = field(default_factory=dict)
    loads: Callable[[S], Mapping[str, float]] | None = None
    bounds: Bounds = field(default_factory=Bounds)
    until: Sequence[Guard[S]] = ()
    watch: Sequence[Guard[S]] = ()
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

    Attributes
    ----------
    passed : list of Passed
    failure : str
        Why it failed; empty while it has not.
    """

    def __init__(self, phases: Sequence[Phase[S]]) -> None:
        self.phases = tuple(phases)
        if not self.phases:
            raise ArgumentError("phases: a script must have at least one")
        self.passed: list[Passed] = []
        self.failure = ""
        self._number, self._begun, self._since = -1, 0.0, float("nan")

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

    def advance(self, time: float, senses: S) -> Phase[S] | None:
        """Look at the guards; returns the phase that begins now, if one does."""
        if self.finished:
            return None
        phase = self.phase
        if phase is None:
            return self._begin(0, time)
        if broken := next((guard for guard in phase.watch if not guard.holds(senses)), None):
            self.failure = f"phase {phase.name!r} at t = {time:.3f} s: no longer so: {broken.told(senses)}"
            return None
        waiting = [guard for guard in phase.until if not guard.holds(senses)]
        if waiting:
            self._since = float("nan")
        elif not self._since <= time:  # also where it is NaN
            self._since = time
        if not waiting and time - self._since >= phase.hold:
            self.passed.append(Passed(phase.name, self._begun, time))
            return self._begin(self._number + 1, time)
        if time - self._begun > phase.timeout:
            wanted = "; ".join(guard.told(senses) for guard in waiting) or f"guards to hold for {phase.hold:g} s"
            self.failure = (
                f"phase {phase.name!r} timed out after {phase.timeout:g} s at t = {time:.3f} s, waiting for: {wanted}"
            )
        return None

    def _begin(self, number: int, time: float) -> Phase[S] | None:
        self._number, self._begun, self._since = number, time, float("nan")
        return self.phase
