"""A whole-body controller: tasks in strict order, bounds of joints, motors and contact forces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, cast

import numpy as np

from spatialops._arrays import Array, IntArray, all_finite, instance, scalar, several, whole
from spatialops._compile.held import Held
from spatialops.control.controller import Explanation
from spatialops.control.friction_cone.controller import Posture
from spatialops.control.friction_cone.explanation import ConeExplanation
from spatialops.control.motors import Motors
from spatialops.control.projected.gripping_controller import GrippingController
from spatialops.control.projected.held_contacts import HeldContacts
from spatialops.control.projected.motion_equation import MotionEquation
from spatialops.control.projected.present_contacts import Schedule
from spatialops.control.task_space.gathered_tasks import GatheredTasks
from spatialops.control.task_space.tracking import Tracking
from spatialops.control.whole_body.clearance import Clearance
from spatialops.control.whole_body.equations import (
    GAVE_WAY,
    STEPS,
    AccelerationLimits,
    Given,
    Levels,
    Sizes,
    floats_of,
    integers_of,
    problem_of,
    sizes_of,
    whole_body_kernel,
)
from spatialops.control.whole_body.joint_bounds import JointBounds
from spatialops.control.whole_body.order_kernel import MET, NO_POINT
from spatialops.dynamics.loops.closure_factors import LoopsLike
from spatialops.dynamics.newton_euler import bias
from spatialops.errors import ArgumentError
from spatialops.tree.model import Model
from spatialops.tree.state import State

_MISSED_RANK = 1e-8  # singular values of tasks, relative, that count as zero
_UNBOUND = np.zeros((2, 0))  # joints without bounds
_GIVES_WAY = "bounds of joints and distances give way: motors and contacts cannot keep them"


class _Ordered(NamedTuple):
    """Tasks of all levels, and the kernel's tables; and what they were made for."""

    source: tuple[tuple[Tracking, ...], ...]
    limits: Array
    each: GatheredTasks
    levels: Held


class _Room(NamedTuple):
    """Memory of a command: what it is for, and how much of it is what."""

    order: _Ordered
    shapes: tuple[int, ...]
    sizes: Sizes
    floats: Array
    ints: IntArray


class _Command(NamedTuple):
    """A command's answer, and what it was found from."""

    x: Array
    u: Array
    room: _Room
    given: Given
    grip: HeldContacts


