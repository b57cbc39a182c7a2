"""What a law of contact itself answers to a command: forces solved for again under its torques.

A command is computed for forces that its controller predicts (`Explanation.forces`). Where a law
has several answers, where contacts land, or where limits cut the command, what comes of it is
another answer of the law: a forward problem, which says nothing about how good the prediction was.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.contact.laws.law import Law
from spatialops.simulation.lookahead import Lookahead
from spatialops.tree.state import State

World = Mapping[tuple[int, ...], Array]  # impulses in world axes, by names of contacts

_ROUNDS = 5  # times that Coriolis forces are found with the motion that follows from them
_COUNTED = 1e-11  # rad/s or m/s: what Coriolis forces at a wrong mean velocity may change


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


def replay(lookahead: Lookahead, law: Law, state: State, tau: Array, last: World) -> Replay:
    """Ask the law; of several answers it gives the one nearest to the `last` impulses of a step."""
    dt = lookahead.dt
    forces, residual = np.zeros((0, 3)), 0.0
    gain = np.zeros(lookahead.model.nv)
    for _ in range(_ROUNDS):
        ahead = lookahead.predict(state, tau, gain=gain)
        after = ahead.free
        if ahead.problem is not None:
            start = along(last, ahead.keys, ahead.problem.frames)
            answer = law.solve(ahead.problem, start if start.any() else None)
            forces, residual = answer.impulses / dt, answer.residual
            after = ahead.problem.after(answer.impulses.ravel())
        counted, gain = gain, after - ahead.before
        if settled(state, counted, gain, dt):
            break
    return Replay((after - ahead.before) / dt, forces, residual)


def settled(state: State, counted: Array, gain: Array, dt: float) -> bool:
    """Whether Coriolis forces at the `counted` gain of velocity are those at the `gain` found."""
    change = float(np.abs(gain - counted).max(initial=0.0))
    speed = np.abs(state.v).max(initial=0.0) + np.abs(gain).max(initial=0.0)
    return bool(dt * speed * change <= _COUNTED)


def in_world(keys: IntArray, frames: Array, impulses: Array) -> dict[tuple[int, ...], Array]:
    """Impulses (m, 3) along contact frames as vectors in world axes, by names of contacts."""
    world = np.einsum("mi,mij->mj", impulses, frames)
    return {tuple(key): one for key, one in zip(keys.tolist(), world, strict=True)}


def along(last: World, keys: IntArray, frames: Array) -> Array:
    """The last impulses (m, 3) along the contacts' present frames; 0 of new ones."""
    none = np.zeros(3)
    world = [last.get(tuple(key), none) for key in keys.tolist()]
    return np.asarray(np.einsum("mij,mj->mi", frames, np.array(world).reshape(-1, 3)))
