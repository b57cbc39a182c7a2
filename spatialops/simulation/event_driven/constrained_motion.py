"""Smooth motion between events: accelerations while contacts stay closed, stick or slide.

In a mode the complementarity conditions of accelerations ([D] 18-22) are equations: closed contacts
have a_n = 0, sticking ones a_t = 0 too, sliding ones f_t = -mu f_n d against the slip. With
closures' rows G_b,

    M a = tau - C + G^T f,      G_r a + Gdot_r v = 0 on the rows r that are held

are solved for the forces by G_r M^-1 G_c^T f = -(...), least squares where rows are redundant: the
smallest forces.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol, cast

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops.collision import _layout as col
from spatialops.contact.constraint_rows import contact_terms
from spatialops.contact.laws.law import Law, is_rigid
from spatialops.dynamics.articulated_body import factor_kernel
from spatialops.dynamics.loops.closure_factors import Span
from spatialops.dynamics.loops.rows import closure_accelerations, closure_jacobian, closure_rows
from spatialops.dynamics.response import velocities_from
from spatialops.errors import ContactError
from spatialops.simulation.event_driven.contact_modes import Mode, Modes, held_rows, slip_direction
from spatialops.simulation.event_driven.contacts import ContactDetector, Contacts, Key, nearest
from spatialops.simulation.event_driven.joint_forces import JointForces
from spatialops.simulation.event_driven.minimum_forces import held_forces
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.stepping.integrators.accelerations import accelerations

# m: contacts are looked for up to this gap, so that closed ones are found in trial states too
REACH = 1e-3


@dataclass(frozen=True, eq=False)
class Motion:
    """Accelerations at a state, and what makes them.

    Attributes
    ----------
    a : (nv,) array
        Accelerations, in the layout of velocities.
    contacts : Contacts
        The closed ones, in the order of the modes.
    forces : (k, 3) array
        N, along the contacts' frames.
    loop_forces : (n_b,) array
        Along the closures' rows, N or N m.
    determined : bool
        Whether the forces follow from the accelerations.
    residual : float
        Of the held rows, relative to their accelerations without forces.
    """

    a: Array
    contacts: Contacts
    forces: Array
    loop_forces: Array
    determined: bool
    residual: float


class SoftLaw(Protocol):
    """A law whose contacts are not rigid: forces follow from gaps and velocities."""

    def forces(self, gaps: Array, velocities: Array, friction: Array) -> Array:
        """Forces (m, 3), N, at gaps (m,) and velocities (m, 3), along the contacts' frames."""


class Rows(NamedTuple):
    """Rows of closures and contacts: Jacobian G, response L, accelerations (n,) without forces."""

    G: Array
    L: Array
    rates: Array


