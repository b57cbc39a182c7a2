"""Walking by forces: a horizon of contact forces, and a whole body that makes them.

At every step of the horizon forces over the next strides are found for the robot as one body
(`CentroidalMPC`). Between, a whole-body controller follows the motion that belongs to them, with
feet that stand held, and feet that swing on their way to where the robot will need them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, ArrayLike, all_finite, scalar, vector
from spatialops.algebra.rotation import from_rotation_vector, rotation_matrix
from spatialops.collision.contact_set import ContactSet
from spatialops.control.controller import Explanation
from spatialops.control.locomotion.centroidal_mpc import Body, CentroidalMPC, ForcePlan, Horizon
from spatialops.control.locomotion.contact_schedule import ContactSchedule
from spatialops.control.locomotion.gait import Gait
from spatialops.control.motors import Motors
from spatialops.control.projected.held_contact import HeldContact
from spatialops.control.safe_command import SafeController
from spatialops.control.task_space.attitude_task import AttitudeTask
from spatialops.control.task_space.momentum_tasks import CenterOfMassTask
from spatialops.control.task_space.points import Points
from spatialops.control.task_space.rotation_coordinates import rotation_vector, vector_rates
from spatialops.control.task_space.tasks import PointTask
from spatialops.control.task_space.tracking import Path, Tracking
from spatialops.control.whole_body.controller import WholeBodyController
from spatialops.dynamics.centroidal import centroidal_momentum_matrix
from spatialops.dynamics.energy import center_of_mass
from spatialops.errors import ArgumentError
from spatialops.tree.model import Model
from spatialops.tree.node import Node
from spatialops.tree.state import State, checked_state

Command = Callable[[float, State], ArrayLike]
_EARLY = 1e-9  # s by which a plan may be made before its time
_AIMED = 0.8  # part of a swing from which on its end stays where it is


@dataclass(frozen=True, kw_only=True)
class StepRule:
    """Where feet are set down: below the hips, half a stance ahead, and to catch the robot.

    Parameters
    ----------
    capture : float, default 1
        Of the distance sqrt(h / g) (v - v_d) by which a pendulum that is pushed is caught.
    """

    capture: float = 1.0


class _Now(NamedTuple):
    """A state, as the planner needs it."""

    rotation: Array  # (3, 3) of the base
    heading: float
    center: Array
    rates: Array  # (6,) of attitude and centre of mass, world axes
    feet: Array  # (k, 3)
    inertia: Array  # (3, 3) about the centre of mass, world axes


class MpcTrotController(SafeController):
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

    Raises
    ------
    MissingLibraryError
        If daqp is not installed (``spatialops[qp]``).

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
        self.actuation = motors.actuation
        self.rule = StepRule() if rule is None else rule
        friction = scalar(friction, "friction", low=0.0, strict=True)
        period = self.gait.period
        self.mpc = CentroidalMPC(dt=period / 12, friction=friction) if mpc is None else mpc
        self._q, self._v = model.q_slice(base), model.v_slice(base)
        nodes = [foot if isinstance(foot, Node) else Node(foot) for foot in feet]
        self._points = Points(model, nodes)
        self._node = Node(model.joint_names.index(base))
        self._center = CenterOfMassTask()
        now = self._seen(stance)
        self._rest = (now.feet - now.center) @ _about_up(now.heading)  # in the heading frame
        self._height = float(now.center[2])
        self._ground = float(now.feet[:, 2].mean())
        self._turned = _about_up(now.heading).T @ now.rotation
        names = [f"foot {i}" for i in range(len(nodes))]
        held = [
            HeldContact(node=node, friction=friction, name=name)
            for node, name in zip(nodes, names, strict=True)
        ]
        self.schedule = ContactSchedule.of_gait(model, held, self.gait)
        self._goals = np.zeros((len(nodes), 3, 3))  # of feet: places, rates, accelerations
        self._body_goals = np.zeros((2, 3, 3))  # of attitude and centre
        self._lifted = now.feet.copy()
        self._ends = now.feet.copy()
        self._planned = np.inf  # when, s
        self._began = 0.0  # heading of the plan
        self._pace = np.zeros(3)
        self._stood = np.ones(len(nodes), dtype=np.bool_)
        self._whole = self._made(nodes, motors)
        self.plan: ForcePlan | None = None

    def _made(self, nodes: list[Node], motors: Motors) -> WholeBodyController:
        feet = [
            Tracking(PointTask(node), _path_of(self._goals, i), stiffness=900.0)
            for i, node in enumerate(nodes)
        ]
        goals = self._body_goals
        body = [
            Tracking(AttitudeTask(self._node), _path_of(goals, 0), stiffness=50.0),
            Tracking(self._center, _path_of(goals, 1), stiffness=50.0, weight=10.0),
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
        now = self._seen(checked_state(state, self.model))
        if not np.isfinite(now.rates).all():
            raise ArgumentError("the state is not finite")
        self._step_feet(time, now)
        if not 0.0 <= time - self._planned < self.mpc.dt - _EARLY:
            self._replan(time, state, now)
        self._follow(time)
        self._whole(time, state)
        return self._whole.explain()

    def _seen(self, state: State) -> _Now:
        q, v = state.q, state.v
        R = rotation_matrix(q[self._q][3:])
        A = centroidal_momentum_matrix(self.model, q)
        spin = R @ v[self._v][:3]
        center = center_of_mass(self.model, q)
        rates = np.concatenate([spin, A[3:] @ v / self.model.mass])
        inertia = A[:3, self._v][:, :3] @ R.T
        heading = float(np.arctan2(R[1, 0], R[0, 0]))
        feet = self._points.rows(q, v).points
        return _Now(R, heading, center, rates, feet, 0.5 * (inertia + inertia.T))

    def _step_feet(self, time: float, now: _Now) -> None:
        """Goals of feet: those that stand stay, those that swing go to where they are needed."""
        stands = self.gait.standing(time)
        swing = self.gait.swing(time)
        span = self.gait.swing_time
        self._goals[:] = 0.0
        for i in range(len(stands)):
            if stands[i]:
                self._goals[i, 0] = now.feet[i]
                self._ends[i] = now.feet[i]
                continue
            if self._stood[i]:
                self._lifted[i] = now.feet[i]
            s = float(swing[i])
            if s < _AIMED:
                self._ends[i] = self._landing(now, i, (1.0 - s) * span)
            way = self._ends[i] - self._lifted[i]
            h = self.gait.step_height
            goal = self._goals[i]
            goal[0] = self._lifted[i] + s * s * (3.0 - 2.0 * s) * way
            goal[1] = 6.0 * s * (1.0 - s) / span * way
            goal[2] = 6.0 * (1.0 - 2.0 * s) / span**2 * way
            goal[0, 2] += 16.0 * h * (s * (1.0 - s)) ** 2
            goal[1, 2] += 32.0 * h * s * (1.0 - s) * (1.0 - 2.0 * s) / span
            goal[2, 2] += 32.0 * h * (1.0 - 6.0 * s * (1.0 - s)) / span**2
        self._stood = stands

    def _landing(self, now: _Now, i: int, left: float) -> Array:
        """Where a foot that lands in so many seconds is needed."""
        heading = now.heading + left * self._pace[2]
        wanted = _about_up(heading) @ [self._pace[0], self._pace[1], 0.0]
        v = now.rates[3:]
        center = now.center + left * v
        caught = np.sqrt(self._height / self.mpc.gravity) * (v - wanted)
        place = center + _about_up(heading) @ self._rest[i]
        place = place + 0.5 * self.gait.stance_time * wanted + self.rule.capture * caught
        place[2] = self._ground
        return np.asarray(place)

    def _replan(self, time: float, state: State, now: _Now) -> None:
        """Forces of the next horizon."""
        self._pace = vector(self.command(time, state), 3, "command")
        if not all_finite(self._pace):
            self._pace = np.zeros(3)
            raise ArgumentError("command: the velocities are not finite")
        n, dt = self.mpc.steps, self.mpc.dt
        times = dt * np.arange(1, n + 1)
        headings = now.heading + self._pace[2] * times
        coordinates = np.zeros((n, 6))
        rates = np.zeros((n, 6))
        rates[:, 3] = self._pace[0] * np.cos(headings) - self._pace[1] * np.sin(headings)
        rates[:, 4] = self._pace[0] * np.sin(headings) + self._pace[1] * np.cos(headings)
        coordinates[:, 3:] = now.center + dt * np.cumsum(rates[:, 3:], axis=0)
        coordinates[:, 5] = self._height
        holds = np.array([self.gait.standing(time + t - 0.5 * dt) for t in times])
        feet = self._places(now, holds, coordinates, headings)
        wanted = _about_up(now.heading) @ self._turned
        turned = rotation_vector(now.rotation @ wanted.T)
        against = now.rates - np.array([0.0, 0.0, self._pace[2], 0.0, 0.0, 0.0])
        body = Body(self.model.mass, now.inertia, np.concatenate([turned, now.center]), against)
        self.plan = self.mpc(body, Horizon(coordinates, rates, holds, feet))
        self._planned, self._began = time, now.heading

    def _places(self, now: _Now, holds: Array, coordinates: Array, headings: Array) -> Array:
        """Where feet stand in each step (n, k, 3): as they do, or where they will land."""
        feet = np.zeros((*holds.shape, 3))
        for i in range(holds.shape[1]):
            place = self._ends[i].copy()
            away = False
            for j in range(len(holds)):
                if not holds[j, i]:
                    away = away or bool(self._stood[i]) or (j > 0 and bool(holds[:j, i].any()))
                elif away:
                    turn = _about_up(float(headings[j]))
                    ahead = turn @ [self._pace[0], self._pace[1], 0.0]
                    place = coordinates[j, 3:] + turn @ self._rest[i]
                    place = place + 0.5 * self.gait.stance_time * ahead
                    place[2] = self._ground
                    away = False
                feet[j, i] = place
        return feet

    def _follow(self, time: float) -> None:
        """Goals of the body: the plan's motion now."""
        assert self.plan is not None
        since = time - self._planned
        k = min(int(since / self.mpc.dt), self.mpc.steps - 1)
        left = since - k * self.mpc.dt
        acceleration = self.plan.accelerations[k]
        rate = self.plan.rates[k] + left * acceleration
        y = self.plan.coordinates[k] + left * self.plan.rates[k] + 0.5 * left**2 * acceleration
        heading = self._began + self._pace[2] * since
        R = from_rotation_vector(y[:3]) @ _about_up(heading) @ self._turned
        x = rotation_vector(R)
        spin = rate[:3] + [0.0, 0.0, self._pace[2]]
        J, turning = vector_rates(x, spin)
        self._body_goals[0] = x, J @ spin, J @ acceleration[:3] + turning @ spin
        self._body_goals[1] = y[3:], rate[3:], acceleration[3:]


def _about_up(heading: float) -> Array:
    """Rotation (3, 3) about the vertical."""
    c, s = np.cos(heading), np.sin(heading)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _path_of(goals: Array, i: int) -> Path:
    """The i-th of goals (k, 3, 3), places, rates and accelerations, as they are when asked."""

    def path(_: float) -> tuple[Array, Array, Array]:
        return goals[i, 0], goals[i, 1], goals[i, 2]

    return path
