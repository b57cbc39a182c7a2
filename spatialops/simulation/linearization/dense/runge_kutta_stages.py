"""The four evaluations of the fourth-order rule, and what they change by.

They are at coordinates that are added up as plain numbers (`raw_coordinates`). Closures hold at
each of them, as many rows as were independent where the piece began.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array
from spatialops.derivatives.constrained_dynamics import ClosureAnswer, closure_changes
from spatialops.derivatives.forward_dynamics import forward_dynamics_derivatives
from spatialops.derivatives.inertial_regressor import inertial_regressor
from spatialops.derivatives.inverse_dynamics import inverse_dynamics_derivatives
from spatialops.dynamics.forward_dynamics import forward_dynamics
from spatialops.dynamics.loops.closure_factors import Span
from spatialops.forces.elements import Elements
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization.dense.closing import Closures, factored, independent
from spatialops.simulation.linearization.dense.explicit_forces import Given, joint_forces
from spatialops.simulation.linearization.dense.raw_coordinates import (
    from_tangent,
    on_tangent,
    rate_changes,
    rates_of,
)
from spatialops.simulation.linearization.dense.redundant_rows import (
    dependent,
    left_open,
    on_pivots,
    rows_answer,
)
from spatialops.simulation.linearization.made_step import Start
from spatialops.simulation.linearization.parameters import Own
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.loops import Loops
from spatialops.tree.model import Model
from spatialops.tree.state import integrate

_WEIGHTS = 1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0
_AHEAD = 0.5, 0.5, 1.0  # of the step, of the second evaluation and those after it


class Pushed(NamedTuple):
    """Changes, by columns, of what a piece begins with and of the time that it takes.

    Attributes
    ----------
    q, v, forces : (nv, columns) array
    longer : (columns,) array
    own : Own or None
        What parameters add.
    """

    q: Array
    v: Array
    forces: Array
    longer: Array
    own: Own | None


class Smooth(NamedTuple):
    """Where the rule ends without contacts.

    Attributes
    ----------
    q, v : (nq,), (nv,) arrays
        Velocities along the axes there.
    dq, dv : (nv, columns) arrays
        Their changes.
    """

    q: Array
    v: Array
    dq: Array
    dv: Array


def smooth_end(t: Tables, start: Start, s: float, given: Pushed, closures: Closures) -> Smooth:
    """After the time s, by the rule's four evaluations."""
    model = closures.loops.model
    most = independent(closures.loops, start.q) if len(closures.loops) else []
    q, v = start.q, start.v
    first = at_q, at_v = from_tangent(model, q, given.q), given.v
    ends = [q.copy(), v.copy(), at_q.copy(), at_v.copy()]
    own = Elements(t.element_ints, t.elements, t.element_joints, t.arms, 0, 0)
    driven = Given(start.tau, t.ctrl, start.activation, 0.5 * float(t.settings[at.DT]))
    for i, weight in enumerate(_WEIGHTS):
        acts = joint_forces(model, own, driven, q, v)
        now = evaluated(t, closures.loops, (q, v), acts.forces, most)
        rates = rates_of(model, q, v[:, None])[:, 0]
        moved = on_tangent(model, q, at_q)
        pulled = given.forces + acts.by_q @ moved + acts.by_v @ at_v
        if closures.masses is not None:
            pulled[:, closures.masses] -= inertial_regressor(model, q, v, now.a)
        da = now.changes(moved, at_v, pulled)
        steps = rates, now.a, rate_changes(model, q, v, at_q, at_v), da
        for end, step in zip(ends, steps, strict=True):
            end += s * weight * step
        ends[2] += np.outer(weight * rates, given.longer)
        ends[3] += np.outer(weight * now.a, given.longer)
        if i < len(_AHEAD):
            ahead = s * _AHEAD[i]
            q, v = start.q + ahead * rates, start.v + ahead * now.a
            at_q, at_v = (x + ahead * dx for x, dx in zip(first, steps[2:], strict=True))
            at_q += np.outer(_AHEAD[i] * rates, given.longer)
            at_v += np.outer(_AHEAD[i] * now.a, given.longer)
    q, v, dq, dv = ends
    unit = integrate(model, q, np.zeros(model.nv))
    return Smooth(unit, v, on_tangent(model, q, dq), dv)


@dataclass(frozen=True)
class Evaluated:
    """Accelerations a of the tree at q, v; and where there are closures their multipliers."""

    model: Model
    q: Array
    v: Array
    a: Array
    forces: Array

    def changes(self, dq: Array, dv: Array, pulled: Array) -> Array:
        """Changes of a, for those of q on the tangent space, of v and of forces."""
        by = forward_dynamics_derivatives(self.model, self.q, self.v, self.forces)
        da: Array = by.dq @ dq + by.dv @ dv + by.dtau @ pulled
        return da


@dataclass(frozen=True)
class EvaluatedClosed(Evaluated):
    """The same of a closed mechanism, with what rows are left open."""

    span: Span
    multipliers: Array
    left: Array

    def changes(self, dq: Array, dv: Array, pulled: Array) -> Array:
        """As of one without closures."""
        motion = self.q, self.v, self.a
        by = inverse_dynamics_derivatives(self.model, *motion)
        stiffness, f_q, f_v = closure_changes(self.span, *motion, self.multipliers)
        side = pulled + (stiffness - by.dq) @ dq - by.dv @ dv
        held = rows_answer(self.span, ClosureAnswer(self.span, by.da), self.q, self.left)
        return held.by_force @ side - held.by_rows @ (f_q @ dq + f_v @ dv) + held.by_q @ dq


def evaluated(
    t: Tables, loops: Loops, state: tuple[Array, Array], forces: Array, most: Sequence[int]
) -> Evaluated:
    """Accelerations at a state, with so many rows of each closed mechanism at most."""
    model, q, v = loops.model, *state
    a = forward_dynamics(model, q, v, forces)
    if not len(loops):
        return Evaluated(model, q, v, a, forces)
    span = factored(loops, q, model.links, most)
    dv, multipliers = span.answer(-left_open(t, span, q, v, a))
    if dependent(span):
        multipliers = on_pivots(span, multipliers)
    a = a + dv
    left = left_open(t, span, q, v, a)
    return EvaluatedClosed(model, q, v, a, forces, span, multipliers, left)
