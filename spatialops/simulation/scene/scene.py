"""A scene: a model, its geoms, and which pairs of them may touch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from typing import Any, TypeAlias

import numpy as np

from spatialops._arrays import Array, ArrayLike, array, several
from spatialops._html import html_of_text
from spatialops.collision.geom_tables import least_width
from spatialops.collision.shapes import (
    FIXED,
    Geom,
    shape_data,
    shape_from_data,
)
from spatialops.errors import ArgumentError
from spatialops.forces.actuators import Actuator
from spatialops.forces.element_tables import elements_of
from spatialops.forces.tendons import Tendon
from spatialops.simulation.plain_data import PlainData
from spatialops.simulation.scene.joint_constraints import within_limits
from spatialops.simulation.scene.pair_options import (
    Pair,
    checked_pairs,
)
from spatialops.simulation.scene.placed_geoms import (
    bodies_of,
    checked_geoms,
    name_pairs,
    tables_of,
)
from spatialops.simulation.scene.scene_pairs import ScenePairs
from spatialops.simulation.scene.visuals import Visual
from spatialops.tree.loop import Loop
from spatialops.tree.loops import Loops
from spatialops.tree.model import Model
from spatialops.tree.state import State, checked_state

LoopOption: TypeAlias = Any  # of `Loop`, which checks it


class Scene(ScenePairs):
    """A mechanism among things that it may touch.

    Parameters
    ----------
    model : Model
        Bodies and joints.
    geoms : sequence of Geom
        Shapes on bodies and on the world. Default none.
    loops : Loops or sequence of Loop
        Closures. Default none.
    state : State, optional
        Where it starts; default: all joints at zero or the limit next to it, at rest.
    ignore : iterable of (str, str)
        Pairs of geoms that never touch, beside those on one body, on a body and its parent, on two
        bodies that a closure joins, on the world, and those that their masks keep apart. Default
        none.
    include : iterable of (str, str)
        Pairs of geoms on two bodies that may touch in any case. Default none.
    pair_laws : sequence of Pair
        What holds between two geoms in place of what the simulator and their coefficients say.
        Default none.
    actuators : sequence of Actuator
        What controls drive. Default none.
    tendons : sequence of Tendon
        Springs along several joints; those of single joints are of the model. Default none.
    ctrl : (n_actuators,) array_like, optional
        Controls that hold where nobody gives others. Default zeros.

    Attributes
    ----------
    elements : Elements
        Tables of all springs and actuators.
    bodies : list of int
        Index of every geom's moving body, -1 for the world.
    n_pairs : int
        How many pairs of geoms may touch. Each has a number.
    pair_runs : (r, 3) int array
        Which these are, see `collision.pair_runs`.

    Raises
    ------
    ShapeError
        For a duplicate geom name, an unknown body or pair, or a half-space, mesh or height field
        that is not on the world.
    ModelError
        For a closure that does not fit the model.

    Examples
    --------
    >>> import spatialops as so
    >>> builder = so.TreeBuilder()
    >>> inertia = so.Inertia.sphere(0.1, mass=1.0)
    >>> body = builder.add_body("body", joint=so.Joint("free"), inertia=inertia)
    >>> geoms = [so.Geom("ball", "body", so.Sphere(0.1)), so.Geom("floor", "world", so.HalfSpace())]
    >>> so.Scene(builder.build(), geoms)
    Scene of 1 bodies, 6 velocities, 2 geoms, 0 closures
      on the world: 'body'
      geoms: 1 Sphere, 1 HalfSpace
      pairs that may touch: 1, with laws of their own: 0
      closures: none
    """

    def __init__(
        self,
        model: Model,
        geoms: Sequence[Geom] = (),
        *,
        loops: Loops | Sequence[Loop] = (),
        state: State | None = None,
        ignore: Iterable[tuple[str, str]] = (),
        include: Iterable[tuple[str, str]] = (),
        pair_laws: Sequence[Pair] = (),
        actuators: Sequence[Actuator] = (),
        tendons: Sequence[Tendon] = (),
        ctrl: ArrayLike | None = None,
    ) -> None:
        if not isinstance(model, Model):
            raise ArgumentError(f"model: expected a Model, got {type(model).__name__}")
        self.model = model
        self.geoms = checked_geoms(geoms)
        self.loops = Loops(model, loops.items if isinstance(loops, Loops) else loops)
        self.state = checked_state(
            State(within_limits(model, model.neutral()), np.zeros(model.nv))
            if state is None
            else state,
            model,
        )
        self.ignore = name_pairs(ignore, "ignore", self.geoms)
        self.include = name_pairs(include, "include", self.geoms)
        self.pair_laws = checked_pairs(pair_laws, (geom.name for geom in self.geoms))
        self.bodies = bodies_of(model, self.geoms)
        self.tables = tables_of(model, self.geoms, self.bodies)
        self._put_pairs()
        self.actuators = _checked_actuators(actuators)
        self.tendons = _checked_tendons(tendons)
        self.elements = elements_of(model, self.actuators, self.tendons)
        self.ctrl = self.checked_ctrl(ctrl)

    def checked_ctrl(self, ctrl: ArrayLike | None) -> Array:
        """Controls of all actuators.

        Parameters
        ----------
        ctrl : (n_actuators,) array_like or None
            None: those of the scene.

        Returns
        -------
        (n_actuators,) array
            A copy.

        Raises
        ------
        ArgumentError
            For a wrong shape, NaN or infinity.
        """
        if ctrl is None:
            own: Array | None = getattr(self, "ctrl", None)
            return np.zeros(len(self.actuators)) if own is None else own.copy()
        return array(ctrl, (len(self.actuators),), "ctrl", finite=True).copy()

    def activations(self, state: State) -> Array:
        """All activations of a state.

        Parameters
        ----------
        state : State
            Of the scene's mechanism.

        Returns
        -------
        (n_states,) array
            Zeros where the state has none.
        """
        return state.activation if len(state.activation) else np.zeros(self.elements.n_states)

    def __repr__(self) -> str:
        kinds = Counter(type(geom.shape).__name__ for geom in self.geoms)
        shapes = ", ".join(f"{count} {kind}" for kind, count in kinds.items()) or "no geoms"
        roots = [
            name
            for name, parent in zip(self.model.body_names, self.model.body_parents)
            if parent < 0
        ]
        return (
            f"{type(self).__name__} of {self.size_text()}\n"
            f"  on the world: {_some(roots)}\n"
            f"  geoms: {shapes}\n"
            f"  pairs that may touch: {self.n_pairs}, with laws of their own: "
            f"{len(self.pair_laws)}\n"
            f"  closures: {_some([loop.name or loop.kind for loop in self.loops.items])}"
            f"{self._actuators_text()}"
        )

    def _actuators_text(self) -> str:
        names = _some([one.name for one in self.actuators])
        return f"\n  actuators: {names}" if self.actuators else ""

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return html_of_text(repr(self))

    def size_text(self) -> str:
        """How large it is, in words.

        Returns
        -------
        str
            Counts of bodies, velocities, geoms and closures.
        """
        model = self.model
        return (
            f"{model.n_bodies} bodies, {model.nv} velocities, {len(self.geoms)} geoms, "
            f"{len(self.loops)} closures"
        )

    def add_loop(self, loop: Loop | str, **options: LoopOption) -> Loop:
        """Add a closure.

        Parameters
        ----------
        loop : Loop or str
            The closure, or its kind.
        **options
            Of `Loop`, where a kind is given.

        Returns
        -------
        Loop
            What was added.

        Raises
        ------
        ModelError
            As `Loop` and `Loops`.
        """
        made = Loop(kind=loop, **options) if isinstance(loop, str) else loop
        self.loops = Loops(self.model, [*self.loops.items, made])
        self._put_pairs()
        return made

    def add_actuators(self, actuators: Sequence[Actuator], ctrl: ArrayLike | None = None) -> None:
        """Add actuators behind those that are there, as servos to a robot of a URDF.

        Parameters
        ----------
        actuators : sequence of Actuator
            What controls drive.
        ctrl : (n,) array_like, optional
            Their controls where nobody gives others. Default zeros.

        Raises
        ------
        ArgumentError
            For a name that is there already, or controls that do not fit.
        ModelError
            For an unknown joint.

        Examples
        --------
        >>> import spatialops as so
        >>> scene = so.models.pendulum(2).scene()
        >>> scene.add_actuators([so.Actuator.position("servo", "pin1", kp=100.0)], [0.5])
        >>> scene.ctrl
        array([0.5])
        """
        new = several(actuators, "actuators", "Actuator objects")
        both = _checked_actuators((*self.actuators, *new))
        count = len(both) - len(self.actuators)
        added = np.zeros(count) if ctrl is None else array(ctrl, (count,), "ctrl", finite=True)
        self.elements = elements_of(self.model, both, self.tendons)
        if len(self.state.activation):
            more = self.elements.n_states - len(self.state.activation)
            told = np.concatenate([self.state.activation, np.zeros(more)])
            self.state = replace(self.state, activation=told)
        self.actuators = both
        self.ctrl = np.concatenate([self.ctrl, added])

    @property
    def visuals(self) -> Sequence[Visual]:
        """What is drawn of bodies in place of what collides: of scenes from robot files."""
        return ()

    @property
    def smallest_radius(self) -> float:
        """Smallest radius of spheres and half width of other shapes, m; 1 where there are none."""
        return min(
            (least_width(geom.shape) for geom in self.geoms if not isinstance(geom.shape, FIXED)),
            default=1.0,
        )

    def to_data(self) -> PlainData:
        """The geoms, closures and what pairs have, as plain data.

        Returns
        -------
        dict
            For `from_data`; the model and the state are stored apart.
        """
        geoms = [
            {
                **{key.name: getattr(geom, key.name) for key in fields(geom)},
                "shape": shape_data(geom.shape),
            }
            for geom in self.geoms
        ]
        loops = [loop.to_data() for loop in self.loops.items]
        pairs = {
            name: [list(pair) for pair in getattr(self, name)] for name in ("ignore", "include")
        }
        laws = [pair.to_data() for pair in self.pair_laws]
        made: PlainData = {"geoms": geoms, "loops": loops, **pairs, "pair_laws": laws}
        if self.actuators or self.tendons:
            made["actuators"] = [one.to_data() for one in self.actuators]
            made["tendons"] = [one.to_data() for one in self.tendons]
            made["ctrl"] = self.ctrl.tolist()
        return made

    @classmethod
    def from_data(cls, model: Model, data: PlainData, state: State) -> Scene:
        """Inverse of `to_data`.

        Parameters
        ----------
        model : Model
            The same mechanism.
        data : dict
            What `to_data` made.
        state : State
            Where it starts.

        Returns
        -------
        Scene
            The same.
        """
        geoms = [
            Geom(**{**entry, "shape": shape_from_data(entry["shape"])}) for entry in data["geoms"]
        ]
        loops = [Loop.from_data(entry) for entry in data.get("loops", ())]
        return cls(
            model,
            geoms,
            loops=loops,
            state=state,
            pair_laws=[Pair(**entry) for entry in data.get("pair_laws", ())],
            actuators=[Actuator(**entry) for entry in data.get("actuators", ())],
            tendons=[Tendon(**entry) for entry in data.get("tendons", ())],
            ctrl=data.get("ctrl"),
            **{name: [(a, b) for a, b in data.get(name, ())] for name in ("ignore", "include")},
        )


def _checked_actuators(actuators: Sequence[Actuator]) -> tuple[Actuator, ...]:
    names = set[str]()
    given = several(actuators, "actuators", "Actuator objects")
    for one in given:
        if not isinstance(one, Actuator):
            raise ArgumentError(f"actuators: expected Actuator objects, got {one!r}")
        if one.name in names:
            raise ArgumentError(f"actuators: there are two named {one.name!r}")
        names.add(one.name)
    return given


def _checked_tendons(tendons: Sequence[Tendon]) -> tuple[Tendon, ...]:
    given = several(tendons, "tendons", "Tendon objects")
    for one in given:
        if not isinstance(one, Tendon):
            raise ArgumentError(f"tendons: expected Tendon objects, got {one!r}")
    return given


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    return ", ".join(map(repr, names[:4])) + more if names else "none"
