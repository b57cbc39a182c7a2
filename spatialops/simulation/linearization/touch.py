"""Velocities of contacts' points, and how they change with coordinates and velocities.

With S(j) the axis of joint j about the point c that is fixed to the link, (w, u), and S'(j) = V x
S(j), (w', u'), V the velocity of the joint's parent (`derivatives/carried.py`),

    d v_c / dv(j) = u,    d v_c / dq(j) = w x v_c + u',    d omega / dq(j) = w x omega + w'.

The contact's point is P = c + o with o = -N (r + g / 2), and v_P = v_c + omega x o.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import kernel
from spatialops.algebra.vectors import (
    ZERO3,
    cross,
    dot,
    mat3,
    minus,
    plus,
    put3,
    rotate,
    rotate_back,
    scaled,
    vec3,
)
from spatialops.derivatives.carried import AXIS, FIRST, one_of_eight, put_axes
from spatialops.dynamics.kinematics import poses_kernel, velocities_kernel
from spatialops.simulation.linearization.contact_points import ContactPoints
from spatialops.tree.model import Model

# Columns of a contact's numbers.
OFFSET = 0  # 3: c in the link's axes
NORMAL = 3  # 3: N
REACH = 6  # r + g / 2
CONTACT_NUMBERS = 7

# Rows of what is found, each a number for every velocity.
VELOCITY_BY_V = 0  # 3
VELOCITY_BY_Q = 3  # 3: the point moving as contacts do
TURN_BY_Q = 6  # 3: of the link
ARM_BY_Q = 9  # 3: of P from the link's origin
GAP_BY_Q = 12
FOUND_ROWS = 13


@kernel
def into_links(
    tree: IntArray, links: Array, q: Array, on: IntArray, points: Array, work: Array
) -> None:
    """World points of links in the links' axes about their origins, in place."""
    poses_kernel(tree, links, q, work[: tree.shape[0]])
    for i in range(on.size):
        lever = minus(vec3(points, i, 0), vec3(work, on[i], layout.ORIGIN))
        put3(points, i, 0, rotate_back(mat3(work, on[i], layout.ROTATION), lever))


@kernel
def touch_kernel(
    tree: IntArray,
    links: Array,
    q: Array,
    v: Array,
    on: IntArray,
    contacts: Array,
    work: Array,
    vectors: Array,
    found: Array,
) -> None:
    """Velocities of P and levers from links' origins to P into `vectors` (m, 6); changes.

    `work` is a stack of the model's.
    """
    n = tree.shape[0]
    table = work[n : 2 * n + 1]
    poses_kernel(tree, links, q, work[:n])
    velocities_kernel(tree, links, v, work[:n])
    put_axes(tree, links, ZERO3, work[:n], table)
    for i in range(on.size):
        for row in range(FOUND_ROWS):
            for j in range(n):
                found[i, row, j] = 0.0
        normal, k = vec3(contacts, i, NORMAL), on[i]
        lever = rotate(mat3(work, k, layout.ROTATION), vec3(contacts, i, OFFSET))
        core = plus(vec3(work, k, layout.ORIGIN), lever)
        out = scaled(-contacts[i, REACH], normal)
        omega = vec3(work, k, layout.OMEGA)
        velocity = plus(vec3(work, k, layout.VELOCITY), cross(omega, lever))
        put3(vectors, i, 0, plus(velocity, cross(omega, out)))
        put3(vectors, i, 3, plus(lever, out))
        j = k
        while j >= 0:
            arm = minus(core, vec3(work, j, layout.ORIGIN))
            S, first = one_of_eight(table, j, AXIS), one_of_eight(table, j, FIRST)
            move = plus(S[1], cross(S[0], arm))
            spin_by_q = plus(cross(S[0], omega), first[0])
            by_q = plus(cross(S[0], velocity), plus(first[1], cross(first[0], arm)))
            gap = dot(normal, move)
            out_by_q = scaled(-0.5 * gap, normal)
            by_v = plus(move, cross(S[0], out))
            by_q = plus(by_q, plus(cross(spin_by_q, out), cross(omega, out_by_q)))
            arm_by_q = plus(cross(S[0], lever), out_by_q)
            for row in range(3):
                found[i, VELOCITY_BY_V + row, j] = by_v[row]
                found[i, VELOCITY_BY_Q + row, j] = by_q[row]
                found[i, TURN_BY_Q + row, j] = S[0][row]
                found[i, ARM_BY_Q + row, j] = arm_by_q[row]
            found[i, GAP_BY_Q, j] = gap
            j = tree[j, layout.PARENT]


@dataclass(frozen=True, eq=False)
class Touch:
    """Contacts' points at one state.

    Attributes
    ----------
    velocity : (m, 3) array
        Of the links' material at the contacts' points, world axes.
    levers : (m, 3) array
        From the links' origins to the contacts' points.
    rows, by_q : (m, 3, nv) arrays
        Changes of `velocity` by velocities and by coordinates.
    turn_by_q, lever_by_q : (m, 3, nv) arrays
        Turns of the links, and changes of the levers.
    gap_by_q : (m, nv) array
        Changes of the gaps.
    """

    velocity: Array
    levers: Array
    rows: Array
    by_q: Array
    turn_by_q: Array
    lever_by_q: Array
    gap_by_q: Array


class Toucher:
    """Contacts on links, whose points c are fixed there.

    Parameters
    ----------
    model : Model
    q : (nq,) array
        Where the contacts are known.
    contacts : ContactPoints
    points : (m, 3) array
        Their points there.
    """

    def __init__(self, model: Model, q: Array, contacts: ContactPoints, points: Array) -> None:
        self._model = model
        self._links = contacts.links
        self._radii = contacts.radii
        self._numbers = np.empty((len(contacts), CONTACT_NUMBERS))
        cores, work = contacts.cores(points), model.stack()
        into_links(model.tree, model.links, q, contacts.links, cores, work)
        model.stacks.append(work)
        self._numbers[:, OFFSET : OFFSET + 3] = cores
        self._numbers[:, NORMAL : NORMAL + 3] = contacts.normals

    def at(self, q: Array, v: Array, gaps: Array) -> Touch:
        """The same contacts at another state, with other gaps."""
        m = len(gaps)
        model = self._model
        work = self._model.stack()
        vectors, found = np.empty((m, 6)), np.empty((m, FOUND_ROWS, model.nv))
        self._numbers[:, REACH] = self._radii + 0.5 * gaps
        touch_kernel(
            model.tree, model.links, q, v, self._links, self._numbers, work, vectors, found
        )
        model.stacks.append(work)

        def three(row: int) -> Array:
            return found[:, row : row + 3]

        return Touch(
            velocity=vectors[:, :3],
            levers=vectors[:, 3:],
            rows=three(VELOCITY_BY_V),
            by_q=three(VELOCITY_BY_Q),
            turn_by_q=three(TURN_BY_Q),
            lever_by_q=three(ARM_BY_Q),
            gap_by_q=found[:, GAP_BY_Q],
        )
