"""The derivative of an impact: two problems, each at its statuses.

Compression ([J] 54) has impulses p_c. Decompression ([J] 56-57) begins with theta = e p_c given
back along the normals, and has p_d. Along every direction that a phase holds

    d . G(q) (v + y) = 0,    M(q) y = G(q)* f,

with f = p_c in the first and p_c + theta + p_d in the second. A contact may slide on what theta
presses alone, and stick on it too. All turn with the slip that there is before the impact.
Parameters are further columns of the right-hand sides: -M' y of masses, friction of what slides for
a unit of mu, and p_c given back for a unit of e.

Newton's coefficients say how fast what approaches shall part (`newton.py`): normals have that in
place of no speed, in the first phase, and in the second where Poisson's are beside them.

Under the convex law, and where most is dissipated, what slides parts: its line leans as its push
does. The convex law takes back in the second phase what is given back: an impact is the first.
"""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array
from spatialops._compile.held import Held
from spatialops.collision import _layout as col
from spatialops.collision.pair_runs import count_pairs
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.impacts.closed_phases import closed_phase
from spatialops.simulation.linearization.impacts.equations import differentiate_impact_held
from spatialops.simulation.linearization.impacts.newton import (
    coefficients,
    compression,
    of_geoms,
    with_parting,
)
from spatialops.simulation.linearization.impacts.statuses import (
    Directions,
    Dynamics,
    frame_of,
    hold,
)
from spatialops.simulation.linearization.made_step import Room
from spatialops.simulation.linearization.masses.resistance_by_masses import momentum_regressor
from spatialops.simulation.linearization.parameters import n_parameters
from spatialops.simulation.stepping.held.held_loop import HeldLoop
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.loops import Loops
from spatialops.tree.model import Model

_SLIP = 1e-9  # m/s below which tangents do not follow the slip: `contact/friction.py`
REDUNDANT = 1e-11  # as in `step_equations`
_LEANS = 1e-7  # of the fastest: how well a line is met that is


def impact_derivative(
    loop: HeldLoop, held_room: Held, loops: Loops, model: Model | None
) -> tuple[int, Array]:
    """Of the impact that the loop has resolved last: a status, and a derivative if it is KNOWN.

    Closures stand in frames of their own. The velocity after it by [q; v] before it, and by the
    parameters of a model if one is given.
    What contacts do stays in the room.
    """
    t = loop.tables
    room: Room = held_room.tables
    m, nv = int(t.control[at.ACTING]), t.v.size
    total = t.impulses[: 3 * m].reshape(m, 3).copy()
    before = t.vectors[at.V_X, :nv].copy()
    columns = 2 * nv + (0 if model is None else n_parameters(model, t))
    nothing = np.empty((nv, columns))
    status, whole = phase_dynamics(loop, held_room, loops, t.v - before, total)
    if status != of.KNOWN:
        return status, nothing
    rows = room.point_ints[: room.results[of.COUNT], of.ROW]
    if loop.stepping.external.impacts.propagated:
        return of.OTHER_IMPACTS, nothing
    e = coefficients(loop, rows)
    compressed, theta = compression(loop, e)
    forces = _along_world(t, compressed)[rows] * room.points[: len(rows), of.SIDE, None]
    y = whole.inverse @ np.einsum("ijk,ij->k", whole.jacobians, forces)
    _, first = phase_dynamics(loop, held_room, loops, y, compressed)
    first = with_parting(loop, room, first, e, columns)
    turning = np.zeros((len(rows), columns))
    turning[:, : 2 * nv] = _turning(t, room, whole, before)
    held = hold(t, room, first, compressed, np.zeros(m))
    if not _leans_right(held, first):
        return of.OTHER_IMPACTS, nothing
    by_mu = _by_friction(t, room, first, held, nothing)
    side = by_mu + _by_masses(model, t, y, nothing)
    by_p, by_y = _solve(room, first, held, turning, side, t)
    if t.control[at.LAW] == of.CONVEX:
        by_y[:, nv : 2 * nv] += np.eye(nv)
        return of.KNOWN, by_y
    by_theta = np.zeros((len(rows), columns))
    for (k, _), push, change in zip(held.lines, held.pushes, by_p, strict=True):
        by_theta[k] += push @ room.points[k, of.NORMAL : of.NORMAL + 3] * change
    by_theta *= e.poisson[:, None]
    if model is not None:
        own = np.flatnonzero(of_geoms(t, room) & e.is_poisson)
        pairs = columns - count_pairs(t.pair_runs) + room.point_ints[own, of.PAIR]
        by_theta[own, pairs] += t.monitor[at.FRACTION] * compressed[rows[own], 0]
    statuses = room.point_ints[: len(rows), of.STATUS].copy()
    notes = room.point_ints[: len(rows), of.NOTES].copy()
    expanded = total - compressed
    expanded[:, 0] -= theta
    given = _impulses(first, held, turning, by_p) + by_mu
    if theta.any():
        whole = with_parting(loop, room, whole, e, columns)
    held = hold(t, room, whole, expanded, theta)
    if not _leans_right(held, whole):
        return of.OTHER_IMPACTS, nothing
    given = given + np.einsum("ijk,ij,il->kl", whole.jacobians, held.given, by_theta)
    given += _by_friction(t, room, whole, held, nothing)
    given += _by_masses(model, t, t.v - before, nothing)
    _, by_y = _solve(room, whole, held, turning, given, t)
    speeds = t.floats[rows, col.APPROACH]
    if speeds.min() > -t.settings[at.THRESHOLD] - _SLIP:
        notes[speeds.argmin()] |= of.BARELY_MET
    room.point_ints[: len(rows), of.STATUS] = statuses
    room.point_ints[: len(rows), of.NOTES] |= notes
    by_y[:, nv : 2 * nv] += np.eye(nv)
    return of.KNOWN, by_y


