"""What people are told of the contacts of a step: what they do, and what is about to change."""

from __future__ import annotations

from collections.abc import Iterator

from spatialops._arrays import IntArray
from spatialops.collision import _layout as col
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.made_step import Room
from spatialops.simulation.scene.joint_constraints import JointRows
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.stepping.contact_names import joint_row_names
from spatialops.simulation.stepping.driver import Stepping
from spatialops.simulation.stepping.tables import Tables

STATUSES = ("open", "sticking", "sliding", "dragged", "stopped")
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
    of.AT_KINK: "lies on an edge or face; taken as leaning as what lies within the other",
    of.AT_ONCE: "touches as the step begins, and meets at once; from farther off it would later",
    of.TOGETHER: "arrives with others; the time of the lowest gap is taken",
}
_OF_CONTACTS = {
    of.NOT_KNOWN: "its point is the middle of edges or faces that lie on each other, and "
    "which that is changes by jumps",
}
_FAULTS = {
    of.SEVERAL: "motion so fast that the step was cut without an impact is not known yet",
    of.OTHER_IMPACTS: "impacts one after the other, or in which the law 'max-dissipation' lets one "
    "contact hold another are not known yet",
    of.ACTIVE: "actuators with activations in a step that an impact cuts are not known yet",
    of.SPUN: "impacts with torsional or rolling friction are not known yet",
    of.PUSHED_OUT: "a penetration of a closed mechanism is corrected at the end of the step, or "
    "one that no push opens, which is not known yet",
}


def contact_name(scene: Scene, joints: JointRows, pair: int) -> str:
    """Who touches, or the joint and its limit."""
    n = scene.n_pairs
    if pair < n:
        return " on ".join(scene.pair_names(pair))
    joint, what = joint_row_names(scene.model, joints, pair - n)
    return f"joint {joint!r}, {what}"


class Notes:
    """What is said of contacts of a scene; words once found are kept."""

    def __init__(self, scene: Scene, joints: JointRows) -> None:
        self._scene = scene
        self._joints = joints
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
        name, notes = contact_name(self._scene, self._joints, ints[of.PAIR]), ints[of.NOTES]
        name += ", spin" if ints[of.OWNER] >= 0 else ""
        gap = "open" if notes & of.OPENS else "closed"
        for note, text in _NOTES.items():
            if notes & note:
                yield f"{name}: {text.format(status=STATUSES[ints[of.STATUS]], gap=gap)}"


def fault_of(stepping: Stepping, t: Tables, room: Room, status: int) -> str:
    """Why a step's derivative is not known."""
    if status in _FAULTS:
        return f"linearize: {_FAULTS[status]}"
    row = int(room.results[of.FAULTY])
    pair = int(t.ints[row, col.CONTACT_PAIR])
    name = contact_name(stepping.scene, stepping.joints, pair)
    return f"linearize: {name}: {_OF_CONTACTS[status]}"
