"""Feet of a legged robot as seen from its base: where they are, how they move, and their inverse kinematics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spatialops._arrays import Array, IntArray, array
from spatialops.dynamics.jacobian import jacobian, node_positions
from spatialops.errors import ArgumentError
from spatialops.tree.model import Model, Node

_DAMPING = 1e-4  # m, of singular legs: keeps steps bounded where a leg is straight


class Legs:
    """Legs of three velocities each, on a free base.

    Parameters
    ----------
    model : Model
    feet : sequence of str or Node
        One a leg; each leg's joints are those that move its foot.
    base : str
        The free joint.

    Attributes
    ----------
    joints : (legs, 3) int array
        Velocities of the legs; `angles` are the coordinates that belong to them.
    links : (legs,) int array
        Kernel links that carry the feet.

    Raises
    ------
    ArgumentError
        For legs that have not three joints of one degree of freedom, or share some.
    """

    def __init__(self, model: Model, feet: Sequence[str | Node], *, base: str = "base") -> None:
        self.model = model
        self.nodes = [foot if isinstance(foot, Node) else Node(foot) for foot in feet]
        self._q = model.neutral()
        self.links: IntArray = np.asarray(model.resolve(self.nodes).links)
        own = np.arange(model.nv)[model.v_slice(base)]
        moves = np.abs(jacobian(model, self._shaken(), self.nodes).reshape(len(self.nodes), 6, model.nv)).max(axis=1)
        moves[:, own] = 0.0
        joints = [np.flatnonzero(row > 1e-9) for row in moves]
        if any(len(row) != 3 for row in joints) or len(np.unique(np.concatenate(joints))) != 3 * len(joints):
            raise ArgumentError(f"feet: expected three joints of its own for each, got {[len(row) for row in joints]}")
        self.joints: IntArray = np.array(joints)
        place = np.full(model.nv, -1)
        for name in model.joint_names:
            q, v = model.q_slice(name), model.v_slice(name)
            if q.stop - q.start == v.stop - v.start == 1:
                place[v.start] = q.start
        self.angles: IntArray = place[self.joints]
        if (self.angles < 0).any():
            raise ArgumentError("feet: legs need joints of one degree of freedom")

    def _shaken(self) -> Array:
        return self.model.random(np.random.default_rng(0))

    def positions(self, angles: Any) -> Array:
        """Feet (legs, 3) from the base, m, at joint angles (legs, 3)."""
        result: Array = node_positions(self.model, self._at(angles), self.nodes)
        return result

    def jacobians(self, angles: Any) -> Array:
        """(legs, 3, 3): velocities of the feet against the base per joint velocity."""
        J = jacobian(self.model, self._at(angles), self.nodes).reshape(len(self.nodes), 6, -1)[:, 3:]
        return np.stack([J[i][:, joints] for i, joints in enumerate(self.joints)])

    def _at(self, angles: Any) -> Array:
        q = self._q.copy()
        q[self.angles] = array(angles, self.joints.shape, "angles")
        return q

    def inverse(self, feet: Any, angles: Any, *, rounds: int = 20) -> tuple[Array, float]:
        """Joint angles (legs, 3) that put the feet at `feet` (legs, 3), from `angles`; and the error left, m.

        Damped Newton: where a foot is out of reach the leg stretches towards it, and the error says how far off it is.
        """
        wanted, found = array(feet, self.joints.shape, "feet"), array(angles, self.joints.shape, "angles").copy()
        error = wanted - self.positions(found)
        left = float(np.abs(error).max())
        for _ in range(rounds):
            if left < 1e-13:
                break
            step = self.rates(self.jacobians(found), error)
            nearer = found + np.clip(step, -0.3, 0.3)
            missed = wanted - self.positions(nearer)
            if not (size := float(np.abs(missed).max())) < left:
                break
            found, error, left = nearer, missed, size
        return found, left

    @staticmethod
    def rates(jacobians: Array, velocities: Array) -> Array:
        """Joint velocities (legs, 3) for velocities of the feet (legs, 3), damped near singular legs."""
        gram = np.einsum("lik,ljk->lij", jacobians, jacobians)
        worst = np.linalg.eigvalsh(gram)[:, 0]
        damping = np.where(worst > 100.0 * _DAMPING**2, 0.0, _DAMPING**2)
        x = np.linalg.solve(gram + damping[:, None, None] * np.eye(3), velocities[..., None])
        result: Array = np.einsum("lik,li->lk", jacobians, x[..., 0])
        return result
