"""One step and its derivative: what `Simulator.linearize` does."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array
from spatialops.errors import ArgumentError, ContactError
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.made_step import Room, Start, new_room
from spatialops.simulation.linearization.notes import fault_of, statuses_of, switching_of
from spatialops.simulation.linearization.step_derivative import differentiate_held
from spatialops.simulation.stepping.adapter import load_new, state_of
from spatialops.simulation.stepping.driver import Stepping
from spatialops.simulation.stepping.held.held_loop import HeldLoop
from spatialops.simulation.stepping.held.watched_steps import advance_held, clear_held
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.state import State

_WHOLE = 1e-12  # of a step: a piece that is shorter is one of several


class Linearization(NamedTuple):
    """What `Simulator.linearize` returns.

    Parameters
    ----------
    state : State
        Where the step ends.
    A : (2 nv, 2 nv) array
        Change of the state at the end by that at the start, both as [coordinates; velocities] on
        the tangent spaces.
    B : (2 nv, nv) array
        By joint forces.
    statuses : tuple of str
        What the contacts of the step do: "open", "sticking" or "sliding".
    switching : tuple of str
        Contacts that are about to do something else, and which one-sided derivative was taken.
    """

    state: State
    A: Array
    B: Array
    statuses: tuple[str, ...]
    switching: tuple[str, ...]


class Linearizer:
    """Makes steps in tables of its own, and their derivatives.

    Parameters
    ----------
    stepping : Stepping
        How steps are made.

    Raises
    ------
    ArgumentError
        For what the derivative is not known of yet.
    """

    def __init__(self, stepping: Stepping) -> None:
        refuse_scene(stepping)
        model = stepping.scene.model
        own = stepping.apart()
        self._loop = HeldLoop(own, own.tables(), np.zeros(at.LIMITS))
        self._start = Start(np.zeros(model.nq), np.zeros(model.nv))
        self._room = new_room(model, len(self._loop.tables.ints))

    def linearize(self, state: State, tau: Array, cut: Array) -> Linearization:
        """Of a step from a checked state under forces `cut` to what motors can do."""
        nv = len(tau)
        loop = self._loop
        loop.advance(clear_held)
        t = loop.tables
        load_new(t, state)
        t.tau[:] = cut
        t.control[at.STEPS_LEFT] = 1
        self._start.q[:] = state.q
        self._start.v[:] = state.v
        loop.advance(advance_held)
        A, B = np.empty((2 * nv, 2 * nv)), np.empty((2 * nv, nv))
        t = loop.tables
        self._room = room = room_for(t, self._room, loop.stepping)
        status = differentiate_held(loop.address, self._start, room, A, B)
        refuse_step(loop.stepping, t, room, status)
        B[:, cut != tau] = 0.0
        switching = switching_of(loop.stepping.scene, t, room)
        return Linearization(state_of(t), A, B, statuses_of(room), switching)


def room_for(t: Tables, room: Room, stepping: Stepping) -> Room:
    """The room, or a larger one where the tables of contacts have grown."""
    return room if len(room.points) >= len(t.ints) else new_room(stepping.scene.model, len(t.ints))


def refuse_scene(stepping: Stepping) -> None:
    """What is in the scene or the options, and cannot be linearized yet."""
    scene = stepping.scene
    if stepping.scheme == at.RK4:
        raise ArgumentError("linearize: integrator 'rk4' is not known yet; take 'moreau'")
    if len(scene.loops):
        raise ArgumentError("linearize: closures are not known yet")
    if scene.model.compensation.any():
        raise ArgumentError("linearize: compensation of gravity is not known yet")
    if stepping.external.pairs.special or stepping.external.method.law is not None:
        raise ArgumentError(
            "linearize: of laws of contact only Coulomb's is known yet; take law='coulomb', and no "
            "viscous, torsional, rolling or compliant pairs"
        )


def refuse_step(stepping: Stepping, t: Tables, room: Room, status: int) -> None:
    """What has happened in the step, and cannot be linearized yet."""
    if t.control[at.EVENT_ROWS] or abs(t.monitor[at.PIECE] - t.settings[at.DT]) > _WHOLE:
        raise ContactError("linearize: an impact within the step is not known yet")
    if status != of.KNOWN:
        raise ContactError(fault_of(stepping.scene, t, room, status))
    if t.monitor[at.LOWEST_GAP] < -t.settings[at.DEPTH]:
        raise ContactError(
            "linearize: a penetration is corrected at the end of the step, which is not known yet"
        )
    if stepping.scheme == at.SEMI_IMPLICIT:
        return
    if t.lone.size:
        raise ContactError(
            "linearize: free bodies on their own turn by a rule that is not known yet "
            "under 'moreau'; take 'semi-implicit'"
        )
    if t.roots.size:
        refuse_floating(t, room)


def refuse_floating(t: Tables, room: Room) -> None:
    """A floating tree that nothing touches."""
    ints = room.point_ints[: room.results[of.COUNT]]
    touched = ints[ints[:, of.STATUS] != of.OPEN, of.LINK]
    if len(set(t.root_of[touched].tolist()) - {-1}) < t.roots.size:
        raise ContactError(
            "linearize: a floating mechanism that nothing touches is given its momentum, "
            "which is not known yet under 'moreau'; take 'semi-implicit'"
        )
