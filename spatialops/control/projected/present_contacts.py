"""Which contacts a controller takes as held at a state: its own, or those that touch."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, not_finite, vector
from spatialops._compile.jit import kernel
from spatialops.algebra.vectors import mat3, minus, put3, rotate_back, vec3
from spatialops.collision import _layout as col
from spatialops.collision.contact_set import ContactSet
from spatialops.control.projected.held_contacts import HeldContacts
from spatialops.control.projected.point_contacts import (
    PointContacts,
    PointLayout,
    point_layout,
)
from spatialops.dynamics.kinematics import poses_kernel
from spatialops.errors import ArgumentError
from spatialops.tree.model import Model
from spatialops.tree.state import State

Schedule = Callable[[float, State], HeldContacts]


class PresentContacts:
    """Contacts held at a command; what those of the step before have in common is kept.

    Of contacts that touch, points are taken as fixed to both bodies: of round feet that roll, what
    is left out is the acceleration omega^2 r of the point.

    Parameters
    ----------
    model : Model
        The mechanism.
    touching : float, default 1e-4
        Gap below which a contact touches, m.
    """

    def __init__(self, model: Model, *, touching: float = 1e-4) -> None:
        self.model = model
        self.touching = touching
        self._kept: tuple[bytes, PointLayout] = (b"", point_layout(()))

    def __call__(
        self,
        given: HeldContacts | Schedule | None,
        time: float,
        state: State,
        contacts: ContactSet | None,
    ) -> HeldContacts:
        """What holds now.

        Parameters
        ----------
        given : HeldContacts, callable or None
            The controller's own: fixed, or by time and state; None: those of the simulator's last
            step that touch and have friction.
        time : float
            Time, s.
        state : State
            Configuration and velocity.
        contacts : ContactSet or None
            Contacts of the simulator's last step.

        Returns
        -------
        HeldContacts
            In the order of `contacts`.

        Raises
        ------
        ArgumentError
            Where neither the controller nor the simulator names any.
        """
        if isinstance(given, HeldContacts):
            return given
        if given is not None:
            return given(time, state)
        if contacts is None:
            raise ArgumentError("contacts: the controller has none of its own, and none were given")
        return self._touching(state.q, contacts)

    def _touching(self, q: Array, contacts: ContactSet) -> PointContacts:
        """Those of a step that touch and have friction."""
        model, given = self.model, contacts.tables()
        count = len(given.ints)
        chosen, links = np.empty(count, dtype=np.int64), np.empty((count, 2), dtype=np.int64)
        found = np.empty((count, 6)), np.empty((count, 3, 3)), np.empty(count)
        work = model.workspace()
        tables, state = (model.tree, model.links, work), vector(q, model.nq, "q")
        rows = given.ints, given.floats
        m = touching_kernel(tables, state, rows, self.touching, chosen, links, found)
        if m < 0:
            raise not_finite(q=q, positions=contacts.positions)
        model.spare.append(work)
        offsets, frames = found[0][:m], found[1][:m]
        points = self._layout(chosen[:m], links[:m])
        return PointContacts(model, links[:m], offsets, frames, found[2][:m], points)

    def _layout(self, chosen: IntArray, links: IntArray) -> PointLayout:
        """Rows and names of contacts of these numbers on these links."""
        key = chosen.tobytes() + links.tobytes()
        if self._kept[0] != key:
            bodies = [self.model.body_names[self.model.tree[a, layout.BODY]] for a in links[:, 0]]
            each = zip(chosen.tolist(), bodies, strict=True)
            self._kept = key, point_layout(tuple(f"contact {i} of {name}" for i, name in each))
        return self._kept[1]


@kernel
def touching_kernel(
    tables: tuple[IntArray, Array, Array],
    q: Array,
    given: tuple[IntArray, Array],
    touching: float,
    chosen: IntArray,
    links: IntArray,
    found: tuple[Array, Array, Array],
) -> int:
    """Contacts that touch and have friction; how many, -1 for what is not finite.

    `given` are rows of `ContactTables`; `found` offsets, frames and frictions. Contacts whose side
    A is the world are turned round.
    """
    tree, constants, work = tables
    ints, floats = given
    offsets, frames, mu = found
    if poses_kernel(tree, constants, q, work) != layout.OK:
        return -1
    count = 0
    for i in range(floats.shape[0]):
        if not (floats[i, col.GAP] < touching and floats[i, col.MU] > 0.0):
            continue
        turned = ints[i, col.CONTACT_A] < 0
        for side in range(2):
            k = ints[i, col.CONTACT_A + (1 - side if turned else side)]
            links[count, side] = k
            point = vec3(floats, i, col.POINT)
            if k >= 0:
                lever = minus(point, vec3(work, k, layout.ORIGIN))
                point = rotate_back(mat3(work, k, layout.ROTATION), lever)
            put3(offsets, count, 3 * side, point)
            if not math.isfinite(point[0] + point[1] + point[2]):
                return -1
        for a in range(3):
            for b in range(3):
                entry = floats[i, col.NORMAL + 3 * a + b]
                frames[count, a, b] = -entry if turned and a != 1 else entry  # right-handed
        mu[count] = floats[i, col.MU]
        chosen[count] = i
        count += 1
    return count
