"""What a step will have to solve, before its joint forces are chosen: for controllers.

The discrete law of a step is M(q_e) (v+ - v_free) = s tau + G^T p, with q_e where the integrator
evaluates, v_free the velocity at the step's end without joint forces and contacts, and s its
length. A controller that inverts it with the same q_e, G and s is exact, not only to first order in
the step. Contacts that are met do not depend on tau. The default integrator takes Coriolis forces
at the mean of v and v+: v_free is that of a `gain` v+ - v of velocity which the controller counts
on, and which it corrects by what it then finds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spatialops._arrays import Array, ArrayLike, IntArray, vector
from spatialops._compile.held import Held
from spatialops.collision import _layout as col
from spatialops.contact.problem import ContactProblem
from spatialops.dynamics.composite_body import mass_matrix
from spatialops.errors import ArgumentError, ContactError
from spatialops.simulation import _layout as at
from spatialops.simulation.simulator import Simulator
from spatialops.simulation.stepping.adapter import with_links
from spatialops.simulation.stepping.held.looking_ahead import look_held
from spatialops.simulation.stepping.held.watched_steps import advance_held
from spatialops.simulation.stepping.tables import Tables
from spatialops.tree.model import Model
from spatialops.tree.state import State, checked_state

_NO_GAIN = np.zeros(0)
_UNWATCHED = np.full(at.LIMITS, np.inf)


@dataclass(frozen=True, eq=False)
class StepPrediction:
    """A step that is about to be made.

    Attributes
    ----------
    q : (nq,) array
        Where the step evaluates its dynamics.
    before, free : (nv,) arrays
        Velocities at the step's start (after impacts there), and at its end under the joint forces
        that were given (none, by default) without contacts, both with free bodies' axes as at `q`.
    mass : (nv, nv) array
        Mass matrix at `q`.
    problem : ContactProblem or None
        Contacts that the step meets; its `velocity` is `free`.
    keys : (m, 3) int array
        Identities of the contacts from step to step: pair of the scene, features of A and B.
    """

    model: Model
    q: Array
    before: Array
    free: Array
    mass: Array
    problem: ContactProblem | None
    keys: IntArray


class Lookahead:
    """Looks one step ahead of a simulator.

    Parameters
    ----------
    simulator : Simulator
        Of a scene without closures, with an integrator that evaluates the dynamics once.

    Raises
    ------
    ArgumentError
        For closures, or "rk4".
    """

    def __init__(self, simulator: Simulator) -> None:
        if not isinstance(simulator, Simulator):
            raise ArgumentError(f"simulator: expected a Simulator, got {type(simulator).__name__}")
        if simulator.integrator == "rk4":
            raise ArgumentError(
                "simulator: the steps of 'rk4' are not linear in the joint forces; take 'moreau'"
            )
        if len(simulator.scene.loops):
            raise ArgumentError("simulator: looking ahead is for scenes without closures")
        self.simulator = simulator
        self.model = simulator.scene.model
        self.dt = simulator.dt
        self.counts_gain = simulator.integrator == "moreau"  # the midpoint rule; others look at v
        self._hold(simulator.stepping.tables())

    def __reduce__(self) -> tuple[type[Lookahead], tuple[Simulator]]:
        return Lookahead, (self.simulator,)  # a copy has tables of its own

    @property
    def plain(self) -> bool:
        """Whether pairs of geoms have nothing of their own: no moments, no other law."""
        return not self.simulator.stepping.external.pairs.special

    @property
    def address(self) -> int:
        """Where the tables are described, for functions made by `held`."""
        return self._address

    def _hold(self, tables: Tables) -> None:
        self._tables = tables
        self._held = Held(tables)
        self._address: int = self._held.address

    def activation(self, state: State) -> Array:
        """Activations of a checked state: none given stands for zeros."""
        given = state.activation
        return given if given.size else np.zeros(self._tables.activation.size)

    def predict(
        self, state: State, tau: ArrayLike | None = None, *, gain: ArrayLike | None = None
    ) -> StepPrediction:
        """What a step from a state meets.

        Parameters
        ----------
        state : State
            Where it begins.
        tau : (nv,) array_like, optional
            Joint forces, N m or N. Default zero.
        gain : (nv,) array_like, optional
            Change of velocity over the step that Coriolis forces count on, in the axes of `before`.
            Default: that under the joint forces without contacts.

        Returns
        -------
        StepPrediction
            Velocities, mass matrix and contacts.

        Raises
        ------
        ArgumentError
            For a state or forces that do not fit or are not finite.
        ContactError
            If an impact at the step's start has no solution.
        """
        checked = checked_state(state, self.model)
        forces = self.simulator.effort.cut(tau)
        nv = self.model.nv
        counted = None if gain is None else vector(gain, nv, "gain")
        problem, t = self._problem(checked, forces, counted), self._tables
        before = t.vectors[at.V_E, :nv].copy()
        model = with_links(self.model, t.damped.copy()) if t.control[at.DAMPED] else self.model
        if problem is None:
            q, none = t.vectors[at.Q_E, : self.model.nq].copy(), np.zeros((0, 3), dtype=np.int64)
            free = before + t.vectors[at.DV, :nv]
            return StepPrediction(self.model, q, before, free, mass_matrix(model, q), None, none)
        keys = t.ints[
            : problem.n_contacts,
            [col.CONTACT_PAIR, col.CONTACT_FEATURE_A, col.CONTACT_FEATURE_B],
        ]
        return StepPrediction(
            self.model,
            problem.q,
            before,
            problem.velocity,
            mass_matrix(model, problem.q),
            problem,
            keys,
        )

    def _problem(self, state: State, tau: Array, gain: Array | None) -> ContactProblem | None:
        """The step's contact problem, after impacts at its start: these do not depend on tau."""
        aim = _NO_GAIN if gain is None else gain
        time = np.array([state.time])
        activation = self.activation(state)
        code = look_held(self._address, time, state.q, state.v, activation, tau, aim)
        stepping = self.simulator.stepping
        for _ in range(100):
            while code == at.CONTACTS_FULL:
                self._hold(stepping.grow(self._tables))
                code = self._go_on()
            if code == at.DONE:
                return None
            if code != at.SOLVE:
                raise ContactError("the state is no longer finite within the step")
            t = self._tables
            problem = stepping.external.problem(t)
            if problem.phase == "contact":
                return problem
            if t.monitor[at.TIME] > state.time:
                return None  # a flight that ends in an impact within the step
            stepping.external.solve(t, self.simulator.law is None)
            code = self._go_on()
        raise ContactError("impacts at the start of the step do not end")

    def _go_on(self) -> int:
        """To the next problem, which is left alone."""
        self._tables.control[at.EXTERNAL] = 1
        return advance_held(self._address, _UNWATCHED)
