"""A scene: a model, the geoms that may touch, and which pairs of them are looked at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._layout import CLOSE_COUPLER, CLOSE_DISTANCE, LOOP_A, LOOP_B, LOOP_KIND
from spatialops.collision._layout import (
    GEOM_COLUMNS,
    GEOM_FRICTION,
    GEOM_LINK,
    GEOM_NORMAL,
    GEOM_OFFSET,
    GEOM_RADIUS,
    GEOM_RESTITUTION,
    GEOM_SHAPE,
    HALF_SPACE,
    SPHERE,
)
from spatialops.collision.shapes import Geom, HalfSpace, Sphere
from spatialops.errors import ArgumentError, ShapeError
from spatialops.tree.loop import Loop
from spatialops.tree.loops import Loops
from spatialops.tree.model import Model, Node
from spatialops.tree.state import State, checked_state


class Scene:
    """A mechanism among things that it may touch.

    Parameters
    ----------
    model : Model
    geoms : sequence of Geom
        Shapes on bodies and on the world.
    loops : Loops or sequence of Loop
        Closures.
    state : State, optional
        Where it starts; default: all joints at zero, at rest.
    ignore : iterable of (str, str)
        Pairs of geoms that never touch, beside those on one body, on a body and its parent, on two bodies that a
        closure joins, and on the world.

    Raises
    ------
    ShapeError
        For a duplicate geom name, an unknown body or pair, or a half-space that is not on the world.
    ModelError
        For a closure that does not fit the model.
    """

    def __init__(
        self,
        model: Model,
        geoms: Sequence[Geom] = (),
        *,
        loops: Loops | Sequence[Loop] = (),
        state: State | None = None,
        ignore: Iterable[tuple[str, str]] = (),
    ) -> None:
        if not isinstance(model, Model):
            raise ArgumentError(f"model: expected a Model, got {type(model).__name__}")
        self.model = model
        self.geoms = _geoms(geoms)
        self.loops = Loops(model, loops.items if isinstance(loops, Loops) else loops)
        self.state = checked_state(State(model.neutral(), np.zeros(model.nv)) if state is None else state, model)
        self.ignore = _name_pairs(ignore)
        self._bodies = self._check()
        self.geom_ints, self.geom_floats = self._tables()
        self.pairs = self._pairs()

    def add_loop(self, loop: Loop | str, **options: Any) -> Loop:
        """Add a closure: a `Loop`, or its kind and options.

        Returns
        -------
        Loop

        Raises
        ------
        ModelError
            As `Loop` and `Loops`.
        """
        made = Loop(kind=loop, **options) if isinstance(loop, str) else loop
        self.loops = Loops(self.model, [*self.loops.items, made])
        self.pairs = self._pairs()
        return made

    def _check(self) -> list[int]:
        """Index of every geom's moving body, -1 for the world."""
        names: set[str] = set()
        bodies = []
        for geom in self.geoms:
            if geom.name in names:
                raise ShapeError(f"geom {geom.name!r}: the name is already taken")
            names.add(geom.name)
            if geom.body not in self.model.frames:
                raise ShapeError(f"geom {geom.name!r}: body: there is no body {geom.body!r}")
            body = self.model.frame(geom.body).body
            if isinstance(geom.shape, HalfSpace) and body >= 0:
                raise ShapeError(f"geom {geom.name!r}: a half-space must sit on the world, not on {geom.body!r}")
            bodies.append(body)
        for pair in self.ignore:
            for name in pair:
                if name not in names:
                    raise ShapeError(f"ignore: there is no geom {name!r}")
        return bodies

    def _tables(self) -> tuple[IntArray, Array]:
        ints, floats = np.zeros((len(self.geoms), 2), dtype=np.int64), np.zeros((len(self.geoms), GEOM_COLUMNS))
        nodes = self.model.resolve([Node(geom.body, geom.position) for geom in self.geoms])
        for row, values, geom, link, offset in zip(ints, floats, self.geoms, nodes.links, nodes.offsets, strict=True):
            row[GEOM_LINK] = link
            values[GEOM_OFFSET : GEOM_OFFSET + 3] = offset
            values[[GEOM_FRICTION, GEOM_RESTITUTION]] = geom.friction, geom.restitution
            if isinstance(geom.shape, Sphere):
                row[GEOM_SHAPE], values[GEOM_RADIUS] = SPHERE, geom.shape.radius
            else:
                row[GEOM_SHAPE], values[GEOM_NORMAL : GEOM_NORMAL + 3] = HALF_SPACE, geom.shape.normal
        return ints, floats

    def _pairs(self) -> IntArray:
        """Rows (a, b): a is a sphere; where one side is a half-space it is b."""
        never = {frozenset(pair) for pair in self.ignore}
        parents, pairs, tied = self.model.body_parents, [], self._tied_bodies()
        for a, first in enumerate(self.geoms):
            for b in range(a + 1, len(self.geoms)):
                one, other = self._bodies[a], self._bodies[b]
                if one == other or frozenset((first.name, self.geoms[b].name)) in never:
                    continue
                neighbours = (one >= 0 and parents[one] == other) or (other >= 0 and parents[other] == one)
                neighbours = neighbours or frozenset((one, other)) in tied
                if neighbours and one >= 0 and other >= 0:
                    continue
                pairs.append((b, a) if isinstance(first.shape, HalfSpace) else (a, b))
        return np.array(pairs, dtype=np.int64).reshape(-1, 2)

    def _tied_bodies(self) -> set[frozenset[int]]:
        """Pairs of bodies that a closure joins like a joint."""
        bodies = {int(link): i for i, link in enumerate(self.model.body_links)} | {-1: -1}
        jointed = [row for row in self.loops.ints if row[LOOP_KIND] not in (CLOSE_DISTANCE, CLOSE_COUPLER)]
        return {frozenset((bodies[int(row[LOOP_A])], bodies[int(row[LOOP_B])])) for row in jointed}

    def pair_names(self, pair: int) -> tuple[str, str]:
        """Names of the geoms A and B of a row of `pairs`."""
        a, b = self.pairs[pair]
        return self.geoms[a].name, self.geoms[b].name

    @property
    def smallest_radius(self) -> float:
        """Smallest radius of the spheres, m; 1 where there are none."""
        radii = [geom.shape.radius for geom in self.geoms if isinstance(geom.shape, Sphere)]
        return min(radii, default=1.0)

    def to_data(self) -> dict[str, Any]:
        """The geoms, closures and ignored pairs as plain data (the model is stored apart)."""
        geoms = []
        for geom in self.geoms:
            kind = "sphere" if isinstance(geom.shape, Sphere) else "half_space"
            geoms.append({**asdict(geom), "shape": {"kind": kind, **asdict(geom.shape)}})
        loops = [loop.to_data() for loop in self.loops.items]
        return {"geoms": geoms, "loops": loops, "ignore": [list(pair) for pair in self.ignore]}

    @classmethod
    def from_data(cls, model: Model, data: dict[str, Any], state: State) -> Scene:
        """Inverse of `to_data`."""
        geoms = []
        for entry in data["geoms"]:
            shape = dict(entry["shape"])
            kind = {"sphere": Sphere, "half_space": HalfSpace}[shape.pop("kind")]
            geoms.append(Geom(**{**entry, "shape": kind(**shape)}))
        loops = [Loop.from_data(entry) for entry in data.get("loops", ())]
        return cls(model, geoms, loops=loops, state=state, ignore=[(a, b) for a, b in data["ignore"]])


def _geoms(geoms: Any) -> tuple[Geom, ...]:
    if isinstance(geoms, (str, Geom)) or not isinstance(geoms, Iterable):
        raise ShapeError(f"geoms: expected a sequence of Geom, got {type(geoms).__name__}")
    checked = tuple(geoms)
    for i, geom in enumerate(checked):
        if not isinstance(geom, Geom):
            raise ShapeError(f"geoms[{i}]: expected a Geom, got {geom!r}")
    return checked


def _name_pairs(ignore: Any) -> tuple[tuple[str, str], ...]:
    if isinstance(ignore, str) or not isinstance(ignore, Iterable):
        raise ShapeError(f"ignore: expected pairs of geom names, got {ignore!r}")
    pairs = []
    for pair in ignore:
        if isinstance(pair, str) or not isinstance(pair, Iterable) or len(names := tuple(pair)) != 2:
            raise ShapeError(f"ignore: expected a pair of geom names, got {pair!r}")
        pairs.append((str(names[0]), str(names[1])))
    return tuple(pairs)