def _leans_right(held: Directions, phase: Dynamics) -> bool:
    """Whether what is held along its friction parts as it should.

    Where most is dissipated, what may not come nearer can be held by others' impulses instead.
    """
    scale = np.abs(phase.after).max(initial=0.0)
    lines = (
        (line @ phase.after[k] - phase.parts[k], leans)
        for (k, line), leans in zip(held.lines, held.leaning)
    )
    return all(abs(speed) <= _LEANS * scale for speed, leans in lines if leans)


def _by_masses(model: Model | None, t: Tables, y: Array, like: Array) -> Array:
    """Joint impulses by masses, where velocities change by y."""
    by = np.zeros_like(like)
    if model is not None:
        nv, Y = y.size, momentum_regressor(model, t.q.copy(), y)
        by[:, 2 * nv : 2 * nv + Y.shape[1]] = -Y
    return by


def _by_friction(t: Tables, room: Room, phase: Dynamics, held: Directions, like: Array) -> Array:
    """Joint impulses by the coefficients of what slides in a phase."""
    by = np.zeros_like(like)
    if by.shape[1] > 2 * len(by):
        first = by.shape[1] - 2 * count_pairs(t.pair_runs)
        for k in np.flatnonzero(of_geoms(t, room)):
            push = held.by_friction[k]
            by[:, first + room.point_ints[k, of.PAIR]] += push @ phase.jacobians[k]
    return by


def _along_world(t: Tables, impulses: Array) -> Array:
    """Impulses (m, 3) along contacts' frames, on A in the axes of the world."""
    m = len(impulses)
    frames = t.floats[:m, col.NORMAL : col.NORMAL + 9].reshape(m, 3, 3)
    return np.einsum("ijk,ij->ik", frames, impulses)


def phase_dynamics(
    loop: HeldLoop, held_room: Held, loops: Loops, y: Array, impulses: Array
) -> tuple[int, Dynamics]:
    """A status, and what a phase that has changed the velocity by y obeys."""
    t, nv = loop.tables, y.size
    room: Room = held_room.tables
    after = t.vectors[at.V_X, :nv] + y
    f = _along_world(t, impulses)
    status = differentiate_impact_held(loop.address, held_room.address, y, after, f)
    count = int(room.results[of.COUNT])
    late, end = room.found[of.LATE, :count], room.found[of.END, :count]
    by_q = slice(of.VELOCITY_BY_Q, of.VELOCITY_BY_Q + 3)
    jacobians = late[:, of.VELOCITY_BY_V : of.VELOCITY_BY_V + 3].copy()
    normals = late[:, of.NORMAL_BY_Q : of.NORMAL_BY_Q + 3].copy()
    normals[room.point_ints[:count, of.KIND] == of.STILL] = 0.0
    phase = Dynamics(
        np.linalg.inv(room.squares[of.MASS]) if status == of.KNOWN else room.squares[of.MASS],
        room.side[:, :nv] + _turned_forces(room, jacobians, normals),
        jacobians,
        end[:, by_q].copy(),
        late[:, by_q].copy(),
        room.arms[of.END, :count, of.VELOCITY : of.VELOCITY + 3].copy(),
        normals,
        np.zeros(count),
        np.zeros((count, 0)),
        np.zeros((nv, nv)),
    )
    if status == of.KNOWN and len(loops):
        phase = closed_phase(t, room, loops, phase, y)
    return status, phase


