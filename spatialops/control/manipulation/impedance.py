"""Operational-space impedance control of several frames with the robot's own Lambda."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spatialops._arrays import Array, ArrayLike, scalar, vector, whole
from spatialops.control.trajectory import Pose, Sample, turn_between
from spatialops.dynamics.compliance.compliance import compliance
from spatialops.dynamics.composite_body import mass_matrix
from spatialops.dynamics.jacobian import body_poses, jacobian, jacobian_drift
from spatialops.dynamics.newton_euler import bias
from spatialops.forces.passive import dry_friction, passive_forces
from spatialops.tree.model import Model
from spatialops.tree.node import Node

# Compliance, 1/kg or 1/(kg m^2), below which an arm counts as no stiffer: stretched, it would take
# endless inertia.
_STRETCHED = 1e-4


@dataclass(frozen=True, kw_only=True)
class ImpedanceGains:
    """How hands answer a push.

    Parameters
    ----------
    stiffness : float, default 2500
        Along lines, N/m.
    turn_stiffness : float, default 120
        Of turns, N m/rad.
    damping_ratio : float, default 1
        Share of the critical damping.
    posture : float, default 60
        Stiffness of the posture in the null space, 1/s^2.

    Raises
    ------
    ArgumentError
        For gains that are not positive.
    """

    stiffness: float = 2500.0
    turn_stiffness: float = 120.0
    damping_ratio: float = 1.0
    posture: float = 60.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            scalar(value, name, low=0.0, strict=True)


class Impedance:
    """Springs and dampers between frames of a robot and where they should be.

    The robot moves as if it had no other dynamics. With the compliance Lambda = J M^-1 J^T of the
    frames, joint forces are

        tau = h + J^T F + N^T tau_0,   F = Lambda^-1 (a_ref - Jdot v) + K e + D (v_ref - J v) + W,
        N^T = 1 - J^T Lambda^-1 J M^-1,

    with h = bias(q, v) less what joints give themselves (springs, damping, borne weight, dry
    friction of what moves or begins to), so that Lambda^-1 (a - a_ref) = K e + D edot + W - (what
    the surroundings push with): the frames keep their own inertia, and the posture tau_0, a spring
    at the joints, does not move them.
    Damping is D = zeta (A S + S A) with A^2 = Lambda^-1 and S^2 = K, which damps every direction
    alike however Lambda couples them.

    Parameters
    ----------
    model : Model
        The robot alone, without what it handles.
    frames : sequence of str
        Bodies or merged bodies.
    posture : (nq,) array_like
        Joint coordinates that the null space draws to.
    gains : ImpedanceGains, optional
        Default: `ImpedanceGains()`.
    every : int, default 8
        Calls between two computations of J, Lambda and M; poses, velocities and h are new in every
        call.

    Attributes
    ----------
    poses : list of Pose
        Of the frames in the last call.
    errors : (n, 6) array
        Targets against frames in the last call: turn (rad) and line (m), world axes.

    Raises
    ------
    ArgumentError
        For a posture of the wrong size, and frames that do not exist.

    References
    ----------
    O. Khatib 1987; A. Albu-Schaffer, C. Ott, U. Frese, G. Hirzinger 2003 (factorised
    damping); Lambda by [J] 62-69.
    """

    def __init__(
        self,
        model: Model,
        frames: Sequence[str],
        posture: ArrayLike,
        *,
        gains: ImpedanceGains | None = None,
        every: int = 8,
    ) -> None:
        self.model, self.gains = model, gains or ImpedanceGains()
        self.posture = vector(np.array(posture, dtype=np.float64), model.nq, "posture")
        self.every = whole(every, "every", low=1)
        self._places = [model.frame(name) for name in frames]
        self._nodes = [Node(name) for name in frames]
        self._resolved = model.resolve(self._nodes)
        self._springs = np.tile(
            [self.gains.turn_stiffness] * 3 + [self.gains.stiffness] * 3, len(self._nodes)
        )
        self._age = 0
        self.poses: list[Pose] = []
        self.errors = np.zeros((len(self._nodes), 6))

    def torques(self, q: Array, v: Array, targets: Sequence[Sample], wrenches: Array) -> Array:
        """Joint forces that draw the frames to their targets, and push with wrenches besides.

        Parameters
        ----------
        q : (nq,) array
            Coordinates of the robot.
        v : (nv,) array
            Its velocities.
        targets : sequence of Sample
            Poses, velocities and accelerations that the frames should have.
        wrenches : (n, 6) array
            [moment; force] at the frames, world axes, N m and N.

        Returns
        -------
        (nv,) array
            N m or N.
        """
        if self._age % self.every == 0:
            self._renew(q, v)
        self._age += 1
        self.observe(q)
        for error, target, pose in zip(self.errors, targets, self.poses, strict=True):
            error[:3] = turn_between(pose.rotation, target.pose.rotation)
            error[3:] = target.pose.position - pose.position
        velocity = np.concatenate([target.velocity for target in targets])
        acceleration = np.concatenate([target.acceleration for target in targets])
        force = self._inertia @ (acceleration - self._drift) + self._springs * self.errors.ravel()
        force += self._damping @ (velocity - self._J @ v) + wrenches.ravel()
        gain = self.gains.posture
        drawn = self._weights * (gain * (self.posture - q) - 2.0 * np.sqrt(gain) * v)
        moving = self._J.T @ force + self._null @ drawn
        passive = passive_forces(self.model, q, v)
        if self.model.dry_friction.any():
            passive += dry_friction(self.model, v, np.linalg.solve(self._M, moving))
        result: Array = moving + bias(self.model, q, v) - passive
        return result

    def observe(self, q: Array) -> list[Pose]:
        """Observe the frames.

        Parameters
        ----------
        q : (nq,) array
            Coordinates of the robot.

        Returns
        -------
        list of Pose
            Of the frames; `poses` is the same.
        """
        bodies = body_poses(self.model, q)
        self.poses = [
            Pose(
                bodies.positions[f.body] + bodies.rotations[f.body] @ f.position,
                bodies.rotations[f.body] @ f.rotation,
            )
            for f in self._places
        ]
        return self.poses

    def _renew(self, q: Array, v: Array) -> None:
        self._J = jacobian(self.model, q, self._nodes)
        self._drift = jacobian_drift(self.model, q, v, self._nodes)
        self._M = M = mass_matrix(self.model, q)
        values, vectors = np.linalg.eigh(compliance(self.model, q, self._resolved))
        stiff = 1.0 / np.maximum(values, _STRETCHED)
        self._inertia = (vectors * stiff) @ vectors.T
        A, S = (vectors * np.sqrt(stiff)) @ vectors.T, np.sqrt(self._springs)
        self._damping = self.gains.damping_ratio * (A * S + S[:, None] * A)
        self._null = np.eye(self.model.nv) - self._J.T @ (
            self._inertia @ np.linalg.solve(M, self._J.T).T
        )
        self._weights = np.diag(M)
