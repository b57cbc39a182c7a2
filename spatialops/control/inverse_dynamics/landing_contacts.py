"""Contacts that come down: what to leave to the ground.

Motors that move as demanded are rigid. Were a foot that lands a contact like others, its stop would
be demanded within one step, of a leg that a moment ago was told otherwise, or, where demands stay
as they are, of the whole robot, which bounces. So a command is made as if landing contacts were not
there yet: motors go on as before, the ground stops the foot, and the leg gives, light as it is.
What comes of it is predicted by the law itself, from the command.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from spatialops._arrays import BoolArray, IntArray
from spatialops.contact.problem import ContactProblem
from spatialops.control.inverse_dynamics.inverse_problem import restated
from spatialops.simulation.lookahead import StepPrediction

LANDS = 0.02  # m/s, and
SUNK = 1e-4  # m: contacts that approach faster, and have not sunk deeper, land


def landing(ahead: StepPrediction) -> BoolArray:
    """Contacts (m,) that meet with some speed, rather than rest on one another."""
    problem = ahead.problem
    if problem is None:
        return np.zeros(0, dtype=np.bool_)
    approach = (problem.jacobian @ ahead.before)[::3] + problem.gap_bias
    return np.asarray((approach < -LANDS) & (problem.gaps > -SUNK))


def part(ahead: StepPrediction, chosen: BoolArray | IntArray) -> StepPrediction:
    """The same step with some of its contacts only: a mask (m,), or indices, which may repeat."""
    problem = ahead.problem
    if problem is None:
        return ahead
    keys = ahead.keys[chosen]
    return replace(ahead, problem=problem.part(chosen) if len(keys) else None, keys=keys)


def stretched(ahead: StepPrediction, times: float) -> StepPrediction:
    """The same with a step so many times as long: drifts, and gaps to close, for as long."""
    if times == 1.0:
        return ahead
    free, problem = ahead.before + times * (ahead.free - ahead.before), ahead.problem
    if problem is not None:
        problem = restated(
            problem,
            ContactProblem,
            velocity=free,
            gap_bias=problem.gap_bias / times,
            drift=problem.drift * times,
        )
    return replace(ahead, free=free, problem=problem)