class Mechanics:
    """The smooth dynamics of a scene under a law."""

    def __init__(
        self, scene: Scene, law: Law, drag: Array, detector: ContactDetector, forces: JointForces
    ) -> None:
        self.scene = scene
        self.law = law
        self.soft = None if is_rigid(law) else cast(SoftLaw, law)
        self.detector = detector
        self.forces = forces
        self._drag = np.append(drag, np.zeros(len(detector.stops)))
        self.span = Span(scene.model, scene.loops)
        self.n_b = scene.loops.n_rows
        self.kept = list(range(self.n_b))
        self._last: dict[Key, Contacts] = {}

    @property
    def work(self) -> Array:
        """Workspace of the tree's kernels."""
        return self.span.work

    def motion(self, time: float, q: Array, v: Array, modes: Modes) -> Motion:
        """Accelerations in a mode."""
        a = self.free(time, q, v)
        rates = self.loop_rates()
        if self.soft is not None:
            touching = self.detector.detect_at(q, v, 0.0)
            forces = self.soft.forces(touching.gaps, touching.velocities, touching.friction)
            return self._pushed(a, rates, touching, forces)
        if not modes and not self.n_b:
            return Motion(a, NOTHING, np.zeros((0, 3)), np.zeros(0), True, 0.0)
        contacts = self.closed(q, v, modes)
        rows = self.rows(q, v, a, rates, contacts)
        return self._held(a, rows, contacts, list(modes.values()))

    def free(self, time: float, q: Array, v: Array) -> Array:
        """Accelerations without contacts and closures; leaves the factors in `work`."""
        model = self.scene.model
        a = np.empty(self.scene.model.nv)
        room = np.empty(self.scene.model.nv)
        tau, external = self.forces(time, q, v), self.forces.wrenches(time, q, v)
        if accelerations(model.tree, model.links, q, v, tau, external, self.work, room, a) != 0:
            raise NotFinite(
                f"the state is no longer finite at t = {time:.6g} s: forces are too large, or a "
                "joint has a singular inertia"
            )
        return a

    def closed(self, q: Array, v: Array, modes: Modes) -> Contacts:
        """The closed contacts at a state, in the order of the modes."""
        if not modes:
            return NOTHING
        found = self.detector.detect_at(q, v, REACH)
        index, rows = {key: i for i, key in enumerate(found.keys)}, []
        for key in modes:
            row = index.get(key, -1)
            if row < 0:
                row = self._renamed(found, key)
            rows.append(row)
        chosen = found.take(rows)
        return Contacts(tuple(modes), chosen.ints, chosen.floats)

    def _renamed(self, found: Contacts, key: Key) -> int:
        """A contact whose features have another name here: the nearest of its pair."""
        last = self._last.get(key)
        row = nearest(last, 0, found) if last is not None else -1
        if row < 0:
            names = self.detector.names(key[0])
            raise LostContact(
                f"the contact of {names[0]!r} and {names[1]!r} is no longer seen", key
            )
        return row

    def remember(self, contacts: Contacts) -> None:
        """Where closed contacts are at an accepted state."""
        self._last = {key: contacts.take([i]) for i, key in enumerate(contacts.keys)}

    def rows(self, q: Array, v: Array, a: Array, loop_rates: Array, contacts: Contacts) -> Rows:
        """Rows of closures, then of contacts; poses and factors must be in `work`."""
        G, L = self.jacobian(contacts)
        turning = self.detector.turning(q, v, contacts, 2.0 * REACH)
        rates = G @ a
        rates[: self.n_b] = loop_rates
        rates[self.n_b :] += turning.ravel()
        return Rows(G, L, rates)

    def jacobian(self, contacts: Contacts) -> tuple[Array, Array]:
        """G and L of closures, then contacts; poses and factors must be in `work`."""
        model, loops = self.scene.model, self.scene.loops
        ints, terms = contact_terms(
            contacts.links, contacts.points, contacts.frames, self.n_b, contacts.kinds, model.tree
        )
        if self.n_b:
            ints = np.concatenate([loops.term_ints, ints])
            terms = np.concatenate([self.span.terms, terms])
        size = self.n_b + 3 * len(contacts.keys)
        G, L = np.empty((size, model.nv)), np.empty((size, model.nv))
        closure_jacobian(model.tree, model.links, self.work, ints, terms, G)
        closure_rows(model.tree, model.links, self.work, ints, terms, (0, 0), L)
        return G, L

    def loop_rates(self) -> Array:
        """G a + Gdot v (n_b,) of the closures from what `free` left in `work`."""
        if not self.n_b:
            return np.zeros(0)
        self.span.put_terms()
        at = self.scene.loops
        g = self.scene.model.gravity
        rates = np.empty(self.n_b)
        base = (-g[0], -g[1], -g[2])
        closure_accelerations(
            at.ints, at.floats, at.term_ints, self.span.terms, base, self.work, rates
        )
        return rates

    def independent(self, q: Array) -> tuple[IntArray, Array]:
        """Terms of independent rows of the closures at q, numbered anew."""
        loops, row = self.scene.loops, layout.TERM_ROW
        if not self.n_b:
            return loops.term_ints, loops.empty_terms()
        self.choose(q)
        number = np.full(self.n_b, -1, dtype=np.int64)
        number[self.kept] = np.arange(len(self.kept))
        ints = loops.term_ints.copy()
        ints[:, row] = number[ints[:, row]]
        chosen = ints[:, row] >= 0
        return ints[chosen], self.span.terms[chosen]

    def choose(self, q: Array) -> None:
        """Choose independent rows of the closures at closed coordinates.

        Trial states are a little open: redundant rows look independent there by as much, and would
        lock the mechanism.
        """
        if self.n_b:
            self.span.place(q)
            factor_kernel(self.scene.model.tree, self.scene.model.links, self.work)
            self.span.factor()
            self.kept = np.sort(self.span.order[: self.span.rank]).tolist()

    def drag(self, contacts: Contacts) -> Array:
        """Viscous forces against the slip, (m, 2), N."""
        return np.asarray(
            self._drag[self.detector.classes(contacts.pairs)][:, None] * contacts.velocities[:, 1:]
        )

    def dry(self, contacts: Contacts, modes: list[Mode]) -> Array:
        """Dry friction of joints that slide, against the slip, (m, 2), N m or N."""
        forces = np.zeros((len(contacts.keys), 2))
        limits = self.detector.stops.friction(contacts.pairs)
        for i in np.flatnonzero(limits > 0.0).tolist():
            if not modes[i].sticks:
                forces[i] = limits[i] * slip_direction(contacts, i, modes[i].direction)
        return forces

    def opening(self, q: Array) -> float:
        """Largest error of a closure, m or rad."""
        if not self.n_b:
            return 0.0
        self.span.place(q)
        return float(np.abs(self.span.errors(q)).max())

    def push(self, L: Array, p: Array) -> Array:
        """M^-1 G^T p, (nv,)."""
        model = self.scene.model
        dv: Array = L.T @ p
        velocities_from(model.tree, model.links, self.work, dv)
        return dv

    def _held(self, a: Array, rows: Rows, contacts: Contacts, modes: list[Mode]) -> Motion:
        """Forces that hold the rows of the modes."""
        n_b, k = self.n_b, len(modes)
        friction = contacts.friction
        columns = rows.L.copy()
        held = held_rows(self.kept, n_b, modes, contacts.kinds)
        p = np.zeros(len(rows.L))
        rates = rows.rates
        drag = self.drag(contacts) + self.dry(contacts, modes)
        if drag.any():
            p[n_b:].reshape(k, 3)[:, 1:] = -drag
            rates = rates + rows.L @ (rows.L.T @ p)
        slides = np.zeros((k, 2))
        for i, mode in enumerate(modes):
            r = n_b + 3 * i
            mu = 0.0 if mode.sticks else friction[i]
            if 0.0 < mu < np.inf:
                slides[i] = -mu * slip_direction(contacts, i, mode.direction)
                columns[r] = rows.L[r] + slides[i] @ rows.L[r + 1 : r + 3]
        normal = [r >= n_b and (r - n_b) % 3 == 0 for r in held]
        f, determined, residual = held_forces(rows.L[held], columns[held], rates[held], normal)
        p[held] += f
        contact_forces = p[n_b:].reshape(k, 3)
        contact_forces[:, 1:] += slides * contact_forces[:, :1]
        p[n_b:] = contact_forces.ravel()
        return Motion(
            a + self.push(rows.L, p), contacts, contact_forces, p[:n_b], determined, residual
        )

    def _pushed(self, a: Array, rates: Array, contacts: Contacts, forces: Array) -> Motion:
        """Known forces at contacts, closures held."""
        n_b = self.n_b
        _, L = self.jacobian(contacts)
        p = np.concatenate([np.zeros(n_b), forces.ravel()])
        if n_b:
            rows = L[self.kept]
            left = rates[self.kept] + rows @ (L.T @ p)
            p[self.kept] = held_forces(rows, rows, left, [False] * len(rows))[0]
        return Motion(a + self.push(L, p), contacts, forces, p[:n_b], True, 0.0)


NOTHING = Contacts(
    (), np.zeros((0, col.CONTACT_INTS), dtype=np.int64), np.zeros((0, col.CONTACT_COLUMNS))
)


class NotFinite(ContactError):
    """Accelerations that are no numbers."""


class LostContact(ContactError):
    """A closed contact that has no successor at a trial state: its features have gone."""

    def __init__(self, message: str, key: Key) -> None:
        super().__init__(message)
        self.key = key
