"""Penetrations that are corrected at the end of a step, linearised.

A push moves positions by y, the least motion in the metric of M that opens what is closed too far
(`position_projection.py`), with pushes x >= 0 along the normals of contacts:

    M(q) y = G_n(q)* x,    G_n(q) y + g(q) = 0    where x > 0.

Velocities stay. With the bracket of `equations.py`, and f = x along the normals,

    M dy = (G_n*' f - M' y) dq + G_n* dx,    G_n dy = -(G_n' y + g') dq,

and q is then moved along the manifold. Parameters are in M alone.
"""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array
from spatialops._compile.held import Held, held
from spatialops.algebra.vectors import copy_into
from spatialops.collision import _layout as col
from spatialops.derivatives.inertial_regressor import PARAMETERS
from spatialops.derivatives.manifold import BY_Q, BY_V
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.dense.pieces import flow_blocks
from spatialops.simulation.linearization.impacts.chain import Chain
from spatialops.simulation.linearization.impacts.derivative import REDUNDANT, phase_dynamics
from spatialops.simulation.linearization.made_step import Room
from spatialops.simulation.linearization.masses.resistance_by_masses import momentum_regressor
from spatialops.simulation.stepping.detection_stage import detect_at, lowest_gap
from spatialops.simulation.stepping.held.held_loop import HeldLoop
from spatialops.simulation.stepping.position_projection import (
    COUNTS,
    PUSHES,
    depth_seen,
    gaps_to_open,
    push_apart,
)
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.loops import Loops
from spatialops.tree.model import Model

# What a push ends with.
_PUSHED = 1
_STAYS = 0
_IN_VAIN = -1
_LEFT = -2  # what is kept from closing, not opened, takes part


@held
def push_held(t: Tables, last: Array) -> int:
    """One push of what is seen at the present state, as `project_positions` makes them.

    Leaves where it began in `last`, the move in DVC, and its contacts as those that act.
    """
    depth = depth_seen(t, col.INFINITE)
    lowest = gaps_to_open(t, col.INFINITE)
    if lowest >= -COUNTS * t.settings[at.DEPTH]:
        return _STAYS
    copy_into(last, t.q)
    m = t.control[at.SEEN]
    if not push_apart(t, lowest):
        return _IN_VAIN
    for i in range(m):
        if t.impulses[3 * i] != 0.0 and t.u[3 * i] != t.seen[i, col.GAP]:
            return _LEFT
    for i in range(m):
        for j in range(t.seen_ints.shape[1]):
            t.ints[i, j] = t.seen_ints[i, j]
        for j in range(t.seen.shape[1]):
            t.floats[i, j] = t.seen[i, j]
        for j in range(3):
            t.floats[i, col.IMPULSE + j] = t.impulses[3 * i + j]
    t.control[at.ACTING] = m
    t.control[at.MOMENTS] = 0
    t.control[at.SEEN] = detect_at(t, t.q, t.v, 0.0)
    return _PUSHED if depth_seen(t, col.INFINITE) < depth else _IN_VAIN


@held
def lowest_held(t: Tables) -> int:
    """Whether positions are to be projected."""
    return 1 if lowest_gap(t) < -t.settings[at.DEPTH] else 0


def pushed_out(
    loop: HeldLoop, held_room: Held, chain: Chain, loops: Loops, model: Model | None
) -> tuple[int, Chain]:
    """A status, and changes after the pushes of a step that is done but for them.

    The loop has nothing left to push then.
    """
    t = loop.tables
    if lowest_held(loop.address) == 0:
        return of.KNOWN, chain
    acting = t.control[[at.ACTING, at.MOMENTS]]
    before, status = t.q.copy(), of.KNOWN
    for _ in range(PUSHES):
        done = _STAYS if len(loops) else push_held(loop.address, before)
        if done == _LEFT:
            status = of.PUSHED_OUT
        if done != _PUSHED or status != of.KNOWN:
            break
        status, chain = _after_push(loop, held_room, chain, before, (loops, model))
    t.control[[at.ACTING, at.MOMENTS]] = acting
    if status == of.KNOWN and lowest_held(loop.address) == 1:
        status = of.PUSHED_OUT  # not all of it, or by other means
    return status, chain


def _after_push(
    loop: HeldLoop,
    held_room: Held,
    chain: Chain,
    before: Array,
    given: tuple[Loops, Model | None],
) -> tuple[int, Chain]:
    """The same after one push, which began at the coordinates `before`."""
    t, nv = loop.tables, len(chain.q)
    loops, model = given
    room: Room = held_room.tables
    m, y = int(t.control[at.ACTING]), t.vectors[at.DVC, :nv].copy()
    x = np.zeros((m, 3))
    x[:, 0] = t.impulses[: 3 * m : 3]
    after, v_x = t.q.copy(), t.vectors[at.V_X, :nv]
    t.q[:] = before
    v_x[:] = 0.0
    status, push = phase_dynamics(loop, held_room, loops, y, x)
    t.q[:] = after
    if status != of.KNOWN:
        return status, chain
    rows = room.point_ints[: room.results[of.COUNT], of.ROW]
    active = np.flatnonzero(x[rows, 0] != 0.0)
    normals = room.points[active, of.NORMAL : of.NORMAL + 3]
    by_q = np.einsum("ij,ijk->ik", normals, push.moving[active])
    by_q += np.einsum("ij,ijk->ik", push.after[active], push.normals[active])
    by_q += room.found[of.LATE, active, of.GAP_BY_Q]
    lines = np.einsum("ij,ijk->ik", normals, push.jacobians[active])
    side = push.by_q @ chain.q
    if model is not None:
        masses = slice(3 * nv, 3 * nv + PARAMETERS * model.n_bodies)
        side[:, masses] -= momentum_regressor(model, before, y)
    free, reply = push.inverse @ side, push.inverse @ lines.T
    goal = -by_q @ chain.q - lines @ free
    dy = free + reply @ np.linalg.lstsq(lines @ reply, goal, rcond=REDUNDANT)[0]
    flow = flow_blocks(t.tree, room.spans, y, t.v)
    return of.KNOWN, chain._replace(q=flow[BY_Q] @ chain.q + flow[BY_V] @ dy)
