"""Contacts that come down: what to leave to the ground.

Motors that move as demanded are rigid. Were a foot that lands a contact like others, its stop would be demanded within
one step, of a leg that a moment ago was told otherwise, or, where demands stay as they are, of the whole robot, which
bounces. So a command is made as if landing contacts were not there yet: motors go on as before, the ground stops the
foot, and the leg gives, light as it is. What comes of it is predicted by the law itself, from the command.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from spatialops._arrays import BoolArray
from spatialops.simulation.foresight import Ahead

_LANDS = 0.02  # m/s, and
_SUNK = 1e-4  # m: contacts that approach faster, and have not sunk deeper, land


def landing(ahead: Ahead) -> BoolArray:
    """Contacts (m,) that meet with some speed, rather than rest on one another."""
    seen = ahead.problem
    if seen is None:
        return np.zeros(0, dtype=np.bool_)
    approach = (seen.jacobian @ ahead.before)[::3] + seen.closing
    return np.asarray((approach < -_LANDS) & (seen.gaps > -_SUNK))


def part(ahead: Ahead, chosen: Any) -> Ahead:
    """The same step with some of its contacts only: a mask (m,), or indices, which may repeat."""
    seen = ahead.problem
    if seen is None:
        return ahead
    keys = ahead.keys[chosen]
    return replace(ahead, problem=seen.part(chosen) if len(keys) else None, keys=keys)


def stretched(ahead: Ahead, times: float) -> Ahead:
    """The same with a step so many times as long: what drifts does so for as long, and gaps have as long to close."""
    if times == 1.0:
        return ahead
    free, seen = ahead.before + times * (ahead.free - ahead.before), ahead.problem
    problem = None if seen is None else replace(seen, velocity=free, closing=seen.closing / times)
    return replace(ahead, free=free, problem=problem)
