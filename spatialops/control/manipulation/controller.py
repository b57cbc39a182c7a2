"""Hands that follow a task script: impedance, grasp forces, loads carried ahead of time."""

from __future__ import annotations

import time as clock
from collections.abc import Mapping, Sequence

import numpy as np

from spatialops._arrays import Array
from spatialops.collision.contact_set import ContactSet
from spatialops.control.actuation import Actuation
from spatialops.control.controller import Explanation
from spatialops.control.manipulation.grasp_force import GraspForce
from spatialops.control.manipulation.impedance import Impedance
from spatialops.control.manipulation.observation import ContactForceSensor, Observation, object_pose
from spatialops.control.manipulation.task_script import Phase, Script
from spatialops.control.safe_command import LIMITS_BIND, SafeController
from spatialops.control.trajectory import Bounds, PoseTrajectory
from spatialops.errors import ArgumentError
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.free_frames import FreeFrame
from spatialops.tree.model import Model
from spatialops.tree.state import State, checked_state

_LOAD_RATE = 150.0  # N/s
_STRONG = 10.0  # N m; weaker motors are fingers', which have their grips
_LIMIT_ZONE, _LIMIT_STIFFNESS = 0.10, 400.0  # rad, N m/rad: joints are pushed off their limits


class ManipulationController(SafeController):
    """A robot whose hands handle one object as a script says.

    It knows the robot's own model, the state of its joints, the object's pose and the contact
    forces; not the object's mass, friction or dynamics.

    Parameters
    ----------
    scene : Scene
        Robot and object; the robot's coordinates come first.
    robot : Model
        The robot alone.
    body : str
        The object, on a free joint of its name.
    impedance : Impedance
        Of the palms, in the order of `hands`.
    hands : mapping of str to GraspForce
        Fingers of each hand, by its name.
    script : Script
        Phases of the task.
    dt : float
        Time between two calls, s.
    reach : float, default 0.158
        From a palm to where it holds, m along its z axis: loads act there.
    every : int, default 4
        Calls between two observations of guards and levers.

    Attributes
    ----------
    observation : Observation
        The last one.
    log : list of tuple
        Time, phase, force of every fingertip, support: one row every 20 observations.
    cpu : float
        Processor time of all calls, s.

    Raises
    ------
    ArgumentError
        For a scene whose first joints are not the robot's.
    """

    def __init__(
        self,
        scene: Scene,
        robot: Model,
        body: str,
        *,
        impedance: Impedance,
        hands: Mapping[str, GraspForce],
        script: Script[Observation],
        dt: float,
        reach: float = 0.158,
        every: int = 4,
    ) -> None:
        if scene.model.joint_names[: len(robot.joint_names)] != robot.joint_names:
            raise ArgumentError("scene: expected the robot's joints before all others")
        self.robot = robot
        self.hands = dict(hands)
        self.script = script
        self.impedance = impedance
        self._body, self._dt = body, dt
        closing = [name for hand in hands.values() for name in hand.closing]
        tips = {f"{name}_tip": [f"{name}_tip", name] for name in closing}
        self._touch = ContactForceSensor(scene, body, tips, dt=dt)
        self.go_on_in(scene)
        self._every = every
        self._reach = reach
        self._calls = 0
        strong = robot.effort_limit > _STRONG
        self._ends = np.where(strong, _LIMIT_STIFFNESS, 0.0)
        self._motions: dict[str, PoseTrajectory] = {}
        self._loads, self._wanted = np.zeros(len(self.hands)), np.zeros(len(self.hands))
        self.observation = Observation()
        self.log: list[tuple[float, str, tuple[float, ...], float]] = []
        self.cpu = 0.0

    def __call__(self, time: float, state: State, contacts: ContactSet) -> Array:
        """The command.

        Parameters
        ----------
        time : float
            Time, s.
        state : State
            Configuration and velocity of the scene.
        contacts : ContactSet
            Contacts of the step before with their impulses.

        Returns
        -------
        (nv,) array
            Joint forces of the whole scene within the motors' limits, N m or N; zero on the object.
        """
        begin = clock.thread_time()
        tau = self._safe_command(time, state, lambda: self._command(time, state, contacts))
        self.cpu += clock.thread_time() - begin
        return tau

    def _command(self, time: float, state: State, contacts: ContactSet) -> Explanation:
        checked_state(state, self.model)  # before anything of it is remembered
        if len(contacts) and not np.isfinite(contacts.impulses).all():
            raise ArgumentError("contacts: their impulses are not finite")
        n = self.robot.nv
        q, v = state.q[: self.robot.nq], state.v[:n]
        self._touch.update(contacts, self.observation)
        if not self._motions:
            self._stand(q, state)
        if self._calls % self._every == 0:
            self._observe(time, q, state)
        self._calls += 1
        targets = [self._motions[side].at(time) for side in self.hands]
        tau = self.impedance.torques(q, v, targets, self._wrenches())
        for hand in self.hands.values():
            hand.torques(q, v, tau)
        tau += self._off_limits(q)
        whole = np.zeros(self.model.nv)
        whole[:n] = tau
        cut = self.actuation.clipped(whole)
        binds = bool((cut != whole).any())
        still = np.zeros(len(whole))
        phase = self.script.phase
        notes = [f"phase: {phase.name}" if phase else self.script.failure or "the script is over"]
        notes += [LIMITS_BIND] if binds else []
        return Explanation(
            tau=cut,
            demanded=still,
            predicted=still,
            status="nearest" if binds else "solved",
            slack=float(np.abs(self.impedance.errors).max()),
            notes=tuple(notes),
        )

    def go_on_in(self, scene: Scene) -> None:
        """Go on with the script in another scene with the same robot and object.

        Parameters
        ----------
        scene : Scene
            As that of the beginning; what else is in it may be another.
        """
        self.model = scene.model
        self.actuation = Actuation(scene.model, self.robot.joint_names)
        self._at, self._at_v = scene.model.q_slice(self._body), scene.model.v_slice(self._body)
        self._home = FreeFrame.of(scene.model, self._body)
        self._touch.go_on_in(scene)

    @property
    def finished(self) -> bool:
        """Whether the script is over."""
        return self.script.finished

    def _stand(self, q: Array, state: State) -> None:
        """Hands stay where they are until a phase moves them."""
        for side, pose in zip(self.hands, self.impedance.observe(q), strict=True):
            self._motions[side] = PoseTrajectory(pose, pose, Bounds())
        self.observation.begin = object_pose(state.q[self._at], self._home)

    def _observe(self, time: float, q: Array, state: State) -> None:
        """Observe hands and object, and go on in the script."""
        observation, poses = self.observation, self.impedance.poses or self.impedance.observe(q)
        observation.time, observation.hands = time, dict(zip(self.hands, poses, strict=True))
        observation.object, observation.object_velocity = (
            object_pose(state.q[self._at], self._home),
            state.v[self._at_v],
        )
        observation.references = {
            side: motion.at(time).pose for side, motion in self._motions.items()
        }
        ends = [
            np.linalg.norm(self._motions[side].end.position - pose.position)
            for side, pose in observation.hands.items()
        ]
        observation.lag = float(max(ends))
        observation.moving = any(time < motion.finish for motion in self._motions.values())
        for side, hand in self.hands.items():
            hand.observe(q, observation.hands[side])
        step = _LOAD_RATE * self._dt * self._every
        self._loads += np.clip(self._wanted - self._loads, -step, step)
        if phase := self.script.advance(time, observation):
            self._begin(phase, time)
        if self._calls % (20 * self._every) == 0:
            now = self.script.phase
            self.log.append(
                (
                    time,
                    now.name if now else "",
                    tuple(observation.touch.values()),
                    observation.support,
                )
            )

    def _begin(self, phase: Phase[Observation], time: float) -> None:
        for side, grip in phase.grips.items():
            self.hands[side].command(grip)
        if phase.loads:
            loads = phase.loads(self.observation)
            self._wanted = np.array(
                [loads.get(side, old) for side, old in zip(self.hands, self._wanted, strict=True)]
            )
        targets = phase.move(self.observation) if phase.move else {}
        motions = {
            side: PoseTrajectory(self.observation.references[side], pose, phase.bounds, begin=time)
            for side, pose in targets.items()
        }
        longest = max((motion.duration for motion in motions.values()), default=0.0)
        for side, motion in motions.items():  # all hands take as long as the slowest
            self._motions[side] = PoseTrajectory(
                motion.start, motion.end, phase.bounds, begin=time, duration=longest
            )

    def _wrenches(self) -> Array:
        """Upward forces where hands hold, as wrenches at the palms."""
        wrenches = np.zeros((len(self.hands), 6))
        for wrench, load, pose in zip(
            wrenches, self._loads, self.impedance.poses or [], strict=False
        ):
            x, y, _ = self._reach * pose.rotation[:, 2]
            wrench[:] = (y * load, -x * load, 0.0, 0.0, 0.0, load)
        return wrenches

    def _off_limits(self, q: Array) -> Array:
        """Springs that begin a little before the joints' limits."""
        below = np.maximum(self.robot.lower + _LIMIT_ZONE - q, 0.0)
        above = np.maximum(q - self.robot.upper + _LIMIT_ZONE, 0.0)
        result: Array = self._ends * (below - above)
        return result


def palms(sides: Sequence[str]) -> list[str]:
    """Names of the palms' frames."""
    return [f"{side}_palm" for side in sides]
