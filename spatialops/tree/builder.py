"""Building a mechanism by hand: bodies hung on one another in any order, checked as a whole."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, ArrayLike, IntArray, is_one_of, three_numbers
from spatialops.algebra.inertia import Inertia
from spatialops.algebra.rotation import rotation_matrix
from spatialops.errors import ModelError
from spatialops.tree.joint import Joint, JointKind, joint_rows
from spatialops.tree.model import Model
from spatialops.tree.node import Frame

WORLD = "world"


@dataclass(eq=False)
class _Body:
    name: str
    parent: str
    joint: Joint
    inertia: Inertia | None
    position: Array
    rotation: Array
    gravity_compensation: float


class TreeBuilder:
    """Collects bodies and joints, and builds a frozen `Model` of them.

    Parameters
    ----------
    gravity : (3,) array_like
        m/s^2, world axes; default: (0, 0, -9.81).

    Examples
    --------
    >>> import spatialops as so
    >>> ball = so.Inertia.sphere(0.1, mass=1.0)
    >>> builder = so.TreeBuilder()
    >>> _ = builder.add_body("arm", joint=so.Joint("revolute", axis="y"), inertia=ball)
    >>> _ = builder.add_body("hand", parent="arm", inertia=ball, position=(0.0, 0.0, -1.0))
    >>> model = builder.build()
    >>> model.nv, model.mass
    (1, 2.0)
    """

    def __init__(self, gravity: ArrayLike = (0.0, 0.0, -9.81)) -> None:
        self._gravity = three("gravity", gravity, "")
        self._bodies: dict[str, _Body] = {}

    def add_body(
        self,
        name: str,
        *,
        parent: str = WORLD,
        joint: Joint | JointKind = "fixed",
        inertia: Inertia | None = None,
        position: ArrayLike = (0.0, 0.0, 0.0),
        rotation: ArrayLike | None = None,
        gravity_compensation: float = 0.0,
    ) -> TreeBuilder:
        """Add one body with the joint that carries it.

        Parameters
        ----------
        name : str
            Unique, not "world".
        parent : str
            Name of the body that it hangs on, added before or after; default: "world", for a root.
        joint : Joint or str
            The joint, or its kind. A fixed body (the default) is merged into its parent; its name
            stays usable in `Node`.
        inertia : Inertia, optional
            In the body's frame. Only a body with others below it may go without.
        position : (3,) array_like
            Origin of the joint's frame in the parent's frame, m; default: the parent's origin.
        rotation : (3, 3) or (4,) array_like, optional
            The joint's frame in the parent's: matrix or quaternion (x, y, z, w); default: none. The
            body's frame is the joint's frame after the joint's motion.
        gravity_compensation : float
            Share of the body's weight that a force at its centre of mass bears; default: 0.

        Returns
        -------
        TreeBuilder
            Itself, so that calls can be chained.

        Raises
        ------
        ModelError
            For a duplicate name, or values that are not finite or of the wrong shape.

        Examples
        --------
        >>> import spatialops as so
        >>> rod = so.Inertia.capsule(0.02, 1.0, mass=1.0).shifted((0.0, 0.0, -0.5))
        >>> builder = so.TreeBuilder()
        >>> hinge = so.Joint("revolute", axis="y")
        >>> _ = builder.add_body("upper", joint=hinge, inertia=rod)
        >>> place = {"parent": "upper", "position": (0.0, 0.0, -1.0)}
        >>> _ = builder.add_body("lower", joint=hinge, inertia=rod, **place)
        >>> builder.build().body_names
        ('upper', 'lower')
        """
        if is_one_of(name, ("", WORLD)) or not isinstance(name, str):
            raise ModelError(f"body {name!r}: name: expected a non-empty string other than 'world'")
        if name in self._bodies:
            raise ModelError(f"body {name!r}: name: is already taken")
        if not isinstance(parent, str):
            raise ModelError(f"body {name!r}: parent: expected a body's name, got {parent!r}")
        if isinstance(joint, str):
            joint = Joint(joint, name=name)
        if not isinstance(joint, Joint):
            raise ModelError(
                f"body {name!r}: joint: expected a Joint or the name of a kind, got {joint!r}"
            )
        if inertia is not None and not isinstance(inertia, Inertia):
            raise ModelError(
                f"body {name!r}: inertia: expected an Inertia, got {type(inertia).__name__}"
            )
        turn = rotation_matrix(rotation, f"body {name!r}: rotation")
        self._bodies[name] = _Body(
            name,
            parent,
            joint,
            inertia,
            three("position", position, name),
            turn,
            _share(gravity_compensation, name),
        )
        return self

    def build(self) -> Model:
        """Check the whole and freeze it.

        Returns
        -------
        Model
            Bodies with a parent before its children, else in the order in which they were added.

        Raises
        ------
        ModelError
            For an unknown parent, a cycle, a free joint that does not hang on the world, a
            duplicate joint name, a body without inertia at the end of a branch, or no moving body
            at all.

        Examples
        --------
        >>> import spatialops as so
        >>> ball = so.Inertia.sphere(0.1, mass=1.0)
        >>> model = so.TreeBuilder().add_body("ball", joint="free", inertia=ball).build()
        >>> model.nq, model.nv
        (7, 6)
        """
        order = self._topological_order()
        self._check(order)
        return _Assembly(self._gravity, [self._bodies[name] for name in order]).model()

    def _topological_order(self) -> list[str]:
        names = list(self._bodies)
        children: dict[str, list[int]] = {name: [] for name in (WORLD, *names)}
        for i, body in enumerate(self._bodies.values()):
            if body.parent not in children:
                raise ModelError(f"body {body.name!r}: parent: there is no body {body.parent!r}")
            children[body.parent].append(i)
        order = []
        ready = children[WORLD]  # a heap: it is sorted
        while ready:
            order.append(names[heapq.heappop(ready)])
            for i in children[order[-1]]:
                heapq.heappush(ready, i)
        if len(order) < len(names):
            first = min(set(names).difference(order), key=names.index)
            cycle = " -> ".join(self._cycle(first))
            raise ModelError(
                f"bodies hang on one another in a cycle: {cycle}; cut it and close it as a loop"
            )
        return order

    def _cycle(self, start: str) -> list[str]:
        """The cycle that a body's parents end in, a parent before its child."""
        line = [start]
        while (parent := self._bodies[line[-1]].parent) not in line:
            line.append(parent)
        return line[line.index(parent) :][::-1]

    def _check(self, order: list[str]) -> None:
        moving = [self._bodies[name] for name in order if self._bodies[name].joint.kind != "fixed"]
        if not moving:
            raise ModelError(
                "the mechanism has no moving body: give at least one body a joint other than "
                "'fixed'"
            )
        joints: dict[str, str] = {}
        for body in moving:
            name = body.joint.name or body.name
            if name in joints:
                raise ModelError(
                    f"body {body.name!r}: joint: name {name!r} is already taken by {joints[name]!r}"
                )
            joints[name] = body.name
            if body.joint.kind == "free" and body.parent != WORLD:
                raise ModelError(
                    f"body {body.name!r}: joint: a free joint must hang on 'world', not "
                    f"{body.parent!r}"
                )
        heavy: set[str] = set()
        for name in reversed(order):
            body = self._bodies[name]
            if body.inertia is not None:
                heavy.add(name)
            if name in heavy and body.joint.kind != "free":
                heavy.add(body.parent)
            if (
                name not in heavy
                and body.joint.kind != "fixed"
                and not body.joint.values("armature").all()
            ):
                raise ModelError(f"body {name!r}: inertia: missing, and nothing heavy hangs on it")


