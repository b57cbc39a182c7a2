"""What people are told of the contacts of a step: what they do, and what is about to change."""

from __future__ import annotations

from collections.abc import Iterator

from spatialops._arrays import IntArray
from spatialops.collision import _layout as col
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.made_step import Room
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.stepping.tables import Tables

STATUSES = ("open", "sticking", "sliding", "dragged")
_MOST = 1024  # texts that are kept

_NOTES = {
    of.AT_LIMIT: "at the limit of friction; taken as {status}",
    of.HARDLY_PRESSES: "hardly presses; taken as closed",
    of.NO_SPEED: "slides at no speed; taken as sliding",
    of.NO_PARTING: "does not part; taken as open",
    of.NO_GAP: "its gap is none; taken as {gap}",
    of.AT_REST: "at rest; slips that begin are taken as not turning",
    of.BARELY_MET: "approaches at the threshold of impacts; taken as an impact",
    of.BARELY_NOT_MET: "approaches at the threshold of impacts; taken as none",
    of.AT_FILM: "as far off as its film is thick; taken as {status}",
    of.TOGETHER: "arrives with others; the time of the lowest gap is taken",
}
_OF_CONTACTS = {
    of.OF_JOINT: "stops and dry friction of joints are not known yet",
    of.NOT_FLAT: "known are contacts of spheres, capsules and vertices with half-spaces, and of "
    "spheres with spheres and faces of boxes",
}
_FAULTS = {
    of.SEVERAL: "motion so fast that the step was cut without an impact is not known yet",
    of.OTHER_IMPACTS: "impacts one after the other, with Poisson's restitution in a scene that has "
    "Newton's too, with Newton's under laws whose slips part, or in which the law "
    "'max-dissipation' lets one contact hold another are not known yet",
    of.ACTIVE: "actuators with activations in a step that an impact cuts are not known yet",
    of.SPUN: "impacts with torsional or rolling friction are not known yet",
    of.PUSHED_OUT: "a penetration is corrected at the end of the step, which is not known yet",
}


def contact_name(scene: Scene, pair: int) -> str:
    """Who touches."""
    return " on ".join(scene.pair_names(pair)) if 0 <= pair < len(scene.pairs) else "a joint"


class Notes:
    """What is said of contacts of a scene; words once found are kept."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._said: dict[bytes, tuple[tuple[str, ...], tuple[str, ...]]] = {}

    def of(self, found: IntArray) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What every contact does; which one-sided derivative is taken where that may change.

        Of rows of `Room.point_ints`.
        """
        key = found.tobytes()
        if key not in self._said:
            if len(self._said) == _MOST:
                self._said.clear()
            contacts = found[found[:, of.OWNER] < 0]
            statuses = tuple(STATUSES[i] for i in contacts[:, of.STATUS].tolist())
            texts = tuple(text for ints in found.tolist() for text in self._notes(ints))
            self._said[key] = statuses, texts
        return self._said[key]

    def _notes(self, ints: list[int]) -> Iterator[str]:
        name, notes = contact_name(self._scene, ints[of.PAIR]), ints[of.NOTES]
        name += ", spin" if ints[of.OWNER] >= 0 else ""
        gap = "open" if notes & of.OPENS else "closed"
        for note, text in _NOTES.items():
            if notes & note:
                yield f"{name}: {text.format(status=STATUSES[ints[of.STATUS]], gap=gap)}"


def fault_of(scene: Scene, t: Tables, room: Room, status: int) -> str:
    """Why a step's derivative is not known."""
    if status in _FAULTS:
        return f"linearize: {_FAULTS[status]}"
    row = int(room.results[of.FAULTY])
    name = contact_name(scene, int(t.ints[row, col.CONTACT_PAIR]))
    return f"linearize: {name}: {_OF_CONTACTS[status]}"
