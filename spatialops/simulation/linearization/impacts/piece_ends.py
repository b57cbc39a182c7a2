"""What is at the end of a piece of a step, which an impact may have cut.

A piece of the time s that is left, s = h - T, would change the velocity by X. An impact ends it at
the fraction x:

    m = s (x - 1/2) v_e + s x^2 / 2 X,    q_x = q_e + m,    v_x = v_e + x X

on the manifold (semi-implicit: m = s x v_x from q). Closed mechanisms are then brought back onto
their closures.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array
from spatialops.derivatives.manifold import BY_Q, BY_V, CARRIED, dense_blocks
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.dense.closed_piece import closed_change
from spatialops.simulation.linearization.dense.closing import (
    Closures,
    End,
    brought_back,
    factored,
    independent,
)
from spatialops.simulation.linearization.dense.pieces import KEPT, TURNED, flow_blocks
from spatialops.simulation.linearization.dense.runge_kutta_stages import Pushed
from spatialops.simulation.linearization.dense.runge_kutta_step import runge_kutta_end
from spatialops.simulation.linearization.free_bodies.lone_parameters import lone_changes
from spatialops.simulation.linearization.free_bodies.lone_pieces import (
    Given,
    There,
    add_lone_there,
    put_lone_ends,
)
from spatialops.simulation.linearization.free_bodies.momentum import Changes
from spatialops.simulation.linearization.impacts.chain import Chain, Cut
from spatialops.simulation.linearization.made_step import Room, Start
from spatialops.simulation.linearization.parameters import (
    Own,
    parameter_changes,
    parameter_sides,
)
from spatialops.simulation.linearization.step_derivative import solve_all
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.model import Model
from spatialops.tree.state import integrate

_WHOLE = 1e-12  # of a piece


class Piece(NamedTuple):
    """A piece that the loop has moved last, whose equations are in the room.

    Attributes
    ----------
    t : Tables
    room : Room
    start : Start
        Where it began.
    x : float
        The fraction at which it was ended: 1 where it was not cut.
    by : Chain
        Changes where it began.
    forces : (nv, columns) array
    model : Model or None
        By whose parameters the last columns are, if by any.
    longer : (columns,) array
        Change of the time that it takes.
    centers : (3 lone, columns) array
        Changes of the centres of mass of lone bodies, along their axes.
    """

    t: Tables
    room: Room
    start: Start
    x: float
    by: Chain
    forces: Array
    model: Model | None
    longer: Array
    centers: Array


def piece_of(
    t: Tables, room: Room, start: Start, left: float, given: tuple[Chain, Array, Model | None]
) -> Piece:
    """The piece, of a step of which there was so much left, with what is given of it.

    It takes longer by what is left of the step, if that is all of it.
    """
    s, (chain, forces, model) = float(t.monitor[at.PIECE]), given
    x = (left - float(t.monitor[at.REMAINING])) / s
    longer = -chain.time if s >= left * (1.0 - _WHOLE) else 0.0 * chain.time
    centers = np.zeros((3 * int(room.results[of.LONE]), len(longer)))
    if model is not None and len(centers):
        lone, first = lone_changes(model, t, room), 3 * t.v.size
        masses = slice(first, first + lone.forces.shape[1])
        forces = forces.copy()
        forces[:, masses] += lone.forces
        centers[:, masses] = lone.centers
    return Piece(t, room, start, x, chain, forces, model, longer, centers)


def after_piece(piece: Piece, closures: Closures) -> tuple[Chain, Cut | None]:
    """Changes at the end of the piece, and where it is cut."""
    t, x = piece.t, piece.x
    s = float(t.monitor[at.PIECE])
    late = np.append(piece.by.time + x * piece.longer, s)
    if t.control[at.SCHEME] == at.RK4:
        given = Pushed(piece.by.q, piece.by.v, piece.forces, piece.longer, _own(piece))
        end = runge_kutta_end(t, piece.room, piece.start, x, given, closures)
    else:
        end = _end(piece, closures)
    if len(closures.loops):
        end = brought_back(closures, t, end, late)
    chain = Chain(end.dq[:, :-1].copy(), end.dv[:, :-1].copy(), late[:-1])
    return chain, None if x >= 1.0 - _WHOLE else Cut(end.dq[:, -1], end.dv[:, -1], s)


def _end(piece: Piece, closures: Closures) -> End:
    """The end of a piece of the other two rules, and its changes; last of all by x."""
    t, room = piece.t, piece.room
    x, longer = piece.x, piece.longer
    n, s = t.v.size, float(t.monitor[at.PIECE])
    dq, dv = reached(piece)
    dX = _change(piece, closures, (dq, dv))
    v = t.vectors[at.V_E, :n].copy()
    X = room.vectors[of.V_END] - v
    early, late = (x - 0.5, 0.5 * x * x) if t.control[at.SCHEME] == at.MOREAU else (x, x * x)
    dm = s * (early * dv + late * dX) + np.outer(early * v + late * X, longer)
    late_by_x = x if t.control[at.SCHEME] == at.MOREAU else 2.0 * x
    by_x = s * (v + late_by_x * X)
    w, m = v + x * X, s * (early * v + late * X)
    flow = flow_blocks(t.tree, room.spans, m, w)
    dw = dv + x * dX
    at_q, at_v = flow[BY_Q] @ dq + flow[BY_V] @ dm, flow[TURNED] @ dm + flow[KEPT] @ dw
    cut_q, cut_v = flow[BY_V] @ by_x, flow[TURNED] @ by_x + flow[KEPT] @ X
    begun = Given(piece.by.v, piece.forces, longer, piece.centers, x)
    put_lone_ends(t, room, begun, There(dq, dv, dX), (at_q, at_v, cut_q, cut_v))
    q_e = t.vectors[at.Q_E, : t.q.size].copy()
    changes = (np.column_stack(pair) for pair in ((at_q, cut_q), (at_v, cut_v)))
    return End(integrate(closures.loops.model, q_e, m), flow[KEPT] @ w, *changes)


def reached(piece: Piece) -> tuple[Array, Array]:
    """Changes of q and v where the piece is evaluated."""
    room, by = piece.room, piece.by
    moved = [dense_blocks(room.spans, block) for block in room.blocks[of.START]]
    dq = moved[BY_Q] @ by.q + moved[BY_V] @ by.v
    dq += np.outer(room.vectors[of.LEAD_Q], piece.longer)
    dv = moved[CARRIED] @ by.v + np.outer(room.vectors[of.LEAD_V], piece.longer)
    add_lone_there(room, piece.forces, piece.centers, dq, dv)
    return dq, dv


def _change(piece: Piece, closures: Closures, there: tuple[Array, Array]) -> Array:
    """Changes of what the velocity changes by."""
    t, room = piece.t, piece.room
    begun = [piece.by.q, piece.by.v, piece.forces, piece.longer[None], piece.centers]
    given = np.concatenate(begun)
    if len(closures.loops):
        loops, q_e = closures.loops, t.vectors[at.Q_E, : t.q.size].copy()
        span = factored(loops, q_e, t.damped, independent(loops, piece.start.q))
        return closed_change(t, room, span, given, there, _own(piece))
    own = 0.0 if piece.model is None else parameter_changes(piece.model, t, room)
    solve_all(room)
    change: Array = room.side[:, : len(given)] @ given
    change[:, 3 * t.v.size :] += own
    return change


def _own(piece: Piece) -> Own | None:
    """What parameters add, in columns of the piece's changes."""
    if piece.model is None:
        return None
    return parameter_sides(piece.model, piece.t, piece.room).behind(3 * piece.t.v.size)


def momentum_changes(piece: Piece, masses: slice | None) -> Changes:
    """What the momentum of floating trees is made of; inertial parameters have some columns."""
    by = piece.by
    return Changes(by.q, by.v, reached(piece)[0], piece.forces, piece.longer, masses)
