"""Steps made one after another, with what their derivatives need kept of each.

That is where a step was evaluated, what the velocity changed by, and its contacts: some 2 kB of a
quadruped that stands. Put back into the loop's tables it is as if the step had just been made, so
that sweeps along the steps and back make none of them again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops._compile.held import held
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import copy_into
from spatialops.collision import _layout as col
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.made_step import Room, Start
from spatialops.simulation.linearization.products import put_jvp, put_vjp
from spatialops.simulation.linearization.step_derivative import equations_of, is_together
from spatialops.simulation.stepping.integrators.joint_forces import is_damped
from spatialops.simulation.stepping.state_machine import run
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.state import State

FULL = -1  # what is returned where there is no room for what is to be kept of a step

_DONE = 0  # steps that are kept
_WAITS = 1  # 1: one more is made, and not kept yet
_COUNTS = 2

_FLOATS = 0  # columns of places
_INTS = 1

_CONTROLS = (at.ACTING, at.MOMENTS, at.BEFORE, at.EVENT_ROWS, at.TOGETHER, at.PROJECTIONS)


class Kept(NamedTuple):
    """Of n steps under given forces.

    Attributes
    ----------
    q, v, activation : (n + 1, nq), (n + 1, nv), (n + 1, n_states) arrays
    times : (n + 1,) array
        States that they begin at, and the end.
    forces : (n, nv) array
    floats, ints : arrays
        What is kept of one step after the other.
    places : (n + 1, 2) int array
        Where in these what is kept of each begins.
    counts : (2,) int array
    """

    q: Array
    v: Array
    activation: Array
    times: Array
    forces: Array
    floats: Array
    ints: IntArray
    places: IntArray
    counts: IntArray


def new_kept(t: Tables, forces: Array) -> Kept:
    """For the steps that begin at the state in the tables."""
    n = len(forces)
    kept = Kept(
        np.empty((n + 1, t.q.size)),
        np.empty((n + 1, t.v.size)),
        np.empty((n + 1, t.activation.size)),
        np.empty(n + 1),
        np.ascontiguousarray(forces),
        np.empty(n * 8 * t.vectors.shape[1]),
        np.empty(n * 64, dtype=np.int64),
        np.zeros((n + 1, 2), dtype=np.int64),
        np.zeros(_COUNTS, dtype=np.int64),
    )
    kept.q[0] = t.q
    kept.v[0] = t.v
    kept.activation[0] = t.activation
    kept.times[0] = t.monitor[at.TIME]
    return kept


def with_more_room(kept: Kept, t: Tables) -> Kept:
    """The same, with room for one step more at least."""
    most = len(t.ints) + len(t.before_ints)
    floats = np.resize(kept.floats, 2 * kept.floats.size + t.vectors.size + 64 * most)
    ints = np.resize(kept.ints, 2 * kept.ints.size + len(_CONTROLS) + 8 * most)
    return kept._replace(floats=floats, ints=ints)


def state_at(kept: Kept, k: int) -> State:
    """Where step k begins."""
    time = float(kept.times[k])
    return State(kept.q[k].copy(), kept.v[k].copy(), time, kept.activation[k].copy())


@held
def keep_held(t: Tables, kept: Kept) -> int:
    """Make and keep the steps that are left; what the loop returns, or FULL."""
    while kept.counts[_DONE] < kept.forces.shape[0]:
        if kept.counts[_WAITS] == 0:
            if t.control[at.STAGE] == at.BEGIN:
                begin_step(t, kept)
            code = run(t)
            if code != at.DONE:
                return code
            kept.counts[_WAITS] = 1
        if not keep_step(t, kept):
            return FULL
    return at.DONE


@kernel
def begin_step(t: Tables, kept: Kept) -> None:
    copy_into(t.tau, kept.forces[kept.counts[_DONE]])
    for i in (at.ROWS, at.CONTACT_ROWS, at.EVENT_ROWS, at.PROJECTIONS):
        t.control[i] = 0
    t.control[at.STEPS_LEFT] = 1


@kernel
def keep_step(t: Tables, kept: Kept) -> bool:
    """Keep the step in the tables as the next; whether there is room for it."""
    k = kept.counts[_DONE]
    acting, known = t.control[at.ACTING], t.control[at.BEFORE]
    floats = 4 * t.vectors.shape[1] + 2 * t.v.size + 1
    floats += acting * (col.CONTACT_COLUMNS + 1) + known * col.KNOWN_COLUMNS
    ints = len(_CONTROLS) + (acting + known) * col.CONTACT_INTS + t.control[at.MOMENTS]
    place = kept.places[k]
    if place[_FLOATS] + floats > kept.floats.size or place[_INTS] + ints > kept.ints.size:
        return False
    kept.places[k + 1, _FLOATS] = carry_floats(t, kept.floats, place[_FLOATS], False)
    kept.places[k + 1, _INTS] = carry_ints(t, kept.ints, place[_INTS], False)
    copy_into(kept.q[k + 1], t.q)
    copy_into(kept.v[k + 1], t.v)
    copy_into(kept.activation[k + 1], t.activation)
    kept.times[k + 1] = t.monitor[at.TIME]
    kept.counts[_DONE] = k + 1
    kept.counts[_WAITS] = 0
    return True


@kernel
def put_back(t: Tables, start: Start, kept: Kept, k: int) -> None:
    """The tables as they were after step k, as far as its derivative reads them."""
    carry_ints(t, kept.ints, kept.places[k, _INTS], True)
    carry_floats(t, kept.floats, kept.places[k, _FLOATS], True)
    copy_into(start.q, kept.q[k])
    copy_into(start.v, kept.v[k])
    copy_into(start.tau, kept.forces[k])
    copy_into(start.activation, kept.activation[k])


@inlined
def carry_ints(t: Tables, flat: IntArray, place: int, back: bool) -> int:
    """Integers from the tables to their place, or back; the place behind them."""
    for i in _CONTROLS:
        place = carry_value(t.control, i, flat, place, back)
    place = carry(t.ints[: t.control[at.ACTING]], flat, place, back)
    for k in range(t.control[at.MOMENTS]):
        place = carry_value(t.owners, k, flat, place, back)
    return carry(t.before_ints[: t.control[at.BEFORE]], flat, place, back)


@inlined
def carry_floats(t: Tables, flat: Array, place: int, back: bool) -> int:
    """The same of what is no integer."""
    acting, armature = t.control[at.ACTING], layout.ARMATURE
    place = carry_value(t.monitor, at.PIECE, flat, place, back)
    place = carry(t.vectors[at.Q_E : at.DVC + 1], flat, place, back)
    place = carry(t.floats[:acting], flat, place, back)
    place = carry(t.before[: t.control[at.BEFORE]], flat, place, back)
    for i in range(acting):
        place = carry_value(t.friction, i, flat, place, back)
    for i in range(t.roots.size):
        place = carry_value(t.floating[i], at.PUT_RIGHT, flat, place, back)
    if is_damped(t):
        for k in range(t.v.size):
            place = carry_value(t.damped[k], armature, flat, place, back)
    return place


@inlined
def carry(table: Array | IntArray, flat: Array | IntArray, place: int, back: bool) -> int:
    """Numbers of a table to their place, or back; the place behind them."""
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            place = carry_value(table[i], j, flat, place, back)
    return place


@inlined
def carry_value(
    row: Array | IntArray, j: int, flat: Array | IntArray, place: int, back: bool
) -> int:
    if back:
        row[j] = flat[place]
    else:
        flat[place] = row[j]
    return place + 1


@kernel
def put_equations(t: Tables, start: Start, room: Room, kept: Kept, k: int) -> int:
    """The equations of step k; a status."""
    put_back(t, start, kept, k)
    if is_together(t):
        return of.SEVERAL
    return equations_of(t, start, room)


@held
def jvp_held(t: Tables, start: Start, room: Room, kept: Kept, changes: Array, k: int) -> int:
    """Changes (n + 1, 3, nv) of states and forces, of states from step k on; where it stops.

    That is n, or a step whose equations are not known here.
    """
    while k < kept.counts[_DONE]:
        if put_equations(t, start, room, kept, k) != of.KNOWN:
            return k
        put_jvp(room, changes[k], changes[k + 1][:2])
        k += 1
    return k


@held
def vjp_held(t: Tables, start: Start, room: Room, kept: Kept, weights: Array, k: int) -> int:
    """Weights (n + 1, 3, nv) of states and forces, back from state k; where it stops.

    That is 0, or the end of a step whose equations are not known here. Weights of a state are
    added to what is there already, and those of forces put.
    """
    while k > 0:
        if put_equations(t, start, room, kept, k - 1) != of.KNOWN:
            return k
        found = room.vectors[of.BACK : of.BACK + 3]
        put_vjp(room, weights[k][:2], found)
        add_weights(weights[k - 1], found)
        k -= 1
    return k


@kernel
def add_weights(weights: Array, found: Array) -> None:
    """Add those (3, nv) of a state, and put those of the forces."""
    for j in range(found.shape[1]):
        weights[0, j] += found[0, j]
        weights[1, j] += found[1, j]
        weights[2, j] = found[2, j]
