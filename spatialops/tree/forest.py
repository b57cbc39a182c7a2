"""Several models side by side in one: their tables stacked, their names told apart by a prefix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray
from spatialops.algebra.rotation import rotation_matrix
from spatialops.errors import ModelError
from spatialops.tree.builder import WORLD
from spatialops.tree.free_frames import FreeFrame, moved
from spatialops.tree.loop import Loop
from spatialops.tree.model import Model
from spatialops.tree.node import Frame


class Planted(NamedTuple):
    """A model, the prefix of its names, and the pose of its world in the common one."""

    model: Model
    prefix: str = ""
    position: Array = np.zeros(3)
    rotation: Array = np.eye(3)


def forest(parts: Sequence[Planted]) -> Model:
    """One model of several; coordinates and velocities are stacked in the order given.

    The frame of a free joint stays where it is: only what hangs on the world otherwise is moved.
    See `planted_coordinates`.

    Raises
    ------
    ModelError
        If names clash, or gravity is not the same in all.
    """
    models = [part.model for part in parts]
    if not models:
        raise ModelError("forest: expected at least one model")
    if any(
        not np.array_equal(
            models[0].links[0, layout.GRAVITY : layout.GRAVITY + 3],
            m.links[0, layout.GRAVITY : layout.GRAVITY + 3],
        )
        for m in models
    ):
        raise ModelError("forest: all models must have the same gravity")
    trees = []
    links = []
    frames = {WORLD: Frame(-1, np.zeros(3), np.eye(3))}
    n_links = n_bodies = n_q = 0
    for part in parts:
        tree = part.model.tree.copy()
        tree[tree[:, layout.PARENT] >= 0, layout.PARENT] += n_links
        tree[tree[:, layout.BODY] >= 0, layout.BODY] += n_bodies
        tree[:, layout.FIRST_Q] += n_q
        for name, frame in part.model.frames.items():
            _put_frame(frames, part, name, frame, n_bodies)
        trees.append(tree)
        links.append(_planted_links(part))
        n_links = n_links + part.model.nv
        n_bodies = n_bodies + part.model.n_bodies
        n_q = n_q + part.model.nq
    tree = np.concatenate(trees)
    tree[:, layout.SIZE_Q] = n_q
    stacked: dict[str, Any] = {
        key: np.concatenate([getattr(m, key) for m in models])
        for key in (
            "turns",
            "lower",
            "upper",
            "velocity_limit",
            "effort_limit",
            "dry_friction",
            "stiffness",
            "reference",
            "compensation",
        )
    }
    model = Model(
        body_names=_names(parts, "body_names"),
        joint_names=_names(parts, "joint_names"),
        joint_kinds=tuple(kind for m in models for kind in m.joint_kinds),
        body_parents=_shifted([m.body_parents for m in models], [m.n_bodies for m in models]),
        body_links=_shifted([m.body_links for m in models], [m.nv for m in models]),
        frames=frames,
        tree=tree,
        links=np.concatenate(links),
        **stacked,
    )
    object.__setattr__(model, "warnings", tuple(text for m in models for text in m.warnings))
    return model


def _planted_links(part: Planted) -> Array:
    """Constants of the part's links, with those that hang on the world moved along with it."""
    tree, rows = part.model.tree, part.model.links.copy()
    position, turn = (
        np.asarray(part.position, dtype=np.float64),
        np.asarray(part.rotation, dtype=np.float64),
    )
    for k in np.flatnonzero((tree[:, layout.PARENT] < 0) & (tree[:, layout.FRAME] != layout.POSE)):
        rows[k, layout.PLACE_P : layout.PLACE_P + 3] = (
            position + turn @ rows[k, layout.PLACE_P : layout.PLACE_P + 3]
        )
        rows[k, layout.PLACE_R : layout.PLACE_R + 9] = (
            turn @ rows[k, layout.PLACE_R : layout.PLACE_R + 9].reshape(3, 3)
        ).ravel()
    return rows


def planted_coordinates(part: Planted, q: Array) -> Array:
    """The part's coordinates with free bodies moved along with its world."""
    result = np.array(q, dtype=np.float64)
    turn = np.asarray(part.rotation, dtype=np.float64)
    for name, kind in zip(part.model.joint_names, part.model.joint_kinds, strict=True):
        if kind == "free":
            at, frame = part.model.q_slice(name), FreeFrame.of(part.model, name)
            pose = moved(turn, np.asarray(part.position), frame.in_world(result[at]))
            result[at] = frame.coordinates(pose)
    return result


def planted_loop(part: Planted, loop: Loop) -> Loop:
    """A closure of the part in the common model."""
    changes: dict[str, Any] = {"name": part.prefix + loop.name}
    if loop.kind == "coupler":
        return replace(
            loop,
            joints={part.prefix + name: factor for name, factor in loop.factors.items()},
            **changes,
        )
    turn, origin = (
        np.asarray(part.rotation, dtype=np.float64),
        np.asarray(part.position, dtype=np.float64),
    )
    for side in "ab":
        body = getattr(loop, side)
        name = part.model.body_names[body] if not isinstance(body, str) else body
        changes[side] = name if name == WORLD else part.prefix + name
        if name == WORLD:
            own = loop.node_frame("ab".index(side))[0]
            changes[f"position_{side}"] = origin + turn @ own
            given = getattr(loop, f"rotation_{side}")
            changes[f"rotation_{side}"] = turn @ rotation_matrix(given)
    return replace(loop, **changes)


def _put_frame(
    frames: dict[str, Frame], part: Planted, name: str, frame: Frame, n_bodies: int
) -> None:
    if name == WORLD:
        return
    if part.prefix + name in frames:
        raise ModelError(
            f"forest: there are two bodies {part.prefix + name!r}; give the parts different names"
        )
    if frame.body >= 0:
        frames[part.prefix + name] = Frame(frame.body + n_bodies, frame.position, frame.rotation)
        return
    turn = np.asarray(part.rotation, dtype=np.float64)
    frames[part.prefix + name] = Frame(
        -1, part.position + turn @ frame.position, turn @ frame.rotation
    )


def _names(parts: Sequence[Planted], kind: str) -> tuple[str, ...]:
    names = tuple(part.prefix + name for part in parts for name in getattr(part.model, kind))
    for name in names:
        if names.count(name) > 1:
            raise ModelError(
                f"forest: {kind.removesuffix('s').replace('_', ' ')} {name!r} comes twice"
            )
    return names


def _shifted(indices: list[IntArray], counts: list[int]) -> IntArray:
    """Index arrays one after the other, each moved by what stands before; -1 stays."""
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    moved = [
        np.where(own >= 0, own + start, -1) for own, start in zip(indices, starts, strict=True)
    ]
    return np.concatenate(moved).astype(np.int64)
