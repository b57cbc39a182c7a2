"""One step and its derivative: what `Simulator.linearize` does."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array
from spatialops.errors import ArgumentError, ContactError
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization.contact_points import contact_points
from spatialops.simulation.linearization.made_step import Step
from spatialops.simulation.linearization.statuses import statuses
from spatialops.simulation.linearization.step_derivative import step_derivative
from spatialops.simulation.stepping.adapter import load_state, state_of, with_links
from spatialops.simulation.stepping.driver import Stepping
from spatialops.tree.state import State


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
        _refuse_scene(stepping)
        self._stepping = stepping.apart()
        self._tables = self._stepping.tables()
        links = stepping.scene.model.links.copy()
        links[:, layout.GRAVITY : layout.GRAVITY + 3] = 0.0
        self._weightless = with_links(stepping.scene.model, links)
        self._damped = with_links(stepping.scene.model, self._tables.damped.copy())

    def linearize(self, state: State, tau: Array, cut: Array) -> Linearization:
        """Of a step from a checked state under forces `cut` to what motors can do."""
        stepping, scene = self._stepping, self._stepping.scene
        t = self._tables
        load_state(t, state, cut, 1)
        t.control[at.LOOKED] = 0
        self._tables = t = stepping.advance(t)
        names = tuple(
            " on ".join(scene.pair_names(int(pair))) if pair < len(scene.pairs) else "a joint"
            for pair in t.ints[: t.control[at.ACTING], 0]
        )
        self._damped.links[:] = t.damped
        contacts = contact_points(t, names)
        found = statuses(t, contacts, names, stepping.external.method.n_f)
        step = Step(
            scene.model, self._damped, self._weightless, state, cut, t, contacts, found, names
        )
        _refuse_step(step)
        A, B, switching = step_derivative(step)
        B[:, cut != tau] = 0.0
        return Linearization(state_of(t), A, B, found.names, switching)


def _refuse_scene(stepping: Stepping) -> None:
    """What is in the scene or the options, and cannot be linearized yet."""
    scene = stepping.scene
    if stepping.scheme == at.RK4:
        raise ArgumentError("linearize: integrator 'rk4' is not known yet; take 'moreau'")
    if len(scene.loops):
        raise ArgumentError("linearize: closures are not known yet")
    if len(scene.elements.ints) or scene.model.compensation.any():
        raise ArgumentError(
            "linearize: springs, actuators and compensation of gravity are not known yet"
        )
    if stepping.external.pairs.special or stepping.external.method.law is not None:
        raise ArgumentError(
            "linearize: of laws of contact only Coulomb's is known yet; take law='coulomb', and no "
            "viscous, torsional, rolling or compliant pairs"
        )


def _refuse_step(step: Step) -> None:
    """What has happened in the step, and cannot be linearized yet."""
    t = step.t
    if t.control[at.EVENT_ROWS] or abs(step.length - t.settings[at.DT]) > 1e-12 * step.length:
        raise ContactError("linearize: an impact within the step is not known yet")
    if t.control[at.MOMENTS]:
        raise ContactError("linearize: torsional and rolling friction are not known yet")
    if t.monitor[at.LOWEST_GAP] < -t.settings[at.DEPTH]:
        raise ContactError(
            "linearize: a penetration is corrected at the end of the step, which is not known yet"
        )
    if step.half == 0.0:
        return
    touched = set(step.contacts.links[np.array(step.statuses.names) != "open"].tolist())
    if t.lone.size:
        raise ContactError(
            "linearize: free bodies on their own turn by a rule that is not known yet "
            "under 'moreau'; take 'semi-implicit'"
        )
    for i in range(t.roots.size):
        if not touched & set(np.flatnonzero(t.root_of == i).tolist()):
            raise ContactError(
                "linearize: a floating mechanism that nothing touches is given its momentum, "
                "which is not known yet under 'moreau'; take 'semi-implicit'"
            )
