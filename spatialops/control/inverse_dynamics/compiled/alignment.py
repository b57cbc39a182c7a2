"""Contact frames under the command: where polygons of friction turn along the slip.

A command moves contacts, their frames turn along the slip, and with them the polygons in which its
forces were found: these are found again until they lie where they were, or what that changes is
nothing. A contact that sticks by a force inside its polygon does so in the turned one too.
"""

from __future__ import annotations

import math

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import inlined, merged
from spatialops.algebra.vectors import dot
from spatialops.collision import _layout as col
from spatialops.control.inverse_dynamics.compiled import layout as io
from spatialops.control.inverse_dynamics.compiled import workspace as of
from spatialops.control.inverse_dynamics.compiled.cone_law import largest
from spatialops.control.inverse_dynamics.compiled.dissipation_law import ROUGH
from spatialops.control.inverse_dynamics.compiled.tables import Call, Robot
from spatialops.control.inverse_dynamics.compiled.turning import turning
from spatialops.control.inverse_dynamics.compiled.workspace import Posture, Round, Workspace
from spatialops.control.inverse_dynamics.force_distribution import REST, SAME, STUCK
from spatialops.simulation import _layout as at
from spatialops.simulation.stepping.tables import Tables

TURNED = 1e-9  # entries of contact frames: by less they have not turned
SETTLED = 1e-7  # rad/s^2 or m/s^2: what other directions of friction may change
# Of what the times before have missed: by less they come no nearer. So often, and they never will.
NEARER = 0.5
PATIENCE = 2
_NOT_THERE = -1.0


@merged
def turn_along(t: Tables, code: int, robot: Robot, call: Call, work: Workspace) -> float:
    """Take the frames of the step that was looked at; by how much those have turned that matter.

    Below zero where it meets other contacts.
    """
    if code != at.SOLVE or t.control[at.STAGE] != at.CONTACT:
        return _NOT_THERE
    if t.control[at.ACTING] != call.counts[io.MET]:
        return _NOT_THERE
    posture = work.posture
    for i in range(posture.place.shape[0]):
        names = posture.names[i]
        row = names[of.ROW]
        if (
            t.ints[row, col.CONTACT_PAIR] != names[of.NAME]
            or t.ints[row, col.CONTACT_FEATURE_A] != names[of.NAME + 1]
            or t.ints[row, col.CONTACT_FEATURE_B] != names[of.NAME + 2]
        ):
            return _NOT_THERE
    most = 0.0
    still = STUCK * max(largest(work.round.u), REST)
    for i in range(posture.place.shape[0]):
        row = posture.names[i, of.ROW]
        turned = 0.0
        for c in range(9):
            entry = t.floats[row, col.NORMAL + c]
            turned = max(turned, abs(entry - posture.place[i, of.NOW + c]))
        if turned >= TURNED:
            for c in range(9):
                posture.place[i, of.NOW + c] = t.floats[row, col.NORMAL + c]
            if not lies_within(posture.place, i, work.round, robot.middles, still, call):
                most = max(most, turned)
    return most


@inlined
def lies_within(
    place: Array, i: int, at_round: Round, middles: Array, still: float, call: Call
) -> bool:
    """Whether a contact is open, or sticks with a force inside its polygon as it lies now."""
    p = at_round.p[3 * i : 3 * i + 3]
    then = at_round.then[3 * i : 3 * i + 3]
    if p[0] == 0.0 and p[1] == 0.0 and p[2] == 0.0:
        return True
    if then[0] > still or math.hypot(then[1], then[2]) > still:
        return False
    mu = place[i, of.MU]
    if call.options[io.LAW] == io.RELEASED:
        mu = min(mu, ROUGH)
    turn = turning(place, i)
    x = dot(turn[1], (p[0], p[1], p[2]))
    y = dot(turn[2], (p[0], p[1], p[2]))
    most = mu * math.cos(math.pi / middles.shape[0]) ** 2 * p[0]
    for j in range(middles.shape[0]):
        if middles[j, 0] * x + middles[j, 1] * y > most + SAME * abs(p[0]):
            return False
    return True


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
