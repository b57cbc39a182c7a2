"""Scenes from robot files."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from itertools import combinations, product

import numpy as np

from spatialops._arrays import Array
from spatialops.collision import Geom, HalfSpace
from spatialops.errors import ArgumentError, AssetWarning
from spatialops.forces.actuators import holding
from spatialops.io import Description, build, read
from spatialops.io.description import Keyframe
from spatialops.io.file_errors import naming_file
from spatialops.simulation.scene.file_start import start_of
from spatialops.simulation.scene.geoms import DEFAULT_FRICTION, GeomMaker
from spatialops.simulation.scene.inertia_from_geometry import with_inertias
from spatialops.simulation.scene.load_notes import doubts
from spatialops.simulation.scene.pair_options import Pair
from spatialops.simulation.scene.scene import Scene
from spatialops.simulation.scene.visuals import Visual, visuals_of
from spatialops.tree.builder import WORLD
from spatialops.tree.loops import Loops
from spatialops.tree.model import Model
from spatialops.tree.state import State, checked_state


class LoadedScene(Scene):
    """A scene with what its file says beside: `load_scene` and `compose` make it.

    Parameters
    ----------
    model : Model
        As in `Scene`.
    geoms : sequence of Geom
        As in `Scene`.
    loops : Loops or sequence of Loop
        As in `Scene`.
    state : State, optional
        As in `Scene`.
    ignore : iterable of (str, str)
        As in `Scene`.
    include : iterable of (str, str)
        As in `Scene`.
    pair_laws : sequence of Pair
        As in `Scene`.
    actuators : sequence of Actuator
        As in `Scene`.
    tendons : sequence of Tendon
        As in `Scene`.
    ctrl : (n_actuators,) array_like, optional
        As in `Scene`.

    Attributes
    ----------
    description : Description or None
        All that was read: shapes, actuators, keyframes, what was left out. None for a composed
        scene.
    warnings : tuple of str
        What was repaired, or could not be taken over.
    visual_sources : tuple of callables
        What reads the shapes that are drawn.
    """

    description: Description | None = None
    warnings: tuple[str, ...] = ()
    visual_sources: tuple[Callable[[], list[Visual]], ...] = ()

    @cached_property
    def visuals(self) -> Sequence[Visual]:
        """What the files want drawn; meshes are read when they are asked for first."""
        return tuple(visual for source in self.visual_sources for visual in source())

    def keyframe(self, name: str) -> State:
        """The state of a keyframe of the file.

        Parameters
        ----------
        name : str
            Of the keyframe.

        Returns
        -------
        State
            The scene's own where the keyframe says nothing.

        Raises
        ------
        ArgumentError
            If there is none of this name.
        """
        frame = self._keyframe(name)
        q, v = self.state.q.copy(), np.zeros(self.model.nv)
        for joint, values in frame.q.items():
            q[self.model.q_slice(joint)] = values
        for joint, values in frame.v.items():
            v[self.model.v_slice(joint)] = values
        own = [one.name for one in self.actuators if one.dynamics != "none"]
        activation = np.array([frame.activation.get(one, 0.0) for one in own])
        return State(q, v, frame.time, activation)

    def keyframe_ctrl(self, name: str) -> Array:
        """The controls of a keyframe of the file.

        Parameters
        ----------
        name : str
            Of the keyframe.

        Returns
        -------
        (n_actuators,) array
            The scene's own where the keyframe says nothing.

        Raises
        ------
        ArgumentError
            If there is none of this name.
        """
        given = self._keyframe(name).ctrl
        pairs = zip(self.actuators, self.ctrl.tolist(), strict=True)
        return np.array([given.get(one.name, rest) for one, rest in pairs])

    def _keyframe(self, name: str) -> Keyframe:
        frames = (
            {}
            if self.description is None
            else {frame.name: frame for frame in self.description.keyframes}
        )
        if name not in frames:
            raise ArgumentError(
                f"keyframe: there is no {name!r}; there are "
                f"{', '.join(map(repr, frames)) or 'none'}"
            )
        return frames[name]


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
    keyframe: str | None = None,
    actuators: bool = True,
) -> LoadedScene:
    """Read a robot with its collision shapes and closures.

    Parameters
    ----------
    path : path-like
        .urdf, .sdf, .xml or .mjcf
    floating_base : bool
        Whether the base moves freely, as in `load_model`. Default False.
    packages : mapping of str to path-like, optional
        Folders that package:// addresses mean, as in `load_model`. Default: looked for beside the
        file.
    floor : bool or float
        Add a floor at z = 0, with this friction if it is a number. Default False.
    self_collision : bool, optional
        Whether the robot's own bodies may touch one another. Default: as the file says for MJCF,
        not for URDF and SDF, which say nothing and whose shapes often overlap.
    strict : bool
        Refuse shapes that are damaged or whose mesh is missing; otherwise they are left out and
        listed. Default True.
    density : float, optional
        kg/m^3: bodies that the file gives no inertia get that of their shapes, with a warning.
        Default: they have none.
    decompose : float, optional
        Cut moving meshes into convex parts with this concavity (`collision.convex_parts`); default:
        their hulls.
    keyframe : str, optional
        Of the file, to begin from, with its controls. Default: the file's initial configuration,
        with the controls at which servos of position hold it.
    actuators : bool
        Whether the file's actuators act. Default True.

    Returns
    -------
    LoadedScene
        Its state is the file's own initial configuration, moved into the limits and with closures
        closed, or the keyframe.

    Raises
    ------
    AssetError, ModelError, ShapeError
        As `load_model`, and for shapes.

    Warns
    -----
    AssetWarning
        With everything that `scene.warnings` lists.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import spatialops as so
    >>> text = '''
    ... <robot name="ball"><link name="ball">
    ...   <inertial><mass value="1"/><inertia ixx="0.004" iyy="0.004" izz="0.004"/></inertial>
    ...   <collision><geometry><sphere radius="0.1"/></geometry></collision>
    ... </link></robot>'''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "ball.urdf")
    ...     _ = path.write_text(text)
    ...     loaded = so.load_scene(path, floating_base=True, floor=0.5)
    >>> [geom.body for geom in loaded.geoms], loaded.model.nv
    (['world', 'ball'], 6)
    """
    description = read(path, packages=packages)
    own = description.masked
    scene = scene_of(
        description,
        floating_base=floating_base,
        floor=floor,
        self_collision=own if self_collision is None else self_collision,
        strict=strict,
        density=density,
        decompose=decompose,
        actuators=actuators,
    )
    if keyframe is not None:
        scene.ctrl = scene.keyframe_ctrl(keyframe)
        scene.state = checked_state(scene.keyframe(keyframe), scene.model)
    if scene.warnings:
        warnings.warn(AssetWarning(f"{path}: " + "; ".join(scene.warnings)), stacklevel=2)
    return scene


@naming_file
def scene_of(
    description: Description,
    *,
    floating_base: bool = False,
    floor: bool | float = False,
    self_collision: bool = True,
    strict: bool = True,
    density: float | None = None,
    decompose: float | None = None,
    actuators: bool = True,
) -> LoadedScene:
    """The scene of a description that has been read; options as in `load_scene`."""
    if density is not None:
        description = with_inertias(description, density, strict=strict)
    model = build(description, floating_base=floating_base)
    maker = GeomMaker(description, model.frame, strict=strict, decompose=decompose)
    geoms = maker.geoms()
    ground = floor_geoms(floor, geoms)
    notes = [*model.warnings, *maker.notes.texts(), *doubts(model, geoms, floor is not False)]
    ignore = _ignored(description, model, geoms, self_collision)
    loops = Loops(model, description.loops)
    state = State(start_of(description, model, loops, notes), np.zeros(model.nv))
    include, laws = _included(description, geoms) if self_collision else ([], [])
    if self_collision:  # pairs that the file names are not left out because it parts their bodies
        named = {frozenset(pair) for pair in include}
        ignore = [pair for pair in ignore if frozenset(pair) not in named]
    driving = [spec.made for spec in description.actuators if spec.made is not None and actuators]
    scene = LoadedScene(
        model,
        [*ground, *geoms],
        loops=loops,
        state=state,
        ignore=ignore,
        include=include,
        pair_laws=laws,
        actuators=driving,
        tendons=description.tendons,
        ctrl=[holding(model, one, state.q) for one in driving],
    )
    scene.description, scene.warnings = description, tuple(notes)
    scene.visual_sources = (partial(visuals_of, description),)
    return scene


def floor_geoms(floor: bool | float, others: Iterable[Geom]) -> list[Geom]:
    """The floor that is asked for, with a name that is not taken."""
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
    worn: dict[str, list[str]] = {}
    for geom in geoms:
        worn.setdefault(geom.body, []).append(geom.name)
    apart = {frozenset(pair): pair for pair in description.ignore}.values()
    return [both for a, b in apart if a != b for both in product(worn.get(a, ()), worn.get(b, ()))]


def _included(
    description: Description, geoms: Sequence[Geom]
) -> tuple[list[tuple[str, str]], list[Pair]]:
    """The file's own pairs, of shapes that became geoms, and their friction."""
    made = {geom.name for geom in geoms}
    found = [pair for pair in description.pairs if pair.first in made and pair.second in made]
    laws = [
        Pair(
            a=pair.first,
            b=pair.second,
            friction=pair.friction,
            torsion=pair.torsion,
            rolling=pair.rolling,
        )
        for pair in found
        if pair.friction is not None
    ]
    return [(pair.first, pair.second) for pair in found], laws