class _Assembly:
    """Turns bodies in topological order into the tables of a model."""

    def __init__(self, gravity: Array, bodies: list[_Body]) -> None:
        self.gravity = gravity
        self.bodies = bodies
        self.tree: list[IntArray] = []
        self.links: list[Array] = []
        self.turns: list[Array] = []
        self.frames: dict[str, Frame] = {WORLD: Frame(-1, np.zeros(3), np.eye(3))}
        self.moving: list[_Body] = []
        self.body_links: list[int] = []
        self.borne: dict[int, Array] = {}  # mass and moment of mass by body, in its axes
        self.parents: list[int] = []
        self.n_q = 0

    def model(self) -> Model:
        inertias: dict[int, Inertia] = {}
        for body in self.bodies:
            if body.joint.kind == "fixed":
                frame = self._merge(body)
            else:
                frame = self._add_links(body)
            self.frames[body.name] = frame
            if body.inertia is not None and frame.body >= 0:
                own = body.inertia.rotated(frame.rotation).shifted(frame.position)
                self._bear(frame.body, body.gravity_compensation * own.mass, own.center)
                inertias[frame.body] = inertias[frame.body] + own if frame.body in inertias else own
        for index, inertia in inertias.items():
            self._put_inertia(self.body_links[index], inertia)
        return self._freeze()

    def _merge(self, body: _Body) -> Frame:
        above = self.frames[body.parent]
        position = above.position + above.rotation @ body.position
        return Frame(above.body, position, above.rotation @ body.rotation)

    def _add_links(self, body: _Body) -> Frame:
        """The links of one joint, the last of which is the body."""
        pose, joint = self._merge(body), body.joint
        parent = -1 if pose.body < 0 else self.body_links[pose.body]
        above = np.eye(3) if parent < 0 else self.turns[parent]
        turns = joint.rotations()
        n_links = len(self.tree)
        rows = joint_rows(joint.kind, n_links, parent, self.n_q, len(self.moving))
        for i, row in enumerate(rows):
            link = np.zeros(layout.LINK_COLUMNS)
            rotation = above.T @ pose.rotation @ turns[0] if i == 0 else turns[i - 1].T @ turns[i]
            link[layout.PLACE_R : layout.PLACE_R + 9] = rotation.ravel()
            link[layout.PLACE_P : layout.PLACE_P + 3] = above.T @ pose.position if i == 0 else 0.0
            link[layout.GRAVITY : layout.GRAVITY + 3] = self.gravity
            link[[layout.PITCH, layout.ARMATURE, layout.DAMPING]] = (
                joint.pitch,
                joint.values("armature")[i],
                joint.values("damping")[i],
            )
            self.tree.append(row)
            self.links.append(link)
            self.turns.append(turns[i])
        self.n_q += joint.nq
        self.moving.append(body)
        self.parents.append(pose.body)
        self.body_links.append(len(self.tree) - 1)
        return Frame(len(self.moving) - 1, np.zeros(3), np.eye(3))

    def _bear(self, body: int, mass: float, center: Array) -> None:
        """Count a mass whose weight is borne."""
        if mass != 0.0:
            before = self.borne.get(body, np.zeros(4))
            self.borne[body] = before + mass * np.append(1.0, center)

    def _compensation(self) -> Array:
        """Masses whose weight is borne, and their centres in the axes of the bodies' links."""
        table = np.zeros((len(self.moving), 4))
        for body, (mass, *moment) in self.borne.items():
            if mass != 0.0:
                turn = self.turns[self.body_links[body]]
                table[body] = [mass, *(turn.T @ np.array(moment) / mass)]
        return table

    def _put_inertia(self, k: int, inertia: Inertia) -> None:
        own = inertia.rotated(self.turns[k].T)
        self.links[k][layout.MASS] = own.mass
        self.links[k][layout.COM : layout.COM + 3] = own.center
        self.links[k][layout.INERTIA : layout.INERTIA + 6] = own.about(np.zeros(3))[
            np.triu_indices(3)
        ]

    def _freeze(self) -> Model:
        joints, tree = [body.joint for body in self.moving], np.array(self.tree, dtype=np.int64)
        tree[:, layout.SIZE_Q] = self.n_q

        def per_velocity(name: str) -> Array:
            return np.concatenate([joint.values(name) for joint in joints])

        return Model(
            body_names=tuple(body.name for body in self.moving),
            joint_names=tuple(body.joint.name or body.name for body in self.moving),
            joint_kinds=tuple(joint.kind for joint in joints),
            body_parents=np.array(self.parents, dtype=np.int64),
            body_links=np.array(self.body_links, dtype=np.int64),
            frames=self.frames,
            tree=tree,
            links=np.array(self.links),
            turns=np.array(self.turns),
            lower=per_velocity("lower"),
            upper=per_velocity("upper"),
            velocity_limit=per_velocity("velocity_limit"),
            effort_limit=per_velocity("effort_limit"),
            dry_friction=per_velocity("dry_friction"),
            stiffness=per_velocity("stiffness"),
            reference=per_velocity("reference"),
            compensation=self._compensation(),
        )


def _share(value: object, name: str) -> float:
    """A share of a weight: finite, any sign."""
    if not (isinstance(value, (int, float, np.number)) and np.isfinite(value)):
        raise ModelError(
            f"body {name!r}: gravity_compensation: expected a finite number, got {value!r}"
        )
    return float(value)


def three(field: str, values: ArrayLike, name: str) -> Array:
    """Three finite numbers, or the error that names the body and field."""
    return three_numbers(values, f"body {name!r}: {field}" if name else field, ModelError)
