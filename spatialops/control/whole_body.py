"""A whole-body quadratic program with friction pyramids: the usual controller, for comparison with exact cones.

Unknowns are accelerations, motor forces and contact forces; nothing is eliminated or projected.
"""

from __future__ import annotations

import time as clock
from collections.abc import Sequence

import numpy as np

from spatialops._arrays import Array, scalar, whole
from spatialops.collision.contact_set import ContactSet
from spatialops.control.controller import Explanation
from spatialops.control.friction_cone import ConeExplanation, Posture, Schedule
from spatialops.control.motors import Motors
from spatialops.control.projection_contacts import HeldContacts, held
from spatialops.control.projection_tasks import Tracking, stack
from spatialops.dynamics.composite_body import mass_matrix
from spatialops.dynamics.newton_euler import bias
from spatialops.errors import ArgumentError, MissingLibraryError
from spatialops.tree.model import Model
from spatialops.tree.state import State

_FAR = 1e30


class WholeBodyController:
    """min u.W u over (a, u, lambda): M a + h = B u + A^T lambda, A a + Adot v = 0, tasks, pyramids, limits; by daqp.

    Tasks are equalities; where those have no solution, costs ("nearest").

    Parameters
    ----------
    model : Model
    tasks : sequence of Tracking
    motors : Motors
    contacts : HeldContacts, callable or None
        As `FrictionConeController` takes them.
    sides : int
        Of the pyramid inscribed in each cone, the first along the first tangent; at least 3.
    damping : float
        1/s; accelerations that tasks leave free are drawn to -damping v.
    task_weight : float
        W s^4 per squared missing acceleration, where tasks are costs.
    posture : callable, optional
        (model, state) -> accelerations (nv,) wanted where tasks leave freedom, instead of damping.
    posture_weight : float
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
        try:
            import daqp  # noqa: F401
        except ImportError as error:
            raise MissingLibraryError("the whole-body controller needs daqp: pip install 'spatialops[qp]'") from error
        if motors.actuation.model is not model:
            raise ArgumentError("motors: are those of another model")
        self.model, self.tasks, self.motors, self.contacts = model, tuple(tasks), motors, contacts
        self.sides = whole(sides, "sides", low=3)
        self.damping = scalar(damping, "damping", low=0.0)
        self.task_weight = scalar(task_weight, "task_weight", low=0.0, strict=True)
        self.posture, self.posture_weight = posture, scalar(posture_weight, "posture_weight", low=0.0)
        self._last: ConeExplanation | None = None

    def __call__(self, time: float, state: State, contacts: ContactSet | None = None) -> Array:
        """Joint forces (nv,), N m or N, zero where there is no motor."""
        begin = clock.perf_counter()
        grip = self._held(time, state, contacts)
        n, p, m = self.model.nv, len(self.motors.actuation), grip.n_rows
        motions = [item.task.motion(self.model, state) for item in self.tasks]
        goal = np.concatenate([t.goal(time, x, state.v)[0] for t, x in zip(self.tasks, motions, strict=True)])
        task = stack(motions, n)
        J, wanted = np.hstack([task.J, np.zeros((len(goal), p + m))]), goal - task.drift
        physics, right = self._physics(state, grip)
        sides, low, high = self._inequalities(grip, n, p)
        H, f = np.zeros((n + p + m, n + p + m)), np.zeros(n + p + m)
        H[np.arange(n), np.arange(n)] = 1e-6
        f[:n] = 1e-6 * self.damping * state.v
        if self.posture is not None:
            M = 2.0 * self.posture_weight * mass_matrix(self.model, state.q)
            H[:n, :n] += M
            f[:n] = -M @ self.posture(self.model, state)
        H[np.arange(n, n + p), np.arange(n, n + p)] = 2.0 * self.motors.weights
        H[np.arange(n + p, n + p + m), np.arange(n + p, n + p + m)] = 1e-9
        status = "solved"
        x, steps = _daqp(H, f, np.vstack([physics, J]), np.concatenate([right, wanted]), sides, low, high)
        if x is None:
            status = "nearest"
            soft = H + 2.0 * self.task_weight * J.T @ J
            x, steps = _daqp(soft, f - 2.0 * self.task_weight * J.T @ wanted, physics, right, sides, low, high)
        if x is None:
            status, x = "held", np.zeros(n + p + m)
            x[n : n + p] = self.motors.actuation.clipped(bias(self.model, state.q, state.v))[self.motors.actuation.rows]
        tau = self.motors.actuation.spread(x[n : n + p])
        missing = np.linalg.lstsq(task.J, wanted - task.J @ x[:n], rcond=1e-8)[0]
        off = np.abs(physics @ x - right).max(initial=0.0) / (1.0 + np.abs(right).max(initial=0.0))
        self._last = ConeExplanation(
            tau=tau, demanded=x[:n] + missing, predicted=x[:n], status=status, residual=float(off), iterations=steps,
            forces=x[n + p :][grip.force_rows].reshape(-1, 3), slack=float(np.abs(missing).max(initial=0.0)),
            seconds=clock.perf_counter() - begin, power=self.motors.power(x[n : n + p]), disturbance=wanted - task.J @
            x[:n],
        )  # fmt: skip
        return tau

    def explain(self) -> Explanation:
        """Why the last command was what it was.

        Raises
        ------
        ArgumentError
            Before the first command.
        """
        if self._last is None:
            raise ArgumentError("explain: there was no command yet")
        return self._last

    def _held(self, time: float, state: State, contacts: ContactSet | None) -> HeldContacts:
        if isinstance(self.contacts, HeldContacts):
            return self.contacts
        if self.contacts is not None:
            return self.contacts(time, state)
        if contacts is None:
            raise ArgumentError("contacts: the controller has none of its own, and none were given")
        return held(self.model, state.q, contacts)

    def _physics(self, state: State, grip: HeldContacts) -> tuple[Array, Array]:
        """Rows of M a - B u - A^T lambda = -h and of A a = -Adot v."""
        q, v, n, m = state.q, state.v, self.model.nv, grip.n_rows
        (A, drift), rows = grip.rows(q, v), self.motors.actuation.rows
        B = np.zeros((n, len(rows)))
        B[rows, np.arange(len(rows))] = 1.0
        load = bias(self.model, q, v) + self.model.damping * v
        if grip.sliding:
            load = load - grip.sliding_friction(q)
        top = np.hstack([mass_matrix(self.model, q), -B, -A.T])
        pressed = np.zeros((len(grip.pressed), n + len(rows) + m))
        pressed[np.arange(len(grip.pressed)), n + len(rows) + grip.pressed_rows] = 1.0
        left = np.vstack([top, np.hstack([A, np.zeros((m, len(rows) + m))]), pressed])
        return left, np.concatenate([-load, -drift, grip.pressed])

    def _inequalities(self, grip: HeldContacts, n: int, p: int) -> tuple[Array, Array, Array]:
        """Rows with lower and upper bounds: motors' limits, sides of the pyramids, bounds of contact forces."""
        limits, size = self.motors.actuation.limits, n + p + grip.n_rows
        motors = np.zeros((p, size))
        motors[np.arange(p), n + np.arange(p)] = 1.0
        angles = 2.0 * np.pi * (np.arange(self.sides) + 0.5) / self.sides
        reach = np.cos(np.pi / self.sides)
        cones = np.zeros((self.sides * len(grip.mu), size))
        for i, (mu, first) in enumerate(zip(grip.mu, grip.force_rows[::3], strict=True)):
            block = cones[self.sides * i : self.sides * (i + 1)]
            block[:, n + p + first] = mu * reach
            block[:, n + p + first + 1], block[:, n + p + first + 2] = -np.cos(angles), -np.sin(angles)
        rows, offsets, _ = grip.limits
        forces = np.hstack([np.zeros((len(rows), n + p)), rows])
        low = np.concatenate([-limits, np.zeros(len(cones)), -offsets])
        return (
            np.vstack([motors, cones, forces]),
            low,
            np.concatenate([limits, np.full(len(cones) + len(rows), np.inf)]),
        )


