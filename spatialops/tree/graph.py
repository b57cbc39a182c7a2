"""Mechanisms with loops, given as a graph: bodies, joints, and the tree and closures made of them.

Which joints are cut is the choice of `spanning_tree`; closures stand in their place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spatialops._arrays import Array, ArrayLike, is_one_of
from spatialops.algebra.inertia import Inertia
from spatialops.algebra.rotation import rotation_matrix
from spatialops.errors import ModelError
from spatialops.tree.builder import WORLD, TreeBuilder, three
from spatialops.tree.joint import Joint, JointKind
from spatialops.tree.loop import Loop, LoopKind
from spatialops.tree.loops import Loops
from spatialops.tree.model import Model
from spatialops.tree.spanning_tree import SpanningTree, spanning_tree

# Kinds of joints that a closure can stand for: kind of the closure, and its number of rows.
CUTTABLE: dict[str, tuple[LoopKind, int]] = {
    "ball": ("ball", 3),
    "revolute": ("revolute", 5),
    "prismatic": ("prismatic", 5),
    "fixed": ("weld", 6),
}


@dataclass(frozen=True, eq=False)
class _Edge:
    joint: Joint
    bodies: tuple[str, str]
    positions: tuple[Array, Array]
    rotations: tuple[Array, Array]

    @property
    def rows(self) -> int | None:
        """Rows of the closure that could stand for it, None where that would lose data."""
        plain = not any(
            self.joint.values(name).any()
            for name in ("damping", "stiffness", "armature", "dry_friction")
        )
        bounded = (
            np.isfinite(self.joint.values("lower")).any()
            or np.isfinite(self.joint.values("upper")).any()
        )
        return (
            CUTTABLE[self.joint.kind][1]
            if self.joint.kind in CUTTABLE and plain and not bounded
            else None
        )


class GraphBuilder:
    """Collects bodies and the joints between them, loops allowed, and builds a tree with closures.

    Parameters
    ----------
    gravity : (3,) array_like
        m/s^2, world axes; default: (0, 0, -9.81).

    Examples
    --------
    >>> import spatialops as so
    >>> graph = so.GraphBuilder()
    >>> rod = so.Inertia.box((1.0, 0.1, 0.1), mass=1.0).shifted((0.5, 0.0, 0.0))
    >>> for name in ("crank", "coupler", "rocker"):
    ...     _ = graph.add_body(name, rod)
    >>> hinge, end = so.Joint("revolute", axis="y"), (1.0, 0.0, 0.0)
    >>> _ = graph.add_joint("A", "world", "crank", hinge)
    >>> _ = graph.add_joint("B", "crank", "coupler", hinge, position_a=end)
    >>> _ = graph.add_joint("C", "coupler", "rocker", hinge, position_a=end)
    >>> _ = graph.add_joint("D", "rocker", "world", hinge, position_a=end, position_b=end)
    >>> model, loops = graph.build()
    >>> graph.tree_joints, graph.cut_joints
    (('A', 'D', 'B'), ('C',))
    """

    def __init__(self, gravity: ArrayLike = (0.0, 0.0, -9.81)) -> None:
        self._gravity = gravity
        self._bodies: dict[str, Inertia | None] = {}
        self._edges: dict[str, _Edge] = {}
        self._tree: SpanningTree | None = None

    def add_body(self, name: str, inertia: Inertia | None = None) -> GraphBuilder:
        """Add a body.

        Parameters
        ----------
        name : str
            Unique, not "world".
        inertia : Inertia, optional
            In the body's own frame; default: none.

        Returns
        -------
        GraphBuilder
            Itself, so that calls can be chained.

        Raises
        ------
        ModelError
            For a name that is taken, or an inertia that is none.

        Examples
        --------
        >>> import spatialops as so
        >>> graph = so.GraphBuilder().add_body("rod", so.Inertia.capsule(0.02, 1.0, mass=1.0))
        >>> model, loops = graph.add_joint("hinge", "world", "rod", so.Joint("revolute")).build()
        >>> model.nv, len(loops)
        (1, 0)
        """
        if is_one_of(name, ("", WORLD, *self._bodies)) or not isinstance(name, str):
            raise ModelError(
                f"body {name!r}: name: expected a new non-empty string other than 'world'"
            )
        if inertia is not None and not isinstance(inertia, Inertia):
            raise ModelError(
                f"body {name!r}: inertia: expected an Inertia, got {type(inertia).__name__}"
            )
        self._bodies[name] = inertia
        return self

    def add_joint(
        self,
        name: str,
        a: str,
        b: str,
        joint: Joint | JointKind,
        *,
        position_a: ArrayLike = (0.0, 0.0, 0.0),
        position_b: ArrayLike = (0.0, 0.0, 0.0),
        rotation_a: ArrayLike | None = None,
        rotation_b: ArrayLike | None = None,
    ) -> GraphBuilder:
        """Join two bodies (or a body and "world") by a joint with a frame on either.

        Parameters
        ----------
        name : str
            Unique.
        a : str
            Name of a body, added before or after, or "world".
        b : str
            The other body. Coordinates are those of b against a; where the tree goes from b to a,
            axes are turned round so that those of a revolute, prismatic, screw or cylindrical joint
            keep their sense.
        joint : Joint or str
            The joint, or its kind.
        position_a : (3,) array_like
            Origin of the joint's frame in the frame of a, m; default: that frame's origin.
        position_b : (3,) array_like
            The same in the frame of b. The two frames coincide where the joint's coordinates are
            zero.
        rotation_a : (3, 3) or (4,) array_like, optional
            The joint's frame in the frame of a: matrix or quaternion (x, y, z, w); default: none.
        rotation_b : (3, 3) or (4,) array_like, optional
            The same in the frame of b.

        Returns
        -------
        GraphBuilder
            Itself, so that calls can be chained.

        Raises
        ------
        ModelError
            For a name that is taken, equal bodies, or wrong values.

        Examples
        --------
        >>> import spatialops as so
        >>> graph = so.GraphBuilder()
        >>> for name in ("left", "right"):
        ...     _ = graph.add_body(name, so.Inertia.sphere(0.1, mass=1.0))
        >>> rail = so.Joint("prismatic", axis="x")
        >>> _ = graph.add_joint("rail", "world", "left", rail)
        >>> _ = graph.add_joint("bar", "left", "right", "fixed", position_a=(1.0, 0.0, 0.0))
        >>> _ = graph.add_joint("rail 2", "world", "right", rail, position_a=(1.0, 0.0, 0.0))
        >>> model, loops = graph.build()
        >>> model.nv, graph.cut_joints
        (1, ('rail 2',))
        """
        if is_one_of(name, ("", *self._edges)) or not isinstance(name, str):
            raise ModelError(f"joint {name!r}: name: expected a new non-empty string")
        if a == b:
            raise ModelError(f"joint {name!r}: joins {a!r} to itself")
        joint = Joint(joint, name=name) if isinstance(joint, str) else joint
        if not isinstance(joint, Joint):
            raise ModelError(
                f"joint {name!r}: expected a Joint or the name of a kind, got {joint!r}"
            )
        self._edges[name] = _Edge(
            joint,
            (a, b),
            (three("position_a", position_a, name), three("position_b", position_b, name)),
            (
                rotation_matrix(rotation_a, f"joint {name!r}"),
                rotation_matrix(rotation_b, f"joint {name!r}"),
            ),
        )
        return self

    @property
    def tree_joints(self) -> tuple[str, ...]:
        """Joints of the tree that was built last (of the one that would be, before)."""
        return (self._tree or self.spanning_tree()).tree_joints

    @property
    def cut_joints(self) -> tuple[str, ...]:
        """Joints that became closures, likewise."""
        return (self._tree or self.spanning_tree()).cut_joints

    def spanning_tree(self, *, root: str | None = None, cut: Sequence[str] = ()) -> SpanningTree:
        """The choice that `build` makes with these options.

        Parameters
        ----------
        root : str, optional
            Body that gets a free joint where no joint leads to the world; default: the first named.
        cut : sequence of str
            Joints that must be cut; default: none.

        Returns
        -------
        SpanningTree
            Its steps, the joints that it cuts, and the bodies that float.

        Raises
        ------
        ModelError
            For an unknown name, or a loop that cannot be cut.
        """
        for name, edge in self._edges.items():
            for body in edge.bodies:
                if body != WORLD and body not in self._bodies:
                    raise ModelError(f"joint {name!r}: there is no body {body!r}")
        joined = {body for edge in self._edges.values() for body in edge.bodies}
        loose = [body for body in self._bodies if body not in joined]
        edges = [(name, *edge.bodies, edge.rows) for name, edge in self._edges.items()]
        chosen = spanning_tree(edges, root=None if root in loose else root, cut=cut)
        return SpanningTree(chosen.steps, chosen.cut_joints, (*chosen.floating, *loose))

    def build(self, *, root: str | None = None, cut: Sequence[str] = ()) -> tuple[Model, Loops]:
        """The tree, and the closures of the joints that it cuts.

        Parameters
        ----------
        root : str, optional
            Body that gets a free joint where no joint leads to the world; default: the first named.
        cut : sequence of str
            Joints that must be cut; default: none.

        Returns
        -------
        (Model, Loops)
            Joints keep their names. A body keeps its name and frame; where its joint's frame is
            another one, the moving body of the model is named "body@joint" and the body is fixed to
            it. `tree_joints` and `cut_joints` of this builder say what was chosen.

        Raises
        ------
        ModelError
            As `spanning_tree` and `TreeBuilder.build`; where the tree goes from b to a through a
            planar joint whose travel has limits, springs, damping, friction or rotors, or through a
            ball whose axes differ in these: they would act along axes of the other body.

        Examples
        --------
        >>> import spatialops as so
        >>> graph = so.GraphBuilder().add_body("ball", so.Inertia.sphere(0.1, mass=1.0))
        >>> model, loops = graph.build()
        >>> model.joint_kinds, len(loops)
        (('free',), 0)
        """
        tree = self._tree = self.spanning_tree(root=root, cut=cut)
        builder = TreeBuilder(self._gravity)
        for body in tree.floating:
            builder.add_body(body, joint="free", inertia=self._bodies[body])
        for name, parent, child in tree.steps:
            self._hang(builder, name, parent, child)
        model = builder.build()
        return model, Loops(model, [self._closure(name) for name in tree.cut_joints])

    def _hang(self, builder: TreeBuilder, name: str, parent: str, child: str) -> None:
        edge = self._edges[name]
        forward = edge.bodies == (parent, child)
        near, far = (0, 1) if forward else (1, 0)
        joint = edge.joint.renamed(name)
        joint = joint if forward else joint.reversed()
        position, rotation = edge.positions[near], edge.rotations[near]
        turn, shift = edge.rotations[far].T, -edge.rotations[far].T @ edge.positions[far]
        if not shift.any() and np.array_equal(turn, np.eye(3)):
            builder.add_body(
                child,
                parent=parent,
                joint=joint,
                inertia=self._bodies[child],
                position=position,
                rotation=rotation,
            )
            return
        carrier = f"{child}@{name}"
        builder.add_body(carrier, parent=parent, joint=joint, position=position, rotation=rotation)
        builder.add_body(
            child, parent=carrier, inertia=self._bodies[child], position=shift, rotation=turn
        )

    def _closure(self, name: str) -> Loop:
        edge, kind = self._edges[name], CUTTABLE[self._edges[name].joint.kind][0]
        (a, b) = edge.bodies
        (position_a, position_b) = edge.positions
        (rotation_a, rotation_b) = edge.rotations
        return Loop(
            kind=kind,
            name=name,
            a=b,
            b=a,
            position_a=position_b,
            position_b=position_a,
            rotation_a=rotation_b,
            rotation_b=rotation_a,
            axis=edge.joint.axis if kind in ("revolute", "prismatic") else "z",
        )
