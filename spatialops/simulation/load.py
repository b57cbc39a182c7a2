"""Scenes from robot files, and scenes composed of several robots and things."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from spatialops._arrays import Array
from spatialops.algebra.rotation import rotation_matrix
from spatialops.collision import Geom, HalfSpace
from spatialops.dynamics.closed import loop_errors
from spatialops.dynamics.closing import close_loops
from spatialops.errors import ArgumentError, AssetWarning, ModelError
from spatialops.io import Description, build, read
from spatialops.simulation.geoms import DEFAULT_FRICTION, GeomMaker
from spatialops.simulation.pairs import Pair
from spatialops.simulation.scene import Scene
from spatialops.simulation.weigh import weighed
from spatialops.tree.builder import WORLD
from spatialops.tree.forest import Planted, forest, planted_coordinates, planted_loop
from spatialops.tree.loops import Loops
from spatialops.tree.model import Frame, Model
from spatialops.tree.state import State

_CLOSED = 1e-9  # errors of closures below this are the file's rounding


class LoadedScene(Scene):
    """A scene with what its file says beside.

    Attributes
    ----------
    description : Description or None
        All that was read: shapes, actuators, keyframes, what was left out. None for a composed scene.
    warnings : tuple of str
        What was repaired, or could not be taken over.
    """

    description: Description | None = None
    warnings: tuple[str, ...] = ()

    def keyframe(self, name: str) -> State:
        """The state of a keyframe of the file.

        Raises
        ------
        ArgumentError
            If there is none of this name.
        """
        frames = {} if self.description is None else {frame.name: frame for frame in self.description.keyframes}
        if name not in frames:
            raise ArgumentError(f"keyframe: there is no {name!r}; there are {', '.join(map(repr, frames)) or 'none'}")
        q, v = self.state.q.copy(), np.zeros(self.model.nv)
        for joint, values in frames[name].q.items():
            q[self.model.q_slice(joint)] = values
        for joint, values in frames[name].v.items():
            v[self.model.v_slice(joint)] = values
        return State(q, v, frames[name].time)


def load_scene(
    path: str | os.PathLike[str],
    *,
    floating_base: bool = False,
    packages: Mapping[str, str | os.PathLike[str]] | None = None,
    floor: bool | float = False,
    self_collision: bool | None = None,
    strict: bool = True,
    density: float | None = None,
    decompose: float | None = None,
) -> LoadedScene:
    """Read a robot with its collision shapes and closures.

    Parameters
    ----------
    path : path-like
        .urdf, .xml or .mjcf
    floating_base, packages
        As in `load_model`.
    floor : bool or float
        Add a floor at z = 0, with this friction if it is a number.
    self_collision : bool, optional
        Whether the robot's own bodies may touch one another. Default: as the file says for MJCF, not for URDF, which
        says nothing and whose shapes often overlap.
    strict : bool
        Refuse shapes that are damaged or whose mesh is missing; otherwise they are left out and listed.
    density : float, optional
        kg/m^3: bodies that the file gives no inertia get that of their shapes, with a warning. Default: they have none.
    decompose : float, optional
        Cut moving meshes into convex parts with this concavity (`collision.convex_parts`); default: their hulls.

    Returns
    -------
    LoadedScene
        Its state is the file's own initial configuration, moved into the limits and with closures closed.

    Raises
    ------
    AssetError, ModelError, ShapeError
        As `load_model`, and for shapes.

    Warns
    -----
    AssetWarning
        With everything that `scene.warnings` lists.
    """
    description = read(path, packages=packages)
    own = description.path is not None and description.path.suffix.lower() != ".urdf"
    scene = scene_of(
        description,
        floating_base=floating_base,
        floor=floor,
        self_collision=own if self_collision is None else self_collision,
        strict=strict,
        density=density,
        decompose=decompose,
    )
    if scene.warnings:
        warnings.warn(AssetWarning(f"{path}: " + "; ".join(scene.warnings)), stacklevel=2)
    return scene


def scene_of(
    description: Description,
    *,
    floating_base: bool = False,
    floor: bool | float = False,
    self_collision: bool = True,
    strict: bool = True,
    density: float | None = None,
    decompose: float | None = None,
) -> LoadedScene:
    """The scene of a description that has been read; options as in `load_scene`."""
    if density is not None:
        description = weighed(description, density, strict=strict)
    model = build(description, floating_base=floating_base)
    maker = GeomMaker(description, model.frame, strict=strict, decompose=decompose)
    geoms = maker.geoms()
    ground = _floor(floor, geoms)
    notes = [*model.warnings, *maker.notes.texts()]
    ignore = _ignored(description, model, geoms, self_collision)
    loops = Loops(model, description.loops)
    state = State(_start(description, model, loops, notes), np.zeros(model.nv))
    include, laws = _included(description, geoms)
    if self_collision:  # what the file pairs itself is not left out because it keeps the bodies apart
        named = {frozenset(pair) for pair in include}
        ignore = [pair for pair in ignore if frozenset(pair) not in named]
    scene = LoadedScene(
        model,
        [*ground, *geoms],
        loops=loops,
        state=state,
        ignore=ignore,
        include=include,
        pair_laws=laws,
    )
    scene.description, scene.warnings = description, tuple(notes)
    return scene


def _floor(floor: bool | float, others: Iterable[Geom]) -> list[Geom]:
    if floor is False:
        return []
    name, taken = "floor", {geom.name for geom in others}
    while name in taken:
        name += "_"
    return [Geom(name, WORLD, HalfSpace(), friction=DEFAULT_FRICTION if floor is True else floor)]


def _ignored(
    description: Description, model: Model, geoms: Sequence[Geom], self_collision: bool
) -> list[tuple[str, str]]:
    """Pairs of geoms that never touch; pairs that `Scene` leaves out anyway are not named."""
    bodies = {geom.name: model.frame(geom.body).body for geom in geoms}
    if not self_collision:
        return [(a, b) for a, b in combinations(bodies, 2) if bodies[a] != bodies[b]]
    apart = {frozenset(model.frame(name).body for name in pair) for pair in description.ignore}
    return [(a, b) for a, b in combinations(bodies, 2) if frozenset((bodies[a], bodies[b])) in apart]


def _included(description: Description, geoms: Sequence[Geom]) -> tuple[list[tuple[str, str]], list[Pair]]:
    """The file's own pairs, of shapes that became geoms, and their friction."""
    made = {geom.name for geom in geoms}
    found = [pair for pair in description.pairs if pair.first in made and pair.second in made]
    laws = [Pair(a=pair.first, b=pair.second, friction=pair.friction) for pair in found if pair.friction is not None]
    return [(pair.first, pair.second) for pair in found], laws


