"""Where a scene from a file begins: within limits, with closures closed."""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array
from spatialops.dynamics.loops.assembly import close_loops
from spatialops.dynamics.loops.constrained_dynamics import loop_errors
from spatialops.errors import ModelError
from spatialops.io import Description
from spatialops.simulation.scene.joint_constraints import within_limits
from spatialops.tree.loops import Loops
from spatialops.tree.model import Model

_CLOSED = 1e-9  # errors of closures below this are the file's rounding


def start_of(description: Description, model: Model, loops: Loops, notes: list[str]) -> Array:
    """The file's initial configuration, within limits, with closures closed."""
    q = model.neutral()
    for joint, values in description.start.items():
        q[model.q_slice(joint)] = values
    q = within_limits(model, q)
    _follow(model, loops, q)
    if not len(loops):
        return q
    if np.abs(loop_errors(model, loops, q)).max() > _CLOSED:
        try:
            q = close_loops(model, loops, q)
        except ModelError as error:
            notes.append(f"closures stay open in the initial configuration: {error}")
            return q
    return _closed_within(model, loops, q)


def _closed_within(model: Model, loops: Loops, closed: Array) -> Array:
    """A closed configuration near another, within limits: those beyond are held at theirs.

    That one itself where there is none.
    """
    q = closed
    held: list[str] = []
    while True:
        inside = within_limits(model, q)
        beyond = [
            joint
            for joint in model.joint_names
            if joint not in held and (inside - q)[model.q_slice(joint)].any()
        ]
        if not beyond:
            return q
        held += beyond
        try:
            q = close_loops(model, loops, inside, hold=held)
        except ModelError:
            return closed


def _follow(model: Model, loops: Loops, q: Array) -> None:
    """The first joint of every coupler follows the others; chains take as many passes as needed."""
    couplers = [loop for loop in loops.items if loop.kind == "coupler"]
    for _ in couplers:
        before = q.copy()
        for loop in couplers:
            (first, factor), *others = loop.factors.items()
            rest = sum(ratio * float(q[model.q_slice(joint)][0]) for joint, ratio in others)
            q[model.q_slice(first)] = (loop.offset - rest) / factor
        if np.array_equal(before, q):
            return
