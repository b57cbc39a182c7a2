"""The compiled loop with its tables, and what is done for it where it asks for something."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from spatialops._arrays import Array
from spatialops.algebra.simd import WIDTH, aligned
from spatialops.contact.newton.blocks.structure import NEED_FLOATS, NEED_INTS
from spatialops.errors import ContactError
from spatialops.simulation import _layout as at
from spatialops.simulation.scene.joint_constraints import JointRows
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.stepping.adapter import first_capacity
from spatialops.simulation.stepping.allocation import allocate, record_room
from spatialops.simulation.stepping.constraints.friction_laws import known_law
from spatialops.simulation.stepping.contact_names import names_acting
from spatialops.simulation.stepping.external_solver import ExternalSolver
from spatialops.simulation.stepping.state_machine import advance
from spatialops.simulation.stepping.step_size import warn_of_spin
from spatialops.simulation.stepping.tables import Tables
from spatialops.simulation.stepping.warm.memory_places import put_places
from spatialops.simulation.stepping.warm.warm_start import Memory

_UNKEPT = (
    "W",
    "A",
    "D",
    "covers",
    "lcp_ints",
    "lcp_vectors",
    "newton_ints",
    "newton_floats",
    "island_ints",
    "island_floats",
    "block_ints",
    "block_floats",
    "near",
    "memory_places",
)  # made anew for every problem, or wherever geoms are
# Long tables of which a part is in use: pages that nobody writes to take no memory.
_IN_USE = {"contact_records": at.CONTACT_ROWS, "events": at.EVENT_ROWS}


@dataclass(frozen=True, eq=False)
class Stepping:
    """How steps are made.

    Parameters
    ----------
    scene : Scene
        What moves and may touch.
    joints : JointRows
        Stops and dry friction.
    settings : (SETTINGS,) array
        See `_layout`.
    external : ExternalSolver
        Solves what the loop does not.
    scheme : int
        Number of the integrator, see `_layout`.
    """

    scene: Scene
    joints: JointRows
    settings: Array
    external: ExternalSolver
    scheme: int

    def apart(self) -> Stepping:
        """The same with a memory of its own of what was solved outside of the loop."""
        own = replace(self.external, fallbacks=0, memory=Memory(), _certificates=[])
        return replace(self, external=own)

    @property
    def capacity(self) -> int:
        """Contacts to make room for at first; the tables grow where there are more."""
        return first_capacity(self.scene) + self.joints.n_dry

    def tables(self, capacity: int | None = None, steps: tuple[int, int] = (1, 1)) -> Tables:
        """Tables for so many contacts, and so many impacts and rows of a record."""
        capacity = self.capacity if capacity is None else capacity
        t = allocate(
            self.scene, self.joints, self.settings, self.external.method.n_f, capacity, steps
        )
        t.control[at.EXTERNAL] = self._external
        t.control[at.SCHEME] = self.scheme
        t.control[at.LAW] = known_law(self.external.method.in_loop)
        t.control[at.DAMPED] = t.damped is not t.links and self.scheme != at.RK4
        t.control[at.WRENCHED] = len(t.compensation) > 0
        t.control[at.EVERY] = 1
        return t

    @property
    def _external(self) -> int:
        """Which problems the loop hands out: all, impacts, or what it cannot solve."""
        external = self.external
        if not external.method.compiled or external.certified:
            return 1
        if external.method.law is not None and external.pairs.mixed:
            return 1
        return 2 if external.impacts.whole or external.pairs.mixed else 0

    def advance(
        self,
        t: Tables,
        emptied: Callable[[Tables], None] | None = None,
        grown: Callable[[Tables], None] | None = None,
    ) -> Tables:
        """Run the loop until its steps are done.

        `emptied` takes the rows of a record where they are full, `grown` larger tables where there
        was no room: what is in them would else be out of reach after an error.

        Returns
        -------
        Tables
            Larger ones where there was no room.

        Raises
        ------
        SolverFailed
            For a contact problem without an answer.
        ContactError
            For a state that is no longer finite.
        """
        while (code := advance(t)) != at.DONE:
            t = self.provide(t, code, emptied)
            if grown is not None:
                grown(t)
        return t

    def provide(
        self, t: Tables, code: int, emptied: Callable[[Tables], None] | None = None
    ) -> Tables:
        """What the loop has returned for: an answer, or larger tables, which are returned."""
        if code in (at.SOLVE, at.UNSOLVED) and _is_finite(t):
            self.external.solve(t, code == at.UNSOLVED)
            return t
        if code == at.CONTACTS_FULL:
            return self.grow(t)
        if code == at.FACTORS_FULL:
            return with_room_for_factors(t)
        if code == at.RECORD_FULL and emptied is not None:
            emptied(t)
            return t
        warn_of_spin(t, self.scene.model)
        raise ContactError(self._broken(t))

    def _broken(self, t: Tables) -> str:
        """What is to be said of a state, or of its energy, that is no longer finite."""
        acting = names_acting(t, self.scene, self.joints)
        touching = f"; what touched last: {acting}" if acting else ""
        lost = t.v + t.vectors[at.DV, : t.v.size] + t.vectors[at.NEXT, : t.v.size]
        broken = np.flatnonzero(~np.isfinite(lost))
        joints = dict.fromkeys(repr(self.scene.model.joint_of_link(int(k))) for k in broken)
        what = f"state of joint {next(iter(joints))}" if joints else "state"
        if np.isfinite(lost).all() and np.isfinite(t.q).all():
            what = "energy"
        return (
            f"the {what} is no longer finite at t = {t.monitor[at.TIME]:.6g} s: the step is "
            "too long for the forces and speeds of this scene, or a joint has a singular inertia"
            f"{touching}"
        )

    def prepare(self, t: Tables) -> tuple[Tables, int]:
        """Go on to the next contact problem, which is left alone: tables, and the loop's code."""
        t.control[at.EXTERNAL] = 1
        while (code := advance(t)) == at.CONTACTS_FULL:
            t = self.grow(t)
            t.control[at.EXTERNAL] = 1
        return t, code

    def grow(self, t: Tables) -> Tables:
        """Tables for twice the contacts, in the same state, for the stage that had no room."""
        bigger = self.tables(2 * len(t.seen_ints), record_room(t))
        for name, old in t._asdict().items():
            new = getattr(bigger, name)
            if new is old or name in _UNKEPT:
                continue
            count = int(t.control[_IN_USE[name]]) if name in _IN_USE else len(old)
            new[:count] = old[:count]
        put_places(bigger.memory_places, bigger.memory, int(t.control[at.MEMORY_ROWS]))
        bigger.control[at.LOOKED] = 0
        return bigger


def with_room_for_factors(t: Tables) -> Tables:
    """Longer buffers for the factors of the problem that waits, and half of it to spare."""
    needs = t.block_ints[NEED_INTS], t.block_ints[NEED_FLOATS]
    ints, floats = (int(1.5 * need) for need in needs)
    return t._replace(
        block_ints=np.zeros(ints, dtype=np.int64), block_floats=aligned(floats, WIDTH)
    )


def _is_finite(t: Tables) -> bool:
    """Whether there is a problem to be solved: RK4 looks at numbers only at the end of a step."""
    impact = t.control[at.STAGE] in (at.COMPRESSED, at.DECOMPRESSED)
    velocity = t.v if impact else t.vectors[at.V_X, : t.v.size]
    return bool(np.isfinite(velocity).all())
