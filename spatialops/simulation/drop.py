"""A robot above a floor: its free bodies raised so that nothing of them is in it, and stiff damping made steady."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from spatialops.algebra.rotation import rotation_matrix
from spatialops.collision.reach import reach
from spatialops.dynamics.composite_body import mass_matrix
from spatialops.dynamics.jacobian import body_poses
from spatialops.io import Description, build
from spatialops.simulation.scene import Scene
from spatialops.tree.joint import Joint
from spatialops.tree.state import State


def steadied(description: Description, dt: float) -> tuple[Description, str]:
    """Damping that is too stiff for explicit steps of `dt` is taken implicitly; and what to tell of it, "" for nothing.

    A step that ends at v + dt a with (M + dt D) a = f - D v is backward Euler in the damping D, stable for any dt. The
    matrix on the left is that of the same robot with dt D more armature, which is what it gets. An explicit step is
    stable up to dt times the largest rate of M^-1 D of 2; beyond half of that, all damped joints are changed.
    """
    if not description.moving_joints:
        return description, ""
    model = build(description)
    rates = np.linalg.eigvals(np.linalg.solve(mass_matrix(model, model.neutral()), np.diag(model.damping)))
    fastest = float(np.abs(rates).max())
    if not fastest * dt > 1.0:
        return description, ""
    bodies = [replace(body, joint=_steadied(body.joint, dt)) for body in description.bodies]
    text = f"damping with time constants down to {1.0 / fastest:.2g} s is taken implicitly, as armature of dt times it"
    return replace(description, bodies=tuple(bodies)), text


def _steadied(joint: Joint, dt: float) -> Joint:
    damping = joint.values("damping")
    return replace(joint, armature=joint.values("armature") + dt * damping) if damping.any() else joint


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
