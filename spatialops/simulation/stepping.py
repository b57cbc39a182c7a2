"""The compiled loop with its tables, and the hand that is lent to it where it asks for one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from spatialops._arrays import Array
from spatialops.errors import ContactError
from spatialops.simulation import _layout as at
from spatialops.simulation.joint_rows import JointRows
from spatialops.simulation.outside import Outside
from spatialops.simulation.prepared import first_capacity
from spatialops.simulation.scene import Scene
from spatialops.simulation.step import advance
from spatialops.simulation.tables import Tables, allocate

_UNKEPT = ("W", "A", "D", "covers", "lcp_ints", "lcp_vectors")  # made anew for every problem


@dataclass(frozen=True, eq=False)
class Stepping:
    """How steps are made.

    Parameters
    ----------
    scene : Scene
    joints : JointRows
        Stops and dry friction.
    settings : (SETTINGS,) array
    outside : Outside
        Solves what the loop does not.
    scheme : int
        Integrator.
    """

    scene: Scene
    joints: JointRows
    settings: Array
    outside: Outside
    scheme: int

    @property
    def capacity(self) -> int:
        """Contacts to make room for at first; the tables grow where there are more."""
        return first_capacity(self.scene) + self.joints.n_dry

    def tables(self, capacity: int | None = None, steps: tuple[int, int] = (1, 1)) -> Tables:
        """Tables for so many contacts, and so many impacts and rows of a record."""
        capacity = self.capacity if capacity is None else capacity
        t = allocate(self.scene, self.joints, self.settings, self.outside.method.n_f, capacity, steps)
        t.control[at.EXTERNAL] = self._external
        t.control[at.SCHEME] = self.scheme
        t.control[at.DAMPED] = t.damped is not t.links and self.scheme != at.RK4
        t.control[at.EVERY] = 1
        return t

    @property
    def _external(self) -> int:
        """Which problems the loop hands out: all, impacts, or none but those that it cannot solve."""
        if not self.outside.method.compiled or self.outside.certified:
            return 1
        return 2 if self.outside.impacts.whole or self.outside.pairs.special else 0

    def advance(self, t: Tables, emptied: Callable[[Tables], None] | None = None) -> Tables:
        """Run the loop until its steps are done; `emptied` takes the rows of a record where they are full.

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
        while True:
            code = advance(t)
            if code == at.DONE:
                return t
            if code in (at.SOLVE, at.UNSOLVED):
                t = self.solve(t, code == at.UNSOLVED)
            elif code == at.CONTACTS_FULL:
                t = self.grow(t)
            elif code == at.RECORD_FULL and emptied is not None:
                emptied(t)
            else:
                raise ContactError(
                    f"the state is no longer finite at t = {t.monitor[at.TIME]:.6g} s: the step is too long for the "
                    "forces and speeds of this scene, or a joint has a singular inertia"
                )

    def prepare(self, t: Tables) -> tuple[Tables, int]:
        """Go on to the next contact problem, which is left alone; the tables, and the loop's code."""
        t.control[at.EXTERNAL] = 1
        while (code := advance(t)) == at.CONTACTS_FULL:
            t = self.grow(t)
            t.control[at.EXTERNAL] = 1
        return t, code

    def solve(self, t: Tables, fallback: bool) -> Tables:
        """Solve the prepared problem outside the loop, which also tries the ladder of solvers (`fallback`)."""
        return t if self.outside.solve(t, fallback) else self.grow(t)

    def grow(self, t: Tables) -> Tables:
        """Tables for twice the contacts, in the same state; the stage that ran out of room is run again."""
        bigger = self.tables(2 * len(t.ints), (len(t.hits), len(t.rows)))
        for name, old in t._asdict().items():
            new = getattr(bigger, name)
            if new is old or name in _UNKEPT:
                continue
            if new.ndim == 1:
                new[: old.size] = old
            else:
                new[: len(old)] = old
        bigger.near[-1] = -1
        bigger.control[at.LOOKED] = 0
        return bigger
