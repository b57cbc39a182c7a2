"""Derivatives of what drift and gaps add to contacts' velocities (`stepping/contact_drift.py`)."""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array
from spatialops.collision import _layout as col
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization.made_step import Moves, Step
from spatialops.simulation.linearization.statuses import OPEN
from spatialops.simulation.linearization.touch import Toucher
from spatialops.simulation.stepping.contact_drift import row_of_same

_DAMPING = 0.25  # as there
_TURNED = 0.5
_REST = 1e-9  # m/s of a slip that is none
_KINK = 1e-9  # m/s within which a gap's speed is at its kink


def speed_derivatives(
    step: Step, toucher: Toucher, moves: Moves, q_e: Array
) -> tuple[Array, tuple[str, ...]]:
    """Changes (m, 3, c) of drift and opening speed, world axes; where only one side is taken."""
    t = step.t
    contacts = step.contacts
    s = step.length
    result = np.zeros((len(contacts), 3, moves.q.shape[1]))
    if step.half == 0.0:
        late = toucher.at(q_e, step.state.v, contacts.gaps)
        return add_gaps(result, step, late.gap_by_q @ moves.q_e, s), ()
    late = toucher.at(q_e, step.vector(at.V_E), contacts.gaps)
    count = int(t.control[at.BEFORE])
    rows = [row_of_same(t.before_ints, count, t.ints, int(i)) for i in contacts.rows]
    known = np.array([t.before[j, col.KNOWN_GAP] if j >= 0 else 0.0 for j in rows])
    early = toucher.at(step.state.q, step.state.v, known)
    now = late.rows @ moves.v_e + late.by_q @ moves.q_e
    before = early.rows @ moves.v + early.by_q @ moves.q
    gaps_early, gaps_late = early.gap_by_q @ moves.q, late.gap_by_q @ moves.q_e
    switching = []
    for i, j in enumerate(rows):
        normal, name = contacts.normals[i], step.names[contacts.rows[i]]
        if step.statuses.names[i] == OPEN:
            continue
        if j < 0 or contacts.gaps[i] < -t.settings[at.DEPTH]:
            if contacts.gaps[i] > 0.0:
                result[i] += np.outer(normal, gaps_late[i]) / (0.5 * s)
            continue
        along = normal @ (now[i] - before[i])
        change, rests = slip_change(normal, late.velocity[i], early.velocity[i], now[i], before[i])
        opening = 2.0 * known[i] / s + float(normal @ early.velocity[i])
        if t.floats[contacts.rows[i], col.OPEN] > 0.0:
            along = along + 2.0 * gaps_early[i] / s + normal @ before[i]
        if abs(opening) < _KINK:
            side = "open" if t.floats[contacts.rows[i], col.OPEN] > 0.0 else "closed"
            switching.append(f"{name}: its gap is none; taken as {side}")
        if rests:
            switching.append(f"{name}: at rest; slips that begin are taken as not turning")
        result[i] += np.outer(normal, along) + change
    return result, tuple(switching)


def add_gaps(result: Array, step: Step, gaps: Array, time: float) -> Array:
    """Opening speeds g / time of contacts that are apart."""
    for i, normal in enumerate(step.contacts.normals):
        if step.contacts.gaps[i] > 0.0:
            result[i] += np.outer(normal, gaps[i]) / time
    return result


def slip_change(
    normal: Array, now: Array, before: Array, dnow: Array, dbefore: Array
) -> tuple[Array, bool]:
    """Change of the tangential drift; and whether there is no slip to tell its rule from."""
    flat = np.eye(3) - np.outer(normal, normal)
    slip, begun = flat @ now, flat @ before
    size, first = float(np.linalg.norm(slip)), float(np.linalg.norm(begun))
    if size < _REST and first < _REST:
        return np.zeros_like(dnow), True
    if not np.linalg.norm(slip - begun) < _TURNED * first:
        return flat @ (dnow - _DAMPING * dbefore), False
    along = slip / size
    turned = flat @ dnow - np.outer(along, along @ dnow)
    shrunk = np.outer(along, (begun / first) @ dbefore)
    return flat @ dnow - shrunk - (first / size) * turned, False
