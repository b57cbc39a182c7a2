"""What a law of contact itself answers to a command: forces solved for again under its torques.

A command is computed for forces that its controller predicts (`Explanation.forces`). Where a law
has several answers, where contacts land, or where limits cut the command, what comes of it is
another answer of the law: a forward problem, which says nothing about how good the prediction was.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array
from spatialops.contact.constraint_rows import CONTACT
from spatialops.contact.laws.law import Law
from spatialops.control.inverse_dynamics.remembered import Remembered
from spatialops.simulation.lookahead import Lookahead
from spatialops.tree.state import State

_ROUNDS = 5  # times that Coriolis forces are found with the motion that follows from them
COUNTED = 1e-11  # rad/s or m/s: what Coriolis forces at a wrong mean velocity may change


class Replay(NamedTuple):
    """One step of a controller's model under a command.

    Attributes
    ----------
    accelerations : (nv,) array
        rad/s^2 or m/s^2, mean over the step.
    forces : (m, 3) array
        Contact forces on A along the contacts' frames, N.
    residual : float
        Of the law, relative.
    """

    accelerations: Array
    forces: Array
    residual: float


def replay(lookahead: Lookahead, law: Law, state: State, tau: Array, last: Remembered) -> Replay:
    """Ask the law; of several answers it gives the one nearest to the `last` impulses of a step."""
    dt = lookahead.dt
    forces, residual = np.zeros((0, 3)), 0.0
    gain = np.zeros(lookahead.model.nv)
    for _ in range(_ROUNDS):
        ahead = lookahead.predict(state, tau, gain=gain)
        after = ahead.free
        if ahead.problem is not None:
            start = last.along(ahead.keys, ahead.problem.frames)
            answer = law.solve(ahead.problem, start if start.any() else None)
            touching = ahead.problem.kinds == CONTACT
            forces, residual = answer.impulses[touching] / dt, answer.residual
            after = ahead.problem.after(answer.impulses.ravel())
        counted, gain = gain, after - ahead.before
        if settled(state, counted, gain, dt):
            break
    return Replay((after - ahead.before) / dt, forces, residual)


def settled(state: State, counted: Array, gain: Array, dt: float) -> bool:
    """Whether Coriolis forces at the `counted` gain of velocity are those at the `gain` found."""
    change = float(np.abs(gain - counted).max(initial=0.0))
    speed = np.abs(state.v).max(initial=0.0) + np.abs(gain).max(initial=0.0)
    return bool(dt * speed * change <= COUNTED)
