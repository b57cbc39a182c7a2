"""Changes along the parts of a step, and at an impact whose time changes with them.

An impact comes where the gap g vanishes, at the fraction x of a piece: as the state changes, so
does x,

    g_q (dq_x + q_x' dx) = 0:    dx = -g_q dq_x / (g_q q_x').

That is the saltation of hybrid systems (Kong, Payne, Council and Johnson 2021) for the motion as
the integrator has it: the impact comes at another time, and the piece after it takes longer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.collision import _layout as col
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.made_step import Room
from spatialops.simulation.stepping.tables import Tables

_TOGETHER = 1e-3  # of the distance that touches: as near as times of impact are found


class Chain(NamedTuple):
    """Changes at the end of a part by [q; v; forces] of the step's start, and by parameters.

    Attributes
    ----------
    q, v : (nv, columns) array
    time : (columns,) array
        That has passed.
    """

    q: Array
    v: Array
    time: Array


class Cut(NamedTuple):
    """Where an impact ends a piece: how the state there moves with the fraction x."""

    q: Array
    v: Array
    time: float


def arrived(t: Tables, room: Room, chain: Chain, cut: Cut | None) -> Chain:
    """Changes at an impact, whose time changes where it has cut a piece."""
    if cut is None:
        return chain
    points, gaps = _gaps(t, room)
    k = int(np.argmin(gaps))
    near = gaps <= gaps[k] + _TOGETHER * t.settings[at.TOUCH]
    if near.sum() > 1:
        points[near, of.NOTES] |= of.TOGETHER
    by_q = room.found[of.LATE, k, of.GAP_BY_Q]
    dx = by_q @ chain.q / -(by_q @ cut.q)
    return Chain(
        chain.q + np.outer(cut.q, dx), chain.v + np.outer(cut.v, dx), chain.time + cut.time * dx
    )


def note_at_once(t: Tables, room: Room) -> None:
    """Tell of what touches as the step begins, and meets at once.

    From farther off than what touches it would meet later: a kink, or two, TOUCH apart.
    """
    points, gaps = _gaps(t, room)
    points[np.abs(gaps) <= t.settings[at.TOUCH], of.NOTES] |= of.AT_ONCE


def _gaps(t: Tables, room: Room) -> tuple[IntArray, Array]:
    """Points of an impact, and gaps of those that meet; of others none."""
    points = room.point_ints[: room.results[of.COUNT]]
    rows = points[:, of.ROW]
    gaps = t.floats[rows, col.GAP].copy()
    gaps[t.floats[rows, col.APPROACH] >= -t.settings[at.THRESHOLD]] = col.INFINITE
    return points, gaps


def after_impact(chain: Chain, by: Array) -> Chain:
    """Changes after an impact, given the derivative of its velocity by [q; v; parameters]."""
    n = len(chain.v)
    v = by[:, : 2 * n] @ np.concatenate([chain.q, chain.v])
    v[:, 3 * n :] += by[:, 2 * n :]
    return chain._replace(v=v)
