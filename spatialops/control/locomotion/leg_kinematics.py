"""Feet of a legged robot in its base's frame: places, velocities, inverse kinematics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, IntArray, array, flag, instance, several
from spatialops._compile.held import Held
from spatialops.control.locomotion.leg_kernels import (
    LegTables,
    feet_at,
    joint_rates,
    reach_for,
)
from spatialops.dynamics.jacobian import jacobian
from spatialops.errors import ArgumentError
from spatialops.tree.free_frames import FreeFrame
from spatialops.tree.model import Model
from spatialops.tree.node import Node

N = TypeVar("N", Array, IntArray)

_MOVES = 1e-9  # m/s, or rad/s, of a foot at unit rate of a joint that moves it


class Legs:
    """Legs on a free base, of any joints that each leg has for itself.

    Legs of three joints place their feet. Those of more do it by the least motion; those of fewer
    come as near as they can. With `soles` attitudes of feet are placed as well, which takes six.

    Parameters
    ----------
    model : Model
        The robot.
    feet : sequence of str or Node
        One a leg; each leg's joints are those that move its foot.
    base : str, default "base"
        The free joint.
    soles : bool, default False
        Whether feet are flat, and their attitude counts.

    Attributes
    ----------
    joints, angles : (legs, n) int arrays
        Indices of the legs' velocities in v, and of the coordinates that belong to them in q. Where
        legs have different numbers of joints: (n,), one leg after the other.
    links : (legs,) int array
        Kernel links that carry the feet.

    Raises
    ------
    ArgumentError
        For legs that have no joints, or share some, and joints of more than one degree of freedom.

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

    def __init__(
        self,
        model: Model,
        feet: Sequence[str | Node],
        *,
        base: str = "base",
        soles: bool = False,
    ) -> None:
        self.model = instance(model, Model, "model")
        self.soles = flag(soles, "soles")
        named = several(feet, "feet", "bodies or nodes, one for each leg")
        if not named:
            raise ArgumentError("feet: expected at least one")
        self.nodes = [foot if isinstance(foot, Node) else Node(foot) for foot in named]
        self.links: IntArray = np.asarray(model.resolve(self.nodes).links)
        joints = self._own_joints(base)
        counts = [len(row) for row in joints]
        flat = np.concatenate([*joints, np.zeros(0, dtype=np.int64)])
        if len(np.unique(flat)) != len(flat) or not all(counts):
            raise ArgumentError(f"feet: expected joints of its own for each, got {counts}")
        angles = model.own_coordinates[flat]
        if (angles < 0).any():
            raise ArgumentError("feet: legs need joints of one degree of freedom")
        self._there = np.arange(max(counts)) < np.array(counts)[:, None]
        shape = self._there.shape if self._there.all() else (len(flat),)
        self.joints: IntArray = flat.reshape(shape)
        self.angles: IntArray = angles.reshape(shape)
        self._order = np.argsort(flat)
        self._tables = self._made_tables(base)
        self._held = Held(self._tables)
        self.bodies = self._body_frames()

    @property
    def address(self) -> int:
        """Where the tables are described, for functions made by `held`."""
        address: int = self._held.address
        return address

    def _own_joints(self, base: str) -> list[IntArray]:
        """Velocities that move each foot, but for those of the base."""
        model = self.model
        own = np.arange(model.nv)[model.v_slice(base)]
        shaken = model.random(np.random.default_rng(0))
        J = jacobian(model, shaken, self.nodes).reshape(len(self.nodes), 6, model.nv)
        moves = np.abs(J).max(axis=1)
        moves[:, own] = 0.0
        return [np.flatnonzero(row > _MOVES) for row in moves]

    def _made_tables(self, base: str) -> LegTables:
        model = self.model
        q = model.neutral()
        if model.joint_kinds[model.joint_names.index(base)] == "free":
            q[model.q_slice(base)] = FreeFrame.of(model, base).of_origin()
        nodes = model.resolve(self.nodes)
        legs, n = self._there.shape
        rows = 6 if self.soles else 3
        return LegTables(
            tree=model.tree,
            links=model.links,
            q=q,
            places=self.wide(self.angles, -1),
            joints=self.wide(self.joints, -1),
            order=np.flatnonzero(self._there)[self._order],
            node_links=nodes.links,
            offsets=nodes.offsets,
            work=np.empty((model.nv, layout.WORK_COLUMNS)),
            points=np.empty((legs, 3)),
            error=np.empty((legs, rows)),
            rates=np.empty((legs, n)),
            trial=np.empty((legs, n)),
            J=np.zeros((legs, rows, n)),
            factor=np.empty((rows, rows + 1)),
        )

    def _body_frames(self) -> Array:
        """Attitudes (legs, 3, 3) of the feet's bodies in the axes of their links."""
        corners = [
            Node(node.body, point) for node in self.nodes for point in (*np.eye(3), np.zeros(3))
        ]
        offsets = np.asarray(self.model.resolve(corners).offsets).reshape(-1, 4, 3)
        return np.ascontiguousarray((offsets[:, :3] - offsets[:, 3:]).swapaxes(1, 2))

    def _link_attitudes(self) -> Array:
        """Attitudes (legs, 3, 3) of kernel links, where feet were placed."""
        first = layout.ROTATION
        turned: Array = self._tables.work[self.links, first : first + 9].reshape(-1, 3, 3)
        return turned

    def wide(self, values: N, rest: float) -> N:
        """Numbers of joints as (legs, n), whatever their number in each leg.

        Parameters
        ----------
        values : array
            Of the shape of `joints`.
        rest : float
            What stands behind the last joint of a leg that has fewer.

        Returns
        -------
        (legs, n) array
            The same where all legs have as many joints.
        """
        if values.shape == self._there.shape:
            return values
        result: N = np.full_like(values, rest, shape=self._there.shape)
        result[self._there] = values.ravel()
        return result

    def _of_joints(self, wide: Array) -> Array:
        """The reverse."""
        return np.asarray(wide[self._there].reshape(self.joints.shape))

    def _given(self, angles: ArrayLike) -> Array:
        return self.wide(array(angles, self.joints.shape, "angles", finite=True), 0.0)

    def in_order(self, values: Array) -> Array:
        """Numbers of joints in the order of the velocities, which need not be that of the feet.

        Parameters
        ----------
        values : array
            Of the shape of `joints`.

        Returns
        -------
        (n,) array
            As controllers take them.
        """
        return np.asarray(values.ravel()[self._order])

    def by_legs(self, values: Array) -> Array:
        """The reverse of `in_order`.

        Parameters
        ----------
        values : (n,) array
            In the order of the velocities.

        Returns
        -------
        array
            Of the shape of `joints`.
        """
        found = np.empty(self.joints.size)
        found[self._order] = values
        return found.reshape(self.joints.shape)

    def positions(self, angles: ArrayLike) -> Array:
        """Where the feet are.

        Parameters
        ----------
        angles : array_like
            Joint angles, rad, of the shape of `joints`.

        Returns
        -------
        (legs, 3) array
            In the base's frame, m.
        """
        feet_at(self.address, self._given(angles))
        return self._tables.points.copy()

    def attitudes(self, angles: ArrayLike) -> Array:
        """How the bodies of the feet are turned.

        Parameters
        ----------
        angles : array_like
            Joint angles, rad, of the shape of `joints`.

        Returns
        -------
        (legs, 3, 3) array
            Rotation matrices to the base's axes.
        """
        self.positions(angles)
        return np.asarray(self._link_attitudes() @ self.bodies)

    def jacobians(self, angles: ArrayLike) -> Array:
        """Velocities of the feet against the base per joint velocity.

        Parameters
        ----------
        angles : array_like
            Joint angles, rad, of the shape of `joints`.

        Returns
        -------
        (legs, 3, n) array
            m per rad, in the base's axes; of soles (legs, 6, n), then rad per rad. Zeros behind the
            last joint of a leg that has fewer.
        """
        self.positions(angles)
        return self._tables.J.copy()

    def inverse(
        self,
        feet: ArrayLike,
        angles: ArrayLike,
        attitudes: ArrayLike | None = None,
        *,
        rounds: int = 20,
    ) -> tuple[Array, float]:
        """Joint angles that put the feet where they are wanted, by damped Newton.

        Where a foot is out of reach the leg stretches towards it, and the error says how far off it
        is.

        Parameters
        ----------
        feet : (legs, 3) array_like
            Wanted places in the base's frame, m.
        angles : array_like
            Joint angles to begin with, rad, of the shape of `joints`.
        attitudes : (legs, 3, 3) array_like, optional
            Wanted attitudes of soles; default: as they are at `angles`.
        rounds : int, default 20
            Steps at most.

        Returns
        -------
        angles : array
            Joint angles, rad.
        error : float
            Largest distance left along an axis, m, or rad.
        """
        n = len(self.nodes)
        wanted = array(feet, (n, 3), "feet", finite=True)
        found = self._given(angles).copy()
        turned = self.bodies
        if attitudes is not None:
            given = array(attitudes, (n, 3, 3), "attitudes", finite=True)
            turned = given @ self.bodies.swapaxes(1, 2)
        elif self.soles:
            self.positions(angles)
            turned = self._link_attitudes()
        left = reach_for(self.address, wanted, np.ascontiguousarray(turned), found, rounds)
        return self._of_joints(found), left

    def rates(self, jacobians: Array, velocities: Array) -> Array:
        """Joint velocities for velocities of the feet, damped where a leg is singular.

        Parameters
        ----------
        jacobians : (legs, 3, n) or (legs, 6, n) array
            As of `jacobians`.
        velocities : (legs, 3) or (legs, 6) array
            Of the feet against the base, m/s; of soles then their angular ones, rad/s.

        Returns
        -------
        array
            rad/s, of the shape of `joints`.
        """
        joint_rates(jacobians, velocities, self._tables.rates, self._tables.factor)
        return self._of_joints(self._tables.rates)
