"""The derivative of a step that impacts cut into pieces: a product over its parts.

What changes from part to part is (q, v) and the time that has passed. Steps of closed mechanisms,
and by the fourth-order rule, are made so too, of one piece where nothing cuts them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._compile.held import Held
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.dense.closing import begin
from spatialops.simulation.linearization.dense.pieces import piece_held
from spatialops.simulation.linearization.free_bodies.momentum import put_momentum
from spatialops.simulation.linearization.impacts.chain import (
    Chain,
    Cut,
    after_impact,
    arrived,
    note_at_once,
)
from spatialops.simulation.linearization.impacts.derivative import impact_derivative
from spatialops.simulation.linearization.impacts.piece_ends import (
    after_piece,
    momentum_changes,
    piece_of,
)
from spatialops.simulation.linearization.impacts.pushed_out import pushed_out
from spatialops.simulation.linearization.made_step import Room, Start, room_for
from spatialops.simulation.linearization.next_state import part_held
from spatialops.simulation.linearization.parameters import n_parameters
from spatialops.simulation.stepping.held.held_loop import HeldLoop
from spatialops.tree.model import Model


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
    columns = 3 * n + (0 if model is None else n_parameters(model, loop.tables))
    forces = np.eye(n, columns, 2 * n)
    masses = None if model is None else slice(3 * n, 3 * n + 10 * model.n_bodies)
    closures, dq, dv = begin(loop.stepping.scene.loops, loop.tables, columns, masses)
    chain = Chain(dq, dv, np.zeros(columns))
    contacts: list[IntArray] = []
    cut: Cut | None = None
    status = of.KNOWN
    while status == of.KNOWN:
        t = loop.tables
        if t.control[at.STAGE] == at.END:
            status, chain = pushed_out(loop, held_room, chain, closures.loops, model)
            if status != of.KNOWN:
                break
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
            status, by = impact_derivative(loop, held_room, closures.loops, model)
            if status == of.KNOWN:
                chain = after_impact(arrived(t, room, chain, cut), by)
                cut = None
            if begins:
                note_at_once(t, room)
        elif cut is not None:
            status = of.SEVERAL  # cut for what is no impact
        else:
            status = piece_held(loop.address, start.address, held_room.address)
            given_momentum = status == of.UNTOUCHED
            if given_momentum:
                status = of.KNOWN
            if status == of.KNOWN:
                piece = piece_of(t, room, start.tables, left, (chain, forces, model))
                chain, cut = after_piece(piece, closures)
                if given_momentum:
                    makes, own_model = momentum_changes(piece, masses), loop.stepping.scene.model
                    put_momentum(own_model, t, start.tables, makes, (chain.q, chain.v))
        if cut is not None and t.activation.size:
            status = of.ACTIVE
        contacts.append(room.point_ints[: room.results[of.COUNT]].copy())
    whole = np.concatenate([chain.q, chain.v])
    A, B = whole[:, : 2 * n].copy(), whole[:, 2 * n : 3 * n].copy()
    return StepParts(status, A, B, whole[:, 3 * n :].copy(), contacts, held_room)
