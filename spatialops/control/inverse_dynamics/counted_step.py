"""The step that a command counts on, from round to round.

Rounds differ in what Coriolis forces count on, and so in velocities, drift, and how tangents lie.
Contacts, posture and mass do not move: a round that meets the same contacts is stated by what
changes, with the first one's rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, BoolArray
from spatialops.contact.problem import ContactProblem
from spatialops.control.inverse_dynamics.inverse_problem import restated, turned
from spatialops.control.inverse_dynamics.landing_contacts import landing, part, stretched
from spatialops.simulation.lookahead import StepPrediction


class CountedStep(NamedTuple):
    """A step of the horizon's length without contacts that land.

    Attributes
    ----------
    met : StepPrediction
        The simulator's own step, with all contacts.
    lands : (m,) bool array
        Contacts of `met` that land.
    ahead : StepPrediction
        What is counted on, along the contact frames of the first round.
    """

    met: StepPrediction
    lands: BoolArray
    ahead: StepPrediction

    @property
    def frames(self) -> Array | None:
        """Contact frames (m, 3, 3) of `met`, of what does not land."""
        problem = self.met.problem
        return None if problem is None else problem.frames[~self.lands]


def counted_step(met: StepPrediction, times: float, last: CountedStep | None) -> CountedStep:
    """A step so many times as long as `met`, stated anew or with the rows of the `last` round."""
    if last is not None and _is_there(met, last.met):
        return CountedStep(met, last.lands, _moved_on(met, times, last))
    ahead = stretched(met, times)
    lands = landing(ahead)
    return CountedStep(met, lands, part(ahead, ~lands) if lands.any() else ahead)


def _is_there(met: StepPrediction, before: StepPrediction) -> bool:
    """Whether both meet the same contacts at the same places."""
    one, other = met.problem, before.problem
    if one is None or other is None or not np.array_equal(met.keys, before.keys):
        return False
    return np.array_equal(one.points, other.points) and np.array_equal(met.q, before.q)


def _moved_on(met: StepPrediction, times: float, last: CountedStep) -> StepPrediction:
    """The last round's step with these velocities."""
    free = met.before + times * (met.free - met.before)
    ahead, now = last.ahead, met.problem
    if ahead.problem is None or now is None:
        return replace(ahead, free=free)
    stays = ~last.lands
    drift = turned(now.drift[stays], now.frames[stays], ahead.problem.frames)
    problem = restated(ahead.problem, ContactProblem, velocity=free, drift=times * drift)
    return replace(ahead, free=free, problem=problem)
