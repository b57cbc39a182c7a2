"""Inverse dynamics that predicts its contact forces: what the controllers of [Z] 4 to 6 share.

A command is: predict the step without motor forces; pose the inverse problem of the demand; let a
law predict the impulses; choose among those that do the same; take the motors' forces from the
actuated rows. Subclasses name the law and the choice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple, TypedDict, get_args

import numpy as np

from spatialops._arrays import (
    Array,
    ArrayLike,
    BoolArray,
    all_finite,
    array,
    instance,
    is_one_of,
    largest,
    scalar,
    vector,
)
from spatialops.collision.contact_set import ContactSet
from spatialops.contact.laws.law import Law
from spatialops.control.actuation import Actuation
from spatialops.control.controller import Explanation
from spatialops.control.inverse_dynamics.answer import (
    FEWER,
    LET_GO,
    OTHERS,
    TURN,
    Answer,
)
from spatialops.control.inverse_dynamics.compiled import layout as io
from spatialops.control.inverse_dynamics.compiled.command import CompiledCommand
from spatialops.control.inverse_dynamics.counted_step import counted_step
from spatialops.control.inverse_dynamics.law_rounds import Choice, LawRounds
from spatialops.control.inverse_dynamics.outcome import Judge
from spatialops.control.inverse_dynamics.preferred import prefers_fewer
from spatialops.control.inverse_dynamics.remembered import Remembered
from spatialops.control.inverse_dynamics.replay import Replay, replay
from spatialops.control.memory import Remembers
from spatialops.control.safe_command import LIMITS_BIND, UNANSWERED, SafeController
from spatialops.errors import ArgumentError
from spatialops.simulation.lookahead import Lookahead
from spatialops.simulation.simulator import Simulator
from spatialops.tree.state import State, checked_state

Demand = Callable[[float, State], ArrayLike]
_HORIZON = 0.02  # s; with one step of 1 ms three of four robots fall in MuJoCo
_BRAKE = 0.05  # s in which a command without an answer brings the joints to rest
_CHOICES = {"solver": io.SOLVER, "nearest": io.NEAREST, "least-torque": io.LEAST_TORQUE}
_CHANGED = 1e-6  # rad/s^2: less is no change of a demand
_LAND = "contacts land: passively"
# The law answers otherwise than was counted on.
_OTHERWISE = (LET_GO, FEWER, _LAND)
# Beginnings of notes: forces that come are not those counted on.
UNSETTLED = (LIMITS_BIND, _LAND, TURN, OTHERS, LET_GO, FEWER)


class Asked(NamedTuple):
    """A command, where it was given, and the forces of the one before."""

    state: State
    tau: Array
    last: Remembered


class Options(TypedDict, total=False):
    """Options that subclasses hand on, see `ContactInverseDynamics`."""

    actuation: Actuation | None
    standing: Callable[[float], ArrayLike] | None
    within_limits: bool
    horizon: float | None
    others: Callable[[float, State], ArrayLike] | None
    reserve: float


class ContactInverseDynamics(Remembers, LawRounds, SafeController):
    """Motor forces that give demanded accelerations against contact forces that it predicts.

    Parameters
    ----------
    simulator : Simulator
        The controller's model of the world: scene, step and integrator. Its law need not be the
        controller's.
    demand : callable
        demand(time, state) -> accelerations (n,) of the actuated velocities, rad/s^2 or m/s^2.
    actuation : Actuation, optional
        Default: all joints but free ones.
    choice : {"solver", "nearest", "least-torque"}, default "solver"
        Among forces that do the same: those that the solver meets; those nearest to the last
        command's, so that loads do not jump between contacts; those that ask least of the motors.
    standing : callable, optional
        standing(time) -> kernel links (`model.body_links`) whose contacts the motion means to keep.
        Demands are changed by the least with which these neither slip nor part ([Z] 4.5), so that
        feet do not pull against each other.
    within_limits : bool, default True
        Clip commands to the motors' limits, say so, and predict what the clipped command does.
    horizon : float, optional
        s over which the demand is met and contacts are brought to rest; default: 20 ms, or one step
        of the simulator where that is longer. With one step the command is the exact inverse of
        that simulator, and of nothing else: where the ground is not as rigid as a law says, or the
        state not as exact, a foot that is stopped within a step counts on forces that do not come,
        and shakes.
    others : callable, optional
        others(time, state) -> joint forces (nv,) of motors outside `actuation`, which follow
        forces: they are counted on, and part of the command. Fingers that squeeze are such; were
        their motion given, what they squeeze would have to fit between them to the last digit.
    reserve : float, default 0.3
        Share of friction that the choice "least-torque" leaves unused: what asks least of the
        motors lies at the edge of the cones, where less friction than was thought lets feet slip.
        Where the law's own forces need more, they stay as they are. 0: whole cones, as [Z] have it.

    Attributes
    ----------
    forces : dict
        Last predicted impulses, N s in world axes, by the contacts' identities.

    Raises
    ------
    ArgumentError
        For options that are not known, or out of range.

    References
    ----------
    [Z] sections 4 to 6.
    """

    # Whether the law has one answer to a command, as far as motion goes.
    one_answer: bool = True

    def __init__(
        self,
        simulator: Simulator,
        demand: Demand,
        *,
        actuation: Actuation | None = None,
        choice: Choice = "solver",
        standing: Callable[[float], ArrayLike] | None = None,
        within_limits: bool = True,
        horizon: float | None = None,
        others: Callable[[float, State], ArrayLike] | None = None,
        reserve: float = 0.3,
    ) -> None:
        if not is_one_of(choice, get_args(Choice)):
            known = ", ".join(get_args(Choice))
            raise ArgumentError(f"choice: expected one of {known}, got {choice!r}")
        if not callable(demand):
            raise ArgumentError(
                f"demand: expected a function (time, state) -> accelerations, got {demand!r}"
            )
        lookahead = Lookahead(simulator)
        horizon = max(_HORIZON, simulator.dt) if horizon is None else horizon
        dt = scalar(horizon, "horizon", low=simulator.dt)
        motors = Actuation(lookahead.model) if actuation is None else actuation
        super().__init__(lookahead, motors, choice, dt)
        kept = scalar(reserve, "reserve", low=0.0, high=1.0)
        self.reserve = kept if choice == "least-torque" else 0.0
        self.demand = demand
        self.within_limits = within_limits
        self.standing = standing
        self.others = others
        self._asked: Asked | None = None
        self._is_cut = False
        self._told: Explanation | None = None  # by `explain`, which adds to it
        self._missed = 0.0
        self._judge = Judge(motors, lookahead.simulator.effort.limit, dt)
        self._compiled: CompiledCommand | None = None
        self._compiled_law: Law | None = None

    def _compile(self, law: int, kind: int) -> None:
        """Have kernels answer where they have the law of this number, and the choice."""
        if not self.lookahead.plain:
            return
        self._compiled_law = self.law
        self._compiled = CompiledCommand(
            self.lookahead,
            self.actuation.rows,
            self.dt,
            self._memory,
            self.reserve,
            law=law,
            choice=_CHOICES[self.choice],
            kind=kind,
            n_f=self.n_f,
            aligned=self.aligned,
        )

    @property
    def forces(self) -> dict[tuple[int, ...], Array]:
        """Last predicted impulses, N s in world axes, by the contacts' identities."""
        return self._forces.by_name()

    def __call__(self, time: float, state: State, contacts: ContactSet | None = None) -> Array:
        """The command; `explain().status` says what it is worth.

        Parameters
        ----------
        time : float
            Time, s.
        state : State
            Configuration and velocity.
        contacts : ContactSet, optional
            Not used: the controller predicts its contacts.

        Returns
        -------
        (nv,) array
            Joint forces, N m or N; always finite.
        """
        return self._safe_command(time, state, lambda: self._answer(time, state))

    def _answer(self, time: float, state: State) -> Explanation:
        """The command for the demand, or one that brakes joints against predicted forces."""
        instance(state, State, "state")
        notes: tuple[str, ...] = ("the demand is not finite",)
        try:
            wanted = vector(self.demand(time, state), len(self.actuation), "demand")
            if all_finite(wanted):
                return self._commanded(state, wanted, "solved", ())
        except UNANSWERED as error:
            notes = (f"no command for the demand: {error}",)
        return self._commanded(state, -state.v[self.actuation.rows] / _BRAKE, "held", notes)

    def _commanded(
        self, state: State, accelerations: Array, status: str, notes: tuple[str, ...]
    ) -> Explanation:
        """The command; once more where it fails from what is remembered of the one before."""
        while True:
            fresh = self._fresh
            try:
                return self._command(state, accelerations, status, notes)
            except UNANSWERED:
                self._forget()
                if fresh:
                    raise

    def _command(
        self, state: State, accelerations: Array, status: str, notes: tuple[str, ...]
    ) -> Explanation:
        base = self._base(state)
        stands = self._stands(state.time)
        found = self._by_kernels(state, accelerations, base, stands)
        if found is None:
            found = self._by_law(state, accelerations, base, stands)
        outcome = self._judge(found, base, accelerations, self.within_limits)
        self._asked = Asked(state, outcome.tau, self._forces)
        self._forces = found.forces
        self._fresh = False
        predicted, missed = outcome.predicted, outcome.missed
        if not missed < np.inf:  # of a demand so wild that limits leave nothing of it
            predicted = self.replay().accelerations
            missed = largest(predicted[self.actuation.rows] - accelerations)
        self._missed = found.miss
        self._is_cut = binds = outcome.binds  # not what it was computed for: `explain`
        slack = missed + found.miss
        met = slack <= _CHANGED * max(1.0, outcome.largest)
        kept = met and found.status == "solved" and not found.lands and LET_GO not in found.notes
        if status == "solved" and (binds or not kept):
            status = "nearest"
        notes = (*notes, *found.notes)
        notes += (LIMITS_BIND,) if binds else ()
        notes += (_LAND,) if found.lands else ()
        return Explanation(
            tau=outcome.tau,
            demanded=outcome.demanded,
            predicted=predicted,
            forces=found.impulses / self.dt,
            status=status,
            residual=found.residual,
            slack=slack,
            iterations=found.iterations,
            notes=notes,
        )

    def _by_kernels(
        self, state: State, accelerations: Array, base: Array, stands: BoolArray | None
    ) -> Answer | None:
        """The command where kernels have all that it takes.

        A law that was put in the place of the controller's own they have not.
        """
        if self._compiled is None or self.law is not self._compiled_law:
            return None
        now = checked_state(state, self.model)
        forces = base if self.others is None else self.lookahead.simulator.effort.cut(base)
        return self._compiled.answer(now, accelerations, forces, self._gain, stands, self._forces)

    def _remembered(self) -> Mapping[str, Array]:
        """What Coriolis forces count on, and forces by name, near which the next ones are."""
        last = self._forces
        return {"gain": self._gain, "names": last.names.astype(np.float64), "world": last.world}

    def _remember(self, kept: Mapping[str, Array]) -> None:
        gain = array(kept["gain"], (self.model.nv,), "gain", finite=True)
        names = array(kept["names"], (None, 3), "names", finite=True)
        world = array(kept["world"], (len(names), 3), "world", finite=True)
        self._gain = gain.copy()
        self._forces = Remembered(names.astype(np.int64), world.copy())
        self._fresh = False

    def _parts(self) -> Mapping[str, object]:
        return {"demand": self.demand, "others": self.others}

    def explain(self) -> Explanation:
        """Why the last command was what it was; where limits cut it, what is left of it.

        Whether the law prefers another answer than the forces counted on is found here too, and
        what comes of the command then, or where contacts land: it is "nearest" where that is not
        what was demanded.

        Returns
        -------
        Explanation
            Of the last call.

        Raises
        ------
        ArgumentError
            Before the first command.
        """
        found = super().explain()
        if found is not self._told and found.status != "damped":
            found = self._with_others(found)
            if self._is_cut or any(note in _OTHERWISE for note in found.notes):
                found = self._what_comes(found)
            self._told = self._explanation = found
        return found

    def _what_comes(self, found: Explanation) -> Explanation:
        """What a command does, by the law, that limits cut or that counts on other forces."""
        rows = self.actuation.rows
        try:
            predicted = self.replay().accelerations
            if not np.isfinite(predicted).all():
                raise ArgumentError("it is not finite")
        except UNANSWERED as error:
            note = f"predicted is what was counted on; of what comes nothing is known: {error}"
            return replace(found, notes=(*found.notes, note))
        wanted = found.demanded[rows]
        slack = float(np.abs(predicted[rows] - wanted).max(initial=0.0)) + self._missed
        met = slack <= _CHANGED * max(1.0, largest(wanted))
        status = "nearest" if found.status == "solved" and not met else found.status
        return replace(found, predicted=predicted, slack=slack, status=status)

    def _with_others(self, found: Explanation) -> Explanation:
        """A note where the law prefers another answer to the command than the one counted on."""
        if self.one_answer or self._asked is None:
            return found
        if any(note.startswith(UNSETTLED) for note in found.notes):
            return found
        try:
            with np.errstate(all="ignore"):
                met = self._ahead(self._asked.state, self._asked.tau)
                ahead = counted_step(met, self.dt / self.lookahead.dt, None).ahead
                fewer = prefers_fewer(self.law, ahead, self._forces)
        except UNANSWERED:
            return found
        return replace(found, notes=(*found.notes, FEWER)) if fewer else found

    def replay(self) -> Replay:
        """What the controller's law itself answers to the last command, over one step.

        The prediction is what the command was computed for; this is a forward problem, solved
        again under its torques, which agrees with a simulator of the same law also where the
        prediction does not (`Replay`).

        Returns
        -------
        Replay
            Accelerations, forces and the law's residual.

        Raises
        ------
        ArgumentError
            Before the first command that was computed for forces.
        """
        if self._asked is None:
            raise ArgumentError("replay: there has been no command for predicted forces yet")
        asked, share = self._asked, self.lookahead.dt / self.dt
        last = asked.last.times(share)
        return replay(self.lookahead, self.law, asked.state, asked.tau, last)

    def _base(self, state: State) -> Array:
        """Forces (nv,) of the motors whose motion is not given."""
        nv, rows = self.model.nv, self.actuation.rows
        if self.others is None:
            return np.zeros(nv)
        base = vector(self.others(state.time, state), nv, "others").copy()
        base[rows] = 0.0
        return base

    def _stands(self, time: float) -> BoolArray | None:
        """Links (nv + 1,) of `standing`; the last is the world, link -1."""
        if self.standing is None:
            return None
        nv, given = self.model.nv, np.asarray(self.standing(time))
        stands = np.zeros(nv + 1, dtype=np.bool_)
        if not given.size:
            return stands
        if given.dtype.kind not in "iu" or given.min() < -1 or given.max() >= nv:
            raise ArgumentError(f"standing: expected links from -1 to {nv - 1}, got {given}")
        stands[given] = True
        return stands