def _start(description: Description, model: Model, loops: Loops, notes: list[str]) -> Array:
    """The file's initial configuration, within limits, with closures closed."""
    q = model.neutral()
    for joint, values in description.start.items():
        q[model.q_slice(joint)] = values
    for joint, kind in zip(model.joint_names, model.joint_kinds, strict=True):
        if kind not in ("ball", "free"):
            at, at_v = model.q_slice(joint), model.v_slice(joint)
            q[at] = np.clip(q[at], model.lower[at_v], model.upper[at_v])
    _follow(model, loops, q)
    if len(loops) and np.abs(loop_errors(model, loops, q)).max() > _CLOSED:
        try:
            q = close_loops(model, loops, q)
        except ModelError as error:
            notes.append(f"closures stay open in the initial configuration: {error}")
    return q


def _follow(model: Model, loops: Loops, q: Array) -> None:
    """The first joint of every coupler follows the others, which stay: chains of mimics in as many passes as needed."""
    couplers = [loop for loop in loops.items if loop.kind == "coupler"]
    for _ in couplers:
        before = q.copy()
        for loop in couplers:
            (first, factor), *others = loop.joints.items()
            rest = sum(ratio * float(q[model.q_slice(joint)][0]) for joint, ratio in others)
            q[model.q_slice(first)] = (loop.offset - rest) / factor
        if np.array_equal(before, q):
            return


# ---------------------------------------------------------------------------------------------------- composition
@dataclass(frozen=True, eq=False, kw_only=True)
class Part:
    """One robot or thing of a composed scene.

    Parameters
    ----------
    source : Scene, Model, Description or path-like
        What stands there. A file in which nothing moves is scenery.
    name : str
        Prefix of its names, as in "left/wrist"; "" leaves them.
    position, rotation
        Pose of its own world in the scene's: (3,) m, and (3, 3) matrix or quaternion (x, y, z, w).
    floating_base : bool
        For a file or description.
    """

    source: Any
    name: str = ""
    position: Any = (0.0, 0.0, 0.0)
    rotation: Any = None
    floating_base: bool = False


