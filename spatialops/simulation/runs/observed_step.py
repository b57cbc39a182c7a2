"""One step as sensors see it: where it began and ended, and what acted in it.

Forces are means over the step, impulse / dt, those of impacts included. Accelerations are the mean
rates of the velocities. Both belong to the instant at which the integrator states the equation of
motion, so that what is read balances: M(q_m) (v1 - v0) / dt = f(q_m, v_m) + forces in the middle of
the step of Moreau's rule, the start of semi-implicit Euler's.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, BoolArray
from spatialops.collision import _layout as col
from spatialops.dynamics.composite_body import mass_matrix
from spatialops.dynamics.jacobian import Poses, body_poses
from spatialops.dynamics.joint_wrenches import joint_wrenches
from spatialops.dynamics.loops.constrained_dynamics import closure_body_wrenches, loop_jacobian
from spatialops.dynamics.mass_solve import mass_solve
from spatialops.dynamics.newton_euler import inverse_dynamics
from spatialops.forces.tendons import arms_of
from spatialops.simulation import _layout as at
from spatialops.simulation.runs.actuator_forces import (
    Pulled,
    actuator_forces,
    pulled,
    pulling_wrenches,
)
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.stepping.adapter import state_of
from spatialops.simulation.stepping.integrators.accelerations import add_convection
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.state import State, integrate, transport


class Closing(NamedTuple):
    """How the velocities at the end of a step were put back onto the closures.

    Parameters
    ----------
    change : (nv,) array
        Of the velocities, at the configuration of the end.
    rank : int
        Rows of the closures that are independent there.
    """

    change: Array
    rank: int


class _Impact(NamedTuple):
    """Contacts of one instant, where it was, their mean wrenches, and dv / dt by them."""

    time: float
    which: BoolArray
    q: Array
    wrenches: Array
    change: Array


@dataclass(frozen=True, eq=False)
class ObservedStep:
    """A step from `start` to `end`.

    Parameters
    ----------
    scene : Scene
        What moves.
    start, end : State
        Where the step began and ended.
    index : int
        Of the step; 0 is the state that a run begins with, before any step.
    tau : (nv,) array
        Joint forces of the motors, after effort limits, N m or N.
    contacts : (k, 13) array
        Contacts that acted in it, impacts too, as `Record.contact_records`, in the order of pairs;
        those of pair -1 - pair are moments.
    loop_forces : (n_rows,) array
        Of the closures along their rows, N or N m.
    external : (n_bodies, 6) or (0, 6) array
        Wrenches on bodies, at their origins, world axes.
    at_start : bool
        Whether the equation of motion was stated at the start of the step, not in its middle.
    seed : int
        Added to the seeds of noise: environments of a batch have one each. Default 0.
    closing : Closing, optional
        What put the velocities back onto the closures at the end. Default: nothing had to.
    pulled : Pulled, optional
        What the step says of its actuators and springs. Default: there are none.
    """

    scene: Scene
    start: State
    end: State
    index: int
    tau: Array
    contacts: Array
    loop_forces: Array
    external: Array
    at_start: bool
    seed: int = 0
    closing: Closing | None = None
    pulled: Pulled | None = None

    @property
    def dt(self) -> float:
        """Its length, s."""
        return self.end.time - self.start.time

    @cached_property
    def instant(self) -> State:
        """The state at which accelerations and forces are read.

        Its velocity is the step's own: what closed the loops again at the end came after.
        """
        if self.at_start:
            return self.start
        model, start = self.scene.model, self.start
        q = integrate(model, start.q, 0.5 * self.dt * start.v)
        before, after = self._velocities_at(q)
        return State(q, 0.5 * (before + after - self._closing_at(q)), start.time + 0.5 * self.dt)

    @property
    def has_impact(self) -> bool:
        """Whether any impact was in it."""
        return bool((self.contacts[:, at.RECORD_KIND] == 1.0).any())

    @cached_property
    def accelerations(self) -> Array:
        """Mean rate of v, (nv,), at `instant`."""
        now = self.instant
        before, after = self._velocities_at(now.q)
        a = (after - before) / self.dt
        # What is left is the rate in fixed axes; that of body-axes components has no w x v.
        add_convection(self.scene.model.tree, now.v, a, -1.0)
        return a

    def _velocities_at(self, q: Array) -> tuple[Array, Array]:
        """Velocities before and after the step, linear ones of free bodies along the axes at q."""
        found = []
        for state in (self.start, self.end):
            v = state.v.copy()
            transport(self.scene.model.tree, state.q, q, v)
            found.append(v)
        return found[0], found[1]

    def _closing_at(self, q: Array) -> Array:
        """The change of `closing`, linear velocities of free bodies along the axes at q."""
        if self.closing is None:
            return np.zeros(self.scene.model.nv)
        change = self.closing.change.copy()
        transport(self.scene.model.tree, self.end.q, q, change)
        return change

    @cached_property
    def actuator_forces(self) -> Array:
        """Forces of the actuators along their lengths, (n_actuators,), N or N m."""
        if self.pulled is None:
            return np.zeros(len(self.scene.actuators))
        return actuator_forces(self.scene, self.pulled, self.start)

    @cached_property
    def motors(self) -> Array:
        """Joint forces of the motors, (nv,): those given, and those of the actuators."""
        total, model = self.tau.copy(), self.scene.model
        if self.pulled is not None:
            for one, force in zip(self.scene.actuators, self.actuator_forces.tolist()):
                total += force * arms_of(model, one, self.pulled.q)
        return total

    @cached_property
    def poses(self) -> Poses:
        """Of the bodies at `instant`."""
        return body_poses(self.scene.model, self.instant.q)

    @cached_property
    def end_poses(self) -> Poses:
        """Of the bodies at the end."""
        return body_poses(self.scene.model, self.end.q)

    @cached_property
    def forces(self) -> Array:
        """Mean forces of the contacts on their geoms A, (k, 3), N; zero in rows of moments."""
        given = self.contacts[:, at.RECORD_IMPULSE : at.RECORD_IMPULSE + 3] / self.dt
        return np.where(self.contacts[:, at.RECORD_PAIR, None] >= 0, given, 0.0)

    @cached_property
    def pairs(self) -> Array:
        """Rows of the scene's pairs, (k,), of contacts and moments."""
        numbers = self.contacts[:, at.RECORD_PAIR].astype(np.int64)
        return np.where(numbers < 0, -1 - numbers, numbers)

    @cached_property
    def outer_wrenches(self) -> Array:
        """[moment; force] of all that acts on the bodies but their joints, (n_bodies, 6).

        At the bodies' origins, world axes.
        """
        model = self.scene.model
        found = np.zeros((model.n_bodies, 6))
        if len(self.external):
            found += self.external
        if self.pulled is not None:
            found += pulling_wrenches(self.scene, self.pulled, self.start, self.poses)
        if len(self.loop_forces):
            forces = self.loop_forces
            if self.closing is not None:
                forces = forces + self._closing_forces(self.closing)
            found += closure_body_wrenches(model, self.scene.loops, self.instant.q, forces)
        lasting = np.ones(len(self.contacts), dtype=bool)
        for impact in self._impacts:
            lasting &= ~impact.which
        for side, sign in ((0, 1.0), (1, -1.0)):
            self._add_contacts(side, sign, self.poses, lasting, found)
        return found

    @cached_property
    def _impacts(self) -> list[_Impact]:
        """Those of the step, each where it happened; none where closures answer too."""
        model, rows = self.scene.model, self.contacts
        hits = rows[:, at.RECORD_KIND] == 1.0
        found = list[_Impact]()
        if len(self.scene.loops) or not hits.any():
            return found
        for time in np.unique(rows[hits, at.RECORD_TIME]).tolist():
            which = hits & (rows[:, at.RECORD_TIME] == time)
            q = integrate(model, self.start.q, (time - self.start.time) * self.start.v)
            wrenches = np.zeros((model.n_bodies, 6))
            for side, sign in ((0, 1.0), (1, -1.0)):
                self._add_contacts(side, sign, body_poses(model, q), which, wrenches)
            none = np.zeros(model.nv)
            weight = inverse_dynamics(model, q, none, none)
            pushed = weight - inverse_dynamics(model, q, none, none, wrenches)
            found.append(_Impact(time, which, q, wrenches, mass_solve(model, q, pushed)))
        return found

    def _closing_forces(self, closing: Closing) -> Array:
        """Mean forces along the rows that put the velocities back onto the closures, (n_rows,).

        `accelerations` have that change dv in them, so that M a + C = tau + G* (lambda + x) asks
        for G* x = M dv / dt. M dv is in G* at the end, which the rows at `instant` meet to second
        order: the nearest x is taken. The closures are open there by as much as the step is long,
        and no more rows count than were independent where they were closed.
        """
        model, q = self.scene.model, self.instant.q
        G = loop_jacobian(model, self.scene.loops, q)
        wanted = mass_matrix(model, q) @ self._closing_at(q) / self.dt
        outer, lengths, inner = np.linalg.svd(G.T, full_matrices=False)
        kept = slice(closing.rank)
        return inner[kept].T @ (outer[:, kept].T @ wanted / lengths[kept])

    def _add_contacts(
        self, side: int, sign: float, poses: Poses, which: BoolArray, wrenches: Array
    ) -> None:
        """Add what some contacts and moments do to the bodies on one side of them."""
        bodies = self.scene.geom_ints[self.scene.sides_of(self.pairs)[:, side], col.GEOM_BODY]
        moving = (bodies >= 0) & which
        bodies, contacts = bodies[moving], self.contacts[moving]
        acting = sign * contacts[:, at.RECORD_IMPULSE : at.RECORD_IMPULSE + 3] / self.dt
        arms = contacts[:, at.RECORD_POINT : at.RECORD_POINT + 3] - poses.positions[bodies]
        turns = contacts[:, at.RECORD_PAIR, None] < 0
        np.add.at(wrenches[:, :3], bodies, np.where(turns, acting, np.cross(arms, acting)))
        np.add.at(wrenches[:, 3:], bodies, np.where(turns, 0.0, acting))

    @cached_property
    def joint_wrenches(self) -> Array:
        """[moment; force] of every body's parent on it, (n_bodies, 6), at its origin, world."""
        now, model = self.instant, self.scene.model
        if not self._impacts:
            return joint_wrenches(model, now.q, now.v, self.accelerations, self.outer_wrenches)
        total, none = np.zeros((model.n_bodies, 6)), np.zeros(model.nv)
        speeds, times = [self._velocities_at(now.q)[0]], [self.start.time]
        smooth = self.accelerations.copy()
        add_convection(model.tree, now.v, smooth, 1.0)
        for impact in self._impacts:  # at its own place: levers there count, not those of `instant`
            change = impact.change.copy()
            total += joint_wrenches(model, impact.q, none, change, impact.wrenches)
            total -= joint_wrenches(model, impact.q, none, none)
            transport(model.tree, impact.q, now.q, change)
            smooth -= change
            speeds.append(speeds[-1] + self.dt * change)
            times.append(impact.time)
        for v, length in zip(speeds, np.diff([*times, self.end.time]).tolist()):
            a = smooth.copy()
            add_convection(model.tree, v, a, -1.0)
            own = joint_wrenches(model, now.q, v, a, self.outer_wrenches)
            total += length / self.dt * own
        return total


