"""What happened when: the events of a run, as data and as a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Literal, TypeAlias

from spatialops.simulation.plain_data import PlainData

EventKind: TypeAlias = Literal["impact", "separation", "slip", "stick"]
OPEN = "open"


@dataclass(frozen=True)
class Event:
    """One event.

    Parameters
    ----------
    time : float
        s.
    kind : {"impact", "separation", "slip", "stick"}
        Contacts that meet; that open; that stop sticking; that stop sliding.
    contacts : tuple of (str, str)
        Geoms A and B of every contact that takes part.
    before : tuple of str
        How each was: "open", "stick", "slip".
    after : tuple of str
        How each is.
    speed : float
        Impacts: largest approach speed, m/s. Default 0.
    energy : tuple of (float, float)
        Impacts: kinetic energy before and after, J. Default zeros.
    """

    time: float
    kind: str
    contacts: tuple[tuple[str, str], ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    speed: float = 0.0
    energy: tuple[float, float] = (0.0, 0.0)

    def __str__(self) -> str:
        names = ", ".join(dict.fromkeys(f"{a} on {b}" for a, b in self.contacts))
        count = f" ({len(self.contacts)} contacts)" if len(self.contacts) > 1 else ""
        change = f"{_summary(self.before)} -> {_summary(self.after)}"
        met = (
            f", {self.speed:.4g} m/s, {self.energy[0]:.4g} -> {self.energy[1]:.4g} J"
            if self.kind == "impact"
            else ""
        )
        return f"{self.time:14.9f} s  {self.kind:<10}  {names}{count}: {change}{met}"


class EventLog(tuple[Event, ...]):
    """Events in the order of time; prints as a table."""

    def __str__(self) -> str:
        return "\n".join(str(event) for event in self) or "no events"

    def of(self, kind: str) -> EventLog:
        """Those of one kind.

        Parameters
        ----------
        kind : {"impact", "separation", "slip", "stick"}
            Which.

        Returns
        -------
        EventLog
            In the order of time.
        """
        return EventLog(event for event in self if event.kind == kind)

    def to_data(self) -> list[PlainData]:
        """Plain data for a file.

        Returns
        -------
        list of dict
            One for each event, fields by name.
        """
        return [asdict(event) for event in self]

    @classmethod
    def from_data(cls, data: Iterable[PlainData]) -> EventLog:
        """Inverse of `to_data`, also after a detour through JSON.

        Parameters
        ----------
        data : iterable of dict
            What `to_data` made.

        Returns
        -------
        EventLog
            The same events.
        """
        return cls(
            Event(
                time=float(entry["time"]),
                kind=str(entry["kind"]),
                contacts=tuple((str(a), str(b)) for a, b in entry["contacts"]),
                before=tuple(map(str, entry["before"])),
                after=tuple(map(str, entry["after"])),
                speed=float(entry["speed"]),
                energy=(float(entry["energy"][0]), float(entry["energy"][1])),
            )
            for entry in data
        )


def changed(time: float, changes: Iterable[tuple[tuple[str, str], str, str]]) -> list[Event]:
    """Events of contacts (names, before, after) that opened, or began or ended to slide."""
    groups: dict[str, list[tuple[tuple[str, str], str, str]]] = {}
    for names, before, after in changes:
        if before not in (after, OPEN):
            groups.setdefault("separation" if after == OPEN else after, []).append(
                (names, before, after)
            )
    columns = {kind: tuple(zip(*group)) for kind, group in groups.items()}
    return [
        Event(time, kind, names, before, after) for kind, (names, before, after) in columns.items()
    ]


def _summary(modes: tuple[str, ...]) -> str:
    return "/".join(dict.fromkeys(modes))
