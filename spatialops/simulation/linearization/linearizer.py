"""One step and its derivative: what `Simulator.linearize` does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._compile.held import Held
from spatialops.contact.laws.cone import ConeCoulomb
from spatialops.contact.laws.convex import Convex
from spatialops.contact.laws.law import Law
from spatialops.contact.laws.no_slip import NoSlip
from spatialops.contact.laws.viscous import Viscous
from spatialops.contact.newton._layout import CONE, NO_SLIP, VISCOUS
from spatialops.errors import ArgumentError, ContactError
from spatialops.forces import _layout as el
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.dense.closed_step import differentiate_closed
from spatialops.simulation.linearization.dense.runge_kutta_step import differentiate_runge_kutta
from spatialops.simulation.linearization.impacts.step_parts import differentiate_parts
from spatialops.simulation.linearization.made_step import Start, new_room, room_for
from spatialops.simulation.linearization.next_state import begin_near, step_held
from spatialops.simulation.linearization.notes import Notes, fault_of
from spatialops.simulation.linearization.parameters import (
    ParameterDerivatives,
    parameter_derivatives,
    parted,
)
from spatialops.simulation.linearization.products import MATRICES, Product
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.stepping.adapter import put_activation, state_of
from spatialops.simulation.stepping.constraints.friction_laws import loop_law
from spatialops.simulation.stepping.driver import Stepping
from spatialops.simulation.stepping.held.held_loop import HeldLoop
from spatialops.simulation.stepping.held.watched_steps import advance_held, clear_held
from spatialops.simulation.stepping.loop_start import LoopStart
from spatialops.tree.model import Model
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
        What the contacts of the step do: "open", "sticking", "sliding", or "dragged" by a viscous
        law.
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
        self._start = Held(Start(np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nv)))
        self._room = Held(new_room(model, len(self._loop.tables.ints)))
        self._closures = LoopStart(stepping.scene, float(stepping.settings[at.DT]))
        self._notes = Notes(stepping.scene)
        law = law_to_differentiate(stepping.external.method.law)
        assert law is not None  # or the scene was refused
        self._law = law
        self._sound = True
        self._parameters: Model | None = None  # whose, where derivatives by them are wanted
        self._by_parameters: Array | None = None  # of a step of several parts

    def linearize(self, state: State, tau: Array, cut: Array) -> Linearization:
        """Of a step from a checked state under forces `cut` to what motors can do."""
        nv = len(tau)
        A, B = np.empty((2 * nv, 2 * nv)), np.empty((2 * nv, nv))
        contacts = self.differentiate(MATRICES, state, cut, (A, B))
        if cut is not tau and cut.tobytes() != tau.tobytes():
            B[:, cut != tau] = 0.0
        return Linearization(state_of(self._loop.tables), A, B, *self._notes.of(contacts))

    def by_parameters(self, state: State, cut: Array) -> ParameterDerivatives:
        """The same step's derivative by masses and friction."""
        model, nv = self._loop.stepping.scene.model, len(cut)
        if len(self._loop.stepping.scene.loops):
            raise ArgumentError("linearize_parameters: closures are not known yet")
        if self._loop.stepping.scheme == at.RK4:
            raise ArgumentError("linearize_parameters: integrator 'rk4' is not known yet")
        if self._loop.tables.control[at.DAMPED]:
            raise ArgumentError(
                "linearize_parameters: damping, springs and actuators are not known yet: what they "
                "add to the armature changes with masses"
            )
        scratch = np.empty((2 * nv, 2 * nv)), np.empty((2 * nv, nv))
        self._parameters = model
        self._by_parameters = None
        try:
            self.differentiate(MATRICES, state, cut, scratch)
        finally:
            self._parameters = None
        if self._by_parameters is not None:
            return parted(model, self._by_parameters)
        return parameter_derivatives(model, self._loop.tables, self._room.tables)

    def differentiate(
        self, product: Product, state: State, tau: Array, arrays: tuple[Array, Array]
    ) -> IntArray:
        """Make a step, and a product of its derivative; what is found of its contacts."""
        loop = self._loop
        self._begin(state, tau)
        self._sound = False
        loop.advance(advance_held)
        t = loop.tables
        if t.control[at.TOGETHER] and t.control[at.SCHEME] == at.MOREAU:
            raise ContactError(
                "linearize: several bodies arrive without restitution within this step and are met "
                "together, of which the derivative is not known yet under 'moreau'; take "
                "'semi-implicit', or a shorter step"
            )
        self._room = room = room_for(t, self._room)
        loops = loop.stepping.scene.loops
        if len(loops) or t.control[at.SCHEME] == at.RK4:
            if len(loops):
                status, A, B = differentiate_closed(loop, self._start, room, loops)
            else:
                status, A, B = differentiate_runge_kutta(loop, self._start, room)
            if status == of.KNOWN:
                product.dense(A, B, *arrays)
        else:
            status = product.held(loop.address, self._start.address, room.address, *arrays)
        contacts: IntArray = room.tables.point_ints[: room.tables.results[of.COUNT]]
        if status == of.SEVERAL and (
            loop.stepping.external.impacts.whole or self._law == of.CONVEX
        ):
            status = of.OTHER_IMPACTS
        if status == of.SEVERAL:
            self._begin(state, tau)
            parts = differentiate_parts(loop, self._start.tables.tau, room, self._parameters)
            self._room, status = parts.room, parts.status
            self._by_parameters = parts.by_parameters
            product.dense(parts.A, parts.B, *arrays)
            contacts = np.concatenate(parts.contacts)
        if status != of.KNOWN:
            raise ContactError(
                fault_of(loop.stepping.scene, loop.tables, self._room.tables, status)
            )
        self._sound = True
        return contacts

    def forget(self) -> None:
        """Begin the next step without what the last ones have found."""
        self._sound = False

    def steps(self, state: State, forces: Array) -> Iterator[State]:
        """States after each of the steps from a state under rows of forces."""
        loop = self._loop
        self._sound = False
        self._begin(state, np.zeros(forces.shape[1]))
        for tau in forces:
            t = loop.tables
            t.tau[:] = tau
            loop.advance(step_held)
            yield state_of(loop.tables)
        self._sound = True

    def _begin(self, state: State, cut: Array) -> None:
        """Where the step begins; after one that failed, without anything of it."""
        loop, start = self._loop, self._start.tables
        if not self._sound:
            loop.advance(clear_held)
        start.q[:] = state.q
        start.v[:] = state.v
        start.tau[:] = cut
        t = loop.tables
        t.control[at.LAW] = self._law
        if t.activation.size:
            put_activation(t, state)
        begin_near(loop.address, self._start.address)
        t.monitor[at.TIME] = state.time
        if t.loop_ints.size:
            self._closures.begin(t)
            start.q[:] = t.q
            start.v[:] = t.v


