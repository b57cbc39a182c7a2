"""Impacts of closed mechanisms: closures answer to impulses of contacts.

    M y - G_c* mu = G* f,    G_c y = 0,

so that with N = Y - K G_c Y and K = Y G_c* (G_c Y G_c*)^-1 in the place of Y = M^-1

    dy = N ((G*' f - M' y + d(G_c* mu)) dq + G* df) - K d(G_c y) dq.
"""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array
from spatialops.derivatives.constrained_dynamics import ClosureAnswer, closure_changes
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.dense.closed_slips import held_back, pushed_by_points
from spatialops.simulation.linearization.dense.closing import placed
from spatialops.simulation.linearization.impacts.statuses import Dynamics
from spatialops.simulation.linearization.made_step import Room
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.loops import Loops


def closed_phase(t: Tables, room: Room, loops: Loops, phase: Dynamics, y: Array) -> Dynamics:
    """A phase that changes the velocity by y, and has the impulses of the room."""
    q, n = t.q.copy(), y.size
    span = placed(loops, q)
    answer = ClosureAnswer(span, room.squares[of.MASS])
    forces = held_back(span, answer, -pushed_by_points(room))
    stiffness, turned, _ = closure_changes(span, q, np.zeros(n), y, forces)
    inverse = answer.of(np.eye(n), np.zeros((loops.n_rows, n)))[0]
    kept = answer.of(np.zeros((n, n)), -turned)[0]
    return phase._replace(inverse=inverse, by_q=phase.by_q + stiffness, kept=kept)
