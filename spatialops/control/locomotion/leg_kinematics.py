"""Feet of a legged robot in its base's frame: places, velocities, inverse kinematics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, IntArray, array
from spatialops.control.locomotion.leg_kernels import (
    LegTables,
    feet_at,
    joint_rates,
    reach_for,
)
from spatialops.dynamics.jacobian import jacobian
from spatialops.errors import ArgumentError
from spatialops.tree.model import Model
from spatialops.tree.node import Node

_MOVES = 1e-9  # m/s of a foot at unit rate of a joint that moves it


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
        self.angles: IntArray = model.own_coordinates[self.joints]
        if (self.angles < 0).any():
            raise ArgumentError("feet: legs need joints of one degree of freedom")
        self._tables = self._made_tables()

    def _made_tables(self) -> LegTables:
        model = self.model
        nodes = model.resolve(self.nodes)
        legs = self.joints.shape
        return LegTables(
            tree=model.tree,
            links=model.links,
            q=model.neutral(),
            places=self.angles,
            joints=self.joints,
            node_links=nodes.links,
            offsets=nodes.offsets,
            work=np.empty((model.nv, layout.WORK_COLUMNS)),
            points=np.empty(legs),
            error=np.empty(legs),
            rates=np.empty(legs),
            trial=np.empty(legs),
            J=np.empty((*legs, 3)),
        )

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
        feet_at(tuple(self._tables), array(angles, self.joints.shape, "angles", finite=True))
        return self._tables.points.copy()

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
        self.positions(angles)
        return self._tables.J.copy()

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
        wanted = array(feet, self.joints.shape, "feet", finite=True)
        found = array(angles, self.joints.shape, "angles", finite=True).copy()
        left = reach_for(tuple(self._tables), wanted, found, rounds)
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
        rates = np.empty_like(velocities)
        joint_rates(jacobians, velocities, rates)
        return rates
