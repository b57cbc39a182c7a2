"""All tasks by one kernel, against the tasks one by one."""

import numpy as np
import pytest

import spatialops as so
from spatialops.control import (
    AttitudeTask,
    CenterOfMassTask,
    CentroidalMomentumTask,
    JointTask,
    PointTask,
    PoseTask,
    Tracking,
)
from spatialops.control.task_space.gathered_tasks import GatheredTasks, gathered
from spatialops.errors import ArgumentError
from spatialops.tree.state import integrate

ROBOT = so.models.quadruped()
MODEL = ROBOT.model
FOOT = so.Node(ROBOT.feet[0])


def path(rng, size, turns=0.0):
    x, v, a = rng.normal(size=(3, size))
    x[:3] *= 1.0 + turns / np.linalg.norm(x[:3])
    return lambda time: (x + time, v, a)


class Own(PointTask):
    """A class of somebody's own: half a point."""

    def motion(self, model, state):
        x, J, drift = super().motion(model, state)
        return type(super().motion(model, state))(0.5 * x, 0.5 * J, 0.5 * drift)


class Slow(Tracking):
    """A tracking of somebody's own."""

    def goal(self, time, motion, v):
        wanted, error, rate = super().goal(time, motion, v)
        return 0.1 * wanted, error, rate


def trackings(rng):
    turned = so.algebra.rotation.from_rotation_vector(rng.normal(size=3))
    tasks = [
        PointTask(FOOT),
        PointTask(so.Node("base", (0.1, 0.2, 0.3)), axes=(2, 0)),
        AttitudeTask(FOOT, turned),
        PoseTask(so.Node("base"), turned),
        AttitudeTask(so.Node("base")),
        CenterOfMassTask(),
        CenterOfMassTask(axes=(1,)),
        JointTask(MODEL.joint_names[4:1:-1]),
        CentroidalMomentumTask((1, 4)),
        Own(FOOT, axes=(1,)),
    ]
    made = []
    for k, task in enumerate(tasks):
        K = rng.normal(size=(task.size, task.size))
        gains = {"stiffness": K @ K.T, "damping": np.abs(rng.normal(size=task.size))}
        made.append(Tracking(task, path(rng, task.size, 6.0 * (k % 2)), **gains))
    return [*made, Slow(PointTask(FOOT), path(rng, 3))]


def moved(rng):
    q = integrate(MODEL, ROBOT.state.q, rng.normal(size=MODEL.nv))
    return so.State(q, rng.normal(size=MODEL.nv), 0.3)


@pytest.mark.parametrize("seed", range(4))
def test_rows_are_those_of_the_tasks_one_by_one(seed):
    rng = np.random.default_rng(seed)
    own = trackings(rng)
    together = GatheredTasks(MODEL, own)
    for _ in range(3):
        state = moved(rng)
        found = together.rows(0.7, state)
        for tracking, first in zip(own, together.firsts, strict=False):
            rows = slice(first, first + tracking.task.size)
            motion = tracking.task.motion(MODEL, state)
            wanted, error, rate = tracking.goal(0.7, motion, state.v)
            assert found.x[rows] == pytest.approx(motion.x, abs=1e-12)
            assert np.abs(found.J[rows] - motion.J).max() < 1e-12
            assert found.drift[rows] == pytest.approx(motion.drift, abs=1e-11)
            assert found.error[rows] == pytest.approx(error, abs=1e-11)
            assert found.rate[rows] == pytest.approx(rate, abs=1e-11)
            assert found.wanted[rows] == pytest.approx(wanted, abs=1e-9)


def test_gains_and_paths_may_change():
    tracking = Tracking(PointTask(FOOT), np.zeros(3))
    together = GatheredTasks(MODEL, [tracking])
    before = together.rows(0.0, ROBOT.state).wanted
    tracking.stiffness = 2.0 * tracking.stiffness
    assert together.rows(0.0, ROBOT.state).wanted == pytest.approx(2.0 * before)
    moving = so.State(ROBOT.state.q, np.ones(MODEL.nv))
    slow = together.rows(0.0, moving)
    tracking.damping = 3.0
    assert together.rows(0.0, moving).wanted != pytest.approx(slow.wanted)
    stiff = tracking.stiffness @ slow.error
    assert together.rows(0.0, moving).wanted == pytest.approx(stiff + 3.0 * slow.rate)
    with pytest.raises(ValueError, match="read-only"):  # a change in place would not be seen
        tracking.stiffness[:] *= 2.0
    with pytest.raises(ArgumentError, match="damping"):
        tracking.damping = np.ones(2)
    tracking.path = lambda time: (np.ones(3), np.zeros(3), np.zeros(3))
    x = tracking.task.motion(MODEL, ROBOT.state).x
    assert together.rows(0.0, ROBOT.state).error == pytest.approx(1.0 - x)


def test_goals_stand_in_for_paths():
    own = [
        Tracking(PointTask(FOOT), np.full(3, 0.1)),
        Tracking(CenterOfMassTask(axes=(0, 2)), np.full(2, 0.2)),
    ]
    together = GatheredTasks(MODEL, own)
    asked = together.rows(0.0, ROBOT.state)
    goals = np.zeros((3, 5))
    goals[0] = 0.1, 0.1, 0.1, 0.2, 0.2
    given = together.rows(0.0, ROBOT.state, goals)
    for name, values in asked._asdict().items():
        assert np.array_equal(getattr(given, name), values), name


def test_they_are_kept_while_tasks_are_the_same():
    own = trackings(np.random.default_rng(0))
    first = gathered(MODEL, own, None)
    assert gathered(MODEL, list(own), first) is first
    assert gathered(MODEL, own[:-1], first) is not first
    own[0].task = PointTask(FOOT)
    assert gathered(MODEL, own, first) is not first


def test_what_is_not_finite_is_refused():
    together = GatheredTasks(MODEL, [Tracking(PointTask(FOOT), np.zeros(3))])
    q = ROBOT.state.q.copy()
    q[8] = np.inf
    with pytest.raises(ArgumentError, match="q"):
        together.rows(0.0, so.State(q, ROBOT.state.v))
    with pytest.raises(ArgumentError, match="v"):
        together.rows(0.0, so.State(ROBOT.state.q, np.full(MODEL.nv, np.nan)))
