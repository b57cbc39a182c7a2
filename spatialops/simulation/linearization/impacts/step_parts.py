"""The derivative of a step that impacts cut into pieces: a product over its parts.

What changes from part to part is (q, v) and the time that has passed, T. A piece of the time s
that is left, s = h - T, would change the velocity by X. An impact ends it at the fraction x, where
the gap g vanishes:

    m = s (x - 1/2) v_e + s x^2 / 2 X,    q_x = q_e + m,    v_x = v_e + x X

on the manifold (semi-implicit: m = s x v_x from q). As the state changes, so does x,

    g_q (dq_x + q_x' dx) = 0:    dx = -g_q dq_x / (g_q q_x').

That is the saltation of hybrid systems (Kong, Payne, Council and Johnson 2021) for the motion as
the integrator has it: the impact comes at another time, and the piece after it takes longer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._compile.held import Held
from spatialops.collision import _layout as col
from spatialops.derivatives.manifold import (
    BY_Q,
    BY_V,
    CARRIED,
    dense_blocks,
)
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.dense.pieces import (
    KEPT,
    TURNED,
    flow_blocks,
    piece_held,
)
from spatialops.simulation.linearization.dense.runge_kutta_step import piece_end
from spatialops.simulation.linearization.free_bodies.lone_pieces import (
    Given,
    There,
    add_lone_there,
    put_lone_ends,
)
from spatialops.simulation.linearization.free_bodies.momentum import Changes, put_momentum
from spatialops.simulation.linearization.impacts.derivative import impact_derivative
from spatialops.simulation.linearization.made_step import Room, Start, room_for
from spatialops.simulation.linearization.next_state import part_held
from spatialops.simulation.linearization.parameters import n_parameters, parameter_changes
from spatialops.simulation.linearization.step_derivative import solve_all
from spatialops.simulation.stepping.held.held_loop import HeldLoop
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.model import Model

_WHOLE = 1e-12  # of a piece
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


class StepParts(NamedTuple):
    """What is found of a step, part by part.

    Attributes
    ----------
    status : int
    A, B : array
        As of `Linearization`.
    by_parameters : (2 nv, n_parameters) array
        None of them where no model is given.
    contacts : list of (m, POINT_INTS) array
        Of every part.
    room : Held
        Of the last one.
    """

    status: int
    A: Array
    B: Array
    by_parameters: Array
    contacts: list[IntArray]
    room: Held


def differentiate_parts(
    loop: HeldLoop, tau: Array, held_room: Held, model: Model | None
) -> StepParts:
    """Make the step that the loop is ready for, and its derivative, part by part.

    By the parameters of a model too, if one is given.
    """
    n = tau.size
    one = np.eye(3 * n, 3 * n + (0 if model is None else n_parameters(model, loop.tables)))
    chain, forces = Chain(one[:n], one[n : 2 * n], 0.0 * one[0]), one[2 * n :]
    contacts: list[IntArray] = []
    cut: Cut | None = None
    status = of.KNOWN
    while status == of.KNOWN:
        t = loop.tables
        begins = t.control[at.STAGE] == at.BEGIN
        left = float(t.settings[at.DT] if begins else t.monitor[at.REMAINING])
        start = Held(Start(t.q.copy(), t.v.copy(), tau, t.activation.copy()))
        loop.advance(part_held)
        t = loop.tables
        held_room = room_for(t, held_room)
        room: Room = held_room.tables
        stage = t.control[at.STAGE]
        if stage == at.BEGIN:
            status = of.PUSHED_OUT if t.control[at.PROJECTIONS] > 0 else status
            break
        if stage == at.SMOOTH:
            status, by = impact_derivative(loop, held_room, model)
            if status == of.KNOWN:
                chain = after_impact(arrived(t, room, chain, cut), by)
                cut = None
        elif cut is not None:
            status = of.SEVERAL  # cut for what is no impact
        else:
            status = piece_held(loop.address, start.address, held_room.address)
            given_momentum = status == of.UNTOUCHED and model is None
            if given_momentum:
                status = of.KNOWN
            if status == of.KNOWN:
                own = np.zeros_like(chain.v)
                if model is not None:
                    own[:, 3 * n :] = parameter_changes(model, t, room)
                begun = chain
                if t.control[at.SCHEME] == at.RK4:
                    chain, cut = after_runge_kutta(loop, room, start.tables, left, chain, forces)
                else:
                    chain, cut = after_piece(t, room, left, chain, (forces, own))
                if given_momentum:
                    makes = changes_of_piece(t, room, left, begun, forces)
                    own_model = loop.stepping.scene.model
                    put_momentum(own_model, t, start.tables, makes, (chain.q, chain.v))
        if cut is not None and t.activation.size:
            status = of.ACTIVE
        contacts.append(room.point_ints[: room.results[of.COUNT]].copy())
    whole = np.concatenate([chain.q, chain.v])
    A, B = whole[:, : 2 * n].copy(), whole[:, 2 * n : 3 * n].copy()
    return StepParts(status, A, B, whole[:, 3 * n :].copy(), contacts, held_room)


def after_piece(
    t: Tables, room: Room, left: float, chain: Chain, given: tuple[Array, Array]
) -> tuple[Chain, Cut | None]:
    """Changes at the end of the piece whose equations are in the room, and where it is cut.

    Given are changes of the forces, and of the velocity by what acts in the piece itself.
    """
    n = t.v.size
    s = float(t.monitor[at.PIECE])
    x = fraction_of(t, left)
    longer = longer_by(t, left, chain)
    solve_all(room)
    changed = np.concatenate([chain.q, chain.v, given[0], longer[None]])
    X, v = room.vectors[of.V_END] - t.vectors[at.V_E, :n], t.vectors[at.V_E, :n].copy()
    dX = room.side[:, : 3 * n + 1] @ changed + given[1]
    moved = [dense_blocks(room.spans, block) for block in room.blocks[of.START]]
    dq = moved[BY_Q] @ chain.q + moved[BY_V] @ chain.v
    dq += np.outer(room.vectors[of.LEAD_Q], longer)
    dv = moved[CARRIED] @ chain.v + np.outer(room.vectors[of.LEAD_V], longer)
    add_lone_there(room, given[0], dq, dv)
    early, late = (x - 0.5, 0.5 * x * x) if t.control[at.SCHEME] == at.MOREAU else (x, x * x)
    dm = s * (early * dv + late * dX) + np.outer(early * v + late * X, longer)
    late_by_x = x if t.control[at.SCHEME] == at.MOREAU else 2.0 * x
    by_x = s * (v + late_by_x * X)
    w = v + x * X
    flow = flow_blocks(t.tree, room.spans, s * (early * v + late * X), w)
    dw = dv + x * dX
    end = Chain(
        flow[BY_Q] @ dq + flow[BY_V] @ dm,
        flow[TURNED] @ dm + flow[KEPT] @ dw,
        chain.time + x * longer,
    )
    cut = Cut(flow[BY_V] @ by_x, flow[TURNED] @ by_x + flow[KEPT] @ X, s)
    begun = Given(chain.v, given[0], longer, x)
    put_lone_ends(t, room, begun, There(dq, dv, dX), (end.q, end.v, cut.q, cut.v))
    return end, None if x >= 1.0 - _WHOLE else cut


def after_runge_kutta(
    loop: HeldLoop, room: Room, start: Start, left: float, chain: Chain, forces: Array
) -> tuple[Chain, Cut | None]:
    """As `after_piece`, by the classical fourth-order rule."""
    t = loop.tables
    x, longer = fraction_of(t, left), longer_by(t, left, chain)
    q, v = piece_end(loop.stepping.scene.model, t, room, start, x)
    given = np.concatenate([chain.q, chain.v, forces, longer[None]])
    end = Chain(q[:, :-1] @ given, v[:, :-1] @ given, chain.time + x * longer)
    cut = Cut(q[:, -1], v[:, -1], float(t.monitor[at.PIECE]))
    return end, None if x >= 1.0 - _WHOLE else cut


def fraction_of(t: Tables, left: float) -> float:
    """Where a piece was ended: 1 where it was not cut."""
    return (left - float(t.monitor[at.REMAINING])) / float(t.monitor[at.PIECE])


def changes_of_piece(t: Tables, room: Room, left: float, chain: Chain, forces: Array) -> Changes:
    """What the momentum of floating trees is made of in a piece that is not cut."""
    moved = [dense_blocks(room.spans, block) for block in room.blocks[of.START]]
    longer = longer_by(t, left, chain)
    there = moved[BY_Q] @ chain.q + moved[BY_V] @ chain.v
    there += np.outer(room.vectors[of.LEAD_Q], longer)
    return Changes(chain.q, chain.v, there, forces, longer)


def longer_by(t: Tables, left: float, chain: Chain) -> Array:
    """Change of the time that a piece takes: what is left of the step, if that is all of it."""
    s = float(t.monitor[at.PIECE])
    return -chain.time if s >= left * (1.0 - _WHOLE) else 0.0 * chain.time


def arrived(t: Tables, room: Room, chain: Chain, cut: Cut | None) -> Chain:
    """Changes at an impact, whose time changes where it has cut a piece."""
    if cut is None:
        return chain
    points = room.point_ints[: room.results[of.COUNT]]
    rows = points[:, of.ROW]
    gaps = t.floats[rows, col.GAP].copy()
    gaps[t.floats[rows, col.APPROACH] >= -t.settings[at.THRESHOLD]] = col.INFINITE
    k = int(np.argmin(gaps))
    near = gaps <= gaps[k] + _TOGETHER * t.settings[at.TOUCH]
    if near.sum() > 1:
        points[near, of.NOTES] |= of.TOGETHER
    by_q = room.found[of.LATE, k, of.GAP_BY_Q]
    dx = by_q @ chain.q / -(by_q @ cut.q)
    return Chain(
        chain.q + np.outer(cut.q, dx), chain.v + np.outer(cut.v, dx), chain.time + cut.time * dx
    )


def after_impact(chain: Chain, by: Array) -> Chain:
    """Changes after an impact, given the derivative of its velocity by [q; v; parameters]."""
    n = len(chain.v)
    v = by[:, : 2 * n] @ np.concatenate([chain.q, chain.v])
    v[:, 3 * n :] += by[:, 2 * n :]
    return chain._replace(v=v)
