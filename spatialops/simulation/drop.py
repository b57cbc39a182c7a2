"""A robot above a floor: its free bodies raised so that nothing of them is in it."""

from __future__ import annotations

import math

import numpy as np

from spatialops.algebra.rotation import rotation_matrix
from spatialops.collision.reach import reach
from spatialops.dynamics.jacobian import body_poses
from spatialops.simulation.scene import Scene
from spatialops.tree.state import State


def raised(scene: Scene, height: float) -> State:
    """The scene's state with every free body raised or lowered until the lowest point above it is at `height`, m.

    Points are those of the geoms of the bodies that hang on it, and where there are none the origins of these bodies.
    """
    model, q = scene.model, scene.state.q.copy()
    poses = body_poses(model, q)
    roots = np.arange(model.n_bodies)
    for k, parent in enumerate(model.body_parents):
        if parent >= 0:
            roots[k] = roots[parent]
    lowest = {int(root): math.inf for root in roots}
    for geom in scene.geoms:
        frame = model.frame(geom.body)
        if frame.body < 0:
            continue
        turn, root = poses.rotations[frame.body], int(roots[frame.body])
        center = poses.positions[frame.body] + turn @ (frame.position + frame.rotation @ np.array(geom.position))
        own = turn @ frame.rotation @ rotation_matrix(getattr(geom, "rotation", None))
        lowest[root] = min(lowest[root], float(center[2]) - reach(geom.shape, -own[2]))
    for k, root in enumerate(roots.tolist()):
        if not math.isfinite(lowest[root]):
            lowest[root] = float(poses.positions[roots == root, 2].min())
        if model.joint_kinds[k] == "free":
            q[model.q_slice(model.joint_names[k]).start + 2] += height - lowest[root]
    return State(q, scene.state.v, scene.state.time)
