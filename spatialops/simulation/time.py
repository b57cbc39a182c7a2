"""How time goes on: in steps of a contact problem each, or smoothly from event to event. See docs/time.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spatialops._arrays import scalar, whole
from spatialops.errors import ArgumentError

METHODS = ("dormand-prince", "rk4")


@dataclass(frozen=True, kw_only=True)
class TimeStepping:
    """Steps of `dt` with a contact problem each ([J] 53), compiled; the options are those of `Simulator`."""


@dataclass(frozen=True, kw_only=True)
class EventDriven:
    """Smooth motion between events that are met at their time: accurate, and run from Python.

    Between events the contacts' acceleration-level complementarity problem holds with modes that do not change (open,
    sticking, sliding); `dt` of the simulator is only how often a controller is asked and a row recorded. An impact
    below the simulator's `impact_threshold` is without restitution, and so are those beyond `max_impacts` in one `dt`:
    this ends sequences of impacts that accumulate.

    Parameters
    ----------
    method : {"dormand-prince", "rk4"}
        Embedded pair of order 5(4) with steps that adapt, or the classical rule with steps of `dt`.
    tolerance : float
        Error of a step, absolute (m, rad, m/s) and relative.
    continuous : bool
        Ask the controller at every evaluation of the dynamics instead of every `dt`; it must be a function of its
        arguments alone.
    max_impacts : int
        Impacts in one `dt` after which restitution is dropped.
    """

    method: str = "dormand-prince"
    tolerance: float = 1e-9
    continuous: bool = False
    max_impacts: int = 1000

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ArgumentError(f"method: expected one of {', '.join(METHODS)}, got {self.method!r}")
        scalar(self.tolerance, "tolerance", low=0.0, strict=True)
        whole(self.max_impacts, "max_impacts", low=1)
        if not isinstance(self.continuous, bool):
            raise ArgumentError(f"continuous: expected True or False, got {self.continuous!r}")


def check_time(time: Any) -> TimeStepping | EventDriven:
    """The object itself; ArgumentError for anything else, a class included."""
    if not isinstance(time, (TimeStepping, EventDriven)):
        raise ArgumentError(f"time: expected TimeStepping() or EventDriven(), got {time!r}")
    return time
