"""Where a lone body is at the fraction x of a piece that an impact may end, and how that changes.

As in `lone_moves`, from where the piece is evaluated: it turns by s [(x - 1/2) (w + l/2) +
x^2/2 (X - l)], with X the change of its spin in the whole piece, and its centre goes by
s [(x - 1/2) u + x^2/2 U].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array
from spatialops.derivatives.manifold import BY_Q, BY_V, MOVES, WIDEST, move_kernel
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.made_step import Room
from spatialops.simulation.stepping.tables import Tables


class Given(NamedTuple):
    """Changes, by columns, of what a piece begins with and of how long it is; and the fraction x.

    Attributes
    ----------
    v, forces : (nv, columns) array
    longer : (columns,) array
    centers : (3 lone, columns) array
    x : float
    """

    v: Array
    forces: Array
    longer: Array
    centers: Array
    x: float


class There(NamedTuple):
    """Changes where it is evaluated, and of how the whole piece changes the velocity."""

    q: Array
    v: Array
    change: Array


class Carries(NamedTuple):
    """A move of a body with its centre at c, by [turn; way of the centre], and its velocity w."""

    c: Array
    way: Array
    w: Array


class Moved(NamedTuple):
    """Changes, by columns, of where a move begins, of it, of that velocity, and of c."""

    q: Array
    way: Array
    w: Array
    c: Array


def add_lone_there(room: Room, forces: Array, centers: Array, dq: Array, dv: Array) -> None:
    """Add to changes where the piece is evaluated what comes of lone bodies' forces and centres."""
    for i in range(room.results[of.LONE]):
        rows, tables = _rows(room, i), room.lone_moves[i]
        dq[rows] += tables[of.Q_THERE] @ forces[rows]
        dv[rows] += tables[of.V_THERE] @ forces[rows]
        dq[rows] += tables[of.Q_BY_CENTER, :, :3] @ centers[3 * i : 3 * i + 3]
        dv[rows] += tables[of.V_BY_CENTER, :, :3] @ centers[3 * i : 3 * i + 3]


def put_lone_ends(
    t: Tables, room: Room, given: Given, there: There, ends: tuple[Array, Array, Array, Array]
) -> None:
    """Put changes of q and v at the fraction x, and their derivatives by x, into `ends`."""
    s, x = float(t.monitor[at.PIECE]), given.x
    for i in range(room.results[of.LONE]):
        rows, tables = _rows(room, i), room.lone_moves[i]
        k = rows.start
        c, spin = t.links[k + 5, layout.COM : layout.COM + 3], slice(k, k + 3)
        v = t.vectors[at.V_E, rows].copy()
        X = room.vectors[of.V_END, rows] - v
        lead = tables[of.LEAD, 0, :3]
        dl = tables[of.LEAD_BY_SPIN, :3, :3] @ given.v[spin]
        dl += tables[of.LEAD_BY_FORCE, :3] @ given.forces[rows]
        dl += np.outer(tables[of.LEAD, 1, :3], given.longer)
        early, late = x - 0.5, 0.5 * x * x
        dv, dX = _at_center(there.v[rows], c), _at_center(there.change[rows], c)
        v, X = _at_center(v, c), _at_center(X, c)
        dc = given.centers[3 * i : 3 * i + 3]
        dv[3:] += _cross(v[:3], dc)
        dX[3:] += _cross(X[:3], dc)
        v[:3] += 0.5 * lead
        dv[:3] += 0.5 * dl
        X[:3] -= lead
        dX[:3] -= dl
        # By [turn; way of the centre].
        way = s * (early * v + late * X)
        dway = s * (early * dv + late * dX) + np.outer(way / s, given.longer)
        by_x = s * (v + x * X)
        v[:3] -= 0.5 * lead
        dv[:3] -= 0.5 * dl
        X[:3] += lead
        dX[:3] += dl
        carries = Carries(c, way, v + x * X)
        by = Moved(there.q[rows], dway, dv + x * dX, dc)
        by_cut = Moved(np.zeros((6, 1)), by_x[:, None], X[:, None], np.zeros((3, 1)))
        for end, speed, changes in ((ends[0], ends[1], by), (ends[2], ends[3], by_cut)):
            at_q, at_v = carried(carries, changes)
            end[rows] = at_q.reshape(end[rows].shape)
            speed[rows] = at_v.reshape(speed[rows].shape)


def carried(carries: Carries, by: Moved) -> tuple[Array, Array]:
    """Changes of q, and of the velocity of the origin, at the end of a move."""
    c, way, w = carries
    back, turned = _turn(way[:3])
    turn = turned @ by.way[:3]
    arrived = by.q[3:] + by.way[3:] - _cross(way[3:] + c - back.T @ c, by.q[:3]) + by.c
    q = np.concatenate([back @ by.q[:3] + turn, back @ arrived + _cross(c, turn) - by.c])
    linear = back @ by.w[3:] + _cross(back @ w[3:], turn) + _cross(c, by.w[:3])
    return q, np.concatenate([by.w[:3], linear - _cross(w[:3], by.c)])


def _rows(room: Room, i: int) -> slice:
    k = int(room.lone[i])
    return slice(k, k + 6)


def _cross(a: Array, b: Array) -> Array:
    """Products of a with the columns of b."""
    return np.cross(a, b, axisb=0, axisc=0)


def _at_center(v: Array, c: Array) -> Array:
    """Velocities, or their changes, with linear ones of the centre at c."""
    moved = v.copy()
    moved[3:] -= np.cross(c, v[:3], axisb=0, axisc=0)
    return moved


def _turn(r: Array) -> tuple[Array, Array]:
    """Matrices exp(-r~), and J of `lone_moves`."""
    tree = np.zeros((6, layout.TREE_COLUMNS), dtype=np.int64)
    tree[:, layout.FRAME] = layout.SAME
    tree[0, layout.FRAME] = layout.POSE
    blocks = np.empty((MOVES, 6, WIDEST))
    move_kernel(tree, np.concatenate([r, np.zeros(3)]), 1.0, blocks)
    return blocks[BY_Q, :3, :3], blocks[BY_V, :3, :3]
