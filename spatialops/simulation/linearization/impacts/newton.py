"""Newton's coefficients of restitution, as what the first phase of an impact holds normals to.

A contact that approaches with the speed a = N . G v < 0 parts with at least -e a: its line along
the normal has that in place of zero, and what it parts with changes with the state before it and
with e.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, BoolArray, IntArray
from spatialops.collision import _layout as col
from spatialops.collision.pair_runs import count_pairs
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.impacts.statuses import Dynamics
from spatialops.simulation.linearization.made_step import Room
from spatialops.simulation.stepping.held.held_loop import HeldLoop
from spatialops.simulation.stepping.tables import Tables


class Coefficients(NamedTuple):
    """Coefficients (m,) of restitution of an impact, of both kinds: the other's are zero.

    Attributes
    ----------
    newton, poisson : (m,) arrays
    is_poisson : (m,) bool array
    """

    newton: Array
    poisson: Array
    is_poisson: BoolArray


def coefficients(loop: HeldLoop, rows: IntArray) -> Coefficients:
    """Of the impact that was resolved last, for contacts in these rows of the loop."""
    t, rule = loop.tables, loop.stepping.external.impacts
    pairs, n = t.ints[rows, col.CONTACT_PAIR], count_pairs(t.pair_runs)
    newton, values = np.full(len(pairs), rule.else_newton), np.zeros(len(pairs))
    joints = pairs >= n
    values[joints] = t.joint_floats[pairs[joints] - n, at.JOINT_RESTITUTION]
    classes = loop.stepping.scene.classes_of(pairs[~joints])
    newton[~joints] = rule.newton[classes]
    values[~joints] = t.class_values[classes, col.PAIR_RESTITUTION]
    e: Array = t.monitor[at.FRACTION] * values
    return Coefficients(np.where(newton, e, 0.0), np.where(newton, 0.0, e), ~newton)


def compression(loop: HeldLoop, e: Coefficients) -> tuple[Array, Array]:
    """Impulses (m, 3) of the first phase of that impact, and what is given back (m,).

    An impact that was resolved outside of the loop has left no restitution for decompression.
    """
    t, m = loop.tables, int(loop.tables.control[at.ACTING])
    bounces = e.newton.any() or e.poisson.any()
    if not bounces or t.floats[:m, col.RESTITUTION].any():
        return t.stored[: 3 * m].reshape(m, 3).copy(), t.prior[:m].copy()
    found = loop.stepping.external.compressed
    assert found is not None  # all have met at once
    return found.copy(), e.poisson * np.maximum(found[:, 0], 0.0)


def of_geoms(t: Tables, room: Room) -> BoolArray:
    """Which contacts are of geoms, not stops of joints."""
    pairs = room.point_ints[: room.results[of.COUNT], of.PAIR]
    return np.asarray(pairs < count_pairs(t.pair_runs))


def with_parting(
    loop: HeldLoop, room: Room, phase: Dynamics, given: Coefficients, columns: int
) -> Dynamics:
    """A phase that holds normals to the speeds that coefficients ask of the velocity before.

    Columns beyond those of [q; v] are of parameters, last of all coefficients of pairs.
    """
    t, e = loop.tables, given.newton
    count = len(e)
    nv = t.v.size
    N = room.points[:count, of.NORMAL : of.NORMAL + 3]
    velocity = phase.jacobians @ t.vectors[at.V_X, :nv]
    approach = np.minimum(np.sum(N * velocity, axis=1), 0.0)
    by = np.zeros((count, columns))
    by[:, :nv] = np.einsum("ij,ijk->ik", N, phase.before)
    by[:, :nv] += np.einsum("ij,ijk->ik", velocity, phase.normals)
    by[:, nv : 2 * nv] = np.einsum("ij,ijk->ik", N, phase.jacobians)
    by *= -np.where(approach < 0.0, e, 0.0)[:, None]
    if columns > 2 * nv:
        own = np.flatnonzero(of_geoms(t, room) & ~given.is_poisson)
        pairs = columns - count_pairs(t.pair_runs) + room.point_ints[own, of.PAIR]
        by[own, pairs] -= t.monitor[at.FRACTION] * approach[own]
    return phase._replace(parts=-e * approach, parting=by)