def _daqp(
    H: Array, f: Array, E: Array, e: Array, rows: Array, low: Array, high: Array
) -> tuple[Array | None, int]:  # fmt: skip
    """Solve, or None. Equalities are eliminated first: daqp takes redundant ones for infeasible."""
    import daqp

    (
        left,
        values,
        right,
    ) = np.linalg.svd(E)
    rank = int((values > 1e-10 * values[0]).sum())
    x0 = (right[:rank].T / values[:rank]) @ (left[:, :rank].T @ e)
    if np.abs(E @ x0 - e).max() > 1e-8 * (1.0 + np.abs(e).max()):
        return None, 0
    Z = right[rank:].T
    quadratic = Z.T @ H @ Z
    scale = 1.0 / max(float(np.abs(quadratic).max(initial=0.0)), 1e-300)
    D, at = np.ascontiguousarray(rows @ Z), rows @ x0
    answer = daqp.solve(
        np.ascontiguousarray(scale * 0.5 * (quadratic + quadratic.T)),
        scale * (Z.T @ (H @ x0 + f)),
        D,
        np.minimum(high - at, _FAR),
        np.maximum(low - at, -_FAR),
        np.zeros(len(D), dtype=np.int32),
        primal_tol=1e-9,
        dual_tol=1e-10,
        eps_prox=1e-7,
        iter_limit=10000,
    )
    w, _, flag, info = answer
    return (x0 + Z @ np.asarray(w) if flag > 0 and np.isfinite(w).all() else None), int(info["iterations"])
