"""The derivative of a step by where geoms sit on their bodies.

A geom that can be moved is one on six joints, three slides and three hinges at its own place, which
nothing moves: their armature is so large that all forces leave them where they are, to the last
digits of a number. What is then known of a step by coordinates is its derivative by the geom's
pose, with all that contacts do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, Mat3
from spatialops.algebra.inertia import Inertia
from spatialops.collision.shapes import FIXED, Geom
from spatialops.errors import ArgumentError
from spatialops.simulation.scene.scene import Scene
from spatialops.tree.builder import TreeBuilder
from spatialops.tree.forest import Planted, forest
from spatialops.tree.joint import Joint
from spatialops.tree.model import Model
from spatialops.tree.state import State

_UNTURNED: Mat3 = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
POSE = 6  # columns of a geom: along its axes, then about them
_LOCKED = 1e13  # armature, beside the mass (kg) or its inertia at 1 m


class Seat(NamedTuple):
    """Where six joints are put: on a link (-1: the world), in its axes."""

    link: int
    body: int
    position: Array
    rotation: Array


def movable(scene: Scene, names: Sequence[str]) -> Scene:
    """The scene with geoms that can be moved, by the last coordinates of its model.

    Raises
    ------
    ArgumentError
        For geoms that are not there, or of which that is not known.
    """
    model = scene.model
    known = {geom.name: geom for geom in scene.geoms}
    for name in names:
        if name not in known:
            raise ArgumentError(f"geoms: there is no geom {name!r}")
        if isinstance(known[name].shape, FIXED):
            raise ArgumentError(
                f"geoms: {name!r}: half-spaces, meshes and height fields of the world cannot be "
                "moved yet"
            )
    if len(set(names)) < len(names):
        raise ArgumentError("geoms: a geom is named twice")
    seats = [_seat(model, known[name]) for name in names]
    moved = dict(zip(names, (f"seat {i} {POSE - 1}" for i in range(len(names))), strict=True))
    geoms = [
        replace(geom, body=moved[geom.name], position=(0.0, 0.0, 0.0), rotation=_UNTURNED)
        if geom.name in moved
        else geom
        for geom in scene.geoms
    ]
    pairs = {frozenset(map(int, pair)) for pair in scene.pairs}
    size = range(len(geoms))
    told = [(geoms[a].name, geoms[b].name) for a, b in scene.pairs]
    kept_apart = [
        (geoms[a].name, geoms[b].name) for a in size for b in size[a + 1 :] if {a, b} not in pairs
    ]
    return Scene(
        with_seats(model, seats),
        geoms,
        state=with_zeros(scene.state, POSE * len(names)),
        ignore=kept_apart,
        include=told,
        pair_laws=scene.pair_laws,
        loops=scene.loops.items,
        actuators=scene.actuators,
        tendons=scene.tendons,
        ctrl=scene.ctrl,
    )


def with_zeros(state: State, count: int) -> State:
    """The state with so many more coordinates, at rest."""
    none = np.zeros(count)
    q, v = np.concatenate([state.q, none]), np.concatenate([state.v, none])
    return State(q, v, state.time, state.activation)


def by_poses(A: Array, nv: int) -> Array:
    """Of A of a scene with movable geoms, what poses do to the first nv coordinates and speeds."""
    total = len(A) // 2
    return np.concatenate([A[:nv, nv:total], A[total : total + nv, nv:total]])


def _seat(model: Model, geom: Geom) -> Seat:
    """The place of a geom."""
    frame = model.frame(geom.body)
    position = frame.position + frame.rotation @ np.asarray(geom.position)
    rotation = frame.rotation @ geom.turn
    if frame.body < 0:
        return Seat(-1, -1, position, rotation)
    link = int(model.body_links[frame.body])
    turn = model.turns[link].T
    return Seat(link, frame.body, turn @ position, turn @ rotation)


def with_seats(model: Model, seats: Sequence[Seat]) -> Model:
    """The model with six locked joints on each of the seats."""
    armature = _LOCKED * float(model.links[:, layout.MASS].sum())
    builder = TreeBuilder(gravity=model.gravity)
    unit = Inertia.sphere(1.0, mass=1.0)  # taken off again
    for i in range(len(seats)):
        above = "world"
        for j in range(POSE):
            axis = "xyz"[j % 3]
            slide = Joint("prismatic", axis=axis, armature=armature)
            joint = slide if j < 3 else Joint("revolute", axis=axis, armature=armature)
            builder.add_body(f"seat {i} {j}", parent=above, joint=joint, inertia=unit)
            above = f"seat {i} {j}"
    whole = forest([Planted(model), Planted(builder.build())])
    tree, links = whole.tree.copy(), whole.links.copy()
    parents = whole.body_parents.copy()
    links[model.nv :, layout.MASS : layout.PITCH] = 0.0
    for i, seat in enumerate(seats):
        first = model.nv + POSE * i
        turn = links[first, layout.PLACE_R : layout.PLACE_R + 9].reshape(3, 3)
        tree[first, layout.PARENT] = seat.link
        links[first, layout.PLACE_R : layout.PLACE_R + 9] = (seat.rotation @ turn).ravel()
        links[first, layout.PLACE_P : layout.PLACE_P + 3] = seat.position
        parents[model.n_bodies + POSE * i] = seat.body
    return replace(whole, tree=tree, links=links, body_parents=parents)
