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
from spatialops._arrays import Array, ArrayLike, IntArray, all_finite, not_finite, vector
from spatialops._compile.jit import kernel
from spatialops.algebra.vectors import (
    mat3,
    minus,
    put3,
    rotate_back,
    vec3,
)
from spatialops.control.projected.held_contact import HeldContact
from spatialops.control.projected.held_contacts import HeldContacts
from spatialops.control.projected.point_rows import rows_of_points
from spatialops.dynamics.kinematics import (
    poses_kernel,
)
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
        return rows_of_points(self.model, q, v, self._links, self._offsets, self.frames)


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
