"""Contact problems to compare on: the paper's pendulums and dual-arm robot, or a stored one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spatialops._arrays import Array, ArrayLike, whole
from spatialops.algebra.inertia import Inertia
from spatialops.contact.problem import ContactProblem
from spatialops.dynamics.jacobian import node_positions
from spatialops.errors import ArgumentError
from spatialops.models.dual_arm import TIP_RADIUS, dual_arm
from spatialops.models.pendulum import pendulum
from spatialops.tree.builder import TreeBuilder
from spatialops.tree.joint import Joint
from spatialops.tree.loop import Loop
from spatialops.tree.loops import Loops
from spatialops.tree.model import Model
from spatialops.tree.node import Node

_UPRIGHT = 0.9  # z component of a normal whose first tangent is taken across x

CONTACTS = 4  # of the paper's tables


@dataclass(frozen=True, eq=False)
class Case:
    """A problem with a name, and the number of links that it is drawn over (0: none)."""

    name: str
    problem: ContactProblem
    links: int = 0


def touching(
    model: Model,
    q: Array,
    v: Array,
    nodes: Sequence[Node],
    normals: ArrayLike,
    *,
    radius: float,
    mu: float = 0.5,
) -> ContactProblem:
    """Spheres of `radius` about nodes, each touched by the world; normals point from the world."""
    n = np.array(normals, dtype=np.float64)
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    upright = np.abs(n[:, 2:]) < _UPRIGHT
    first = np.cross(np.where(upright, (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)), n)
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    frames = np.stack([n, first, np.cross(n, first)], axis=1)
    links = [(link, -1) for link in model.resolve(nodes).links]
    points = node_positions(model, q, nodes) - radius * n
    return ContactProblem(model, q, v, links, points, frames, np.full(len(links), mu))


def pendulum_case(n_links: int, contacts: int = CONTACTS) -> Case:
    """A pendulum swinging into floor and wall with its last links, two contacts each.

    Raises
    ------
    ArgumentError
        If the contacts take more links than there are.
    """
    contacts = whole(contacts, "contacts", low=0)
    n = whole(n_links, "links", low=(contacts + 1) // 2)
    made = pendulum(n)
    nodes = [Node(n - 1 - i // 2, (0.0, 0.0, -made.radius)) for i in range(contacts)]
    normals = [((0.0, 0.0, 1.0), (-1.0, 0.0, 0.0))[i % 2] for i in range(contacts)]
    v = np.linspace(1.0, 2.0, n) * np.where(np.arange(n) % 3 == 2, -1.0, 1.0)
    problem = touching(made.model, made.state.q, v, nodes, normals, radius=made.radius)
    return Case(f"pendulum of {n} links, {contacts} contacts", problem, n)


def dual_arm_case() -> Case:
    """The dual-arm robot with three fingertips of its left hand and one of its right held."""
    robot = dual_arm()
    rng = np.random.default_rng(26)
    nodes = [Node(tip) for tip in robot.tips[:CONTACTS]]
    normals = [(-1.0, 0.0, 0.3), (-1.0, 0.2, 0.0), (0.0, 0.0, 1.0), (-1.0, 0.0, 0.0)]
    v = 0.3 * rng.normal(size=robot.model.nv)
    problem = touching(robot.model, robot.state.q, v, nodes, normals, radius=TIP_RADIUS, mu=0.8)
    return Case(f"dual-arm robot, {CONTACTS} contacts", problem, robot.model.n_bodies)


def named_case(name: str) -> Case:
    """The case that a word of the command line stands for.

    Raises
    ------
    ArgumentError, AssetError
        For an unknown name, or a file that holds no contact problem.
    """
    kind, _, count = name.partition(":")
    if kind == "pendulum" and (count or "12").isdigit():
        return pendulum_case(whole(int(count or "12"), "scene pendulum:N", low=2))
    if name == "dual-arm":
        return dual_arm_case()
    if Path(name).suffix == ".npz":
        problem = ContactProblem.load(name)
        return Case(Path(name).stem, problem, problem.model.n_bodies)
    raise ArgumentError(
        f"scene: expected pendulum:N, dual-arm or a file of a contact problem (.npz), got {name!r}"
    )


def linkage_tower(count: int) -> tuple[Model, Loops]:
    """Parallelograms one on the other's coupler, with a rod that swings on each.

    Links are crank, coupler, rocker and rod of each in turn, and it is closed where crank and
    rocker stand alike and the coupler as far the other way. Three rows of five are redundant.
    """
    builder = TreeBuilder()
    loops = []
    last = "world"
    hinge, bar = Joint("revolute", axis="y"), Inertia.box((0.5, 0.05, 0.05), mass=0.5)
    for i in range(count):
        up = 0.0 if last == "world" else 0.1
        for name, parent, place in (
            ("crank", last, (0.0, 0.0, up)),
            ("coupler", f"crank {i}", (0.0, 0.0, 0.3)),
            ("rocker", last, (0.5, 0.0, up)),
            ("rod", f"coupler {i}", (0.2, 0.0, 0.1)),
        ):
            builder.add_body(f"{name} {i}", parent=parent, joint=hinge, inertia=bar, position=place)
        pin = Loop(
            kind="revolute",
            a=f"rocker {i}",
            b=f"coupler {i}",
            position_a=(0.0, 0.0, 0.3),
            position_b=(0.5, 0.0, 0.0),
            axis=(0.0, 1.0, 0.0),
            name=f"knee {i}",
        )
        loops.append(pin)
        last = f"coupler {i}"
    model = builder.build()
    return model, Loops(model, loops)
