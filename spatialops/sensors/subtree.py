"""A body with all that hangs on it: its centre of mass, how that moves, and its spin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spatialops._arrays import Array
from spatialops.algebra.inertia import Inertia
from spatialops.dynamics.jacobian import node_positions, node_velocities
from spatialops.sensors.merged import fixed_group
from spatialops.sensors.noise import Noise
from spatialops.sensors.sensor import NamedSensor
from spatialops.simulation.runs.observed_step import ObservedStep
from spatialops.simulation.runs.sensing import Channels, Reader
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.described import body_inertia
from spatialops.tree.node import Node


@dataclass(frozen=True, eq=False)
class SubtreeMotion(NamedSensor):
    """Centre of mass (m) of a body and all that hangs on it, its velocity, and the spin about it.

    Parameters
    ----------
    name : str
        Begins the names of its columns.
    body : str
        A moving body, with those that are merged into it, or one that a file fixes to its parent;
        "world": all that moves.
    noise : Noise, optional
        Default: none.

    Examples
    --------
    >>> import spatialops as so
    >>> scene = so.models.pendulum(3).scene()
    >>> whole = so.sensors.SubtreeMotion("whole", "world")
    >>> record = so.Simulator(scene, sensors=[whole]).run(duration=0.01)
    >>> record.sensors["whole"].shape
    (11, 9)
    """

    body: str
    noise: Noise | None = None

    def channels(self, scene: Scene) -> Channels:
        """Its nine columns."""
        self._parts(scene)
        labels = ("x", "y", "z", "vx", "vy", "vz", "lx", "ly", "lz")
        return Channels(labels, ("m",) * 3 + ("m/s",) * 3 + ("kg m^2/s",) * 3)

    def exact(self, scene: Scene) -> Reader:
        """What reads it without noise."""
        model, parts = scene.model, self._parts(scene)
        if not parts:
            raise self.fault(f"nothing at {self.body!r} has mass")
        nodes = [node for node, _, _ in parts]
        masses = np.array([own.mass for _, _, own in parts])

        def read(step: ObservedStep) -> Array:
            end = step.end
            rates = node_velocities(model, end.q, end.v, nodes)
            places = node_positions(model, end.q, nodes)
            middle = masses @ places / masses.sum()
            drift = masses @ rates[:, 3:] / masses.sum()
            spin = np.cross(places - middle, masses[:, None] * rates[:, 3:]).sum(axis=0)
            for (node, rotation, own), rate in zip(parts, rates):
                if isinstance(node.body, int):
                    turn = step.end_poses.rotations[node.body] @ rotation
                    spin += turn @ (own.tensor @ (turn.T @ rate[:3]))
            return np.concatenate([middle, drift, spin])

        return read

    def _parts(self, scene: Scene) -> list[tuple[Node, Array, Inertia]]:
        """What has mass: its centre, its rotation in the moving body, its inertia."""
        model = scene.model
        group = fixed_group(scene, self.body)
        if group is not None:
            found, parts = set(group.children), list(group.parts)
        elif self.body == "world":
            found, parts = set(range(model.n_bodies)), []
        elif self.body in model.body_names:
            found, parts = {model.body_names.index(self.body)}, []
        else:
            raise self.fault(f"there is no body {self.body!r}, or no file says what it weighs")
        for i, parent in enumerate(model.body_parents):
            if parent in found:
                found.add(i)
        for i in sorted(found):
            own = body_inertia(model, i)
            if own is not None:
                parts.append((Node(i, own.center), np.eye(3), own))
        return parts
