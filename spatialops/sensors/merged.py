"""What a body that is fixed to its parent carries: the wrench through a joint that is none.

A model has merged such a body into the one that moves, but a file says what it weighs. With all
that is fixed to it in turn it is a rigid group, which its parent must give

    f = sum of m (a - g) + wrenches through the joints of its children - contacts on its geoms

and the moment likewise: what a force sensor in a wrist or a foot reads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, BoolArray
from spatialops.algebra.inertia import Inertia
from spatialops.dynamics.jacobian import node_accelerations, node_velocities
from spatialops.io.description import Description
from spatialops.simulation import _layout as at
from spatialops.simulation.runs.observed_step import ObservedStep
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.node import Node


class FixedGroup(NamedTuple):
    """Bodies that are one with a body that is fixed to its parent.

    Attributes
    ----------
    parts : list of (Node, (3, 3) array, Inertia)
        Centre of mass, rotation in the moving body (in the world, without one), and inertia.
    mine : (n_geoms,) bool array
        Which geoms are theirs.
    children : list of int
        Moving bodies whose joints are on them.
    borne : float
        Share of their weight that is compensated, kg.
    """

    parts: list[tuple[Node, Array, Inertia]]
    mine: BoolArray
    children: list[int]
    borne: list[float]


def fixed_group(scene: Scene, body: str) -> FixedGroup | None:
    """That of a body of the file; None where no file says what it weighs, or it has a joint."""
    description: Description | None = getattr(scene, "description", None)
    specs = {} if description is None else {spec.name: spec for spec in description.bodies}
    model = scene.model
    if body not in specs or body in model.body_names or specs[body].joint.kind != "fixed":
        return None
    group, children = {body}, list[int]()
    for name, spec in specs.items():  # each after the one it hangs on
        if spec.parent not in group:
            continue
        if spec.joint.kind == "fixed":
            group.add(name)
        else:
            children.append(model.body_names.index(name))
    if any(loop.a in group or loop.b in group for loop in scene.loops.items):
        return None
    parts, borne = [], []
    for name in sorted(group):
        own, frame = specs[name].inertia, model.frame(name)
        if own is not None:
            place = frame.position + frame.rotation @ own.center
            node = Node(frame.body if frame.body >= 0 else "world", place)
            parts.append((node, frame.rotation, own))
            borne.append(own.mass * specs[name].gravity_compensation)
    mine = np.array([geom.body in group for geom in scene.geoms], dtype=bool)
    return FixedGroup(parts, mine, children, borne)


def fixed_wrench(step: ObservedStep, group: FixedGroup, point: Array) -> tuple[Array, Array]:
    """Force (N) and moment (N m) about a point that its parent exerts on a group, world axes."""
    model, now = step.scene.model, step.instant
    force, moment = np.zeros(3), np.zeros(3)

    def add(where: Array, push: Array, turn: Array) -> None:
        force[:] += push
        moment[:] += turn + np.cross(where - point, push)

    for (node, rotation, own), share in zip(group.parts, group.borne):
        alpha = a = omega = np.zeros(3)
        turn, place = rotation, np.asarray(node.position)
        if isinstance(node.body, int):
            rates = node_accelerations(model, now.q, now.v, step.accelerations, [node])[0]
            alpha, a = rates[:3], rates[3:]
            omega = node_velocities(model, now.q, now.v, [node])[0, :3]
            place = step.poses.positions[node.body] + step.poses.rotations[node.body] @ place
            turn = step.poses.rotations[node.body] @ rotation
        tensor = turn @ own.tensor @ turn.T
        weight = (own.mass - share) * model.gravity
        add(place, own.mass * a - weight, tensor @ alpha + np.cross(omega, tensor @ omega))
    for child in group.children:
        wrench = step.joint_wrenches[child]
        add(step.poses.positions[child], wrench[3:], wrench[:3])
    sides = step.scene.sides_of(step.pairs)
    for side, sign in ((0, 1.0), (1, -1.0)):
        for row in step.contacts[group.mine[sides[:, side]]]:
            push = sign * row[at.RECORD_IMPULSE : at.RECORD_IMPULSE + 3] / step.dt
            spun = row[at.RECORD_PAIR] < 0.0
            where = row[at.RECORD_POINT : at.RECORD_POINT + 3]
            add(where, np.zeros(3) if spun else -push, -push if spun else np.zeros(3))
    return force, moment