class WholeBodyController(GrippingController):
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
        if instance(motors, Motors, "motors").actuation.model is not model:
            raise ArgumentError("motors: are those of another model")
        super().__init__(model, contacts)
        self.levels = _levels(tasks)
        self.motors = motors
        self.actuation = motors.actuation
        self._equation = MotionEquation(model, loops)
        self.sides = whole(sides, "sides", low=3)
        self.damping = scalar(damping, "damping", low=0.0)
        self.posture = posture
        self.posture_weight = scalar(posture_weight, "posture_weight", low=0.0)
        by_model = isinstance(bounds, str) and bounds == "model"
        if not (bounds is None or by_model or isinstance(bounds, JointBounds)):
            raise ArgumentError(f"bounds: expected JointBounds, 'model' or None, got {bounds!r}")
        self.bounds = bounds if isinstance(bounds, JointBounds) or bounds is None else JointBounds()
        apart = (
            clearance is None or instance(clearance, Clearance, "clearance").scene.model is model
        )
        if not apart:
            raise ArgumentError("clearance: is that of another model")
        self.clearance = clearance
        self._ordered: _Ordered | None = None
        self._none = AccelerationLimits(np.zeros((0, model.nv)), np.zeros(0))
        self._still = np.zeros(model.nv)
        self._room: _Room | None = None
        self._last: _Command | None = None

    def _forget(self) -> None:
        self._last = None

    def _command(self, time: float, state: State, grip: HeldContacts) -> Explanation:
        return self.command(time, state, grip)

    def command(
        self, time: float, state: State, grip: HeldContacts, goals: Array | None = None
    ) -> Explanation:
        """The command of a state that has been checked, for who is safe by itself.

        Parameters
        ----------
        time : float
            Time, s.
        state : State
            Configuration and velocity.
        grip : HeldContacts
            What is held.
        goals : (3, k) array, optional
            What paths of all tasks say; default: they are asked, see `GatheredTasks.rows`.

        Returns
        -------
        Explanation
            With what `explained` needs left to be found.

        Raises
        ------
        ArgumentError
            For what is not finite.
        """
        self._last = None
        given = self._given(time, state, grip, goals)
        room = self._room_for(given)
        status, x, u = self._solved(given, room)
        dry = self.model.dry_friction.any() and all_finite(x)
        turned = self._equation.turned(state, x[: self.model.nv]) if dry else None
        if turned is not None:
            given = given._replace(load=given.load + turned)
            status, x, u = self._solved(given, room)
        if status == NO_POINT or not all_finite(x):
            return self._carried(state)
        self._last = _Command(x, u, room, given, grip)
        return Explanation(
            tau=self.actuation.spread(u),
            demanded=self._still,
            predicted=self._still,
            status="solved" if status == MET else "nearest",
            notes=(_GIVES_WAY,) if room.ints[GAVE_WAY] else (),
        )

    def _solved(self, given: Given, room: _Room) -> tuple[int, Array, Array]:
        """Status, unknowns and motor forces."""
        x, u = np.empty(room.sizes.n), np.empty(len(self.actuation))
        weight = 0.0 if self.posture is None else self.posture_weight
        own = room.order.levels.address, given, self.sides, weight, room.sizes
        status = whole_body_kernel(*own, x, u, room.floats, room.ints)
        return status, x, u

    def _given(self, time: float, state: State, grip: HeldContacts, goals: Array | None) -> Given:
        """What the kernel takes."""
        model = self.model
        wanted = np.empty((2, model.nv))
        wanted[0] = 0.0 if self.posture is None else self.posture(model, state)
        np.multiply(state.v, -self.damping, out=wanted[1])
        bounded, offsets, _ = grip.limits
        apart = self._none if self.clearance is None else self.clearance.limits(state)
        own = _UNBOUND if self.bounds is None else self.bounds.ranges(model, state)
        tasks = self._order.each.rows(time, state, goals)
        return Given(
            *self._equation.at(state, grip),
            grip.mu,
            bounded,
            offsets,
            grip.pressed,
            tasks.J,
            tasks.wanted - tasks.drift,
            wanted,
            own,
            *apart,
            grip.force_rows,
            grip.pressed_rows,
        )

    @property
    def _order(self) -> _Ordered:
        """Of the levels and motors as they are now."""
        kept = self._ordered
        if kept is not None and kept.source is self.levels and kept.limits is self.actuation.limits:
            return kept
        each = tuple(item for level in self.levels for item in level)
        sizes = [item.task.size for item in each]
        rows = [sum(item.task.size for item in level) for level in self.levels]
        limits = self.actuation.limits
        levels = Levels(
            self.actuation.rows,
            self.motors.weights,
            limits,
            np.sqrt(np.repeat([item.weight for item in each], sizes)),
            np.cumsum([0, *rows], dtype=np.int64),
        )
        each_at_once = GatheredTasks(self.model, each)
        self._ordered = kept = _Ordered(self.levels, limits, each_at_once, Held(levels))
        return kept

    def _room_for(self, given: Given) -> _Room:
        """Memory for a command of these shapes; the last one's if they are its own."""
        order, room = self._order, self._room
        shapes = (
            len(given.drift),
            len(given.mu),
            len(given.offsets),
            len(given.pressed),
            len(given.least),
            given.own.shape[1],
            self.sides,
        )
        if room is None or room.order is not order or room.shapes != shapes:
            sizes = sizes_of(order.levels.tables, given, self.sides)
            floats = np.zeros(floats_of(sizes, len(given.r)))
            ints = np.zeros(integers_of(sizes), dtype=np.int64)
            self._room = room = _Room(order, shapes, sizes, floats, ints)
        return room

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
        told = self.explained(super().explain())
        self._explanation = told
        return told

    def explained(self, found: Explanation) -> ConeExplanation:
        """All that is to be said of a command, from what was said with it.

        Parameters
        ----------
        found : Explanation
            Of the last command.

        Returns
        -------
        ConeExplanation
            The same with accelerations, forces and what is missed, once for each command.
        """
        if self._last is None or found.status == "damped":
            return found if isinstance(found, ConeExplanation) else ConeExplanation(**vars(found))
        last, self._last = self._last, None
        return self._explained(last, found)

    def _carried(self, state: State) -> ConeExplanation:
        """Where even the constraints have no answer: motors carry what they can."""
        tau = self.actuation.clipped(bias(self.model, state.q, state.v))
        return ConeExplanation(
            tau=tau,
            demanded=self._still,
            predicted=self._still,
            status="held",
            residual=float("nan"),
            power=self.motors.power(tau[self.actuation.rows]),
            notes=("motors and contacts have no answer at all",),
        )

    def _explained(self, command: _Command, told: Explanation) -> ConeExplanation:
        n = self.model.nv
        x, given = command.x, command.given
        room = command.room
        problem = problem_of(room.sizes, len(given.r), room.floats)
        roots = room.order.levels.tables.roots
        J = roots[:, None] * given.J
        left = roots * given.r - J @ x[:n]
        missing = np.linalg.lstsq(J, left, rcond=_MISSED_RANK)[0]
        size = 1.0 + np.abs(problem.e).max(initial=0.0)
        return ConeExplanation(
            tau=told.tau,
            demanded=x[:n] + missing,
            predicted=x[:n],
            status=told.status,
            residual=float(np.abs(problem.E @ x - problem.e).max(initial=0.0) / size),
            iterations=int(room.ints[STEPS]),
            forces=x[n:][command.grip.force_rows].reshape(-1, 3),
            slack=float(np.abs(missing).max(initial=0.0)),
            seconds=told.seconds,
            unanswered=told.unanswered,
            power=self.motors.power(command.u),
            disturbance=left,
            notes=told.notes,
        )


def _levels(
    tasks: Sequence[Tracking] | Sequence[Sequence[Tracking]],
) -> tuple[tuple[Tracking, ...], ...]:
    """Levels of tasks; tasks by themselves are one level."""
    given = several(tasks, "tasks", "trackings, or of levels of them")
    if all(isinstance(item, Tracking) for item in given):
        return (tuple(item for item in given if isinstance(item, Tracking)),)
    if any(isinstance(level, Tracking) for level in given):
        raise ArgumentError("tasks: expected tasks, or levels of tasks, and not both")
    levels = (several(cast("Sequence[Tracking]", level), "tasks", "tasks") for level in given)
    return tuple(tuple(instance(item, Tracking, "tasks") for item in level) for level in levels)
