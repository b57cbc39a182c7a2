"""Directions in which contacts hold and push, and how those of friction turn with the slip."""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array
from spatialops.collision import _layout as col
from spatialops.simulation.linearization.made_step import Step
from spatialops.simulation.linearization.statuses import OPEN, SLIDING
from spatialops.simulation.linearization.touch import Touch

_SLIP = 1e-9  # m/s below which tangents do not follow the slip: `contact/friction.py`


def nearly_other(step: Step, velocity: Array) -> tuple[str, ...]:
    """Contacts that slide at no speed, or are open and do not part; `velocity` is at the end."""
    found = []
    for i, status in enumerate(step.statuses.names):
        row, normal = step.t.floats[step.contacts.rows[i]], step.contacts.normals[i]
        end = velocity[i] + step.contacts.sides[i] * row[col.DRIFT : col.DRIFT + 3]
        along, name = float(normal @ end), step.names[step.contacts.rows[i]]
        if status == SLIDING and np.linalg.norm(end - along * normal) < _SLIP:
            found.append(
                f"{step.names[step.contacts.rows[i]]}: slides at no speed; taken as sliding"
            )
        if status == OPEN and along + row[col.OPEN] < _SLIP:
            found.append(f"{name}: does not part; taken as open")
    return tuple(found)


def closed_directions(step: Step, G: Array) -> tuple[list[tuple[int, Array]], list[Array]]:
    """Of every closed contact: the directions that hold, and G* along those that push."""
    closed, pushed = [], []
    for i, status in enumerate(step.statuses.names):
        if status == OPEN:
            continue
        normal = step.contacts.normals[i]
        if status != SLIDING:
            closed.append((i, np.eye(3)))
            pushed.append(G[i].T)
            continue
        row = step.t.floats[step.contacts.rows[i]]
        tangents = step.contacts.sides[i] * row[col.TANGENT : col.TANGENT + 6].reshape(2, 3)
        holds, pushes = [normal], [normal + step.statuses.directions[i] @ tangents]
        if step.statuses.edges[i].any():
            edge = step.statuses.edges[i] @ tangents
            holds.append(edge)
            pushes.append(edge)
        closed.append((i, np.stack(holds)))
        pushed.append(G[i].T @ np.stack(pushes, axis=1))
    return closed, pushed


def turning_edges(
    step: Step, free: Touch, velocity: Array, closed: list[tuple[int, Array]]
) -> tuple[Array, Array]:
    """What rows along edges gain as they turn with the slip without contacts: by v and by q.

    `velocity` is that of the contacts' points at the end; what drift adds is put to it here.
    """
    nv, count = step.model.nv, sum(len(rows) for _, rows in closed)
    by_v, by_q = np.zeros((count, nv)), np.zeros((count, nv))
    last = -1
    for i, rows in closed:
        last += len(rows)
        row, side = step.t.floats[step.contacts.rows[i]], step.contacts.sides[i]
        normal, first = row[col.NORMAL : col.NORMAL + 3], row[col.TANGENT : col.TANGENT + 3]
        slip = side * float(first @ free.velocity[i])
        edge = step.statuses.edges[i]
        if not edge.any() or slip <= _SLIP:
            continue
        across, end = np.cross(normal, first), velocity[i] + side * row[col.DRIFT : col.DRIFT + 3]
        # d t1 = across (across . dw) / |w| and d t2 = -t1 (across . dw) / |w|.
        gain = float(edge[0] * across @ end - edge[1] * first @ end) / slip
        by_v[last] = gain * across @ free.rows[i]
        by_q[last] = gain * across @ free.by_q[i]
    return by_v, by_q


def turning_friction(step: Step, free: Touch) -> tuple[Array, Array]:
    """Change of G* p as tangents turn with the slip w without contacts: by velocities and by q.

    The first tangent is w / |w|; friction along c1 t1 + c2 t2 turns with it.
    """
    nv = step.model.nv
    by_v, by_q = np.zeros((nv, nv)), np.zeros((nv, nv))
    for i, status in enumerate(step.statuses.names):
        row = step.t.floats[step.contacts.rows[i]]
        normal, first = row[col.NORMAL : col.NORMAL + 3], row[col.TANGENT : col.TANGENT + 3]
        slip = step.contacts.sides[i] * float(first @ free.velocity[i])
        if status != SLIDING or slip <= _SLIP:
            continue
        c, pressed = step.statuses.directions[i], float(row[col.IMPULSE])
        across = np.cross(normal, first)
        # d t1 = across (across . dw) / |w|, with dw of A against B, and d t2 = normal x d t1.
        turned = np.outer(c[0] * across - c[1] * first, across) * (pressed / slip)
        by_v += free.rows[i].T @ turned @ free.rows[i]
        by_q += free.rows[i].T @ turned @ free.by_q[i]
    return by_v, by_q
