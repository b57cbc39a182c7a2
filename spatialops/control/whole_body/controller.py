"""A whole-body controller: tasks in strict order, bounds of joints, motors and contact forces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from spatialops._arrays import Array, scalar, whole
from spatialops.collision.contact_set import ContactSet
from spatialops.contact.qp import load
from spatialops.control.controller import Explanation
from spatialops.control.friction_cone.controller import Posture
from spatialops.control.friction_cone.explanation import ConeExplanation
from spatialops.control.motors import Motors
from spatialops.control.projected.held_contacts import HeldContacts
from spatialops.control.projected.present_contacts import PresentContacts, Schedule
from spatialops.control.safe_command import SafeController
from spatialops.control.task_space.tasks import stack
from spatialops.control.task_space.tracking import Tracking
from spatialops.control.whole_body.clearance import Clearance
from spatialops.control.whole_body.equations import (
    AccelerationLimits,
    Equations,
    equations,
    joint_limits,
)
from spatialops.control.whole_body.held_closures import HeldClosures
from spatialops.control.whole_body.hierarchy import Answer, Cost, Level, lexicographic
from spatialops.control.whole_body.joint_bounds import JointBounds
from spatialops.dynamics.loops.closure_factors import LoopsLike
from spatialops.dynamics.newton_euler import bias
from spatialops.errors import ArgumentError
from spatialops.tree.model import Model
from spatialops.tree.state import State, checked_state

_WHO = "the whole-body controller"
# Costs that decide only what nothing else does.
_DAMPED = 1e-6  # of accelerations that tasks leave free, W s^4
_SMALL = 1e-9  # of contact forces, W/N^2
_MISSED_RANK = 1e-8  # singular values of tasks, relative, that count as zero
_GIVES_WAY = "bounds of joints and distances give way: motors and contacts cannot keep them"


class _Command(NamedTuple):
    """A command's answer, and what it was found from."""

    answer: Answer
    found: Equations
    levels: list[Level]
    grip: HeldContacts


