"""A whole-body quadratic program with friction pyramids, for comparison with exact cones.

Unknowns are accelerations, motor forces and contact forces; nothing is eliminated or projected.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spatialops._arrays import NOTHING, Array, scalar, whole
from spatialops.collision.contact_set import ContactSet
from spatialops.contact.qp import QuadraticProgram, by_daqp, load
from spatialops.control.friction_cone.controller import Posture
from spatialops.control.friction_cone.explanation import ConeExplanation
from spatialops.control.motors import Motors
from spatialops.control.projected.held_contacts import HeldContacts
from spatialops.control.projected.present_contacts import Schedule, present_contacts
from spatialops.control.safe_command import SafeController
from spatialops.control.task_space.tasks import stack
from spatialops.control.task_space.tracking import Tracking
from spatialops.dynamics.composite_body import mass_matrix
from spatialops.dynamics.newton_euler import bias
from spatialops.errors import ArgumentError
from spatialops.forces.passive import passive_forces
from spatialops.tree.model import Model
from spatialops.tree.state import State, checked_state

_WHO = "the whole-body controller"
# Costs that decide only what nothing else does.
_DAMPED = 1e-6  # of accelerations that tasks leave free, W s^4
_SMALL = 1e-9  # of contact forces, W/N^2
_MISSED_RANK = 1e-8  # singular values of tasks, relative, that count as zero
_RANK = 1e-10  # the same of equalities
_EQUAL = 1e-8  # of the scale of the equalities: missed by more, they contradict each other
# What daqp is asked for.
_PRIMAL = 1e-9
_DUAL = 1e-10
_PROXIMAL = 1e-7


class WholeBodyController(SafeController):
    """Least losses u.W u over accelerations, motor and contact forces (a, u, lambda), by daqp.

    Subject to M a + h = B u + A^T lambda, A a + Adot v = 0, tasks, pyramids and limits. Tasks are
    equalities; where those have no solution, costs ("nearest").

    Parameters
    ----------
    model : Model
        The mechanism.
    tasks : sequence of Tracking
        Tasks with their paths and gains.
    motors : Motors
        Of the mechanism.
    contacts : HeldContacts, callable or None
        As `FrictionConeController` takes them.
    sides : int, default 4
        Of the pyramid inscribed in each cone, the first along the first tangent; at least 3.
    damping : float, default 10
        1/s; accelerations that tasks leave free are drawn to -damping v.
    task_weight : float, default 1e3
        W s^4 per squared missing acceleration, where tasks are costs.
    posture : callable, optional
        (model, state) -> accelerations (nv,) wanted where tasks leave freedom, instead of damping.
    posture_weight : float, default 10
        W s^3 per J: cost of missing them, in the metric of the mass matrix.

    Raises
    ------
    MissingLibraryError
        If daqp is not installed (``spatialops[qp]``).
    ArgumentError
        For options out of range.
    """

    def __init__(
        self,
        model: Model,
        tasks: Sequence[Tracking],
        motors: Motors,
        *,
        contacts: HeldContacts | Schedule | None = None,
        sides: int = 4,
        damping: float = 10.0,
        task_weight: float = 1e3,
        posture: Posture | None = None,
        posture_weight: float = 10.0,
    ) -> None:
        load("daqp", _WHO)
        if motors.actuation.model is not model:
            raise ArgumentError("motors: are those of another model")
        self.model = model
        self.tasks = tuple(tasks)
        self.motors = motors
        self.actuation = motors.actuation
        self.contacts = contacts
        self.sides = whole(sides, "sides", low=3)
        self.damping = scalar(damping, "damping", low=0.0)
        self.task_weight = scalar(task_weight, "task_weight", low=0.0, strict=True)
        self.posture = posture
        self.posture_weight = scalar(posture_weight, "posture_weight", low=0.0)

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
        return self._safe_command(time, state, lambda: self._command(time, state, contacts))

    def _command(self, time: float, state: State, contacts: ContactSet | None) -> ConeExplanation:
        checked_state(state, self.model)
        grip = present_contacts(self.model, self.contacts, time, state, contacts)
        n = self.model.nv
        p = len(self.motors.actuation)
        m = grip.n_rows
        motions = [item.task.motion(self.model, state) for item in self.tasks]
        goal = np.concatenate(
            [t.goal(time, x, state.v)[0] for t, x in zip(self.tasks, motions, strict=True)]
        )
        task = stack(motions, n)
        J, wanted = np.hstack([task.J, np.zeros((len(goal), p + m))]), goal - task.drift
        physics, right = self._physics(state, grip)
        sides, low, high = self._inequalities(grip, n, p)
        H, f = np.zeros((n + p + m, n + p + m)), np.zeros(n + p + m)
        H[np.arange(n), np.arange(n)] = _DAMPED
        f[:n] = _DAMPED * self.damping * state.v
        if self.posture is not None:
            M = 2.0 * self.posture_weight * mass_matrix(self.model, state.q)
            H[:n, :n] += M
            f[:n] = -M @ self.posture(self.model, state)
        H[np.arange(n, n + p), np.arange(n, n + p)] = 2.0 * self.motors.weights
        H[np.arange(n + p, n + p + m), np.arange(n + p, n + p + m)] = _SMALL
        status = "solved"
        x, steps = _solve(
            H, f, np.vstack([physics, J]), np.concatenate([right, wanted]), sides, low, high
        )
        if x is None:
            status = "nearest"
            soft = H + 2.0 * self.task_weight * J.T @ J
            x, steps = _solve(
                soft, f - 2.0 * self.task_weight * J.T @ wanted, physics, right, sides, low, high
            )
        if x is None:
            status, x = "held", np.zeros(n + p + m)
            x[n : n + p] = self.motors.actuation.clipped(bias(self.model, state.q, state.v))[
                self.motors.actuation.rows
            ]
        tau = self.motors.actuation.spread(x[n : n + p])
        left = wanted - task.J @ x[:n]
        missing = np.linalg.lstsq(task.J, left, rcond=_MISSED_RANK)[0]
        off = np.abs(physics @ x - right).max(initial=0.0) / (1.0 + np.abs(right).max(initial=0.0))
        return ConeExplanation(
            tau=tau,
            demanded=x[:n] + missing,
            predicted=x[:n],
            status=status,
            residual=float(off),
            iterations=steps,
            forces=x[n + p :][grip.force_rows].reshape(-1, 3),
            slack=float(np.abs(missing).max(initial=0.0)),
            power=self.motors.power(x[n : n + p]),
            disturbance=left,
        )

    def _physics(self, state: State, grip: HeldContacts) -> tuple[Array, Array]:
        """Rows of M a - B u - A^T lambda = -h and of A a = -Adot v."""
        q = state.q
        v = state.v
        n = self.model.nv
        m = grip.n_rows
        (A, drift), rows = grip.rows(q, v), self.motors.actuation.rows
        B = np.zeros((n, len(rows)))
        B[rows, np.arange(len(rows))] = 1.0
        load = bias(self.model, q, v) - passive_forces(self.model, q, v)
        if grip.sliding:
            load = load - grip.sliding_friction(q)
        top = np.hstack([mass_matrix(self.model, q), -B, -A.T])
        pressed = np.zeros((len(grip.pressed), n + len(rows) + m))
        pressed[np.arange(len(grip.pressed)), n + len(rows) + grip.pressed_rows] = 1.0
        left = np.vstack([top, np.hstack([A, np.zeros((m, len(rows) + m))]), pressed])
        return left, np.concatenate([-load, -drift, grip.pressed])

    def _inequalities(self, grip: HeldContacts, n: int, p: int) -> tuple[Array, Array, Array]:
        """Motors' limits, sides of the pyramids, bounds of contact forces: rows, lower, upper."""
        limits, size = self.motors.actuation.limits, n + p + grip.n_rows
        motors = np.zeros((p, size))
        motors[np.arange(p), n + np.arange(p)] = 1.0
        angles = 2.0 * np.pi * (np.arange(self.sides) + 0.5) / self.sides
        reach = np.cos(np.pi / self.sides)
        cones = np.zeros((self.sides * len(grip.mu), size))
        for i, (mu, first) in enumerate(zip(grip.mu, grip.force_rows[::3], strict=True)):
            block = cones[self.sides * i : self.sides * (i + 1)]
            block[:, n + p + first] = mu * reach
            block[:, n + p + first + 1], block[:, n + p + first + 2] = (
                -np.cos(angles),
                -np.sin(angles),
            )
        rows, offsets, _ = grip.limits
        forces = np.hstack([np.zeros((len(rows), n + p)), rows])
        low = np.concatenate([-limits, np.zeros(len(cones)), -offsets])
        return (
            np.vstack([motors, cones, forces]),
            low,
            np.concatenate([limits, np.full(len(cones) + len(rows), np.inf)]),
        )


def _solve(
    H: Array, f: Array, E: Array, e: Array, rows: Array, low: Array, high: Array
) -> tuple[Array | None, int]:
    """The point, or None, and iterations; equalities, maybe redundant, are eliminated first."""
    left, values, right = np.linalg.svd(E)
    rank = int((values > _RANK * values[0]).sum())
    x0 = (right[:rank].T / values[:rank]) @ (left[:, :rank].T @ e)
    if np.abs(E @ x0 - e).max() > _EQUAL * (1.0 + np.abs(e).max()):
        return None, 0
    Z = right[rank:].T
    quadratic = Z.T @ H @ Z
    scale = 1.0 / max(float(np.abs(quadratic).max(initial=0.0)), NOTHING)
    at = rows @ x0
    program = QuadraticProgram(
        scale * 0.5 * (quadratic + quadratic.T),
        scale * (Z.T @ (H @ x0 + f)),
        rows @ Z,
        low - at,
        high - at,
    )
    found = by_daqp(program, _WHO, primal=_PRIMAL, dual=_DUAL, proximal=_PROXIMAL)
    return (x0 + Z @ found.x if found.status == "point" else None), found.iterations