def _closing(scene: Scene, t: Tables) -> Closing | None:
    """That of the last piece of the step."""
    if not len(scene.loops):
        return None
    change = t.vectors[at.CLOSE_DV, : scene.model.nv].copy()
    return Closing(change, int(t.control[at.RANK]))


def observed(scene: Scene, t: Tables, start: State, seed: int = 0) -> ObservedStep:
    """The last step that the tables have made, which alone is in their record."""
    n_rows, n_contacts = int(t.control[at.ROWS]), int(t.control[at.CONTACT_ROWS])
    forces = t.row_forces[n_rows - 1] if n_rows else np.zeros(t.row_forces.shape[1])
    return ObservedStep(
        scene,
        start,
        state_of(t),
        int(t.control[at.STEP]),
        t.tau.copy(),
        t.contact_records[:n_contacts].copy(),
        forces.copy(),
        t.external[: len(t.external) * int(t.control[at.WRENCHED])].copy(),
        bool(t.control[at.SCHEME] == at.SEMI_IMPLICIT),
        seed,
        _closing(scene, t),
        pulled(scene, t, start),
    )


def not_begun(scene: Scene, state: State, seed: int = 0) -> ObservedStep:
    """A state before any step."""
    return ObservedStep(
        scene,
        state,
        state,
        0,
        np.zeros(scene.model.nv),
        np.zeros((0, at.RECORD_COLUMNS)),
        np.zeros(scene.loops.n_rows),
        np.zeros((0, 6)),
        False,
        seed,
    )
