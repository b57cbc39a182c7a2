"""The force-closure grasp of [D] section VII: two grippers press two boxes between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from spatialops._arrays import Array, scalar, whole
from spatialops.algebra.inertia import Inertia
from spatialops.collision.shapes import Box, Coefficients, Geom
from spatialops.contact.problem import ContactProblem
from spatialops.dynamics.forward_dynamics import forward_dynamics
from spatialops.errors import ArgumentError
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.builder import TreeBuilder
from spatialops.tree.joint import Joint
from spatialops.tree.model import Model
from spatialops.tree.state import State

EDGE = 0.1  # m, of each of the four boxes
MASS = 1.0  # kg, of each
GRAVITY = 9.81  # m/s^2
NAMES = ("left gripper", "left box", "right box", "right gripper")
_PAD = 0.9  # height of a slab over the distance of two: no edges of two slabs meet


@dataclass(frozen=True, eq=False)
class Grasp:
    """Four boxes in a row along x: grippers on rails along x, two free boxes between them.

    Parameters
    ----------
    model : Model
        Bodies "left gripper", "left box", "right box", "right gripper".
    state : State
        All faces touch, everything at rest.
    tau : (14,) array
        Joint forces of the two grippers, N.
    slabs : int
        Slabs that every second box is made of: four contacts each with either neighbour.
    """

    model: Model
    state: State
    tau: Array
    slabs: int

    @property
    def n_contacts(self) -> int:
        """Contacts of all three pairs of boxes."""
        return 12 * self.slabs

    def scene(self, *, friction: float = 100.0, restitution: float = 0.0) -> Scene:
        """The boxes as geoms, every second one cut into slabs with four contacts each.

        Parameters
        ----------
        friction : float
            Coulomb's coefficient of all pairs.
        restitution : float
            Of all pairs, in [0, 1].

        Returns
        -------
        Scene
            It starts at `state`; `controller` holds the boxes.
        """
        pair: Coefficients = {"friction": friction, "restitution": restitution}
        geoms = []
        for i, name in enumerate(NAMES):
            if i % 2 == 0:
                geoms.append(Geom(name, name, Box((EDGE, EDGE, EDGE)), **pair))
                continue
            pitch = EDGE / self.slabs
            for k in range(self.slabs):
                place = (0.0, 0.0, (k + 0.5) * pitch - 0.5 * EDGE)
                slab = Box((EDGE, _PAD * EDGE, _PAD * pitch))
                geoms.append(Geom(f"{name} {k + 1}", name, slab, position=place, **pair))
        return Scene(self.model, geoms, state=self.state)

    def controller(self) -> Callable[[float, State, object], Array]:
        """The grippers' constant push, as `Simulator.run` takes it.

        Returns
        -------
        callable
            ``(time, state, contacts) -> tau``, whatever they are.
        """
        return lambda time, state, contacts: self.tau

    def problem(
        self, contacts: int = 36, *, friction: float = 100.0, dt: float = 0.01
    ) -> ContactProblem:
        """The contact problem of the first step, its contacts spread evenly over the three faces.

        Parameters
        ----------
        contacts : int
            How many, three or more.
        friction : float
            Coulomb's coefficient of all of them.
        dt : float
            Time step, s.

        Returns
        -------
        ContactProblem
            With the velocities that the grippers' push and gravity alone would lead to.

        Raises
        ------
        ArgumentError
            For fewer than three contacts.
        """
        m = whole(contacts, "contacts", low=3)
        free = scalar(dt, "dt", low=0.0, strict=True) * forward_dynamics(
            self.model, self.state.q, self.state.v, self.tau
        )
        links, points = [], []
        for face in range(3):
            count = m // 3 + (face < m % 3)
            spots = 0.5 * EDGE * _spread(count)
            points.append(np.column_stack([np.full(count, (face - 1) * EDGE), spots]))
            pair = [
                int(self.model.body_links[self.model.body_names.index(NAMES[face + k])])
                for k in (1, 0)
            ]
            links.append(np.tile(pair, (count, 1)))
        # The normal points from the left box of a pair to the right one.
        frames = np.tile(np.eye(3), (m, 1, 1))
        return ContactProblem(
            self.model,
            self.state.q,
            self.state.v + free,
            np.concatenate(links),
            np.concatenate(points),
            frames,
            np.full(m, scalar(friction, "friction", low=0.0)),
        )

    def sag(self, q: Array) -> float:
        """How far the boxes have moved from where they were grasped.

        Parameters
        ----------
        q : (nq,) array
            Coordinates.

        Returns
        -------
        float
            Of the box that has moved farther, against the grippers' middle, m.
        """
        moved = np.asarray(q) - self.state.q
        middle = 0.5 * sum(
            float(moved[self.model.q_slice(name)][0]) for name in (NAMES[0], NAMES[3])
        )
        shift = np.array([middle, 0.0, 0.0])
        return max(
            float(np.linalg.norm(moved[self.model.q_slice(name)][:3] - shift))
            for name in NAMES[1:3]
        )


def grasp(contacts: int = 12, *, push: float = 50.0) -> Grasp:
    """Two grippers that press two boxes between them.

    Parameters
    ----------
    contacts : int
        Of each of the three pairs of boxes: a multiple of 4.
    push : float
        Force of each gripper, N. Below half the weight of a box the row of boxes folds.

    Returns
    -------
    Grasp
        All faces touch, everything is at rest.

    Raises
    ------
    ArgumentError
        For another number of contacts, or a push that is not positive.

    Examples
    --------
    >>> import spatialops as so
    >>> so.models.grasp().n_contacts
    36

    References
    ----------
    E. Drumwright, Rapidly computable viscous friction and no-slip rigid contact models
    (2015), section VII-A. There all boxes are equal and meet at their corners, and each of four
    corners counts with three normals; here three slabs of four corners each make 12 contacts, all
    along the push.
    """
    count = whole(contacts, "contacts", low=4)
    if count % 4:
        raise ArgumentError(f"contacts: expected a multiple of 4, got {count}")
    force = scalar(push, "push", low=0.0, strict=True)
    builder = TreeBuilder(gravity=(0.0, 0.0, -GRAVITY))
    inertia = Inertia.box((EDGE, EDGE, EDGE), mass=MASS)
    for i, name in enumerate(NAMES):
        if name.endswith("box"):
            builder.add_body(name, joint=Joint("free", name=name), inertia=inertia)
        else:
            place = ((i - 1.5) * EDGE, 0.0, 0.0)
            builder.add_body(
                name,
                joint=Joint("prismatic", axis=(1.0, 0.0, 0.0), name=name),
                inertia=inertia,
                position=place,
            )
    model = builder.build()
    q, tau = model.neutral(), np.zeros(model.nv)
    for sign, box in ((-0.5, NAMES[1]), (0.5, NAMES[2])):
        q[model.q_slice(box)][0] = sign * EDGE
    for sign, gripper in ((1.0, NAMES[0]), (-1.0, NAMES[3])):
        tau[model.v_slice(gripper)] = sign * force
    return Grasp(model, State(q, np.zeros(model.nv)), tau, count // 4)


def _spread(count: int) -> Array:
    """(count, 2) points in columns as even as can be, over the square from -1 to 1."""
    columns = np.array_split(np.arange(count), max(1, round(float(np.sqrt(count)))))
    sides = np.linspace(-1.0, 1.0, len(columns)) if len(columns) > 1 else np.zeros(1)
    spots = [
        (side, height)
        for side, column in zip(sides, columns, strict=True)
        for height in (np.linspace(-1.0, 1.0, len(column)) if len(column) > 1 else [0.0])
    ]
    return np.reshape(spots, (-1, 2))
