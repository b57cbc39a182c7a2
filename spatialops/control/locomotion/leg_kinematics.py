"""Feet of a legged robot in its base's frame: places, velocities, inverse kinematics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spatialops._arrays import Array, ArrayLike, IntArray, array
from spatialops.dynamics.jacobian import jacobian, node_positions
from spatialops.errors import ArgumentError
from spatialops.tree.model import Model
from spatialops.tree.node import Node

_DAMPING = 1e-4  # m, of singular legs: keeps steps bounded where a leg is straight
_SINGULAR = 100.0  # times the damping, squared: a leg that is less regular is damped
_MOVES = 1e-9  # m/s of a foot at unit rate of a joint that moves it
_CLOSE = 1e-13  # m; feet that are nearer to where they ought to be are there
_STEP = 0.3  # rad; a joint is turned by no more at once


class Legs:
    """Legs of three velocities each, on a free base.

    Parameters
    ----------
    model : Model
        The robot.
    feet : sequence of str or Node
        One a leg; each leg's joints are those that move its foot.
    base : str, default "base"
        The free joint.

    Attributes
    ----------
    joints, angles : (legs, 3) int arrays
        Indices of the legs' velocities in v, and of the coordinates that belong to them in q.
    links : (legs,) int array
        Kernel links that carry the feet.

    Raises
    ------
    ArgumentError
        For legs that have not three joints of one degree of freedom, or share some.

    Examples
    --------
    >>> import spatialops as so
    >>> from spatialops.control import Legs
    >>> robot = so.models.quadruped()
    >>> legs = Legs(robot.model, robot.feet)
    >>> stance = robot.state.q[legs.angles]
    >>> feet = legs.positions(stance)
    >>> angles, missed = legs.inverse(feet + [0.0, 0.0, 0.01], stance)
    >>> missed < 1e-12
    True
    """

    def __init__(self, model: Model, feet: Sequence[str | Node], *, base: str = "base") -> None:
        self.model = model
        self.nodes = [foot if isinstance(foot, Node) else Node(foot) for foot in feet]
        self._q = model.neutral()
        self.links: IntArray = np.asarray(model.resolve(self.nodes).links)
        own = np.arange(model.nv)[model.v_slice(base)]
        moves = np.abs(
            jacobian(model, self._shaken(), self.nodes).reshape(len(self.nodes), 6, model.nv)
        ).max(axis=1)
        moves[:, own] = 0.0
        joints = [np.flatnonzero(row > _MOVES) for row in moves]
        counts = [len(row) for row in joints]
        shared = len(np.unique(np.concatenate(joints))) != sum(counts)
        if shared or any(count != 3 for count in counts):
            raise ArgumentError(f"feet: expected three joints of its own for each, got {counts}")
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

    def positions(self, angles: ArrayLike) -> Array:
        """Where the feet are.

        Parameters
        ----------
        angles : (legs, 3) array_like
            Joint angles, rad.

        Returns
        -------
        (legs, 3) array
            In the base's frame, m.
        """
        result: Array = node_positions(self.model, self._at(angles), self.nodes)
        return result

    def jacobians(self, angles: ArrayLike) -> Array:
        """Velocities of the feet against the base per joint velocity.

        Parameters
        ----------
        angles : (legs, 3) array_like
            Joint angles, rad.

        Returns
        -------
        (legs, 3, 3) array
            m per rad, in the base's axes.
        """
        J = jacobian(self.model, self._at(angles), self.nodes).reshape(len(self.nodes), 6, -1)[
            :, 3:
        ]
        return np.stack([J[i][:, joints] for i, joints in enumerate(self.joints)])

    def _at(self, angles: ArrayLike) -> Array:
        q = self._q.copy()
        q[self.angles] = array(angles, self.joints.shape, "angles")
        return q

    def inverse(
        self, feet: ArrayLike, angles: ArrayLike, *, rounds: int = 20
    ) -> tuple[Array, float]:
        """Joint angles that put the feet where they are wanted, by damped Newton.

        Where a foot is out of reach the leg stretches towards it, and the error says how far off it
        is.

        Parameters
        ----------
        feet : (legs, 3) array_like
            Wanted places in the base's frame, m.
        angles : (legs, 3) array_like
            Joint angles to begin with, rad.
        rounds : int, default 20
            Steps at most.

        Returns
        -------
        angles : (legs, 3) array
            Joint angles, rad.
        error : float
            Largest distance left along an axis, m.
        """
        wanted = array(feet, self.joints.shape, "feet")
        found = array(angles, self.joints.shape, "angles").copy()
        error = wanted - self.positions(found)
        left = float(np.abs(error).max())
        for _ in range(rounds):
            if left < _CLOSE:
                break
            step = self.rates(self.jacobians(found), error)
            nearer = found + np.clip(step, -_STEP, _STEP)
            missed = wanted - self.positions(nearer)
            if not (size := float(np.abs(missed).max())) < left:
                break
            found = nearer
            error = missed
            left = size
        return found, left

    @staticmethod
    def rates(jacobians: Array, velocities: Array) -> Array:
        """Joint velocities for velocities of the feet, damped where a leg is singular.

        Parameters
        ----------
        jacobians : (legs, 3, 3) array
            As of `jacobians`.
        velocities : (legs, 3) array
            Of the feet against the base, m/s.

        Returns
        -------
        (legs, 3) array
            rad/s.
        """
        gram = np.einsum("lik,ljk->lij", jacobians, jacobians)
        worst = np.linalg.eigvalsh(gram)[:, 0]
        damping = np.where(worst > _SINGULAR * _DAMPING**2, 0.0, _DAMPING**2)
        x = np.linalg.solve(gram + damping[:, None, None] * np.eye(3), velocities[..., None])
        result: Array = np.einsum("lik,li->lk", jacobians, x[..., 0])
        return result
