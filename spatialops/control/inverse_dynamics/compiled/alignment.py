"""Contact frames under the command: where polygons of friction turn along the slip.

A command moves contacts, their frames turn along the slip, and with them the polygons in which its
forces were found: these are found again until they lie where they were, or what that changes is
nothing.
"""

from __future__ import annotations

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, merged
from spatialops.collision import _layout as col
from spatialops.control.inverse_dynamics.compiled import layout as io
from spatialops.control.inverse_dynamics.compiled import workspace as of
from spatialops.control.inverse_dynamics.compiled.tables import Call
from spatialops.control.inverse_dynamics.compiled.workspace import Posture
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.tables import Tables

TURNED = 1e-9  # entries of contact frames: by less they have not turned
SETTLED = 1e-7  # rad/s^2 or m/s^2: what other directions of friction may change
_NOT_THERE = -1.0


@merged
def turn_along(t: Tables, code: int, call: Call, posture: Posture) -> float:
    """Take the frames of the step that was looked at; by how much they have turned.

    Below zero where it meets other contacts.
    """
    if code != at.SOLVE or t.control[at.STAGE] != at.CONTACT:
        return _NOT_THERE
    if t.control[at.ACTING] != call.counts[io.MET]:
        return _NOT_THERE
    most = 0.0
    for i in range(posture.place.shape[0]):
        names = posture.names[i]
        row = names[of.ROW]
        if (
            t.ints[row, col.CONTACT_PAIR] != names[of.NAME]
            or t.ints[row, col.CONTACT_FEATURE_A] != names[of.NAME + 1]
            or t.ints[row, col.CONTACT_FEATURE_B] != names[of.NAME + 2]
        ):
            return _NOT_THERE
        for c in range(9):
            entry = t.floats[row, col.NORMAL + c]
            most = max(most, abs(entry - posture.place[i, of.NOW + c]))
    if most >= TURNED:
        for i in range(posture.place.shape[0]):
            for c in range(9):
                entry = t.floats[posture.names[i, of.ROW], col.NORMAL + c]
                posture.place[i, of.NOW + c] = entry
    return most


@inlined
def missed(posture: Posture, given: IntArray, change: Array, horizon: float, moved: Array) -> float:
    """What motors' accelerations miss if impulses come that differ by `change` (3 m,)."""
    nv = moved.size
    whole = posture.whole
    for k in range(nv):
        moved[k] = 0.0
        for r in range(change.size):
            moved[k] += posture.G[r, k] * change[r]
    for i in range(nv - 1, -1, -1):  # C^-1 of it, from its last row on
        total = 0.0
        for k in range(i + 1):
            total += whole[i, k] * moved[k]
        moved[i] = total
    for k in range(nv):  # and C^-T of that, from its first on
        total = 0.0
        for i in range(k, nv):
            total += whole[i, k] * moved[i]
        moved[k] = total
    most = 0.0
    for k in given:
        most = max(most, abs(moved[k]))
    return most / horizon