def _turned_forces(room: Room, jacobians: Array, normals: Array) -> Array:
    """Joint impulses (nv, nv) by q, of what turns with normals: `contact_forces.turn_push`."""
    count = len(normals)
    N = room.points[:count, of.NORMAL : of.NORMAL + 3]
    f = room.points[:count, of.IMPULSE : of.IMPULSE + 3]
    pressed = np.sum(N * f, axis=1)
    friction = f - pressed[:, None] * N
    change = pressed[:, None, None] * normals
    change -= N[:, :, None] * np.einsum("ij,ijk->ik", friction, normals)[:, None, :]
    joint: Array = np.einsum("ijk,ijl->kl", jacobians, change)
    return joint


def _turning(t: Tables, room: Room, phase: Dynamics, before: Array) -> Array:
    """Angles (m, 2 nv) by which slips before the impact turn with [q; v]."""
    count, nv = len(phase.jacobians), before.size
    angles = np.zeros((count, 2 * nv))
    for k in range(count):
        normal, first, _ = frame_of(t, room, k)
        slip = first @ (phase.jacobians[k] @ before)
        if slip > _SLIP:
            across = np.cross(normal, first) / slip
            speed = normal @ (phase.jacobians[k] @ before)
            angles[k, :nv] = across @ (phase.before[k] - speed * phase.normals[k])
            angles[k, nv:] = across @ phase.jacobians[k]
    return angles


def _impulses(phase: Dynamics, held: Directions, turning: Array, by_p: Array) -> Array:
    """Joint impulses by [q; v], of contacts' impulses alone."""
    change = np.einsum("ijk,ij,il->kl", phase.jacobians, held.turned, turning)
    for (k, _), push, by in zip(held.lines, held.pushes, by_p, strict=True):
        change += np.outer(push @ phase.jacobians[k], by)
    return change


def _solve(
    room: Room, phase: Dynamics, held: Directions, turning: Array, given: Array, t: Tables
) -> tuple[Array, Array]:
    """Impulses along the pushes and the change of velocity, by [q; v] and parameters."""
    nv = len(phase.inverse)
    count = len(held.lines)
    L, P = np.zeros((count, nv)), np.zeros((nv, count))
    goal = np.zeros((count, turning.shape[1]))
    for i, ((k, line), push, gain) in enumerate(
        zip(held.lines, held.pushes, held.gains, strict=True)
    ):
        L[i], P[:, i] = line @ phase.jacobians[k], push @ phase.jacobians[k]
        goal[i] = -gain * turning[k]
        goal[i, :nv] -= line @ phase.moving[k]
        normal, after = room.points[k, of.NORMAL : of.NORMAL + 3], phase.after[k]
        turned = after if line @ normal > 0.5 else np.zeros(3)
        turned = turned - (normal @ after) * (line - (line @ normal) * normal)
        goal[i, :nv] -= turned @ phase.normals[k]
        if goal.shape[1] > 2 * nv and room.point_ints[k, of.KIND] != of.JOINT:
            friction = goal.shape[1] - 2 * count_pairs(t.pair_runs) + room.point_ints[k, of.PAIR]
            goal[i, friction] -= held.leaning[i]
        goal[i, nv : 2 * nv] -= L[i]
        if line @ normal > 0.5:
            goal[i, : phase.parting.shape[1]] += phase.parting[k]
    free = given + np.einsum("ijk,ij,il->kl", phase.jacobians, held.turned, turning)
    free[:, :nv] += phase.by_q
    y = phase.inverse @ free
    y[:, :nv] += phase.kept
    answer = phase.inverse @ P
    W = L @ answer + np.diag(held.resistances)
    by_p = np.linalg.lstsq(W, goal - L @ y, rcond=REDUNDANT)[0]
    return by_p, y + answer @ by_p
