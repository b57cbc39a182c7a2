"""Held points as arrays: what a controller makes anew at every command, by one kernel.

With n points of bodies A on bodies B (the world, mostly), f the rows of a contact's frame, and J_A,
J_B the Jacobians of both points,

    A = f (J_A - J_B),    Adot v = f (Jdot_A - Jdot_B) v.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, IntArray, Vec3, all_finite, not_finite, vector
from spatialops._compile.jit import inlined, kernel
from spatialops.algebra.vectors import (
    ZERO3,
    cross,
    dot,
    mat3,
    minus,
    plus,
    plus_scaled,
    put3,
    rotate,
    rotate_back,
    vec3,
)
from spatialops.control.projected.held_contact import HeldContact
from spatialops.control.projected.held_contacts import HeldContacts
from spatialops.dynamics.kinematics import (
    axis_of,
    finite_status,
    poses_kernel,
    velocities_kernel,
)
from spatialops.dynamics.newton_euler import carried_acceleration, put_acceleration
from spatialops.tree.model import Model
from spatialops.tree.node import Node


class PointLayout(NamedTuple):
    """What points have in common that are as many, with the same names: rows and limits.

    Attributes
    ----------
    names : tuple of str
        Of the contacts.
    first, force_rows, pressed_rows, limits, cone_names : arrays and tuples
        As of `HeldContacts`.
    """

    names: tuple[str, ...]
    first: IntArray
    force_rows: IntArray
    pressed_rows: IntArray
    limits: tuple[Array, Array, tuple[str, ...]]
    cone_names: tuple[str, ...]


def point_layout(names: tuple[str, ...]) -> PointLayout:
    """That of contacts of these names: three rows each, of which the first may only push."""
    m = len(names)
    first = 3 * np.arange(m + 1)
    push = np.zeros((m, 3 * m))
    push[np.arange(m), first[:m]] = 1.0
    return PointLayout(
        names,
        first,
        np.arange(3 * m),
        np.zeros(0, dtype=np.int64),
        (push, np.zeros(m), tuple(f"{name}: normal force" for name in names)),
        tuple(f"{name}: cone" for name in names),
    )


class PointContacts(HeldContacts):
    """Gripping points of one model, given by arrays.

    Parameters
    ----------
    model : Model
        The mechanism.
    links : (m, 2) int array
        Kernel links A and B, -1 for the world.
    offsets : (m, 6) array
        The points in axes of A, then of B, m.
    frames : (m, 3, 3) array
        Rows normal (to A), tangent, tangent, world axes.
    mu : (m,) array
        Coefficients of friction.
    points : PointLayout
        Their names and rows.
    """

    def __init__(
        self,
        model: Model,
        links: IntArray,
        offsets: Array,
        frames: Array,
        mu: Array,
        points: PointLayout,
    ) -> None:
        self.model, self.mu = model, mu
        self.frames = frames
        self.sliding, self.pressed = (), np.zeros(0)
        self.first, self.force_rows = points.first, points.force_rows
        self.pressed_rows = points.pressed_rows
        self.limits, self.cone_names = points.limits, points.cone_names
        self._links, self._offsets = links, offsets
        self._names = points.names

    @cached_property
    def contacts(self) -> tuple[HeldContact, ...]:
        """Each by itself."""
        each = zip(self._links, self._offsets, self.frames, self.mu, self._names, strict=True)
        return tuple(
            HeldContact(
                node=self._node(int(links[0]), offsets[:3]),
                other=None if links[1] < 0 else self._node(int(links[1]), offsets[3:]),
                friction=float(mu),
                normal=frame[0],
                tangent=frame[1],
                name=name,
            )
            for links, offsets, frame, mu, name in each
        )

    def bounded(self, most: ArrayLike) -> HeldContacts:
        """The same contacts with other upper bounds of their normal forces, see `HeldContacts`.

        Parameters
        ----------
        most : (m,) array_like
            N, infinite for none.

        Returns
        -------
        HeldContacts
            The contacts, one by one.
        """
        return HeldContacts(self.model, self.contacts).bounded(most)

    def _node(self, link: int, offset: Array) -> Node:
        body = int(self.model.tree[link, layout.BODY])
        return Node(body, self.model.turns[link] @ offset)

    def rows(self, q: Array, v: Array) -> tuple[Array, Array]:
        """The rows A, and their drift where A v = 0.

        Parameters
        ----------
        q : (nq,) array
            Coordinates.
        v : (nv,) array
            Velocities.

        Returns
        -------
        A : (3 m, nv) array
            Rows of all contacts.
        drift : (3 m,) array
            Adot v, m/s^2.

        Raises
        ------
        ArgumentError
            For a wrong shape, NaN or infinity.
        """
        model = self.model
        q, v = vector(q, model.nq, "q"), vector(v, model.nv, "v")
        A, drift = np.empty((self.n_rows, model.nv)), np.empty(self.n_rows)
        work = model.workspace()
        given = self._links, self._offsets, self.frames
        status = point_rows(model.tree, model.links, q, v, *given, work, A, drift)
        if status != layout.OK:
            raise not_finite(q=q, v=v)
        model.spare.append(work)
        return A, drift


def point_offsets(model: Model, q: Array, links: IntArray, points: Array) -> Array:
    """Where points (m, 3) of the world are in the axes of links A and B (m, 2): (m, 6), m.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN or infinity.
    """
    q = vector(q, model.nq, "q")
    offsets, work = np.empty((len(links), 6)), model.workspace()
    status = offsets_kernel(model.tree, model.links, q, links, points, work, offsets)
    if status != layout.OK or not all_finite(offsets):
        raise not_finite(q=q, positions=points)
    model.spare.append(work)
    return offsets


@kernel
def offsets_kernel(
    tree: IntArray,
    links: Array,
    q: Array,
    sides: IntArray,
    points: Array,
    work: Array,
    offsets: Array,
) -> int:
    """Offsets (m, 6) in axes of both `sides` (m, 2) of world `points`; the world's own stay."""
    status = poses_kernel(tree, links, q, work)
    for i in range(sides.shape[0]):
        for side in range(2):
            k = sides[i, side]
            point = vec3(points, i, 0)
            if k >= 0:
                lever = minus(point, vec3(work, k, layout.ORIGIN))
                point = rotate_back(mat3(work, k, layout.ROTATION), lever)
            put3(offsets, i, 3 * side, point)
    return status


