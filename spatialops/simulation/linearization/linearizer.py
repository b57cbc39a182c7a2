"""One step and its derivative: what `Simulator.linearize` does."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._compile.held import Held
from spatialops.collision import _layout as col
from spatialops.derivatives.inertial_regressor import PARAMETERS
from spatialops.errors import ArgumentError, ContactError
from spatialops.forces import _layout as el
from spatialops.simulation import _layout as at
from spatialops.simulation.linearization import _layout as of
from spatialops.simulation.linearization.dense.closing import placed
from spatialops.simulation.linearization.dense.redundant_rows import dependent
from spatialops.simulation.linearization.free_bodies.momentum import changes_of_step, put_momentum
from spatialops.simulation.linearization.impacts.derivative import impact_derivative
from spatialops.simulation.linearization.impacts.step_parts import differentiate_parts
from spatialops.simulation.linearization.kept_steps import (
    FULL,
    keep_held,
    new_kept,
    with_more_room,
)
from spatialops.simulation.linearization.laws.own_laws import put_own_laws, with_own_options
from spatialops.simulation.linearization.made_step import Room, Start, new_room, room_for
from spatialops.simulation.linearization.next_state import begin_held, part_held
from spatialops.simulation.linearization.notes import Notes, fault_of
from spatialops.simulation.linearization.parameters import (
    ParameterDerivatives,
    parameter_derivatives,
    parted,
)
from spatialops.simulation.linearization.pulls.controls import with_controls
from spatialops.simulation.linearization.refusals import (
    ground_of,
    law_of,
    law_to_differentiate,
    refuse_scene,
    with_polygon_of,
)
from spatialops.simulation.linearization.results import ImpactFound, Linearization
from spatialops.simulation.linearization.step_derivative import (
    differentiate_held,
    is_together,
    linearize_held,
)
from spatialops.simulation.stepping.adapter import put_activation, state_of
from spatialops.simulation.stepping.driver import Stepping
from spatialops.simulation.stepping.held.held_loop import HeldLoop
from spatialops.simulation.stepping.held.watched_steps import advance_held, clear_held
from spatialops.simulation.stepping.loop_start import LoopStart
from spatialops.tree.model import Model
from spatialops.tree.state import State

_empty = np.empty
_made = tuple.__new__  # a NamedTuple's own constructor is Python: 0.1 us more


class Linearizer:
    """Makes steps in tables of its own, and their derivatives.

    Parameters
    ----------
    stepping : Stepping
        How steps are made.
    ctrl : (n_actuators,) array, optional
        Controls of the steps, which may change from one to the next. Default: the scene's.

    Raises
    ------
    ArgumentError
        For what the derivative is not known of yet.
    """

    def __init__(self, stepping: Stepping, ctrl: Array | None = None) -> None:
        refuse_scene(stepping)
        model = stepping.scene.model
        of_law = law_of(stepping)
        own = with_own_options(with_polygon_of(stepping.apart(), of_law))
        law = law_to_differentiate(of_law)
        assert law is not None  # or the scene was refused
        tables = own.tables()
        if ctrl is not None:
            tables = tables._replace(rest_ctrl=ctrl)
        self._loop = HeldLoop(own, tables, np.zeros(at.LIMITS))
        places = Start(*map(np.zeros, (model.nq, model.nv, model.nv, tables.activation.size)))
        self._start = Held(places)
        room = new_room(model, len(stepping.scene.geoms), len(tables.ints))
        self._room = Held(put_own_laws(room, own, law))
        self._room.tables.ground[:] = ground_of(of_law)
        self._closures = LoopStart(stepping.scene, float(stepping.settings[at.DT]))
        self.notes = Notes(stepping.scene, stepping.joints)
        self._law = law
        tables.control[at.LAW] = law
        self._sound = True
        self._by_kernels = stepping.scheme != at.RK4 and not len(stepping.scene.loops)
        self._alone = self._by_kernels and not tables.activation.size
        self._alone = self._alone and tables.control[at.EXTERNAL] != 1
        self._parameters: Model | None = None  # whose, where derivatives by them are wanted
        self._by_parameters: Array | None = None  # of a step of several parts

    def linearize(self, state: State, tau: Array, cut: Array) -> Linearization:
        """Of a step from a checked state under forces `cut` to what motors can do."""
        found = self.at_once(state, cut, np.inf)
        if found is None:
            nv = len(tau)
            A, B = np.empty((2 * nv, 2 * nv)), np.empty((2 * nv, nv))
            contacts = self.differentiate(state, cut, A, B)
            found = Linearization(state_of(self._loop.tables), A, B, *self.notes.of(contacts))
        if cut is not tau and cut.tobytes() != tau.tobytes():
            found.B[:, cut != tau] = 0.0
        return found

    def at_once(self, state: State, tau: Array, harmless: float) -> Linearization | None:
        """The same by one kernel, which looks at the numbers too; None where that does not do.

        Forces must not be cut where the sum of their squares is no more than `harmless`.
        """
        loop, nv = self._loop, tau.size
        if not self._alone:
            return None
        if not self._sound:
            self._ready(state)
        self._sound = False
        A, B = _empty((2 * nv, 2 * nv)), _empty((2 * nv, nv))
        held, rest = self._room, (state.time, harmless)
        start = self._start.address
        status = linearize_held(
            loop.address, start, held.address, state.q, state.v, tau, rest, A, B
        )
        if status != of.KNOWN:
            return None
        self._sound = True
        room: Room = held.tables
        notes = self.notes.of(room.point_ints[: room.results.item(of.COUNT)])
        return _made(Linearization, (state_of(loop.tables), A, B, *notes))

    def by_controls(self, state: State, cut: Array, ctrl: Array) -> Linearization:
        """The same under controls, for which it was given room, and by these."""
        t = self._loop.tables
        t.rest_ctrl[:] = ctrl
        found = self.linearize(state, cut, cut)
        return with_controls(self._loop.stepping.scene, self._loop.tables, state, found)

    def by_parameters(self, state: State, cut: Array) -> ParameterDerivatives:
        """The same step's derivative by masses and friction."""
        return parted(self._loop.stepping.scene.model, self.with_parameters(state, cut)[2])

    def n_parameters(self) -> tuple[int, int]:
        """How many inertial ones, and pairs, there are."""
        scene = self._loop.stepping.scene
        return PARAMETERS * scene.model.n_bodies, scene.n_pairs

    def with_parameters(self, state: State, cut: Array) -> tuple[Array, Array, Array]:
        """A, B and the derivative (2 nv, parameters) by all parameters, side by side."""
        model, nv = self._loop.stepping.scene.model, len(cut)
        loops = self._loop.stepping.scene.loops
        if len(loops) and dependent(placed(loops, state.q)):
            raise ArgumentError(
                "linearize_parameters: closures of which some imply others are not known yet"
            )
        tables = self._loop.tables
        if len(tables.compensation) or tables.element_ints[:, el.POINTS].any():
            raise ArgumentError(
                "linearize_parameters: compensation of gravity, tendons and actuators along paths "
                "are not known yet"
            )
        self._parameters = model
        self._by_parameters = None
        A, B = np.empty((2 * nv, 2 * nv)), np.empty((2 * nv, nv))
        try:
            self.differentiate(state, cut, A, B)
        finally:
            self._parameters = None
        by = self._by_parameters
        if by is None:
            by = parameter_derivatives(model, self._loop.tables, self._room.tables)
        return A, B, by

    def differentiate(self, state: State, tau: Array, A: Array, B: Array) -> IntArray:
        """Make a step, and put its derivative into A and B; what is found of its contacts."""
        loop = self._loop
        self._begin(state, tau)
        self._sound = False
        status, contacts = of.SEVERAL, np.zeros((0, of.POINT_INTS), dtype=np.int64)
        if self._by_kernels:
            status, contacts = self._whole_step(A, B)
        if status == of.SEVERAL:
            self._begin(state, tau)
            parts = differentiate_parts(loop, self._start.tables.tau, self._room, self._parameters)
            self._room, status = parts.room, parts.status
            self._by_parameters = parts.by_parameters
            A[:], B[:] = parts.A, parts.B
            contacts = np.concatenate(parts.contacts)
            self._refuse_together()
        if status != of.KNOWN:
            raise self.fault(status)
        self._sound = True
        return contacts

    def _whole_step(self, A: Array, B: Array) -> tuple[int, IntArray]:
        """A status, and what is found of contacts, of a step that is one piece."""
        loop = self._loop
        loop.advance(advance_held)
        self._refuse_together()
        self._room = room = room_for(loop.tables, self._room)
        status = differentiate_held(loop.address, self._start.address, room.address, A, B)
        floats = status == of.UNTOUCHED or (status == of.KNOWN and room.tables.results[of.LONE] > 0)
        if status == of.PUSHED_OUT or (self._parameters is not None and floats):
            status = of.SEVERAL  # what centres and momenta change by is found part by part
        if status == of.UNTOUCHED:
            self._put_momentum(A, B)
            status = of.KNOWN
        return status, room.tables.point_ints[: room.tables.results[of.COUNT]]

    def _refuse_together(self) -> None:
        if is_together(self._loop.tables):
            raise ContactError(
                "linearize: several bodies arrive without restitution within this step and are met "
                "together, which under 'moreau' depends on the step before too, not on the state "
                "alone; take 'semi-implicit', or a shorter step"
            )

    def _put_momentum(self, A: Array, B: Array) -> None:
        """Floating trees that nothing touched in the step were given their momentum."""
        whole, nv = np.hstack([A, B]), len(A) // 2
        by = changes_of_step(self._room.tables)
        model, t = self._loop.stepping.scene.model, self._loop.tables
        put_momentum(model, t, self._start.tables, by, (whole[:nv], whole[nv:]))
        A[:] = whole[:, : 2 * nv]
        B[:] = whole[:, 2 * nv :]

    def impact(self, state: State) -> ImpactFound:
        """The impact at a state that touches something."""
        loop = self._loop
        self._begin(state, np.zeros(len(state.v)))
        self._sound = False
        loop.advance(part_held)
        t = loop.tables
        self._room = room_for(t, self._room)
        room: Room = self._room.tables
        status, by = of.SEVERAL, np.empty((0, 0))
        if t.control[at.STAGE] == at.SMOOTH:
            status, by = impact_derivative(loop, self._room, loop.stepping.scene.loops, None)
        count = room.results[of.COUNT] if status == of.KNOWN else 0
        rows = room.found[of.LATE, :count, of.GAP_BY_Q].copy()
        ints = room.point_ints[:count].copy()
        gaps = t.floats[ints[:, of.ROW], col.GAP].copy()
        return ImpactFound(status, by, t.v.copy(), gaps, rows, ints)

    def lend(self) -> tuple[HeldLoop, Held]:
        """The loop and the room, for what is differentiated elsewhere."""
        self._sound = False
        return self._loop, self._room

    def fault(self, status: int) -> ContactError:
        """Why a derivative is not known."""
        loop = self._loop
        return ContactError(fault_of(loop.stepping, loop.tables, self._room.tables, status))

    def forget(self) -> None:
        """Begin the next step without what the last ones have found."""
        self._sound = False

    def keep(self, state: State, forces: Array) -> Held:
        """Steps from a checked state under rows of forces, with what their derivatives need."""
        loop = self._loop
        self._begin(state, np.zeros(forces.shape[1]))
        self._sound = False
        kept = Held(new_kept(loop.tables, forces))
        while (code := keep_held(loop.address, kept.address)) != at.DONE:
            if code == FULL:
                kept = Held(with_more_room(kept.tables, loop.tables))
            else:
                loop.hold(loop.stepping.provide(loop.tables, code))
        self._sound = True
        return kept

    def sweep(self, call: Callable[..., int], kept: Held, along: Array, k: int) -> int:
        """Go along steps that are kept by a kernel, from the k-th on; where that stops."""
        if not self._by_kernels:
            return k
        self._room = room_for(self._loop.tables, self._room)
        self._sound = False
        return call(
            self._loop.address, self._start.address, self._room.address, kept.address, along, k
        )

    def _begin(self, state: State, cut: Array) -> None:
        """Where the step begins; after one that failed, without anything of it."""
        loop, start = self._loop, self._start.tables
        self._ready(state)
        start.q[:] = state.q
        start.v[:] = state.v
        start.tau[:] = cut
        begin_held(loop.address, self._start.address)
        t = loop.tables
        if t.loop_ints.size:
            self._closures.begin(t)
            start.q[:] = t.q
            start.v[:] = t.v

    def _ready(self, state: State) -> None:
        """The loop for a step at a state, whose coordinates are still to be put."""
        loop = self._loop
        if not self._sound:
            loop.advance(clear_held)
        t = loop.tables
        t.control[at.LAW] = self._law
        if t.activation.size:
            put_activation(t, state)
            self._start.tables.activation[:] = t.activation
        t.monitor[at.TIME] = state.time