def compose(parts: Iterable[Part], *, floor: bool | float = False, strict: bool = True) -> LoadedScene:
    """One scene of several robots and things.

    Coordinates are stacked in the order of the parts. Geoms of different parts may touch; within a part, those that may
    in its own scene.

    Parameters
    ----------
    parts : iterable of Part
    floor, strict
        As in `load_scene`.

    Raises
    ------
    ModelError
        If names clash, gravity differs, or nothing moves.

    Examples
    --------
    >>> import spatialops as so
    >>> arm = so.models.pendulum(2).scene()
    >>> both = so.compose([so.Part(source=arm, name="a"), so.Part(source=arm, name="b", position=(0.0, 3.0, 0.0))])
    >>> both.model.nv
    4
    """
    pieces = [_piece(part, strict) for part in parts]
    planted = [piece for piece in pieces if piece.scene is not None]
    if not planted:
        raise ModelError("compose: nothing moves: at least one part must have a joint that is not fixed")
    model = forest([piece.planted for piece in planted])
    geoms = [geom for piece in pieces for geom in piece.geoms()]
    geoms = [*_floor(floor, geoms), *geoms]
    scenes = [(piece.planted, piece.scene) for piece in planted if piece.scene is not None]
    loops = [planted_loop(own, loop) for own, scene in scenes for loop in scene.loops.items]
    pairs = {
        name: [(own.prefix + a, own.prefix + b) for own, scene in scenes for a, b in getattr(scene, name)]
        for name in ("ignore", "include")
    }
    laws = [
        replace(pair, a=own.prefix + pair.a, b=own.prefix + pair.b) for own, scene in scenes for pair in scene.pair_laws
    ]
    q = np.concatenate([planted_coordinates(own, scene.state.q) for own, scene in scenes])
    v = np.concatenate([scene.state.v for _, scene in scenes])
    result = LoadedScene(
        model,
        geoms,
        loops=loops,
        state=State(q, v),
        ignore=pairs["ignore"],
        include=pairs["include"],
        pair_laws=laws,
    )
    result.warnings = tuple(dict.fromkeys(text for piece in pieces for text in piece.warnings))
    return result


@dataclass(frozen=True, eq=False)
class _Piece:
    """A part made ready: its scene, or geoms alone where nothing moves."""

    planted: Planted
    scene: Scene | None
    own_geoms: tuple[Geom, ...]
    warnings: tuple[str, ...] = ()

    def geoms(self) -> list[Geom]:
        """Its geoms with their new names; those on its world are moved with it."""
        return [self._moved(geom) for geom in self.own_geoms]

    def _moved(self, geom: Geom) -> Geom:
        own = self.planted
        changes: dict[str, Any] = {"name": own.prefix + geom.name}
        if self.scene is not None and geom.body != WORLD:
            changes["body"] = own.prefix + geom.body
        else:
            changes |= {"body": WORLD, "position": np.asarray(own.position) + own.rotation @ np.array(geom.position)}
            if "rotation" in Geom.__dataclass_fields__:
                changes["rotation"] = own.rotation @ rotation_matrix(getattr(geom, "rotation", None))
        if isinstance(geom.shape, HalfSpace):  # its normal is in world axes
            changes["shape"] = HalfSpace(own.rotation @ np.array(geom.shape.normal))
            changes.pop("rotation", None)
        return replace(geom, **changes)


def _piece(part: Part, strict: bool) -> _Piece:
    if not isinstance(part, Part):
        raise ArgumentError(f"compose: expected a Part, got {part!r}")
    prefix = f"{part.name}/" if part.name else ""
    position = np.array(part.position, dtype=np.float64)
    if position.shape != (3,) or not np.isfinite(position).all():
        raise ArgumentError(f"part {part.name!r}: position: expected 3 finite numbers, got {part.position!r}")
    rotation = rotation_matrix(part.rotation, f"part {part.name!r}: rotation")
    source = part.source
    if isinstance(source, Model):
        source = Scene(source)
    elif not isinstance(source, (Scene, Description)):
        source = read(source)
    if isinstance(source, Description):
        if not source.moving_joints and not part.floating_base:
            return _scenery(source, prefix, position, rotation, strict)
        own = source.path is not None and source.path.suffix.lower() != ".urdf"
        source = scene_of(source, floating_base=part.floating_base, self_collision=own, strict=strict)
    told = tuple(prefix + text for text in getattr(source, "warnings", ()))
    return _Piece(Planted(source.model, prefix, position, rotation), source, source.geoms, told)


def _scenery(description: Description, prefix: str, position: Array, rotation: Array, strict: bool) -> _Piece:
    """Geoms of a description in which nothing moves, on the world."""
    frames = {WORLD: Frame(-1, np.zeros(3), np.eye(3))}
    for body in description.bodies:
        above = frames[body.parent]
        place = above.position + above.rotation @ np.asarray(body.position)
        frames[body.name] = Frame(-1, place, above.rotation @ body.rotation)
    maker = GeomMaker(description, frames.__getitem__, strict=strict)
    moved = []
    for geom in maker.geoms():
        frame = frames[geom.body]
        changes: dict[str, Any] = {}
        if "rotation" in Geom.__dataclass_fields__ and not isinstance(geom.shape, HalfSpace):
            changes["rotation"] = frame.rotation @ rotation_matrix(getattr(geom, "rotation", None))
        place = frame.position + frame.rotation @ np.array(geom.position)
        moved.append(replace(geom, body=WORLD, position=place, **changes))
    told = (*description.warnings, *maker.notes.texts())
    planted = Planted(None, prefix, position, rotation)  # type: ignore[arg-type]
    return _Piece(planted, None, tuple(moved), tuple(prefix + text for text in told))
