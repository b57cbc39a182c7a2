"""What spatial operators do to stacked vectors: propagation, one step of it, hinges and pick-off.

Each is a pair of functions of rows (c, 6 n), itself and its adjoint, in O(n) a row.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import LinearOperator

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops.algebra.linear import operator
from spatialops.dynamics.blocks import add_at, moved, shifted
from spatialops.dynamics.sweeps import gather_kernel, scatter_kernel


def propagation(tree: IntArray, levers: Array, axes: Array, gains: Array) -> LinearOperator:
    """Return psi, or phi where the gains are zero."""

    def gather(rows: Array) -> Array:
        gather_kernel(tree, levers, axes, gains, rows.reshape(-1, 6))
        return rows

    def scatter(rows: Array) -> Array:
        scatter_kernel(tree, levers, axes, gains, rows.reshape(-1, 6))
        return rows

    return operator((6 * len(tree),) * 2, gather, scatter)


def step(tree: IntArray, levers: Array, axes: Array, gains: Array) -> LinearOperator:
    """Return E_psi, or E_phi where the gains are zero: from children to parents."""
    n = len(tree)
    hung = np.flatnonzero(tree[:, layout.PARENT] >= 0)
    parents = tree[hung, layout.PARENT]
    levers = levers[hung]
    axes = axes[hung]
    gains = gains[hung]

    def up(rows: Array) -> Array:
        X = rows.reshape(len(rows), n, 6)[:, hung]
        X = X - (X * axes).sum(-1, keepdims=True) * gains
        out = np.zeros((len(rows), n, 6))
        add_at(out, parents, shifted(X, levers))
        return out.reshape(rows.shape)

    def down(rows: Array) -> Array:
        X = moved(rows.reshape(len(rows), n, 6)[:, parents], levers)
        out = np.zeros((len(rows), n, 6))
        out[:, hung] = X - (X * gains).sum(-1, keepdims=True) * axes
        return out.reshape(rows.shape)

    return operator((6 * n, 6 * n), up, down)


def hinges(columns: Array) -> LinearOperator:
    """Return the (6 n, n) block-diagonal operator of one spatial vector (n, 6) a link."""
    n = len(columns)
    return operator(
        (6 * n, n),
        lambda rows: (rows[:, :, None] * columns).reshape(-1, 6 * n),
        lambda rows: (rows.reshape(len(rows), n, 6) * columns).sum(-1),
    )


def pick_off(n: int, links: IntArray, levers: Array) -> LinearOperator:
    """Return B (6 n, 6 m) of nodes on `links` (-1: the world) at `levers` of those that move."""
    m = links.size
    moving = links >= 0

    def forces(rows: Array) -> Array:
        out = np.zeros((len(rows), n, 6))
        add_at(out, links[moving], shifted(rows.reshape(len(rows), m, 6)[:, moving], levers))
        return out.reshape(len(rows), 6 * n)

    def velocities(rows: Array) -> Array:
        out = np.zeros((len(rows), m, 6))
        out[:, moving] = moved(rows.reshape(len(rows), n, 6)[:, links[moving]], levers)
        return out.reshape(len(rows), 6 * m)

    return operator((6 * n, 6 * m), forces, velocities)


def swung_pick_off(n: int, links: IntArray, rates: Array) -> LinearOperator:
    """Return the derivative of `pick_off` where levers change by `rates`: moments only."""
    m = links.size
    moving = links >= 0

    def moments(rows: Array) -> Array:
        out = np.zeros((len(rows), n, 6))
        forces = rows.reshape(len(rows), m, 6)[:, moving, 3:]
        add_at(out[..., :3], links[moving], np.cross(rates, forces))
        return out.reshape(len(rows), 6 * n)

    def velocities(rows: Array) -> Array:
        out = np.zeros((len(rows), m, 6))
        spins = rows.reshape(len(rows), n, 6)[:, links[moving], :3]
        out[:, moving, 3:] = np.cross(spins, rates)
        return out.reshape(len(rows), 6 * m)

    return operator((6 * n, 6 * m), moments, velocities)
