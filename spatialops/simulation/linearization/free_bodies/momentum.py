"""Floating trees whose roots are given their momentum at the end of a step that nothing touched.

The rule (`integrators/floating_trees.py`) makes the momentum H about a fixed point what outer
forces W, where the step is evaluated, have made of that at its start,

    H(q+, v+) = H(q, v) + h W(q_e, tau),

by the six velocities of the root: with all others, and q+, as they are without, its derivative has
that of the root's. In axes of the root H is rows of M v, W those of the forces less gravity's.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array
from spatialops.derivatives.inertial_regressor import inertial_regressor
from spatialops.derivatives.inverse_dynamics import inverse_dynamics_derivatives
from spatialops.derivatives.manifold import BY_Q, BY_V, dense_blocks
from spatialops.derivatives.passive_forces import turning_weight
from spatialops.dynamics.kinematics import poses_kernel
from spatialops.dynamics.newton_euler import inverse_dynamics
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.made_step import Room, Start
from spatialops.simulation.linearization.masses.resistance_by_masses import momentum_regressor
from spatialops.simulation.stepping.integrators.joint_forces import external_of
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.model import Model


class Root(NamedTuple):
    """Where the root of a floating tree is, in the world."""

    first: int
    rotation: Array
    origin: Array


class Changes(NamedTuple):
    """Changes, by columns, of the state that a piece begins at, and of what makes momentum.

    Attributes
    ----------
    q, v : (nv, columns) array
    there : (nv, columns) array
        Of coordinates where it is evaluated.
    forces : (nv, columns) array
    longer : (columns,) array
        Of the time that it takes.
    masses : slice or None
        Columns of changes by inertial parameters, if there are some.
    """

    q: Array
    v: Array
    there: Array
    forces: Array
    longer: Array
    masses: slice | None


def changes_of_step(room: Room) -> Changes:
    """Those of a whole step, by [q; v; forces] at its start."""
    n = len(room.spans)
    one = np.eye(3 * n)
    first = [dense_blocks(room.spans, block) for block in room.blocks[of.START]]
    there = np.hstack([first[BY_Q], first[BY_V], np.zeros((n, n))])
    return Changes(one[:n], one[n : 2 * n], there, one[2 * n :], np.zeros(3 * n), None)


def put_momentum(
    model: Model, t: Tables, start: Start, by: Changes, end: tuple[Array, Array]
) -> None:
    """Put changes of the roots' velocities into those of q and v at the end of a piece.

    Of trees that were given their momentum; others stay as they are.
    """
    n, s = model.nv, float(t.monitor[at.PIECE])
    q_e = t.vectors[at.Q_E, : t.q.size].copy()
    dq, dv = end
    still, external = np.zeros(n), external_of(t)
    wrenches = external if len(external) else None
    weight = inverse_dynamics(model, q_e, still, still, wrenches)
    by_weight = inverse_dynamics_derivatives(model, q_e, still, still, wrenches).dq
    if model.compensation.any():
        by_weight = by_weight - turning_weight(model, q_e)
    outer, change = start.tau - weight, by.forces - by_weight @ by.there
    if by.masses is not None:
        change[:, by.masses] -= inertial_regressor(model, q_e, still, still)
    still_q = np.zeros((n, 1))
    for i in np.flatnonzero(t.floating[: t.roots.size, at.PUT_RIGHT] > 0.0):
        rows = slice(int(t.roots[i]), int(t.roots[i]) + 6)
        goal = of_momentum(model, rows.start, (start.q, start.v), by.q, by.v)
        if by.masses is not None:
            goal[:, by.masses] += by_masses(model, rows.start, (start.q, start.v))
            goal[:, by.masses] -= by_masses(model, rows.start, (t.q.copy(), t.v.copy()))
        root = root_at(model, q_e, rows.start)
        goal += s * in_world(root, outer[rows], change[rows], by.there)
        made = in_world(root, np.zeros(6), outer[rows][:, None], still_q)
        goal += made * by.longer
        dv[rows] = 0.0
        goal -= of_momentum(model, rows.start, (t.q, t.v), dq, dv)
        unit = np.zeros((n, 6))
        unit[rows] = np.eye(6)
        by_root = of_momentum(model, rows.start, (t.q, t.v), 0.0 * unit, unit)
        dv[rows] = np.linalg.solve(by_root, goal)


def root_at(model: Model, q: Array, first: int) -> Root:
    """The root that begins with a velocity, at coordinates."""
    work = np.zeros((model.nv, layout.WORK_COLUMNS))
    poses_kernel(model.tree, model.links, q, work)
    last = work[first + 5]
    rotation = last[layout.ROTATION : layout.ROTATION + 9].reshape(3, 3)
    return Root(first, rotation, last[layout.ORIGIN : layout.ORIGIN + 3])


def of_momentum(
    model: Model, first: int, state: tuple[Array, Array], dq: Array, dv: Array
) -> Array:
    """Changes (6, columns) of a tree's momentum about the world's origin."""
    q, v = state
    still = np.zeros(model.nv)
    moving = inverse_dynamics_derivatives(model, q, still, v)
    rest = inverse_dynamics_derivatives(model, q, still, still)
    root = root_at(model, q, first)
    rows = slice(first, first + 6)
    own = (moving.da @ v)[rows]
    change = (moving.dq - rest.dq)[rows] @ dq + moving.da[rows] @ dv
    return in_world(root, own, change, dq)


def by_masses(model: Model, first: int, state: tuple[Array, Array]) -> Array:
    """Changes (6, 10 n_bodies) of that momentum by inertial parameters."""
    q, v = state
    change = momentum_regressor(model, q, v)[first : first + 6]
    return in_world(root_at(model, q, first), np.zeros(6), change, np.zeros((model.nv, 1)))


def in_world(root: Root, wrench: Array, change: Array, dq: Array) -> Array:
    """Changes of [moment; force] about the world's origin, of one about and along the root's axes.

    The root itself moves by dq.
    """
    turn, move = dq[root.first : root.first + 3], dq[root.first + 3 : root.first + 6]
    R = root.rotation
    force = R @ (change[3:] + np.cross(turn, wrench[3:], axisa=0, axisc=0))
    moment = R @ (change[:3] + np.cross(turn, wrench[:3], axisa=0, axisc=0))
    moment += np.cross(root.origin, force, axisb=0, axisc=0)
    moment += np.cross(R @ move, R @ wrench[3:], axisa=0, axisc=0)
    return np.concatenate([moment, force])
