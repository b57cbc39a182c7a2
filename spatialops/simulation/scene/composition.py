"""Scenes composed of several robots and things."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar, cast

import numpy as np

from spatialops._arrays import Array, ArrayLike, Mat3, several
from spatialops.algebra.rotation import rotation_matrix
from spatialops.collision import Geom, HalfSpace
from spatialops.errors import ArgumentError, ModelError
from spatialops.forces.actuators import Actuator
from spatialops.forces.tendons import Tendon
from spatialops.io import Description, read
from spatialops.simulation.scene.geoms import GeomMaker
from spatialops.simulation.scene.loader import LoadedScene, floor_geoms, scene_of
from spatialops.simulation.scene.planted_path import planted_path
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.scene.visuals import Visual, visuals_of
from spatialops.tree.builder import WORLD
from spatialops.tree.forest import Planted, forest, planted_coordinates, planted_loop
from spatialops.tree.model import Model
from spatialops.tree.node import Frame
from spatialops.tree.state import State

_SAME = 1e-6  # of planes, m and parts of a unit normal
_ORIGIN = Frame(-1, np.zeros(3), np.eye(3))


@dataclass(frozen=True, eq=False, kw_only=True)
class Part:
    """One robot or thing of a composed scene.

    Parameters
    ----------
    source : Scene, Model, Description or path-like
        What stands there. A file in which nothing moves is scenery.
    name : str
        Prefix of its names, as in "left/wrist"; "" leaves them. Default "".
    position : (3,) array_like
        Where its own world's origin stands in the scene's, m. Default the origin.
    rotation : (3, 3) or (4,) array_like, optional
        Matrix or quaternion (x, y, z, w) from its own world's axes to the scene's. Default none.
    floating_base : bool
        For a file or description: whether its base moves freely. Default False.

    Examples
    --------
    >>> import spatialops as so
    >>> arm = so.models.pendulum(2).scene()
    >>> places = {"left": (0.0, -2.0, 0.0), "right": (0.0, 2.0, 0.0)}
    >>> parts = [so.Part(source=arm, name=name, position=p) for name, p in places.items()]
    >>> pair = so.compose(parts)
    >>> pair.model.body_names
    ('left/link1', 'left/link2', 'right/link1', 'right/link2')
    """

    source: Scene | Model | Description | str | os.PathLike[str]
    name: str = ""
    position: ArrayLike = (0.0, 0.0, 0.0)
    rotation: ArrayLike | None = None
    floating_base: bool = False


def compose(
    parts: Iterable[Part], *, floor: bool | float = False, strict: bool = True
) -> LoadedScene:
    """One scene of several robots and things.

    Coordinates are stacked in the order of the parts. Geoms of different parts may touch; within a
    part, those that may in its own scene. Where several parts have a floor in one place, each is
    borne by its own, and what has none by the first.

    Parameters
    ----------
    parts : iterable of Part
        What stands where.
    floor : bool or float
        Add a floor at z = 0, with this friction if it is a number. Default False.
    strict : bool
        Refuse shapes of files that are damaged or whose mesh is missing; otherwise they are left
        out and listed. Default True.

    Returns
    -------
    LoadedScene
        With what had to be repaired or left out among its `warnings`.

    Raises
    ------
    ModelError
        If names clash, gravity differs, or nothing moves.
    AssetError, ShapeError
        As `load_scene`, for parts that are files.

    Examples
    --------
    >>> import spatialops as so
    >>> arm = so.models.pendulum(2).scene()
    >>> other = so.Part(source=arm, name="b", position=(0.0, 3.0, 0.0))
    >>> so.compose([so.Part(source=arm, name="a"), other]).model.nv
    4
    """
    pieces = [_piece(part, strict) for part in several(parts, "parts", "parts", ModelError)]
    planted = [piece for piece in pieces if piece.scene is not None]
    if not planted:
        raise ModelError(
            "compose: nothing moves: at least one part must have a joint that is not fixed"
        )
    model = forest([piece.planted for piece in planted])
    geoms = [geom for piece in pieces for geom in piece.geoms()]
    added = floor_geoms(floor, geoms)
    spare = _spare_floors([added, *(piece.geoms() for piece in pieces)])
    geoms = [*added, *geoms]
    scenes = [(piece.planted, piece.scene) for piece in planted if piece.scene is not None]
    loops = [planted_loop(own, loop) for own, scene in scenes for loop in scene.loops.items]
    pairs = {
        name: [
            (own.prefix + a, own.prefix + b)
            for own, scene in scenes
            for a, b in getattr(scene, name)
        ]
        for name in ("ignore", "include")
    }
    laws = [
        replace(pair, a=own.prefix + pair.a, b=own.prefix + pair.b)
        for own, scene in scenes
        for pair in scene.pair_laws
    ]
    actuators = [_prefixed(own, one) for own, scene in scenes for one in scene.actuators]
    tendons = [_prefixed(own, one) for own, scene in scenes for one in scene.tendons]
    q = np.concatenate([planted_coordinates(own, scene.state.q) for own, scene in scenes])
    v = np.concatenate([scene.state.v for _, scene in scenes])
    activation = np.concatenate([scene.activations(scene.state) for _, scene in scenes])
    result = LoadedScene(
        model,
        geoms,
        loops=loops,
        state=State(q, v, 0.0, activation),
        ignore=[*pairs["ignore"], *spare],
        include=pairs["include"],
        pair_laws=laws,
        actuators=actuators,
        tendons=tendons,
        ctrl=np.concatenate([scene.ctrl for _, scene in scenes]),
    )
    result.visual_sources = tuple(partial(_drawn, piece) for piece in pieces)
    result.warnings = tuple(dict.fromkeys(text for piece in pieces for text in piece.warnings))
    return result


def _drawn(piece: _Piece) -> list[Visual]:
    """What is drawn of a part, with the names of the common model."""
    own = piece.planted
    given = (
        visuals_of(piece.scenery) if piece.scenery else piece.scene.visuals if piece.scene else ()
    )
    return [_planted_visual(own, visual, piece.frames.get(visual.body)) for visual in given]


def _planted_visual(own: Planted, visual: Visual, still: Frame | None) -> Visual:
    """A visual of a part; what stands still is moved with the part's world."""
    name = own.prefix + visual.name
    if still is None:
        return replace(visual, name=name, body=own.prefix + visual.body)
    turn = own.rotation @ still.rotation
    place = still.position + still.rotation @ visual.position
    moved = np.asarray(own.position) + own.rotation @ place
    return replace(visual, name=name, body=WORLD, position=moved, rotation=turn @ visual.rotation)


