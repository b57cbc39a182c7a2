"""Khatib's operational-space control of arms: no contacts, no optimisation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, instance, scalar, several
from spatialops.collision.contact_set import ContactSet
from spatialops.control.actuation import Actuation
from spatialops.control.controller import Explanation
from spatialops.control.safe_command import LIMITS_BIND, SAFE, SafeController
from spatialops.control.task_space.tasks import Motion, PointTask, PoseTask, stack
from spatialops.control.task_space.tracking import Tracking
from spatialops.dynamics.compliance.compliance import compliance
from spatialops.dynamics.composite_body import mass_matrix
from spatialops.dynamics.forward_dynamics import forward_dynamics
from spatialops.dynamics.newton_euler import bias
from spatialops.errors import ArgumentError
from spatialops.forces.passive import dry_friction, passive_forces
from spatialops.tree.model import Model
from spatialops.tree.state import State, checked_state

_RANK = 1e-8  # singular values of tasks, relative to the largest, that count as zero


class _Command(NamedTuple):
    """What the last command was made for."""

    state: State
    task: Motion
    goal: Array
    passive: Array  # forces that joints exert without motors


class OperationalSpaceController(SafeController):
    """Tasks of a fully actuated arm, each as if its point were a free mass.

    tau = J^T F + (I - J^T Jbar^T) tau_0 + h with F = Lambda^-1 (xddot - Jdot v) and
    Jbar = M^-1 J^T Lambda^-1. Lambda = J M^-1 J^T is the engine's compliance at the tasks' nodes,
    in O(N). Every velocity needs a motor.

    Parameters
    ----------
    model : Model
        Fully actuated: joints without motors, such as free ones, are taken to have one.
    tasks : sequence of Tracking
        Of points and poses.
    damping : float, default 10
        1/s; the null-space force tau_0 is M times -damping v.
    tolerance : float, default 1e-8
        Singular values of Lambda below this share of the largest are left out: near singularities
        the task gives way there ("nearest").

    Raises
    ------
    ArgumentError
        For tasks that are not of points and poses, or options out of range.

    References
    ----------
    O. Khatib, A unified approach for motion and force control of robot manipulators,
    IEEE J. Robotics and Automation 3 (1987); [J] 52-61 for Lambda.
    """

    def __init__(
        self,
        model: Model,
        tasks: Sequence[Tracking],
        *,
        damping: float = 10.0,
        tolerance: float = 1e-8,
    ) -> None:
        each = several(tasks, "tasks", "trackings of points and poses")
        given = tuple(instance(item, Tracking, "tasks") for item in each)
        if not given or not all(isinstance(item.task, (PointTask, PoseTask)) for item in given):
            raise ArgumentError("tasks: expected trackings of points and poses")
        self.model = instance(model, Model, "model")
        self.actuation = Actuation(model, model.joint_names)
        self.tasks = given
        self.damping = scalar(damping, "damping", low=0.0)
        self.tolerance = scalar(tolerance, "tolerance", low=0.0)
        self._nodes = [item.task.node for item in given]  # type: ignore[attr-defined]
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
            Not used.

        Returns
        -------
        (nv,) array
            Joint forces within the motors' limits, N m or N.
        """
        self._last = None
        return self._safe_command(time, state, lambda: self._command(time, state))

    def _command(self, time: float, state: State) -> Explanation:
        checked_state(state, self.model)
        q, v = state.q, state.v
        motions = [item.task.motion(self.model, state) for item in self.tasks]
        goal = np.concatenate(
            [item.goal(time, m, v)[0] for item, m in zip(self.tasks, motions, strict=True)]
        )
        task = stack(motions, self.model.nv)
        Lambda = self._compliance(state, task.J)
        values, vectors = np.linalg.eigh(Lambda)
        kept = values > self.tolerance * values[-1]
        V = vectors[:, kept]
        inverse = V / values[kept] @ V.T  # Lambda^-1 where it exists
        M = mass_matrix(self.model, q)
        rest = -self.damping * (M @ v)
        back = inverse @ (task.J @ np.linalg.solve(M, rest))  # Jbar^T tau_0
        moving = task.J.T @ (inverse @ (goal - task.drift) - back) + rest
        passive = passive_forces(self.model, q, v)
        if self.model.dry_friction.any():
            passive += dry_friction(self.model, v, np.linalg.solve(M, moving))
        tau = moving + bias(self.model, q, v) - passive
        cut = self.actuation.clipped(tau)
        self._last = _Command(state, task, goal, passive)
        lost = len(goal) - int(kept.sum())
        notes: tuple[str, ...] = (
            (f"{lost} task directions are singular and were left out",) if lost else ()
        )
        notes += (LIMITS_BIND,) if (cut != tau).any() else ()
        still = np.zeros(self.model.nv)
        status = "nearest" if notes else "solved"
        return Explanation(tau=cut, demanded=still, predicted=still, status=status, notes=notes)

    def _compliance(self, state: State, J: Array) -> Array:
        """The engine's Lambda along points' axes, and through the rates of rotation vectors."""
        whole = compliance(self.model, state.q, self._nodes)
        at = []
        maps = []
        for i, item in enumerate(self.tasks):
            if isinstance(item.task, PointTask):
                maps.append(np.eye(3)[list(item.task.axes)])
                at.append(slice(6 * i + 3, 6 * i + 6))
            else:
                turn = np.eye(6)
                turn[:3, :3] = item.task.rates(self.model, state)  # type: ignore[attr-defined]
                maps.append(turn)
                at.append(slice(6 * i, 6 * i + 6))
        return np.block(
            [
                [a @ whole[s, t] @ b.T for b, t in zip(maps, at, strict=True)]
                for a, s in zip(maps, at, strict=True)
            ]
        )

    def explain(self) -> Explanation:
        """Why the last command was what it was.

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
        if self._last is None or found.status in SAFE:
            return found
        state, task, goal, passive = self._last
        predicted = forward_dynamics(self.model, state.q, state.v, found.tau + passive)
        missing = np.linalg.lstsq(task.J, goal - task.drift - task.J @ predicted, rcond=_RANK)[0]
        return replace(
            found,
            demanded=predicted + missing,
            predicted=predicted,
            slack=float(np.abs(missing).max(initial=0.0)),
        )
