"""Newton's coefficients of restitution, as what the first phase of an impact holds normals to.

A contact that approaches with the speed a = N . G v < 0 parts with at least -e a: its line along
the normal has that in place of zero, and what it parts with changes with the state before it and
with e.
"""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array, BoolArray, IntArray
from spatialops.collision import _layout as col
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.impacts.statuses import LEANING, Dynamics
from spatialops.simulation.linearization.made_step import Room
from spatialops.simulation.stepping.held.held_loop import HeldLoop
from spatialops.simulation.stepping.tables import Tables


def newton_coefficients(loop: HeldLoop, rows: IntArray, by_them: bool) -> Array | None:
    """Coefficients of the impact that was resolved last, for contacts in these rows of the loop.

    Zeros where all of the scene's are Poisson's. None where it is not known: one pair of bodies
    after the other, with Poisson's in a scene that has Newton's (they may be zero, but not with
    derivatives by them), and under laws whose lines lean.
    """
    t, rule = loop.tables, loop.stepping.external.impacts
    if not is_whole(loop):
        return np.zeros(len(rows))
    pairs = t.ints[rows, col.CONTACT_PAIR]
    n = len(t.pairs)
    kinds = np.append(rule.newton, np.full(len(t.joint_floats), rule.else_newton))
    values = np.append(
        t.pair_values[:n, col.PAIR_RESTITUTION], t.joint_floats[:, at.JOINT_RESTITUTION]
    )
    e: Array = t.monitor[at.FRACTION] * values[pairs]
    poisson = ~kinds[pairs]
    known = not (poisson.any() if by_them else e[poisson].any())
    known = known and not rule.propagated and t.control[at.LAW] not in LEANING
    return e if known else None


def is_whole(loop: HeldLoop) -> bool:
    """Whether both phases of impacts are resolved at once, outside of the loop."""
    external = loop.stepping.external
    return external.impacts.whole or external.pairs.special


def of_geoms(t: Tables, room: Room) -> BoolArray:
    """Which contacts are of geoms, not stops of joints."""
    pairs = room.point_ints[: room.results[of.COUNT], of.PAIR]
    return np.asarray(pairs < len(t.pairs))


def with_parting(loop: HeldLoop, room: Room, phase: Dynamics, e: Array, columns: int) -> Dynamics:
    """A phase that holds normals to the speeds that coefficients e ask of the velocity before it.

    Columns beyond those of [q; v] are of parameters, last of all coefficients of pairs.
    """
    t, count = loop.tables, len(e)
    nv = t.v.size
    N = room.points[:count, of.NORMAL : of.NORMAL + 3]
    velocity = phase.jacobians @ t.vectors[at.V_X, :nv]
    approach = np.minimum(np.sum(N * velocity, axis=1), 0.0)
    by = np.zeros((count, columns))
    by[:, :nv] = np.einsum("ij,ijk->ik", N, phase.before)
    by[:, :nv] += np.einsum("ij,ijk->ik", velocity, phase.normals)
    by[:, nv : 2 * nv] = np.einsum("ij,ijk->ik", N, phase.jacobians)
    by *= -np.where(approach < 0.0, e, 0.0)[:, None]
    if columns > 2 * nv and is_whole(loop):
        own = np.flatnonzero(of_geoms(t, room))
        pairs = columns - len(t.pairs) + room.point_ints[own, of.PAIR]
        by[own, pairs] -= t.monitor[at.FRACTION] * approach[own]
    return phase._replace(parts=-e * approach, parting=by)