def refuse_rk4(scene: Scene) -> None:
    """What is in the scene, and cannot be linearized with the fourth-order rule yet."""
    if scene.model.quaternions:
        raise ArgumentError(
            "linearize: ball and free joints are not known yet under integrator 'rk4'; take "
            "'moreau' or 'semi-implicit'"
        )
    model = scene.model
    pulled = len(scene.elements.ints) or model.damping.any() or model.stiffness.any()
    if len(scene.loops) or pulled:
        raise ArgumentError(
            "linearize: closures, springs, damping and actuators are not known yet under "
            "integrator 'rk4'; take 'moreau' or 'semi-implicit'"
        )


def law_to_differentiate(law: Law | None) -> int | None:
    """Number of a law, of the loop's or another's tolerance and solver; None if it is not known."""
    if isinstance(law, Convex):
        return of.CONVEX
    for kind, number in ((ConeCoulomb, CONE), (NoSlip, NO_SLIP), (Viscous, VISCOUS)):
        if isinstance(law, kind):
            return number
    return loop_law(law)


def refuse_scene(stepping: Stepping) -> None:
    """What is in the scene or the options, and cannot be linearized yet."""
    scene = stepping.scene
    if stepping.scheme == at.RK4:
        refuse_rk4(scene)
    if any(loop.rate is not None for loop in scene.loops.items):
        raise ArgumentError("linearize: driven closures are not known yet")
    if scene.model.compensation.any():
        raise ArgumentError("linearize: compensation of gravity is not known yet")
    if scene.elements.ints[:, el.POINTS].any():
        raise ArgumentError("linearize: tendons and actuators along paths are not known yet")
    law, pairs = stepping.external.method.law, stepping.external.pairs
    if pairs.special and not pairs.mixed:
        raise ArgumentError(
            "linearize: torsional and rolling friction are not known yet; geoms with condim=3 have "
            "none"
        )
    if pairs.mixed or law_to_differentiate(law) is None:
        raise ArgumentError(
            f"linearize: law {law!r} is not known yet; take 'coulomb', 'cone', 'convex', "
            "'no-slip', 'frictionless' or 'viscous', and no pairs with laws of their own"
        )
    if stepping.settings[at.VISCOSITY_IN_IMPACTS] > 0.0:
        raise ArgumentError("linearize: a drag in impacts is not known yet; take impact=0")