def _spare_floors(groups: Sequence[Sequence[Geom]]) -> list[tuple[str, str]]:
    """Pairs to ignore where several parts have a floor in one place: one bears each geom.

    That is the floor of its own part, else the first.
    """
    places: list[tuple[Array, list[tuple[int, Geom]]]] = []
    for i, group in enumerate(groups):
        for geom in group:
            plane = _plane(geom)
            if plane is None:
                continue
            same = [floors for other, floors in places if np.abs(other - plane).max() < _SAME]
            if same:
                same[0].append((i, geom))
            else:
                places.append((plane, [(i, geom)]))
    pairs = []
    for _, place in places:
        for i, group in enumerate(groups):
            bearing = next((floor for part, floor in place if part == i), place[0][1])
            spare = [floor.name for _, floor in place if floor is not bearing]
            pairs += [(name, geom.name) for name in spare for geom in group if geom.body != WORLD]
    return pairs


def _plane(geom: Geom) -> Array | None:
    """Normal and height of a half-space on the world, (4,); None for anything else."""
    if not isinstance(geom.shape, HalfSpace) or geom.body != WORLD:
        return None
    normal = np.array(geom.shape.normal)
    return np.append(normal, normal @ np.array(geom.position))


Element = TypeVar("Element", Actuator, Tendon)


