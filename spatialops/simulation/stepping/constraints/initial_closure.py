"""Where a simulation of a closed mechanism begins.

The state is closed, and driven frames start where they stand.
"""

from __future__ import annotations

import copy
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array
from spatialops.dynamics.articulated_body import factor_kernel
from spatialops.dynamics.kinematics import velocities_kernel
from spatialops.dynamics.loops.assembly import newton
from spatialops.dynamics.loops.closure_factors import Span, put_driven
from spatialops.dynamics.loops.rows import closure_velocities
from spatialops.errors import ArgumentError
from spatialops.tree.loops import Loops

_OPEN = 1e-8  # m or rad: a start that is open by more is refused, by less it is closed
_RAW = 1e-6  # m/s or rad/s, likewise of velocities, beside the largest velocity
_CLOSED = 1e-12  # what is left alone


class Start(NamedTuple):
    """A closed state, frames of closures, how many rows of each mechanism are independent.

    And names of the others.
    """

    q: Array
    v: Array
    frames: Array
    ranks: list[int]
    redundant: tuple[str, ...]


class FramesLeft(NamedTuple):
    """Where a step left the state and the frames: a next step from there goes on with them."""

    q: Array
    v: Array
    time: float
    frames: Array

    def is_at(self, q: Array, v: Array, time: float) -> bool:
        """Whether this is the state that was left."""
        return time == self.time and np.array_equal(q, self.q) and np.array_equal(v, self.v)


def begin_loops(
    loops: Loops, q: Array, v: Array, time: float, frames: Array | None = None
) -> Start:
    """Check the state against closures; frames are given where a step goes on from another.

    Raises
    ------
    ArgumentError
        For a state that is open, or whose velocities do not fit.
    """
    placed = copy.copy(loops)
    placed.floats = loops.floats.copy() if frames is None else frames.copy()
    span = Span(loops.model, placed)
    span.place(q)
    if frames is None:
        put_driven(placed, span.errors(q), time)
    errors = span.errors(q)
    worst = float(np.abs(errors).max())
    if not worst <= _OPEN:
        name = loops.row_names[int(np.abs(errors).argmax())]
        raise ArgumentError(
            f"state: the loop of {name} is open by {worst:.2e} m or rad; "
            "close_loops(model, loops, q, v) closes it"
        )
    if worst > _CLOSED:
        q = newton(span, q, _CLOSED)
    v, misses = _fitting(span, q, v, loops.rates(time))
    if misses.size:
        name = loops.row_names[int(np.abs(misses).argmax())]
        raise ArgumentError(
            f"state: v misses the rate of {name} by {np.abs(misses).max():.2e} m/s or rad/s; "
            "close_loops(model, loops, q, v, t=time) finds velocities that fit"
        )
    return Start(q, v, placed.floats, span.ranks, span.redundant())


def _fitting(span: Span, q: Array, v: Array, wanted: Array) -> tuple[Array, Array]:
    """Velocities that fit, and by how much those given miss where that is too much to mend."""
    model, rates = span.model, np.empty(wanted.size)
    span.place(q)
    velocities_kernel(model.tree, model.links, v, span.work)
    closure_velocities(span.loops.term_ints, span.terms, span.work, rates)
    factor_kernel(model.tree, model.links, span.work)
    span.factor()
    misses, scale = wanted - rates, 1.0 + float(np.abs(v).max())
    worst = float(np.abs(misses).max())
    if not worst <= _RAW * scale:
        return v, misses
    if worst > _CLOSED * scale:
        v = v + span.answer(misses)[0]
    return v, np.zeros(0)