class WholeBodyController(SafeController):
    """Tasks in strict order, then least losses u.W u, over accelerations and contact forces.

    Subject to M a + h = B u + A^T f + G^T l, A a + Adot v = 0, G a + Gdot v = 0 of closures,
    friction pyramids, limits of motors and bounds of joints. A task that cannot be met is missed by
    as little as possible without taking anything from tasks of earlier levels; within a level all
    give way by their weights.

    Parameters
    ----------
    model : Model
        The mechanism.
    tasks : sequence of Tracking, or of sequences of Tracking
        Tasks with their paths, gains and weights; of sequences, the first is the strictest level.
    motors : Motors
        Of the mechanism.
    contacts : HeldContacts, callable or None
        As `FrictionConeController` takes them; a `ContactSchedule` loads and unloads them smoothly.
    sides : int, default 4
        Of the pyramid inscribed in each cone, the first along the first tangent; at least 3.
    damping : float, default 10
        1/s; accelerations that tasks leave free are drawn to -damping v.
    posture : callable, optional
        (model, state) -> accelerations (nv,) wanted where tasks leave freedom, instead of damping.
    posture_weight : float, default 10
        W s^3 per J: cost of missing them, in the metric of the mass matrix.
    bounds : JointBounds, "model" or None, default "model"
        Bounds of positions and velocities of joints with motors; "model": `JointBounds()`. Where
        motors and contacts cannot keep them they give way, and notes say so.
    clearance : Clearance, optional
        Bodies that keep their distance; it gives way as bounds of joints do.
    loops : Loops, Loop or sequence of Loop, optional
        Closures of the mechanism, `Scene.loops`; states are taken to be closed.

    Raises
    ------
    MissingLibraryError
        If daqp is not installed (``spatialops[qp]``).
    ArgumentError
        For options out of range.

    Examples
    --------
    >>> import spatialops as so
    >>> from spatialops.control import (
    ...     Actuation, CenterOfMassTask, HeldContact, HeldContacts, Motors, PoseTask, Tracking,
    ...     WholeBodyController,
    ... )
    >>> robot = so.models.quadruped()
    >>> feet = HeldContacts(robot.model, [HeldContact(node=so.Node(name)) for name in robot.feet])
    >>> base, center = PoseTask(so.Node("base")), CenterOfMassTask(axes=(0, 1))
    >>> upright = Tracking(base, base.motion(robot.model, robot.state).x)
    >>> middle = Tracking(center, center.motion(robot.model, robot.state).x)
    >>> control = WholeBodyController(  # the base before the centre of mass
    ...     robot.model, [[upright], [middle]], Motors(Actuation(robot.model)), contacts=feet
    ... )
    >>> tau = control(0.0, robot.state)
    >>> control.explain().status
    'solved'
    """

    def __init__(
        self,
        model: Model,
        tasks: Sequence[Tracking] | Sequence[Sequence[Tracking]],
        motors: Motors,
        *,
        contacts: HeldContacts | Schedule | None = None,
        sides: int = 4,
        damping: float = 10.0,
        posture: Posture | None = None,
        posture_weight: float = 10.0,
        bounds: JointBounds | Literal["model"] | None = "model",
        clearance: Clearance | None = None,
        loops: LoopsLike = (),
    ) -> None:
        load("daqp", _WHO)
        if motors.actuation.model is not model:
            raise ArgumentError("motors: are those of another model")
        self.model = model
        self.levels = _levels(tasks)
        self.motors = motors
        self.actuation = motors.actuation
        self.contacts = contacts
        self._present = PresentContacts(model)
        self._closures = HeldClosures(model, loops)
        self.sides = whole(sides, "sides", low=3)
        self.damping = scalar(damping, "damping", low=0.0)
        self.posture = posture
        self.posture_weight = scalar(posture_weight, "posture_weight", low=0.0)
        if not (bounds is None or bounds == "model" or isinstance(bounds, JointBounds)):
            raise ArgumentError(f"bounds: expected JointBounds, 'model' or None, got {bounds!r}")
        self.bounds = JointBounds() if bounds == "model" else bounds
        if clearance is not None and clearance.scene.model is not model:
            raise ArgumentError("clearance: is that of another model")
        self.clearance = clearance
        self._last: _Command | None = None

    def __call__(self, time: float, state: State, contacts: ContactSet | None = None) -> Array:
        """The command.

        Parameters
        ----------
        time : float
            Time, s.
        state : State
            Configuration and velocity.
        contacts : ContactSet, optional
            Contacts of the simulator's last step; used where the controller has none of its own.

        Returns
        -------
        (nv,) array
            Joint forces, N m or N, zero where there is no motor.

        Raises
        ------
        ArgumentError
            If no contacts are named at all.
        """
        if self.contacts is None and contacts is None:
            raise ArgumentError("contacts: the controller has none of its own, and none were given")
        self._last = None
        return self._safe_command(time, state, lambda: self._command(time, state, contacts))

    def _command(self, time: float, state: State, contacts: ContactSet | None) -> Explanation:
        checked_state(state, self.model)
        grip = self._present(self.contacts, time, state, contacts)
        found = equations(state, grip, self._closures, self.actuation, self.sides)
        m = grip.n_rows + self._closures.n_rows
        levels = [self._level(level, time, state, m) for level in self.levels]
        cost = self._cost(found, state)
        notes: tuple[str, ...] = ()
        limits = self._limits(state)
        answer = lexicographic(found.constraints(limits), levels, cost, _WHO)
        if answer is None and limits:
            answer = lexicographic(found.constraints(()), levels, cost, _WHO)
            notes = (_GIVES_WAY,)
        if answer is None:
            return self._carried(state)
        self._last = _Command(answer, found, levels, grip)
        status = "solved" if answer.met else "nearest"
        tau = self.actuation.clipped(self.actuation.spread(found.motors(answer.x)))
        still = np.zeros(len(tau))
        return Explanation(tau=tau, demanded=still, predicted=still, status=status, notes=notes)

    def explain(self) -> ConeExplanation:
        """Why the last command was what it was.

        Returns
        -------
        ConeExplanation
            Of the last call.

        Raises
        ------
        ArgumentError
            Before the first command.
        """
        found = super().explain()
        if self._last is None or found.status == "damped":
            return ConeExplanation(**vars(found))
        told = self._explained(self._last, found)
        self._explanation, self._last = told, None
        return told

    def _level(self, tasks: Sequence[Tracking], time: float, state: State, m: int) -> Level:
        """Rows of the tasks of one level, times the roots of their weights."""
        motions = [item.task.motion(self.model, state) for item in tasks]
        goals = [t.goal(time, x, state.v)[0] for t, x in zip(tasks, motions, strict=True)]
        sizes = [item.task.size for item in tasks]
        root = np.sqrt(np.repeat([item.weight for item in tasks], sizes))
        task = stack(motions, self.model.nv)
        J = np.hstack([task.J, np.zeros((len(task.J), m))])
        right = np.concatenate([*goals, np.zeros(0)]) - task.drift
        return Level(root[:, None] * J, root * right)

    def _cost(self, found: Equations, state: State) -> Cost:
        """Losses of motors, and what draws accelerations that tasks leave free."""
        n = self.model.nv
        weights = 2.0 * self.motors.weights
        H = found.U.T @ (weights[:, None] * found.U)
        f = found.U.T @ (weights * found.w)
        H[np.arange(n), np.arange(n)] += _DAMPED
        H[np.arange(n, len(H)), np.arange(n, len(H))] += _SMALL
        f[:n] += _DAMPED * self.damping * state.v
        if self.posture is not None:
            M = 2.0 * self.posture_weight * found.M
            H[:n, :n] += M
            f[:n] -= M @ self.posture(self.model, state)
        return Cost(H, f)

    def _limits(self, state: State) -> list[AccelerationLimits]:
        """What holds unless motors and contacts cannot keep it."""
        limits = []
        if self.bounds is not None:
            limits.append(joint_limits(self.bounds, state, self.actuation))
        if self.clearance is not None:
            limits.append(self.clearance.limits(state))
        return limits

    def _carried(self, state: State) -> ConeExplanation:
        """Where even the constraints have no answer: motors carry what they can."""
        tau = self.actuation.clipped(bias(self.model, state.q, state.v))
        still = np.zeros(self.model.nv)
        return ConeExplanation(
            tau=tau,
            demanded=still,
            predicted=still,
            status="held",
            residual=float("nan"),
            power=self.motors.power(tau[self.actuation.rows]),
            notes=("motors and contacts have no answer at all",),
        )

    def _explained(self, command: _Command, told: Explanation) -> ConeExplanation:
        n = self.model.nv
        x = command.answer.x
        found = command.found
        u = found.motors(x)
        J = np.vstack([level.J[:, :n] for level in command.levels])
        left = np.concatenate([level.r for level in command.levels]) - J @ x[:n]
        missing = np.linalg.lstsq(J, left, rcond=_MISSED_RANK)[0]
        size = 1.0 + np.abs(found.e).max(initial=0.0)
        return ConeExplanation(
            tau=told.tau,
            demanded=x[:n] + missing,
            predicted=x[:n],
            status=told.status,
            residual=float(np.abs(found.E @ x - found.e).max(initial=0.0) / size),
            iterations=command.answer.iterations,
            forces=x[n:][command.grip.force_rows].reshape(-1, 3),
            slack=float(np.abs(missing).max(initial=0.0)),
            seconds=told.seconds,
            unanswered=told.unanswered,
            power=self.motors.power(u),
            disturbance=left,
            notes=told.notes,
        )


def _levels(
    tasks: Sequence[Tracking] | Sequence[Sequence[Tracking]],
) -> tuple[tuple[Tracking, ...], ...]:
    """Levels of tasks; tasks by themselves are one level."""
    if all(isinstance(item, Tracking) for item in tasks):
        return (tuple(item for item in tasks if isinstance(item, Tracking)),)
    result = []
    for level in tasks:
        if isinstance(level, Tracking) or not all(isinstance(item, Tracking) for item in level):
            raise ArgumentError("tasks: expected tasks, or levels of tasks, and not both")
        result.append(tuple(level))
    return tuple(result)
