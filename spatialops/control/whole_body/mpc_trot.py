"""Walking by forces: a horizon of contact forces, and a whole body that makes them.

At every step of the horizon forces over the next strides are found for the robot as one body
(`CentroidalMPC`). Between, a whole-body controller follows the motion that belongs to them, with
feet that stand held, and feet that swing on their way to where the robot will need them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import (
    Array,
    ArrayLike,
    all_finite,
    array,
    instance,
    not_finite,
    scalar,
    several,
    vector,
)
from spatialops._compile.held import Held
from spatialops.collision.contact_set import ContactSet
from spatialops.control.controller import Explanation
from spatialops.control.locomotion.centroidal_mpc import CentroidalMPC
from spatialops.control.locomotion.centroidal_tables import Body, ForcePlan, Horizon, Wanted
from spatialops.control.locomotion.contact_schedule import ContactSchedule
from spatialops.control.locomotion.gait import Gait
from spatialops.control.memory import Remembers, put_in
from spatialops.control.motors import Motors
from spatialops.control.projected.held_contact import HeldContact
from spatialops.control.safe_command import SafeController
from spatialops.control.task_space.attitude_task import AttitudeTask
from spatialops.control.task_space.momentum_tasks import CenterOfMassTask
from spatialops.control.task_space.tasks import PointTask
from spatialops.control.task_space.tracking import Path, Tracking
from spatialops.control.whole_body.controller import WholeBodyController
from spatialops.control.whole_body.plan_kernels import follow_kernel, horizon_kernel
from spatialops.control.whole_body.trot_kernels import Now, Pace, Steps, see_kernel, step_kernel
from spatialops.dynamics.centroidal import centroidal_momentum_matrix
from spatialops.errors import ArgumentError
from spatialops.kinematics.center_motion import JACOBIAN
from spatialops.tree.free_frames import FreeFrame
from spatialops.tree.model import Model
from spatialops.tree.node import Node
from spatialops.tree.state import State, checked_state

Command = Callable[[float, State], ArrayLike]
_EARLY = 1e-9  # s by which a plan may be made before its time


@dataclass(frozen=True, kw_only=True)
class StepRule:
    """Where feet are set down: below the hips, half a stance ahead, and to catch the robot.

    Parameters
    ----------
    capture : float, default 1
        Of the distance sqrt(h / g) (v - v_d) by which a pendulum that is pushed is caught.
    """

    capture: float = 1.0


class MpcTrotController(Remembers, SafeController):
    """Walks by forces of a short horizon over a gait's schedule, on level ground.

    Parameters
    ----------
    model : Model
        A robot on a free base.
    feet : sequence of str or Node
        In the order of the gait.
    motors : Motors
        Of the robot.
    stance : State
        Standing on level ground: height, feet below the base.
    command : callable
        command(time, state) -> (forward, sideways, turning) velocities, m/s and rad/s, in the
        base's heading frame.
    gait : Gait, optional
        When feet stand; default: `Gait()`.
    mpc : CentroidalMPC, optional
        Of forces; default: `CentroidalMPC()`, with twelve steps over a period of the gait.
    friction : float, default 0.5
        Coefficient that is counted on.
    base : str, default "base"
        The free joint.
    rule : StepRule, optional
        Where feet are set down.

    Attributes
    ----------
    plan : ForcePlan
        The last one.

    Examples
    --------
    >>> import spatialops as so
    >>> from spatialops.control import Actuation, Motors, MpcTrotController
    >>> robot = so.models.quadruped()
    >>> motors = Motors(Actuation(robot.model))
    >>> control = MpcTrotController(
    ...     robot.model, robot.feet, motors, robot.state, lambda time, state: (0.2, 0.0, 0.0)
    ... )
    >>> tau = control(0.0, robot.state)
    >>> forces = control.plan.forces[0]  # of the first step: two feet carry the robot
    >>> (forces[:, 2] > 1.0).tolist()
    [False, True, True, False]

    Notes
    -----
    Nothing turns a robot on two point feet about the line between them: what the horizon leaves of
    that is missed, and commands are "nearest" then.
    """

    def __init__(
        self,
        model: Model,
        feet: tuple[str | Node, ...] | list[str | Node],
        motors: Motors,
        stance: State,
        command: Command,
        *,
        gait: Gait | None = None,
        mpc: CentroidalMPC | None = None,
        friction: float = 0.5,
        base: str = "base",
        rule: StepRule | None = None,
    ) -> None:
        self.model = model
        self.command = command
        self.gait = Gait() if gait is None else gait
        self.actuation = instance(motors, Motors, "motors").actuation
        self.rule = StepRule() if rule is None else rule
        friction = scalar(friction, "friction", low=0.0, strict=True)
        period = instance(self.gait, Gait, "gait").period
        self.mpc = CentroidalMPC(dt=period / 12, friction=friction) if mpc is None else mpc
        if not FreeFrame.of(model, base).is_home():
            raise ArgumentError(f"base: the joint {base!r} must stand at the world's origin")
        self._q, self._v = model.q_slice(base), model.v_slice(base)
        named = several(feet, "feet", "bodies or nodes, one for each leg")
        nodes = [foot if isinstance(foot, Node) else Node(foot) for foot in named]
        count = len(nodes)
        links, offsets = model.resolve(nodes)
        self._nodes = links, offsets
        self._node = Node(model.joint_names.index(base))
        self._center = CenterOfMassTask()
        room = (3, 3), (1,), (3,), (6,), (count, 3), (3, JACOBIAN + model.nv)
        self._now = Now(*(np.zeros(shape) for shape in room))
        self._seen = Held(self._now)
        self._see(checked_state(stance, model))
        now = self._now
        upright = _about_up(now.heading[0])
        rest = (now.feet - now.center) @ upright
        self._height = float(now.center[2])
        self._ground = float(now.feet[:, 2].mean())
        self._turned = np.array([upright.T @ now.rotation, np.eye(3)])  # and room
        names = [f"foot {i}" for i in range(count)]
        held = [
            HeldContact(node=node, friction=friction, name=name)
            for node, name in zip(nodes, names, strict=True)
        ]
        self.schedule = ContactSchedule.of_gait(model, held, self.gait)
        self._steps = Steps(
            np.asarray(self.gait.touchdown, dtype=np.float64),
            rest,
            np.zeros((3, count + 2, 3)),
            now.feet.copy(),
            now.feet.copy(),
            np.ones(count, dtype=np.int64),
        )
        self._kept = Held(self._steps)
        self._goals = self._steps.goals.reshape(3, -1)
        self._room = np.empty((3, 3, 3))
        self._mass = model.mass
        self._planned = np.inf  # when, s
        self._began = 0.0  # heading of the plan
        self._pace = np.zeros(3)
        self._whole = self._made(nodes, motors)
        self.plan: ForcePlan | None = None

    def _made(self, nodes: list[Node], motors: Motors) -> WholeBodyController:
        goals = self._steps.goals
        paths = [_path_of(goals, i) for i in range(goals.shape[1])]
        feet = [
            Tracking(PointTask(node), path, stiffness=900.0)
            for node, path in zip(nodes, paths[:-2], strict=True)
        ]
        body = [
            Tracking(AttitudeTask(self._node), paths[-2], stiffness=50.0),
            Tracking(self._center, paths[-1], stiffness=50.0, weight=10.0),
        ]
        return WholeBodyController(self.model, [feet, body], motors, contacts=self.schedule)

    def __call__(self, time: float, state: State, contacts: ContactSet | None = None) -> Array:
        """The command.

        Parameters
        ----------
        time : float
            Time, s.
        state : State
            Configuration and velocity.
        contacts : ContactSet, optional
            Not used: the gait says which feet stand.

        Returns
        -------
        (nv,) array
            Joint forces, N m or N, zero where there is no motor.
        """
        return self._safe_command(time, state, lambda: self._command(time, state))

    def _command(self, time: float, state: State) -> Explanation:
        state = checked_state(state, self.model)
        self._see(state)
        step_kernel(*self._tables(), float(time), self._numbers())
        if not 0.0 <= time - self._planned < self.mpc.dt - _EARLY:
            self._replan(time, state)
        self._follow(time)
        grip = self.schedule(time, state)
        return self._whole.command(time, state, grip, self._goals)

    def explain(self) -> Explanation:
        """Why the last command was what it was, as the whole body says it.

        Returns
        -------
        Explanation
            Of the last call.

        Raises
        ------
        ArgumentError
            Before the first command.
        """
        self._explanation = self._whole.explained(super().explain())
        return self._explanation

    def _remembered(self) -> Mapping[str, Array]:
        """Steps that are on their way, and the plan, if there is one, with its time and heading."""
        kept = {"pace": self._pace, **self._on_their_way()}
        if self.plan is None:
            return kept
        return kept | self.plan._asdict() | {"began": np.array([self._planned, self._began])}

    def _remember(self, kept: Mapping[str, Array]) -> None:
        self._pace = array(kept["pace"], (3,), "pace", finite=True).copy()
        put_in(self._on_their_way(), kept)
        self.plan = None
        self._planned = np.inf
        if "began" not in kept:
            return
        began = array(kept["began"], (2,), "began", finite=True)
        n, k = self.mpc.steps, len(self._now.feet)
        shapes = {"forces": (n, k, 3), "coordinates": (n + 1, 6), "rates": (n + 1, 6)}
        shapes["accelerations"] = n, 6
        each = {name: array(kept[name], shapes[name], name, finite=True) for name in shapes}
        self.plan = ForcePlan(**each)
        self._planned, self._began = began.tolist()

    def _on_their_way(self) -> Mapping[str, Array]:
        steps = self._steps
        return {name: getattr(steps, name) for name in ("goals", "lifted", "ends", "stood")}

    def _parts(self) -> Mapping[str, object]:
        return {"command": self.command}

    def _see(self, state: State) -> None:
        model = self.model
        q, v = vector(state.q, model.nq, "q"), vector(state.v, model.nv, "v")
        work = model.workspace()
        base = self._q.start + 3, self._v.start
        mechanism = model.tree, model.links, work
        status = see_kernel(self._seen.address, mechanism, q, v, base, self._nodes)
        if status != layout.OK or not all_finite(self._now.rates):
            raise not_finite(q=q, v=v)
        model.spare.append(work)

    def _tables(self) -> tuple[int, int]:
        """Where the robot and its steps are described."""
        return self._seen.address, self._kept.address

    def _numbers(self) -> Pace:
        """The gait as it is, at the pace that was asked for last."""
        gait = self.gait
        capture = self.rule.capture * math.sqrt(self._height / self.mpc.gravity)
        pace = self._pace.tolist()
        return Pace(gait.period, gait.duty, gait.step_height, self._ground, capture, *pace)

    def _replan(self, time: float, state: State) -> None:
        """Forces of the next horizon."""
        self._pace = vector(self.command(time, state), 3, "command")
        if not all_finite(self._pace):
            self._pace = np.zeros(3)
            raise ArgumentError("command: the velocities are not finite")
        now = self._now
        n, k = self.mpc.steps, len(now.feet)
        coordinates, rates = np.empty((n, 6)), np.empty((n, 6))
        holds, feet = np.empty((n, k), dtype=np.int64), np.empty((n, k, 3))
        momentum = centroidal_momentum_matrix(self.model, state.q), self._v.start
        body = Body(self._mass, np.empty((3, 3)), np.empty(6), np.empty(6))
        moments = float(time), self.mpc.dt, self._height
        wanted = Wanted(coordinates, rates, feet, holds)
        given = moments, self._numbers(), self._turned, momentum
        horizon_kernel(*self._tables(), *given, wanted, body)
        self.plan = self.mpc(body, Horizon(coordinates, rates, holds, feet))
        self._planned, self._began = time, float(now.heading[0])

    def _follow(self, time: float) -> None:
        """Goals of the body: the plan's motion now."""
        assert self.plan is not None
        plan = self.plan.coordinates, self.plan.rates, self.plan.accelerations
        since, turning = float(time - self._planned), float(self._pace[2])
        numbers = since, float(self.mpc.dt), self._began, turning
        follow_kernel(self._kept.address, *numbers, plan, self._turned, self._room)


def _about_up(heading: float) -> Array:
    """Rotation (3, 3) about the vertical."""
    c, s = np.cos(heading), np.sin(heading)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _path_of(goals: Array, i: int) -> Path:
    """The i-th of goals (3, k, 3), places, rates and accelerations, as they are when asked."""

    def path(_: float) -> tuple[Array, Array, Array]:
        return goals[0, i], goals[1, i], goals[2, i]

    return path
