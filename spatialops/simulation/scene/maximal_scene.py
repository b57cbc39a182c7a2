"""The same scene in maximal coordinates: free bodies, hinges as closures ([J] sections 3, 8).

What the tree holds by its coordinates the closures hold by forces and projection: the physics is
that of the original scene, the cost is not. States convert exactly both ways (`maximal_state`,
`tree_state`).
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.spatial.transform import Rotation

from spatialops import _layout as layout
from spatialops._arrays import vector
from spatialops.algebra.inertia import Inertia
from spatialops.dynamics.blocks import SYMMETRIC
from spatialops.dynamics.maximal import MaximalState, from_maximal, to_maximal
from spatialops.errors import ArgumentError, ModelError
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.builder import WORLD, TreeBuilder
from spatialops.tree.joint import Joint
from spatialops.tree.loop import Loop
from spatialops.tree.model import Model, not_a_model
from spatialops.tree.state import State, checked_state

_HINGES = ("revolute", "prismatic", "ball")


def maximal_scene(scene: Scene) -> Scene:
    """The same scene of free bodies, with a closure named after each joint.

    Parameters
    ----------
    scene : Scene
        In tree coordinates.

    Returns
    -------
    Scene
        Among the same geoms, with the same pairs and closures, in the same state.

    Raises
    ------
    ModelError
        For a joint that no closure stands for, joints with armature, damping, dry friction or
        limits, bodies without inertia, actuators, tendons, and bodies whose weight is borne.

    References
    ----------
    A. Jain, Minimal Coordinates Formulation of Contact Dynamics, sections 3 and 8.
    """
    if not isinstance(scene, Scene):
        raise ArgumentError(f"scene: expected a Scene, got {type(scene).__name__}")
    model = scene.model
    if scene.actuators or scene.tendons or model.borne:
        raise ModelError(
            "scene: actuators, tendons and compensation of gravity act on the tree; the scene of "
            "free bodies has none"
        )
    builder = TreeBuilder(gravity=model.gravity)
    for name in model.body_names:
        builder.add_body(name, joint=Joint("free", name=name), inertia=_inertia(model, name))
    bodies = set(model.body_names)
    for name, frame in model.frames.items():
        if frame.body >= 0 and name not in bodies:
            parent = model.body_names[frame.body]
            builder.add_body(name, parent=parent, position=frame.position, rotation=frame.rotation)
        elif frame.body < 0 and name != WORLD:
            builder.add_body(name, position=frame.position, rotation=frame.rotation)
    free = builder.build()
    hinges = [loop for i in range(model.n_bodies) if (loop := _hinge(model, i)) is not None]
    looked_at = {frozenset(scene.geoms[g].name for g in pair) for pair in scene.pairs.tolist()}
    never = [
        pair
        for pair in combinations([geom.name for geom in scene.geoms], 2)
        if frozenset(pair) not in looked_at
    ]
    return Scene(
        free,
        scene.geoms,
        loops=[*hinges, *scene.loops.items],
        state=maximal_state(model, scene.state),
        ignore=never,
        include=scene.include,
        pair_laws=scene.pair_laws,
    )


def maximal_state(model: Model, state: State) -> State:
    """The tree's state as that of free bodies.

    Parameters
    ----------
    model : Model
        The tree.
    state : State
        Of the tree.

    Returns
    -------
    State
        Of as many free bodies, in the order of the tree's.
    """
    if type(model) is not Model:
        raise not_a_model(model)
    state = checked_state(state, model)
    positions, rotations, velocities = to_maximal(model, state.q, state.v)
    quaternions = Rotation.from_matrix(rotations).as_quat()
    own = np.einsum("nji,nkj->nki", rotations, velocities.reshape(-1, 2, 3))  # in body axes
    return State(np.hstack([positions, quaternions]).ravel(), own.ravel(), state.time)


def tree_state(model: Model, state: State) -> State:
    """The state of free bodies as that of a tree; what does not fit its joints is left out.

    Parameters
    ----------
    model : Model
        The tree.
    state : State
        Of as many free bodies, in the order of the tree's.

    Returns
    -------
    State
        Of the tree.
    """
    if type(model) is not Model:
        raise not_a_model(model)
    if not isinstance(state, State):
        raise ArgumentError(f"state: expected a State, got {type(state).__name__}")
    n = model.n_bodies
    poses = vector(state.q, 7 * n, "state.q").reshape(n, 7)
    v = vector(state.v, 6 * n, "state.v").reshape(n, 2, 3)
    rotations = Rotation.from_quat(poses[:, 3:]).as_matrix()
    velocities = np.einsum("nij,nkj->nki", rotations, v).reshape(-1, 6)
    return State(
        *from_maximal(model, MaximalState(poses[:, :3], rotations, velocities)), state.time
    )


def _inertia(model: Model, name: str) -> Inertia:
    """A body's inertia, merged bodies included, in its own axes."""
    link = model.body_links[model.body_index(name)]
    row, turn = model.links[link], model.turns[link]
    if not row[layout.MASS] > 0.0:
        raise ModelError(f"body {name!r}: inertia: missing; a free body needs one of its own")
    center = row[layout.COM : layout.COM + 3]
    about = row[layout.INERTIA : layout.INERTIA + 6][SYMMETRIC]
    tensor = about - row[layout.MASS] * (center @ center * np.eye(3) - np.outer(center, center))
    return Inertia(row[layout.MASS], center, tensor).rotated(turn)


def _hinge(model: Model, body: int) -> Loop | None:
    """The closure that stands for the joint of a body; None for a free one."""
    name = model.joint_names[body]
    kind = model.joint_kinds[body]
    link = model.body_links[body]
    rows = model.links[model.v_slice(name)]
    at = model.v_slice(name)
    springs = model.stiffness[at].any()
    stops = np.isfinite(model.lower[at]).any() or np.isfinite(model.upper[at]).any()
    if (
        rows[:, [layout.ARMATURE, layout.DAMPING]].any()
        or model.dry_friction[at].any()
        or stops
        or springs
    ):
        raise ModelError(
            f"joint {name!r}: armature, damping, springs, dry friction and limits belong to joint "
            "coordinates; free bodies have none"
        )
    if kind == "free":
        return None
    if kind not in _HINGES:
        raise ModelError(
            f"joint {name!r}: there is no closure for a {kind} joint, only for {', '.join(_HINGES)}"
        )
    first = model.v_slice(name).start
    parent = model.tree[first, layout.PARENT]
    above = model.turns[parent] if parent >= 0 else np.eye(3)
    return Loop(
        kind=kind,
        a=model.body_names[body],
        b=WORLD if parent < 0 else model.body_names[model.body_parents[body]],
        rotation_a=model.turns[link],
        position_b=above @ model.links[first, layout.PLACE_P : layout.PLACE_P + 3],
        rotation_b=above @ model.links[first, layout.PLACE_R : layout.PLACE_R + 9].reshape(3, 3),
        name=name,
    )
