"""Where the geoms of a scene are, and how its free bodies are raised above a floor."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from spatialops._arrays import Array, scalar
from spatialops.algebra.rotation import rotation_matrix
from spatialops.collision.extents import reach
from spatialops.dynamics.jacobian import body_poses
from spatialops.errors import ArgumentError
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.free_frames import FreeFrame
from spatialops.tree.state import State


def geom_poses(scene: Scene, q: Array) -> tuple[Array, Array]:
    """World positions (G, 3), m, and rotations (G, 3, 3) of the geoms at coordinates (nq,)."""
    poses = body_poses(scene.model, q)
    # The world's frame is number -1.
    origins = np.concatenate([poses.positions, np.zeros((1, 3))])
    turns = np.concatenate([poses.rotations, np.eye(3)[None]])
    positions = np.zeros((len(scene.geoms), 3))
    rotations = np.zeros((len(scene.geoms), 3, 3))
    for i, geom in enumerate(scene.geoms):
        frame = scene.model.frame(geom.body)
        local = frame.position + frame.rotation @ np.asarray(geom.position)
        positions[i] = origins[frame.body] + turns[frame.body] @ local
        rotations[i] = turns[frame.body] @ frame.rotation @ geom.turn
    return positions, rotations


def raised(scene: Scene, height: float) -> State:
    """The scene's state with every free body raised or lowered to a height above z = 0.

    Parameters
    ----------
    scene : Scene
        Its bodies and the geoms on them.
    height : float
        Where the lowest point of what hangs on every free body comes to stand, m: a point of its
        geoms, or the origin of one of its bodies where there are none.

    Returns
    -------
    State
        The scene's own but for the heights.

    Examples
    --------
    >>> import spatialops as so
    >>> ball = so.Inertia.sphere(0.1, mass=1.0)
    >>> model = so.TreeBuilder().add_body("ball", joint="free", inertia=ball).build()
    >>> floor = so.Geom("floor", "world", so.HalfSpace())
    >>> scene = so.Scene(model, [floor, so.Geom("ball", "ball", so.Sphere(0.1))])
    >>> so.raised(scene, height=0.5).q[2].round(9).item()
    0.6
    """
    if not isinstance(scene, Scene):
        raise ArgumentError(f"scene: expected a Scene, got {type(scene).__name__}")
    model, q = scene.model, scene.state.q.copy()
    poses = body_poses(model, q)
    roots = np.arange(model.n_bodies)
    for k, parent in enumerate(model.body_parents):
        if parent >= 0:
            roots[k] = roots[parent]
    height = scalar(height, "height")
    lowest = {int(root): math.inf for root in roots}
    for geom in scene.geoms:
        frame = model.frame(geom.body)
        if frame.body < 0:
            continue
        turn, root = poses.rotations[frame.body], int(roots[frame.body])
        center = poses.positions[frame.body] + turn @ (
            frame.position + frame.rotation @ np.array(geom.position)
        )
        own = turn @ frame.rotation @ rotation_matrix(getattr(geom, "rotation", None))
        lowest[root] = min(lowest[root], float(center[2]) - reach(geom.shape, -own[2]))
    for k, root in enumerate(roots.tolist()):
        if not math.isfinite(lowest[root]):
            lowest[root] = float(poses.positions[roots == root, 2].min())
        if model.joint_kinds[k] == "free":
            joint = model.joint_names[k]
            first = model.q_slice(joint).start
            up = FreeFrame.of(model, joint).rotation[2]  # the world's z, in the joint's frame
            q[first : first + 3] += (height - lowest[root]) * up
    return replace(scene.state, q=q)
