"""The derivative of one step by masses, and by friction and restitution of contacts.

Inverse dynamics is linear in the inertial parameters, Y theta, so that they are one more right-hand
side of the equations of `step_equations`: -s Y(q_e, v_m, x / s - w x v). Friction mu of what slides
pushes with p_n t for each unit, t the direction of friction. A drag's holds d . v + p / K = 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.algebra.dense_lu import solve_lu
from spatialops.collision import _layout as col
from spatialops.collision.pair_runs import count_pairs
from spatialops.derivatives.manifold import BY_V, CARRIED, dense_blocks
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.free_bodies.lone_parameters import (
    lone_changes,
    momenta_by_masses,
    rate_of,
)
from spatialops.simulation.linearization.made_step import Room
from spatialops.simulation.linearization.masses.resistance_by_masses import resistance_by_masses
from spatialops.simulation.linearization.rows.factors import solve_system
from spatialops.simulation.stepping.integrators.joint_forces import is_damped
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.model import Model


class ParameterDerivatives(NamedTuple):
    """What `Simulator.linearize_parameters` returns.

    Parameters
    ----------
    inertial : (2 nv, 10 n_bodies) array
        Change of the state at the end, [coordinates; velocities] on the tangent space, by
        `inertial_parameters`.
    friction : (2 nv, n_pairs) array
        By Coulomb's coefficients of the scene's pairs of geoms, or those of a drag without one
        coefficient for all.
    restitution : (2 nv, n_pairs) array
        By their coefficients of restitution: none but of impacts within the step.
    """

    inertial: Array
    friction: Array
    restitution: Array


def n_parameters(model: Model, t: Tables) -> int:
    """Columns of changes by parameters: inertial ones, then friction and restitution of pairs."""
    return 10 * model.n_bodies + 2 * count_pairs(t.pair_runs)


def parted(model: Model, by: Array) -> ParameterDerivatives:
    """The same, told apart."""
    first = 10 * model.n_bodies
    middle = first + (by.shape[1] - first) // 2
    return ParameterDerivatives(
        by[:, :first].copy(), by[:, first:middle].copy(), by[:, middle:].copy()
    )


def parameter_derivatives(model: Model, t: Tables, room: Room) -> Array:
    """Of the step that is in the tables, whose factored equations are in the room, side by side."""
    X, last = parameter_changes(model, t, room), room.blocks[of.LAST]
    moved = dense_blocks(room.spans, last[BY_V]) @ X
    return np.concatenate([moved, dense_blocks(room.spans, last[CARRIED]) @ X])


class Own(NamedTuple):
    """What parameters add to the equations of a piece, a column each.

    Attributes
    ----------
    side, goal : (nv, columns), (m, columns) array
        To right-hand sides, and to those of lines.
    forces : (nv, columns) array
        What masses act as in the smooth part, N or N m.
    """

    side: Array
    goal: Array
    forces: Array

    def behind(self, columns: int) -> Own:
        """The same behind so many columns of other changes."""
        return Own(*(np.hstack([np.zeros((len(part), columns)), part]) for part in self))


def parameter_changes(model: Model, t: Tables, room: Room) -> Array:
    """Change (nv, n_parameters) of the velocity by those of the piece that is in the tables."""
    own = parameter_sides(model, t, room)
    return _solved(room, own.side, own.goal)


def parameter_sides(model: Model, t: Tables, room: Room) -> Own:
    """Right-hand sides by parameters, of the piece that is in the tables."""
    s, m = float(t.monitor[at.PIECE]), int(room.results[of.HELD])
    lead = lone_changes(model, t, room).forces
    side = -s * (momenta_by_masses(model, t, room, rate_of(t, room, of.WHOLE, of.V_END)) + lead)
    goal = np.zeros((m, side.shape[1]))
    friction = np.zeros((model.nv, count_pairs(t.pair_runs)))
    smooth = -momenta_by_masses(model, t, room, rate_of(t, room, of.SMOOTH, of.V_FREE)) - lead
    if is_damped(t):
        fit, pull = resistance_by_masses(model, t, room)
        side += s * (pull - room.vectors[of.WHOLE, :, None] * fit)
        smooth += pull - room.vectors[of.SMOOTH, :, None] * fit
    by_friction = np.zeros((m, count_pairs(t.pair_runs)))
    for k, ints in enumerate(room.point_ints[: room.results[of.COUNT]]):
        if ints[of.STATUS] == of.DRAGGED and _is_dragged_by_mu(t, room, int(ints[of.PAIR])):
            by_friction[_lines(ints), ints[of.PAIR]] += _drag(t, room, k)
        if ints[of.STATUS] != of.SLIDING or ints[of.KIND] == of.JOINT:
            continue
        rows = room.found[of.LATE, k, of.VELOCITY_BY_V : of.VELOCITY_BY_V + 3]
        push, turned = friction_of_mu(t, room, k)
        friction[:, ints[of.PAIR]] += rows.T @ push
        if t.control[at.LAW] in (of.CONVEX, of.DISSIPATION):  # its line leans by mu too
            pressed = float(t.floats[ints[of.ROW], col.IMPULSE])
            by_friction[ints[of.FIRST_LINE], ints[of.PAIR]] -= push @ _end_of(t, room, k) / pressed
        if ints[of.SLIP] == 1:
            turning = s * room.slips[of.SLIP_ANSWER, k] @ smooth
            side += np.outer(rows.T @ turned, turning)
            for line, gain in gains_of(room, k):
                goal[ints[of.FIRST_LINE] + line] -= gain * turning
    none = np.zeros_like(friction)
    goal = np.hstack([goal, by_friction, np.zeros_like(by_friction)])
    forces = np.hstack([smooth, none, none])
    return Own(np.hstack([side, friction, none]), goal, forces)


def gains_of(room: Room, k: int) -> list[tuple[int, float]]:
    """What lines of point k, which slides, gain for each unit that its friction turns."""
    gains = [(0, float(room.points[k, of.LEANS])), (1, float(room.points[k, of.GAIN]))]
    if room.point_ints[k, of.OWNER] >= 0:  # of moments there is none along a normal
        gains = [(0, gains[1][1])]
    return gains[: room.point_ints[k, of.LINES]]


def _end_of(t: Tables, room: Room, k: int) -> Array:
    """Velocity of point k at the end, with its drift."""
    drift = t.floats[room.point_ints[k, of.ROW], col.DRIFT : col.DRIFT + 3]
    end = room.arms[of.END, k, of.VELOCITY : of.VELOCITY + 3]
    return np.asarray(end + room.points[k, of.SIDE] * drift)


def _lines(ints: IntArray) -> slice:
    """Lines of a point along its tangents, which are its last two."""
    end = int(ints[of.FIRST_LINE] + ints[of.LINES])
    return slice(end - 2, end)


def _is_dragged_by_mu(t: Tables, room: Room, pair: int) -> bool:
    """Whether the drag of a pair is its coefficient of friction."""
    if len(room.own_laws):
        return bool(room.own_laws[pair, of.OWN_DRAG])
    return bool(t.settings[at.VISCOSITY] < 0.0)


def _drag(t: Tables, room: Room, k: int) -> Array:
    """Change of p / K along the tangents by the coefficient, with the sign of a right-hand side."""
    row = t.floats[room.point_ints[k, of.ROW]]
    pushes: Array = row[col.IMPULSE + 1 : col.IMPULSE + 3] * room.points[k, of.RESISTANCE]
    return pushes / row[col.MU]


def friction_of_mu(t: Tables, room: Room, k: int) -> tuple[Array, Array]:
    """Impulse of sliding point k for a unit of mu, and its change as the slip turns."""
    row = t.floats[room.point_ints[k, of.ROW]]
    side, pressed = room.points[k, of.SIDE], room.points[k, of.PRESSED]
    first, second = side * row[col.TANGENT : col.TANGENT + 6].reshape(2, 3)
    x, y = room.points[k, of.SHARE : of.SHARE + 2]
    across = side * second  # as `slip_turning.turned_along`
    turned = pressed * (x * across - side * y * first)
    if row[col.MU] == 0.0:
        return np.zeros(3), turned
    return pressed / row[col.MU] * (x * first + y * second), turned


def _solved(room: Room, side: Array, goal: Array) -> Array:
    """Change of the velocity for right-hand sides."""
    m = len(goal)
    X, columns = np.ascontiguousarray(side), side.shape[1]
    order, results = room.order, room.results
    system = int(results[of.SYSTEM_RANK])
    solve_system(room.system, room.upper, system, order, X, columns)
    if m:
        pushes = np.ascontiguousarray(goal - room.lines[:m] @ X)
        rank = int(results[of.CONTACT_RANK])
        solve_lu(room.contact, m, rank, order[of.CONTACT_ORDER :], pushes, columns)
        X += room.reply[:, :m] @ pushes
    return X
