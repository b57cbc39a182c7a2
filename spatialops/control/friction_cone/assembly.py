"""From a state to the program of [A] 29.

Unknowns are motor forces u, and internal forces y where contacts are redundant. Where rows of A are
redundant forces cannot be told from motions: lambda = F u + f + I y with A^T I = 0. Contacts hold
if some y brings all of them into their cones; the program seeks it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy

from spatialops._arrays import NOTHING, Array, ArrayLike
from spatialops.algebra.pivoted_qr import row_basis
from spatialops.control.friction_cone.force_program import ForceProgram
from spatialops.control.projected.control_state import ControlState

# Singular values that count as zero.
_RANK = 1e-8  # of tasks, relative to the largest
_POSTURE_RANK = 1e-6  # of what tasks leave free, relative to the motors' whole effect
_TRADED_RANK = 1e-4  # of tasks that are costs
_LEAST_LOAD = 1e-3  # N; a contact's where nothing weighs and nothing presses

ForceGoals = Callable[[float], ArrayLike]


class Assembly:
    """Costs, inequalities and equalities (tasks, posture, forces) of a controller at one state.

    Parameters
    ----------
    at : ControlState
        Dynamics and tasks.
    posture : (nv,) array or None
        Accelerations wanted of what the tasks leave free.
    force_goals : (k, 3) array or None
        Contact forces [normal, tangent, tangent] to regulate ([A] 35), N; NaN: free.
    """

    def __init__(
        self, at: ControlState, posture: Array | None, force_goals: ArrayLike | None
    ) -> None:
        self.at, self.p = at, len(at.motors.actuation)
        F, f = at.force_map
        internal = at.dynamics.projection.internal
        self.force_rows, self.force_offsets = np.hstack([F, internal]), f
        self.n = self.p + internal.shape[1]
        self._inequalities()
        self.posture = None if posture is None else at.half @ (at.dynamics.M @ posture)
        self.forces_wanted = self._force_equalities(force_goals)

    def _inequalities(self) -> None:
        held = self.at.held
        limits = self.at.motors.actuation.limits
        (strong, _), motors = self.at.motors.strong, self.at.motors
        ends = 2 * len(strong)
        rows, offsets, names = held.limits
        weight = float(np.linalg.norm(self.at.model.gravity)) * self.at.model.mass
        usual = max(weight, float(np.abs(self.force_offsets).max(initial=0.0)), _LEAST_LOAD) / max(
            len(held), 1
        )
        strength = limits[strong]
        self.D = np.zeros((ends + len(rows), self.n))
        self.D[np.arange(len(strong)), strong] = -1.0
        self.D[np.arange(len(strong), ends), strong] = 1.0
        self.D[ends:] = rows @ self.force_rows
        self.d = np.concatenate([strength, strength, rows @ self.force_offsets + offsets])
        at_force = held.force_rows
        self.K = self.force_rows[at_force]
        self.k = self.force_offsets[at_force]
        self.mu = held.mu
        self.names = (*motors.ends, *names, *held.cone_names)
        self.scales = np.concatenate([strength, strength, np.full(len(rows) + len(held.mu), usual)])

    def _force_equalities(self, goals: ArrayLike | None) -> tuple[Array, Array]:
        pressed = self.at.held.pressed_rows
        rows, wanted = self.force_rows[pressed], self.at.held.pressed - self.force_offsets[pressed]
        if goals is None or not len(self.mu):
            return rows, wanted
        given = np.asarray(goals, dtype=np.float64).ravel()
        chosen = np.isfinite(given)
        return np.vstack([rows, self.K[chosen]]), np.concatenate(
            [wanted, given[chosen] - self.k[chosen]]
        )

    def wide(self, rows: Array) -> Array:
        """Rows on u as rows on (u, y)."""
        found = np.zeros((len(rows), self.n))
        found[:, : self.p] = rows
        return found

    def power(self) -> tuple[Array, Array]:
        """H and g of the losses u.W u."""
        H = np.zeros((self.n, self.n))
        H[np.arange(self.p), np.arange(self.p)] = 2.0 * self.at.motors.weights
        return H, np.zeros(self.n)

    def program(self, H: Array, g: Array, E: Array, e: Array) -> ForceProgram:
        """The program with these costs, and these equalities beside those of forces."""
        forces, wanted = self.forces_wanted
        return ForceProgram(
            H,
            g,
            np.vstack([E, forces]),
            np.concatenate([e, wanted]),
            self.D,
            self.d,
            self.K,
            self.k,
            self.mu,
            self.names,
            self.scales,
        )

    def strict(self) -> ForceProgram:
        """Tasks as equalities, posture as well as it can be met beside them."""
        E, e = self.at.task_equation
        if self.posture is not None:
            rows, right = self._posture_equalities(E, e, self.posture + self.at.load)
            E, e = np.vstack([E, rows]), np.concatenate([e, right])
        return self.program(*self.power(), self.wide(E), e)

    def _posture_equalities(self, E: Array, e: Array, wanted: Array) -> tuple[Array, Array]:
        """V^T Z^T u = s: the least |G u - wanted| among all u with E u = e."""
        G = self.at.drive
        tasks = row_basis(E, 0.0, share=_RANK)
        u = tasks.inverse_and_idle()[0] @ e
        moves = G @ tasks.null
        # What the rows of `moves` are combinations of, and of which combinations: Q T^T, both ways.
        found = row_basis(moves.T, _POSTURE_RANK * float(np.linalg.norm(G)))
        reached = found.Q[:, : found.rank].T @ (wanted - G @ u)
        rows = np.zeros((found.rank, moves.shape[1]))
        rows[:, found.order] = found.T.T
        return rows @ tasks.null.T, reached

    def soft_posture(self, weight: float) -> ForceProgram:
        """Tasks as equalities, posture as a cost weight |xi - wanted|^2."""
        H, g = self.power()
        self._add_posture(H, g, weight)
        E, e = self.at.task_equation
        return self.program(H, g, self.wide(E), e)

    def trade_off(self, weight: float, posture_weight: float) -> ForceProgram:
        """What the task misses as a cost: weight |d|^2 with d = Lambda^+ zeta ([A] 31-33)."""
        H, g = self.power()
        T, t = self.at.task_equation
        left, values, right, _ = scipy.linalg.lapack.dgesdd(
            self.at.task.J @ self.at.dynamics.projection.P, full_matrices=0
        )
        rank = int((values > _TRADED_RANK * max(values[0], NOTHING)).sum())
        pinv = (right[:rank].T / values[:rank]) @ left[:, :rank].T
        self._add(H, g, weight, pinv @ T, pinv @ t)
        if self.posture is not None:
            self._add_posture(H, g, posture_weight)
        return self.program(H, g, np.zeros((0, self.n)), np.zeros(0))

    def _add_posture(self, H: Array, g: Array, weight: float) -> None:
        assert self.posture is not None
        self._add(H, g, weight, self.at.drive, self.posture + self.at.load)

    def _add(self, H: Array, g: Array, weight: float, rows: Array, right: Array) -> None:
        H[: self.p, : self.p] += 2.0 * weight * rows.T @ rows
        g[: self.p] -= 2.0 * weight * rows.T @ right
