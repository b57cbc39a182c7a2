"""What a projection-based controller knows at one state: dynamics, tasks, what motors can do.

Motions that contacts admit are written xi = N_M^T M a with columns of N_M orthonormal in the metric
of M: a = N_M xi + L v. Motors and load give them as xi = G u - xi_load, and the tasks ask for T u =
t of them ([A] 12 and 17, row by row of the task instead of column by column of P: the same where
the task is complete).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array
from spatialops.control.motors import Motors
from spatialops.control.projected.control_kernel import (
    SINGULAR,
    Controls,
    Mechanism,
    control_kernel,
    controls_of,
    room_for,
)
from spatialops.control.projected.dynamics import RANK_TOLERANCE, ProjectedDynamics, Projection
from spatialops.control.projected.held_contacts import HeldContacts
from spatialops.control.projected.motion_equation import MotionEquation
from spatialops.control.projected.projection_kernel import (
    ints_of,
    least_kernel,
    numbers_of,
)
from spatialops.control.task_space.gathered_tasks import GatheredTasks, TaskRows
from spatialops.dynamics.newton_euler import bias
from spatialops.errors import ArgumentError
from spatialops.tree.model import Model
from spatialops.tree.state import State

_RANK = 1e-8
_UNLIMITED = np.zeros(0)


class Consistency(NamedTuple):
    """Whether tasks, contacts and motors fit each other ([A] 10, 13, 15).

    Attributes
    ----------
    freedom : int
        Dimension of the motions that contacts admit, n - r.
    task_rank, task_size : int
        Independent task rows on those motions, and rows; fewer than rows: contacts (or a
        singularity) forbid motions that the task asks for, which breaks [A] 10.
    drive_rank : int
        Dimension of the motions that motors can drive, rank(P B); below `freedom` the mechanism is
        underactuated.
    reach_rank : int
        Task rows that motors can drive on their own; below `task_rank` breaks [A] 15. ([A] 13 as
        printed, R(Lambda^T) in R(B), is stronger than what is needed and fails for every floating
        base: R(Lambda^T) in R(P B) is enough.)
    """

    freedom: int
    task_rank: int
    task_size: int
    drive_rank: int
    reach_rank: int

    @property
    def reasons(self) -> tuple[str, ...]:
        """What does not fit, in words; empty where all does."""
        found = []
        if self.task_rank < self.task_size:
            found.append(
                f"{self.task_size - self.task_rank} of {self.task_size} task rows ask for motions "
                "that the contacts forbid, or that others already determine ([A] 10)"
            )
        if self.reach_rank < self.task_rank:
            found.append(
                f"motors can drive {self.reach_rank} of {self.task_rank} independent task rows "
                f"([A] 15): {self.freedom - self.drive_rank} admissible motions have no motor"
            )
        return tuple(found)


@dataclass(frozen=True, eq=False)
class ControlState:
    """Everything at one state; made by `control_state`."""

    model: Model
    state: State
    held: HeldContacts
    motors: Motors
    mechanism: Mechanism
    task: TaskRows
    rank: int
    floats: Array

    @cached_property
    def dynamics(self) -> ProjectedDynamics:
        """The mechanism under its contacts."""
        M, load, A, drift, *_ = self.mechanism
        return ProjectedDynamics(M, load, Projection(A), drift)

    @cached_property
    def tables(self) -> Controls:
        """What the kernel found."""
        m, n = self.mechanism.A.shape
        motors, tasks = len(self.motors.actuation), len(self.mechanism.right)
        return controls_of(n - self.rank, m, n, motors, tasks, self.floats)

    @property
    def half(self) -> Array:
        """N_M^T (n - r, n): rows orthonormal in the metric of M."""
        return self.tables.half

    @property
    def drive(self) -> Array:
        """G (n - r, p): what motors do to admissible motions."""
        return self.tables.drive

    @property
    def load(self) -> Array:
        """xi_load (n - r,)."""
        return self.tables.xi

    @property
    def task_map(self) -> Array:
        """J N_M (l, n - r): task accelerations from admissible motions."""
        return self.tables.task_map

    @property
    def task_equation(self) -> tuple[Array, Array]:
        """T (l, p) and t (l,) with T u = t where the task is met."""
        return self.tables.T, self.tables.t

    @property
    def force_map(self) -> tuple[Array, Array]:
        """F (m, p) and f (m,): multipliers F u + f, the least that fit.

        [A] 27 with the sign of [A] 6.
        """
        return self.tables.F, self.tables.f

    @property
    def control_force(self) -> Array:
        """tau_c (n,) of [A] 17: the force in the null space of A that a complete task asks for."""
        Lambda = self.task.J @ self.dynamics.projection.P
        wanted = np.linalg.pinv(Lambda, rcond=_RANK) @ (
            self.task.wanted - self.task.drift - self.task.J @ self.dynamics.outside
        )
        result: Array = self.dynamics.projection.P @ (self.dynamics.M @ wanted + self.dynamics.load)
        return result

    def accelerations(self, u: Array) -> Array:
        """Accelerations (nv,) that motor forces u (p,) lead to."""
        result: Array = self.half.T @ (self.drive @ u - self.load) + self.tables.outside
        return result

    def loaded(self, more: Array) -> ControlState:
        """The same with more load (nv,), N m or N, see `MotionEquation.turned`."""
        mechanism = self.mechanism._replace(bias=self.mechanism.bias + more)
        return _found(self.model, self.state, self.held, self.motors, mechanism, self.task)

    def consistency(self) -> Consistency:
        """Whether tasks, contacts and motors fit each other."""
        J, P = self.task.J, self.dynamics.projection.P
        T, G = self.task_equation[0], self.drive

        def rank(matrix: Array, scale: float) -> int:
            return (
                int((np.linalg.svd(matrix, compute_uv=False) > _RANK * scale).sum())
                if matrix.size
                else 0
            )

        def norm(matrix: Array) -> float:
            return float(np.linalg.norm(matrix, 2)) if matrix.size else 0.0

        return Consistency(
            len(self.half),
            rank(J @ P, norm(J)),
            len(J),
            rank(G, norm(self.half)),
            rank(T, norm(self.task_map) * norm(G)),
        )


def control_state(
    model: Model,
    state: State,
    held: HeldContacts,
    motors: Motors,
    tasks: GatheredTasks,
    time: float,
    *,
    equation: MotionEquation | None = None,
) -> ControlState:
    """Constrained dynamics and tasks at a state.

    Joints' viscous damping and sliding friction are part of the load.

    Parameters
    ----------
    model : Model
        The mechanism.
    state : State
        Configuration and velocity.
    held : HeldContacts
        Contacts that hold.
    motors : Motors
        Of the mechanism.
    tasks : GatheredTasks
        Tasks with their paths and gains.
    time : float
        At which paths are asked, s.
    equation : MotionEquation, optional
        Of the mechanism; default: of one without closed loops.

    Returns
    -------
    ControlState
        Everything that controllers ask for at this state.
    """
    terms = (MotionEquation(model) if equation is None else equation).at(state, held)
    task = tasks.rows(time, state)
    mechanism = Mechanism(*terms, task.J, task.wanted - task.drift)
    return _found(model, state, held, motors, mechanism, task)


def _found(
    model: Model,
    state: State,
    held: HeldContacts,
    motors: Motors,
    mechanism: Mechanism,
    task: TaskRows,
) -> ControlState:
    """What the kernel finds of a mechanism."""
    rows = motors.actuation.rows
    numbers, integers = room_for(*mechanism.A.shape, len(rows), len(task.x))
    floats = np.empty(numbers)
    rank = control_kernel(
        tuple(mechanism), rows, RANK_TOLERANCE, floats, np.empty(integers, dtype=np.int64)
    )
    if rank == SINGULAR:
        raise ArgumentError("M: the mass matrix is not positive definite on the admissible motions")
    return ControlState(model, state, held, motors, mechanism, task, rank, floats)


def minimum_norm(E: Array, e: Array, limits: Array = _UNLIMITED) -> tuple[Array, bool]:
    """The least u with E u = e ([A] 14), in the least-squares sense where there is none.

    Its first entries are cut off at the limits; and whether the equations are met.
    """
    m, n = E.shape
    x = np.empty(n)
    floats, ints = np.empty(numbers_of(m, n)), np.empty(ints_of(m, n), dtype=np.int64)
    return x, least_kernel(E, e, _RANK, limits, x, floats, ints)


def regulation_force(at: ControlState, stiffness: Array, damping: Array) -> Array:
    """Regulation without a model of the inertia: P (-tau_g - K_D v + Lambda^T K_P e), [A] 22.

    Parameters
    ----------
    at : ControlState
        Dynamics and tasks at the state.
    stiffness : (l, l) array
        K_P, N/m and N m/rad along the tasks' coordinates.
    damping : (n, n) array
        K_D, N s/m and N m s/rad along the velocities.

    Returns
    -------
    (n,) array
        The force tau_c in the null space of A, N m or N.
    """
    P = at.dynamics.projection.P
    gravity = bias(at.model, at.state.q, np.zeros(at.model.nv))
    result: Array = P @ (gravity - damping @ at.state.v + at.task.J.T @ (stiffness @ at.task.error))
    return result
