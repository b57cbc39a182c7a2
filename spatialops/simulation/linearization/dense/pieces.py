"""Pieces of steps: their equations, and moves along the manifold with velocities carried along."""

from __future__ import annotations

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops._compile.held import held
from spatialops.derivatives.manifold import BY_Q, BY_V, MOVES, WIDEST, dense_blocks, move_kernel
from spatialops.simulation.linearization.made_step import Room, Start
from spatialops.simulation.linearization.step_derivative import piece_of
from spatialops.simulation.stepping.tables import Tables

TURNED, KEPT = 2, 3  # behind BY_Q and BY_V in `flow_blocks`


@held
def piece_held(t: Tables, start: Start, room: Room) -> int:
    """The equations of the piece that the loop has moved last; a status."""
    return piece_of(t, start, room, True)


def flow_blocks(tree: IntArray, spans: IntArray, m: Array, w: Array) -> list[Array]:
    """Derivatives of a move by m, by where it begins and by m; of w carried along, by m and w."""
    blocks = np.empty((MOVES, m.size, WIDEST))
    move_kernel(tree, m, 1.0, blocks)
    by_q, by_m = (dense_blocks(spans, blocks[i]) for i in (BY_Q, BY_V))
    turned, kept = np.zeros_like(by_m), np.eye(m.size)
    for k in np.flatnonzero(tree[:, layout.FRAME] == layout.POSE):
        spin, linear = slice(k, k + 3), slice(k + 3, k + 6)
        kept[linear, linear] = back = by_m[linear, linear]
        turned[linear, spin] = np.cross(back @ w[linear], by_m[spin, spin], axisb=0, axisc=0)
    return [by_q, by_m, turned, kept]
