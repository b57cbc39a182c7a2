"""TSID in the place of our whole-body controller: the same tasks, gains, weights and schedule.

TSID (A. Del Prete et al., 2016) has hard constraints and one level of weighted tasks. Feet in the
air, which our controller has in a level of their own, are hard here, as contacts are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.bench.humanoid import FEET, FILE, HALF, SOLE, Humanoid, is_above_legs, squatting
from spatialops.bench.peers import LibraryObject
from spatialops.bench.walkers import robot_file
from spatialops.control.locomotion.footsteps import Footsteps
from spatialops.control.locomotion.pendulum_path import PendulumPath
from spatialops.errors import MissingLibraryError
from spatialops.tree.state import State

_FRICTION = 0.5
_LEAST = 1e-3  # N of a contact's largest normal force
_DRAWN = 1e-4  # weight of a posture of all joints, where no task decides
_FORCES = 1e-6  # weight of contact forces
_HARD = 0  # TSID's level of constraints
_SOFT = 1


class Told(NamedTuple):
    """What a command of TSID was worth."""

    status: str
    notes: tuple[str, ...] = ()


class TsidController:
    """The humanoid's feet, centre of mass, torso and upper body by TSID.

    Parameters
    ----------
    robot : Humanoid
        Of `humanoid.humanoid`.
    plan : Footsteps
        Schedule and paths of the feet.
    path : PendulumPath
        Of the centre of mass in the plane.
    squat : float, default 0
        m.

    Raises
    ------
    MissingLibraryError
        Without tsid and the Pinocchio that it was built for.
    """

    def __init__(
        self, robot: Humanoid, plan: Footsteps, path: PendulumPath, *, squat: float = 0.0
    ) -> None:
        try:
            import pinocchio
            import tsid
        except ImportError:
            raise MissingLibraryError(
                "TSID: `pip install tsid`, with the Pinocchio that it was built for"
            ) from None
        self._lib = tsid
        self._pin = pinocchio
        self.robot = robot
        self.plan = plan
        self.path = path
        self.height = squatting(robot.height, squat)
        free = pinocchio.JointModelFreeFlyer()
        model = pinocchio.buildModelFromUrdf(str(robot_file(FILE)), free)
        self._coordinates, self._velocities = _orders(robot, model)
        self._wrapper = tsid.RobotWrapper(model, tsid.FLOATING_BASE_SYSTEM, False)
        self._program = tsid.InverseDynamicsFormulationAccForce("walk", self._wrapper, False)
        q, v = self._theirs(robot.state)
        self._program.computeProblemData(0.0, q, v)
        self._feet = [self._foot(name) for name in FEET]
        self._contacts = [self._contact(name) for name in FEET]
        self._holds = [False, False]
        self._kept: list[LibraryObject] = []  # TSID refers to tasks, and does not keep them alive
        for task in self._feet:
            self._program.addMotionTask(task, 1.0, _HARD, 0.0)
        self._center = self._body(q)
        self._bound(model)
        self._solver = tsid.SolverHQuadProgFast("solver")
        self._solver.resize(self._program.nVar, self._program.nEq, self._program.nIn)
        self._told = Told("solved")

    def __call__(self, time: float, state: State) -> Array:
        """Joint forces (nv,), N m; zero where TSID has no answer."""
        q, v = self._theirs(state)
        shares = self.plan.schedule.share(time)
        for i, share in enumerate(shares):
            self._switch(i, time, float(share))
        x, xd, xdd = self.path(time)
        z, zd, zdd = self.height(time)
        self._center.setReference(_sample(self._lib, *map(np.append, (x, xd, xdd), (z, zd, zdd))))
        data = self._program.computeProblemData(time, q, v)
        self._solver.resize(self._program.nVar, self._program.nEq, self._program.nIn)
        answer = self._solver.solve(data)
        tau = np.zeros(self.robot.model.nv)
        if answer.status != 0:
            self._told = Told("damped", (f"TSID has no answer: {answer.status}",))
            return tau
        self._told = Told("solved")
        tau[self._velocities[6:]] = self._program.getActuatorForces(answer)
        return tau

    def explain(self) -> Told:
        """Whether the last command had an answer."""
        return self._told

    def _theirs(self, state: State) -> tuple[Array, Array]:
        return state.q[self._coordinates], state.v[self._velocities]

    def _foot(self, name: str) -> LibraryObject:
        task = self._lib.TaskSE3Equality(f"foot {name}", self._wrapper, name)
        task.setKp(np.full(6, 200.0))
        task.setKd(2.0 * np.sqrt(np.full(6, 200.0)))
        task.useLocalFrame(False)
        return task

    def _contact(self, name: str) -> LibraryObject:
        signs = np.array([[-1, -1, 1, 1], [-1, 1, -1, 1], [0, 0, 0, 0]])
        corners = np.array(SOLE)[:, None] + np.array([*HALF, 0.0])[:, None] * signs
        weight = self.plan.schedule.full
        contact = self._lib.Contact6d(
            name, self._wrapper, name, corners, np.array([0.0, 0.0, 1.0]), _FRICTION, 0.0, weight
        )
        contact.setKp(np.full(6, 200.0))
        contact.setKd(2.0 * np.sqrt(np.full(6, 200.0)))
        return contact

    def _body(self, q: Array) -> LibraryObject:
        """Centre of mass, torso and joints; the first is returned."""
        lib = self._lib
        center = lib.TaskComEquality("center", self._wrapper)
        center.setKp(np.full(3, 60.0))
        center.setKd(2.0 * np.sqrt(np.full(3, 60.0)))
        self._kept.append(center)
        self._program.addMotionTask(center, 1000.0, _SOFT, 0.0)
        torso = lib.TaskSE3Equality("torso", self._wrapper, "torso_link")
        torso.setKp(np.full(6, 100.0))
        torso.setKd(np.full(6, 20.0))
        torso.setMask(np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0]))
        upright = np.concatenate([np.zeros(3), np.eye(3).ravel()])
        torso.setReference(_sample(lib, upright, np.zeros(6), np.zeros(6)))
        self._kept.append(torso)
        self._program.addMotionTask(torso, 100.0, _SOFT, 0.0)
        names = list(self._wrapper.model().names)[2:]
        above = np.array([float(is_above_legs(name)) for name in names])
        for name, mask, weight in (("upper", above, 1.0), ("all", np.ones(len(above)), _DRAWN)):
            posture = lib.TaskJointPosture(name, self._wrapper)
            posture.setKp(np.full(len(above), 60.0))
            posture.setKd(2.0 * np.sqrt(np.full(len(above), 60.0)))
            posture.setMask(mask)
            still = np.zeros(len(above))
            posture.setReference(_sample(lib, q[7:], still, still))
            self._kept.append(posture)
            self._program.addMotionTask(posture, weight, _SOFT, 0.0)
        return center

    def _bound(self, model: LibraryObject) -> None:
        bounds = self._lib.TaskActuationBounds("torques", self._wrapper)
        most = np.array(model.effortLimit)[6:]
        bounds.setBounds(-most, most)
        self._kept.append(bounds)
        self._program.addActuationTask(bounds, 1.0, _HARD, 0.0)

    def _switch(self, i: int, time: float, share: float) -> None:
        """Contact or task of a foot, whichever the schedule says, with its reference."""
        x, v, a = (np.asarray(part) for part in self.plan.foot(i)(time))
        place = np.concatenate([x - SOLE, np.eye(3).ravel()])
        holds = share > 0.0
        if holds and not self._holds[i]:
            pose = self._pin.SE3(np.eye(3), place[:3])
            self._contacts[i].setReference(pose)
            self._program.addRigidContact(self._contacts[i], _FORCES, 1.0, _HARD)
            self._program.removeTask(self._feet[i].name, 0.0)
        elif not holds and self._holds[i]:
            self._program.removeRigidContact(FEET[i], 0.0)
            self._program.addMotionTask(self._feet[i], 1.0, _HARD, 0.0)
        self._holds[i] = holds
        if holds:
            full = self.plan.schedule.full
            most = 1e3 * full if share >= 1.0 else max(share * full, _LEAST)
            self._contacts[i].setMaxNormalForce(most)
            return
        turn = np.zeros(3)
        rates = np.concatenate([v, turn]), np.concatenate([a, turn])
        self._feet[i].setReference(_sample(self._lib, place, *rates))


def _sample(lib: LibraryObject, x: Array, v: Array, a: Array) -> LibraryObject:
    made = lib.TrajectorySample(len(x), len(v))
    made.value(x)
    made.derivative(v)
    made.second_derivative(a)
    return made


def _orders(robot: Humanoid, theirs: LibraryObject) -> tuple[IntArray, IntArray]:
    """Our coordinates and velocities in their order; their free joint is [linear; angular]."""
    own = robot.model
    base = own.joint_names[0]
    at_q, at_v = own.q_slice(base).start, own.v_slice(base).start
    q = [at_q + k for k in range(7)]
    v = [at_v + k for k in (3, 4, 5, 0, 1, 2)]
    for name in list(theirs.names)[2:]:
        q.append(own.q_slice(name).start)
        v.append(own.v_slice(name).start)
    return np.array(q), np.array(v)