@kernel
def point_rows(
    tree: IntArray,
    links: Array,
    q: Array,
    v: Array,
    sides: IntArray,
    offsets: Array,
    frames: Array,
    work: Array,
    A: Array,
    drift: Array,
) -> int:
    """Rows A (3 m, nv) of points held on one another, and Adot v (3 m,)."""
    status = max(poses_kernel(tree, links, q, work), finite_status(v))
    put_drifts(tree, links, v, work)
    A[:] = 0.0
    drift[:] = 0.0
    for i in range(sides.shape[0]):
        for side in range(2):
            k = sides[i, side]
            sign = 1.0 - 2.0 * side
            if k >= 0:
                lever = rotate(mat3(work, k, layout.ROTATION), vec3(offsets, i, 3 * side))
                add_drift(frames[i], sign, lever, work, k, drift[3 * i : 3 * i + 3])
                point = plus(vec3(work, k, layout.ORIGIN), lever)
                add_path(tree, links, frames[i], sign, point, work, k, A[3 * i : 3 * i + 3])
    return status


@inlined
def add_drift(frame: Array, sign: float, lever: Vec3, work: Array, k: int, drift: Array) -> None:
    """Acceleration along a frame (3, 3) of the point of link k at a lever from its origin."""
    alpha, omega = vec3(work, k, layout.ALPHA), vec3(work, k, layout.OMEGA)
    swing = plus(cross(alpha, lever), cross(omega, cross(omega, lever)))
    accel = plus(vec3(work, k, layout.ACCEL), swing)
    for c in range(3):
        drift[c] += sign * dot(vec3(frame, c, 0), accel)


@inlined
def add_path(
    tree: IntArray,
    links: Array,
    frame: Array,
    sign: float,
    point: Vec3,
    work: Array,
    k: int,
    rows: Array,
) -> None:
    """Velocities along a frame (3, 3) of a world point of link k, by the joints that move it."""
    while k >= 0:
        motion = tree[k, layout.MOTION]
        axis = axis_of(tree, work, k)
        linear = ZERO3
        if motion != layout.LINEAR:
            linear = cross(axis, minus(point, vec3(work, k, layout.ORIGIN)))
        if motion != layout.ROTARY:
            pitch = 1.0 if motion == layout.LINEAR else links[k, layout.PITCH]
            linear = plus_scaled(linear, pitch, axis)
        for c in range(3):
            rows[c, k] += sign * dot(vec3(frame, c, 0), linear)
        k = tree[k, layout.PARENT]


@kernel
def put_drifts(tree: IntArray, links: Array, v: Array, work: Array) -> None:
    """Velocities of all links, and what accelerations they cause; poses must be in `work`."""
    velocities_kernel(tree, links, v, work)
    for k in range(tree.shape[0]):
        alpha, accel = carried_acceleration(tree, ZERO3, work, k)
        put_acceleration(tree, links, work, k, alpha, accel, 0.0)
