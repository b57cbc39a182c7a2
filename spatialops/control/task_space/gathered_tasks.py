"""Rows of several tasks at once: one walk over the mechanism, and one kernel, for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, not_finite, vector
from spatialops._compile.held import Held, held
from spatialops._compile.jit import inlined
from spatialops.algebra.memory import matrix
from spatialops.control.task_space.attitude_task import AttitudeTask
from spatialops.control.task_space.momentum_tasks import CenterOfMassTask
from spatialops.control.task_space.points import Points, rows_of_nodes
from spatialops.control.task_space.rotation_coordinates import nearest_turn_kernel
from spatialops.control.task_space.tasks import JointTask, PointTask, PoseTask, Task, pose_kernel
from spatialops.control.task_space.tracking import Tracking, goal_kernel
from spatialops.kinematics.center_motion import DRIFT, JACOBIAN, PLACE, center_motion_kernel
from spatialops.tree.model import Model
from spatialops.tree.node import Node
from spatialops.tree.state import State

# Kinds of tasks. What is given comes from the task's own functions.
_GIVEN, _POINT, _TURN, _CENTER, _JOINT = range(5)
_KINDS: dict[type, int] = {
    PointTask: _POINT,
    AttitudeTask: _TURN,
    PoseTask: _TURN,
    CenterOfMassTask: _CENTER,
    JointTask: _JOINT,
}
# Columns of the table of tasks: kind, first row, rows, number of the node, first gain.
_KIND, _FIRST, _SIZE, _NODE, _GAIN = range(5)
# Rows of what is found for each coordinate: place, drift, error, its rate, what is asked for.
_PLACE, _DRIFT, _ERROR, _RATE, _WANTED = range(5)


class TaskRows(NamedTuple):
    """Coordinates of all tasks, one after the other, and what their paths ask for.

    Parameters
    ----------
    J : (k, nv) array
        Jacobian.
    x, drift : (k,) arrays
        Coordinates, and Jdot v.
    error, rate : (k,) arrays
        x_d - x, and its rate.
    wanted : (k,) array
        xddot, with the feedback of the tasks' gains.
    """

    J: Array
    x: Array
    drift: Array
    error: Array
    rate: Array
    wanted: Array


class _Memory(NamedTuple):
    """What the kernel works in."""

    work: Array  # of the model's links
    still: Array  # (nv,) accelerations, which are none
    gains: Array  # (2, g): squares of stiffness and damping of the tasks, one after the other
    points: Array  # (n, 3)
    J: Array  # (6 n, nv) of nodes
    moves: Array  # (2, n, 6) their velocities and drifts
    center: Array  # (3, 2 + nv)
    turns: Array  # (4, 3, 3)
    pose: Array  # (6,)


class _Tables(NamedTuple):
    """What is fixed about the tasks."""

    tree: IntArray  # of the model
    constants: Array
    tasks: IntArray  # (t, 5)
    places: IntArray  # (k, 2): axis, or coordinate and velocity of a joint
    links: IntArray  # (n,) of nodes
    offsets: Array  # (n, 3)
    own: Array  # (n, 2, 3, 3): axes of nodes in their links, and attitudes from which vectors count


class GatheredTasks:
    """Tracked tasks of one model, in their order.

    Points, attitudes, poses, joints and centres of mass are found by one kernel; what other
    classes say is asked of them, task by task.

    Parameters
    ----------
    model : Model
        The mechanism.
    trackings : sequence of Tracking
        The tasks with their paths and gains, which may change.
    """

    def __init__(self, model: Model, trackings: Sequence[Tracking]) -> None:
        self.model = model
        self.trackings = tuple(trackings)
        self._tasks = tuple(item.task for item in self.trackings)
        self.firsts = np.cumsum([0, *(task.size for task in self._tasks)]).tolist()
        kinds = [_kind(item) for item in self.trackings]
        nodes = [
            _node(task) for task, kind in zip(self._tasks, kinds, strict=True) if _has_node(kind)
        ]
        points = Points(model, nodes)
        self._tables = self._made(kinds, points)
        n, nv = len(nodes), model.nv
        self._memory = _Memory(
            model.workspace(),
            np.zeros(nv),
            np.empty((2, sum(task.size**2 for task in self._tasks))),
            np.empty((n, 3)),
            np.empty((6 * n, nv)),
            np.empty((2, n, 6)),
            np.empty((3, JACOBIAN + nv)),
            np.empty((4, 3, 3)),
            np.empty(6),
        )
        self._held = Held(self._tables), Held(self._memory)
        squares = np.cumsum([0, *(task.size**2 for task in self._tasks)]).tolist()
        self._each = tuple(
            (item, kind == _GIVEN, slice(*rows))
            for item, kind, rows in zip(self.trackings, kinds, pairwise(self.firsts), strict=True)
        )
        self._places = [slice(*ends) for ends in pairwise(squares)]  # of gains
        self._gains: list[object] = [None] * len(kinds)  # that are in the memory

    def are(self, trackings: Sequence[Tracking]) -> bool:
        """Whether these are the tasks."""
        return len(trackings) == len(self.trackings) and all(
            given is own and given.task is task
            for given, own, task in zip(trackings, self.trackings, self._tasks, strict=True)
        )

    def _made(self, kinds: list[int], points: Points) -> _Tables:
        """Tables of the tasks."""
        tasks = np.zeros((len(kinds), 5), dtype=np.int64)
        places = np.zeros((self.firsts[-1], 2), dtype=np.int64)
        own = np.empty((len(points.links), 2, 3, 3))
        node = gain = 0
        for i, (task, kind) in enumerate(zip(self._tasks, kinds, strict=True)):
            first, last = self.firsts[i : i + 2]
            tasks[i] = kind, first, last - first, node, gain
            gain += (last - first) ** 2
            if isinstance(task, (PointTask, CenterOfMassTask)):
                places[first:last, 0] = task.axes
            elif isinstance(task, JointTask):
                places[first:last] = task.places(self.model)
            if kind == _TURN:
                pose = task.pose if isinstance(task, AttitudeTask) else task
                assert isinstance(pose, PoseTask)
                own[node] = pose.turns(self.model, points.links[node])
            node += _has_node(kind)
        links, offsets = points.links.copy(), points.offsets.copy()
        return _Tables(self.model.tree, self.model.links, tasks, places, links, offsets, own)

    def rows(self, time: float, state: State, goals: Array | None = None) -> TaskRows:
        """What all tasks ask for at a time and state.

        Parameters
        ----------
        time : float
            At which paths are asked, s.
        state : State
            Configuration and velocity.
        goals : (3, k) array, optional
            What paths say of all coordinates, for which they are not asked then; only where all
            tasks are of kinds that the kernel knows.

        Returns
        -------
        TaskRows
            In arrays of its own.

        Raises
        ------
        ArgumentError
            For a wrong shape, NaN or infinity.
        """
        model = self.model
        q, v = vector(state.q, model.nq, "q"), vector(state.v, model.nv, "v")
        J, found = np.empty((self.firsts[-1], model.nv)), np.empty((5, self.firsts[-1]))
        if goals is None:
            self._ask(time, state, J, found)
        else:
            found[_ERROR:] = goals
        self._put_gains()
        tables, memory = self._held
        if gathered_kernel(tables.address, memory.address, q, v, J, found) != layout.OK:
            raise not_finite(q=q, v=v)
        return TaskRows(J, *found)

    def _ask(self, time: float, state: State, J: Array, found: Array) -> None:
        """What paths say, and all that tasks of other classes do."""
        for tracking, given, rows in self._each:
            if given:
                motion = tracking.task.motion(self.model, state)
                goal = tracking.goal(time, motion, state.v)
                J[rows] = motion.J
                found[_PLACE, rows], found[_DRIFT, rows] = motion.x, motion.drift
                found[_WANTED, rows], found[_ERROR, rows], found[_RATE, rows] = goal
                continue
            path = tracking.path(time)
            found[_ERROR, rows], found[_RATE, rows], found[_WANTED, rows] = path

    def _put_gains(self) -> None:
        """Gains that are not in the memory yet."""
        for i, (tracking, given, _) in enumerate(self._each):
            if given or tracking.gains is self._gains[i]:
                continue
            self._gains[i] = tracking.gains
            for kept, gain in zip(self._memory.gains, tracking.gains, strict=True):
                kept[self._places[i]] = gain.ravel()


def gathered(
    model: Model, trackings: Sequence[Tracking], kept: GatheredTasks | None
) -> GatheredTasks:
    """Those that are kept if they are of these tasks, else new ones."""
    return kept if kept is not None and kept.are(trackings) else GatheredTasks(model, trackings)


def _kind(tracking: Tracking) -> int:
    """Of the kernel's, if neither the task nor its tracking is a class of somebody's own."""
    return _KINDS.get(type(tracking.task), _GIVEN) if type(tracking) is Tracking else _GIVEN


def _has_node(kind: int) -> bool:
    return kind in (_POINT, _TURN)


def _node(task: Task) -> Node:
    assert isinstance(task, (PointTask, AttitudeTask, PoseTask))
    return task.node


@inlined
def put_turn(tables: _Tables, work: Array, memory: _Memory, node: int) -> None:
    """Rotation vector of a node, and rows of its rates in place of angular velocities."""
    k = tables.links[node]
    axes = memory.turns[3]
    for i in range(3):
        for j in range(3):
            unit = 1.0 if i == j else 0.0
            axes[i, j] = unit if k < 0 else work[k, layout.ROTATION + 3 * i + j]
    turns = axes, tables.own[node, 0], tables.own[node, 1]
    moves = memory.moves[0, node], memory.moves[1, node]
    J = memory.J[6 * node : 6 * node + 6]
    pose_kernel(turns, moves, memory.turns[:3], memory.pose, J)


@inlined
def put_node_task(
    task: IntArray, tables: _Tables, work: Array, memory: _Memory, J: Array, found: Array
) -> None:
    """Rows of a point, an attitude or a pose."""
    node = task[_NODE]
    turned = task[_KIND] == _TURN
    if turned:
        put_turn(tables, work, memory, node)
    for c in range(3):
        memory.pose[3 + c] = memory.points[node, c]
    for i in range(task[_SIZE]):
        row = task[_FIRST] + i
        c = i if turned else 3 + tables.places[row, 0]
        found[_PLACE, row] = memory.pose[c]
        found[_DRIFT, row] = memory.moves[1, node, c]
        for k in range(J.shape[1]):
            J[row, k] = memory.J[6 * node + c, k]
    if turned:
        nearest_turn_kernel(found[_ERROR:], task[_FIRST], memory.pose)


@inlined
def put_center_task(
    task: IntArray, tables: _Tables, memory: _Memory, J: Array, found: Array
) -> None:
    """Rows of the centre of mass."""
    for row in range(task[_FIRST], task[_FIRST] + task[_SIZE]):
        c = tables.places[row, 0]
        found[_PLACE, row] = memory.center[c, PLACE]
        found[_DRIFT, row] = memory.center[c, DRIFT]
        for k in range(J.shape[1]):
            J[row, k] = memory.center[c, JACOBIAN + k]


@inlined
def put_joint_task(task: IntArray, tables: _Tables, q: Array, J: Array, found: Array) -> None:
    """Rows of joints of one degree of freedom."""
    for row in range(task[_FIRST], task[_FIRST] + task[_SIZE]):
        found[_PLACE, row] = q[tables.places[row, 0]]
        found[_DRIFT, row] = 0.0
        for k in range(J.shape[1]):
            J[row, k] = 0.0
        J[row, tables.places[row, 1]] = 1.0


@inlined
def has_center(tasks: IntArray) -> bool:
    """Whether any task is of the centre of mass."""
    found = False
    for t in range(tasks.shape[0]):
        found = found or tasks[t, _KIND] == _CENTER
    return found


@held
def gathered_kernel(
    tables: _Tables, memory: _Memory, q: Array, v: Array, J: Array, found: Array
) -> int:
    """Rows of all tasks; `found` (5, k) has paths, which become errors, rates, accelerations."""
    tree = tables.tree
    links = tables.constants
    work = memory.work
    gains = memory.gains
    state = q, v, memory.still
    status = layout.OK
    if has_center(tables.tasks):
        status = center_motion_kernel(tree, links, q, v, work, memory.center)
    if status == layout.OK:
        own = tables.links, tables.offsets
        moved = memory.points, memory.J, memory.moves
        status = rows_of_nodes(tree, links, state, own[0], own[1], work, *moved)
    if status != layout.OK:
        return status
    for t in range(tables.tasks.shape[0]):
        task = tables.tasks[t]
        kind = task[_KIND]
        if kind == _GIVEN:
            continue
        if kind == _CENTER:
            put_center_task(task, tables, memory, J, found)
        elif kind == _JOINT:
            put_joint_task(task, tables, q, J, found)
        else:
            put_node_task(task, tables, work, memory, J, found)
        stiffness = matrix(gains[0], task[_GAIN], task[_SIZE], task[_SIZE])
        damping = matrix(gains[1], task[_GAIN], task[_SIZE], task[_SIZE])
        place = found[_PLACE, task[_FIRST] : task[_FIRST] + task[_SIZE]]
        goal_kernel(found[_ERROR:], place, J, v, stiffness, damping, task[_FIRST])
    return layout.OK
