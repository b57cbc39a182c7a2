"""What people are told of the contacts of a step: what they do, and what is about to change."""

from __future__ import annotations

from collections.abc import Iterator

from spatialops.collision import _layout as col
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.made_step import Room
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.stepping.tables import Tables

STATUSES = ("open", "sticking", "sliding")

_NOTES = {
    of.AT_LIMIT: "at the limit of friction; taken as {status}",
    of.HARDLY_PRESSES: "hardly presses; taken as closed",
    of.NO_SPEED: "slides at no speed; taken as sliding",
    of.NO_PARTING: "does not part; taken as open",
    of.NO_GAP: "its gap is none; taken as {gap}",
    of.AT_REST: "at rest; slips that begin are taken as not turning",
}
_FAULTS = {
    of.OF_JOINT: "stops and dry friction of joints are not known yet",
    of.NOT_FLAT: "known are contacts of spheres, capsules and vertices with half-spaces of the "
    "world",
}


def contact_name(scene: Scene, t: Tables, row: int) -> str:
    """Who touches in a row of the loop's contacts."""
    pair = int(t.ints[row, col.CONTACT_PAIR])
    return " on ".join(scene.pair_names(pair)) if 0 <= pair < len(scene.pairs) else "a joint"


def statuses_of(room: Room) -> tuple[str, ...]:
    """What every contact does."""
    count = int(room.results[of.COUNT])
    return tuple(STATUSES[i] for i in room.point_ints[:count, of.STATUS].tolist())


def switching_of(scene: Scene, t: Tables, room: Room) -> tuple[str, ...]:
    """Contacts that are about to do something else, and which one-sided derivative is taken."""
    count = int(room.results[of.COUNT])
    if not room.point_ints[:count, of.NOTES].any():
        return ()
    return tuple(text for k in range(count) for text in _notes(scene, t, room, k))


def _notes(scene: Scene, t: Tables, room: Room, k: int) -> Iterator[str]:
    row = int(room.point_ints[k, of.ROW])
    status = STATUSES[room.point_ints[k, of.STATUS]]
    gap = "open" if t.floats[row, col.OPEN] > 0.0 else "closed"
    for note, text in _NOTES.items():
        if room.point_ints[k, of.NOTES] & note:
            yield f"{contact_name(scene, t, row)}: {text.format(status=status, gap=gap)}"


def fault_of(scene: Scene, t: Tables, room: Room, status: int) -> str:
    """Why a step's derivative is not known."""
    name = contact_name(scene, t, int(room.results[of.FAULTY]))
    return f"linearize: {name}: {_FAULTS[status]}"