def _prefixed(part: Planted, one: Element) -> Element:
    """An actuator or tendon with the names of the common model."""
    joints = {part.prefix + name: factor for name, factor in one.joints.items()}
    path = None if one.path is None else planted_path(part, one.path)
    return replace(one, name=part.prefix + one.name, joints=joints, path=path)


@dataclass(frozen=True, eq=False)
class _Piece:
    """A part made ready: its scene, or geoms alone where nothing moves."""

    planted: Planted
    scene: Scene | None
    own_geoms: tuple[Geom, ...]
    warnings: tuple[str, ...] = ()
    scenery: Description | None = None
    frames: Mapping[str, Frame] = field(default_factory=lambda: {WORLD: _ORIGIN})

    def geoms(self) -> list[Geom]:
        """Its geoms with their new names; those on its world are moved with it."""
        return [self._moved(geom) for geom in self.own_geoms]

    def _moved(self, geom: Geom) -> Geom:
        own = self.planted
        name = own.prefix + geom.name
        if self.scene is not None and geom.body != WORLD:
            return replace(geom, name=name, body=own.prefix + geom.body)
        place = np.asarray(own.position) + own.rotation @ np.array(geom.position)
        if isinstance(geom.shape, HalfSpace):  # its normal is in world axes
            turned = HalfSpace(own.rotation @ np.array(geom.shape.normal))
            return replace(geom, name=name, body=WORLD, position=place, shape=turned)
        turn = _rows(own.rotation @ rotation_matrix(geom.rotation))
        return replace(geom, name=name, body=WORLD, position=place, rotation=turn)


def _piece(part: Part, strict: bool) -> _Piece:
    if not isinstance(part, Part):
        raise ArgumentError(f"compose: expected a Part, got {part!r}")
    prefix = f"{part.name}/" if part.name else ""
    position = np.array(part.position, dtype=np.float64)
    if position.shape != (3,) or not np.isfinite(position).all():
        raise ArgumentError(
            f"part {part.name!r}: position: expected 3 finite numbers, got {part.position!r}"
        )
    rotation = rotation_matrix(part.rotation, f"part {part.name!r}: rotation")
    source = part.source
    if isinstance(source, Model):
        source = Scene(source)
    elif not isinstance(source, (Scene, Description)):
        source = read(source)
    if isinstance(source, Description):
        if not source.moving_joints and not part.floating_base:
            return _scenery(source, prefix, position, rotation, strict)
        source = scene_of(
            source, floating_base=part.floating_base, self_collision=source.masked, strict=strict
        )
    told = tuple(prefix + text for text in getattr(source, "warnings", ()))
    return _Piece(Planted(source.model, prefix, position, rotation), source, source.geoms, told)


def _scenery(
    description: Description, prefix: str, position: Array, rotation: Array, strict: bool
) -> _Piece:
    """Geoms of a description in which nothing moves, on the world."""
    frames = {WORLD: _ORIGIN}
    for body in description.bodies:
        above = frames[body.parent]
        place = above.position + above.rotation @ np.asarray(body.position)
        frames[body.name] = Frame(-1, place, above.rotation @ body.rotation)
    maker = GeomMaker(description, frames.__getitem__, strict=strict)
    moved = []
    for geom in maker.geoms():
        frame = frames[geom.body]
        turn = geom.rotation
        if not isinstance(geom.shape, HalfSpace):  # whose normal is in world axes
            turn = _rows(frame.rotation @ rotation_matrix(geom.rotation))
        place = frame.position + frame.rotation @ np.array(geom.position)
        moved.append(replace(geom, body=WORLD, position=place, rotation=turn))
    told = (*description.warnings, *maker.notes.texts())
    planted = Planted(None, prefix, position, rotation)  # type: ignore[arg-type]
    texts = tuple(prefix + text for text in told)
    return _Piece(planted, None, tuple(moved), texts, description, frames)


def _rows(matrix: Array) -> Mat3:
    """A rotation as geoms keep it."""
    return cast("Mat3", tuple(tuple(float(x) for x in row) for row in matrix))
