"""A scene: a model, the geoms that may touch, and which pairs of them are looked at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._layout import CLOSE_COUPLER, CLOSE_DISTANCE, LOOP_A, LOOP_B, LOOP_KIND
from spatialops.collision._layout import GEOM_SHAPE, GEOM_WIDTH, HALF_SPACE, PAIR_COLUMNS, PAIR_FRICTION, SPHERE
from spatialops.collision.broad_phase import SWEEP_FROM
from spatialops.collision.geom_tables import GeomTables, Placed, geom_tables, least_width, pair_slots
from spatialops.collision.shapes import (
    FIXED,
    Geom,
    Shape,
    Sphere,
    may_collide,
    pair_values,
    shape_data,
    shape_from_data,
)
from spatialops.errors import ArgumentError, ShapeError
from spatialops.simulation.joint_rows import within_limits
from spatialops.simulation.pairs import Pair, PairTable, checked_pairs, pair_table
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
        Where it starts; default: all joints at zero or the limit next to it, at rest.
    ignore : iterable of (str, str)
        Pairs of geoms that never touch, beside those on one body, on a body and its parent, on two bodies that a
        closure joins, on the world, and those that their masks keep apart.
    include : iterable of (str, str)
        Pairs of geoms on two bodies that are looked at in any case.
    pair_laws : sequence of Pair
        What holds between two geoms in place of what the simulator and their coefficients say.

    Raises
    ------
    ShapeError
        For a duplicate geom name, an unknown body or pair, or a half-space, mesh or height field that is not on the
        world.
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
        include: Iterable[tuple[str, str]] = (),
        pair_laws: Sequence[Pair] = (),
    ) -> None:
        if not isinstance(model, Model):
            raise ArgumentError(f"model: expected a Model, got {type(model).__name__}")
        self.model = model
        self.geoms = _geoms(geoms)
        self.loops = Loops(model, loops.items if isinstance(loops, Loops) else loops)
        self.state = checked_state(
            State(within_limits(model, model.neutral()), np.zeros(model.nv)) if state is None else state, model
        )
        self.ignore = _name_pairs(ignore, "ignore")
        self.include = _name_pairs(include, "include")
        self.pair_laws = checked_pairs(pair_laws, (geom.name for geom in self.geoms))
        self._bodies = self._check()
        self.tables = self._tables()
        self._find_pairs()

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
        self._find_pairs()
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
            if isinstance(geom.shape, FIXED) and body >= 0:
                kind = shape_data(geom.shape)["kind"].replace("_", "-")
                raise ShapeError(f"geom {geom.name!r}: a {kind} must sit on the world, not on {geom.body!r}")
            bodies.append(body)
        for option, pairs in (("ignore", self.ignore), ("include", self.include)):
            for name in (name for pair in pairs for name in pair):
                if name not in names:
                    raise ShapeError(f"{option}: there is no geom {name!r}")
        return bodies

    @property
    def geom_ints(self) -> IntArray:
        """Integer table of the geoms, see `collision._layout`."""
        return self.tables.ints

    @property
    def geom_floats(self) -> Array:
        """Float table of the geoms."""
        return self.tables.floats

    def _tables(self) -> GeomTables:
        nodes = self.model.resolve([Node(geom.body, geom.position) for geom in self.geoms])
        places = []
        for geom, body, link, offset in zip(self.geoms, self._bodies, nodes.links, nodes.offsets, strict=True):
            turn = self.model.frame(geom.body).rotation @ geom.turn
            places.append(Placed(body, int(link), offset, turn if body < 0 else self.model.turns[link].T @ turn))
        return geom_tables(self.geoms, places)

    def _find_pairs(self) -> None:
        """Rows (a, b), with what does not move as b, and where the contacts of each pair begin in a list of all."""
        never, always = ({frozenset(pair) for pair in pairs} for pairs in (self.ignore, self.include))
        parents, pairs, tied = self.model.body_parents, [], self._tied_bodies()
        for a, first in enumerate(self.geoms):
            for b in range(a + 1, len(self.geoms)):
                one, other = self._bodies[a], self._bodies[b]
                names = frozenset((first.name, self.geoms[b].name))
                if one == other or names in never:
                    continue
                neighbours = (one >= 0 and parents[one] == other) or (other >= 0 and parents[other] == one)
                neighbours = neighbours or frozenset((one, other)) in tied
                apart = (neighbours and one >= 0 and other >= 0) or not may_collide(first, self.geoms[b])
                if apart and names not in always:
                    continue
                pairs.append((b, a) if _goes_second(first.shape, self.geoms[b].shape) else (a, b))
        self.pairs = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        self.pair_values = self._pair_values()
        self.slots = np.cumsum([0] + [pair_slots(self.geoms[a].shape, self.geoms[b].shape) for a, b in pairs])

    def _pair_values(self) -> Array:
        """Coefficients of every row of `pairs`."""
        given = {frozenset((pair.a, pair.b)): pair.friction for pair in self.pair_laws if pair.friction is not None}
        values = np.empty((len(self.pairs), PAIR_COLUMNS))
        for p, (a, b) in enumerate(self.pairs):
            values[p] = pair_values(self.geoms[a], self.geoms[b])
            values[p, PAIR_FRICTION] = given.get(frozenset(self.pair_names(p)), values[p, PAIR_FRICTION])
        return values

    def _tied_bodies(self) -> set[frozenset[int]]:
        """Pairs of bodies that a closure joins like a joint."""
        bodies = {int(link): i for i, link in enumerate(self.model.body_links)} | {-1: -1}
        jointed = [row for row in self.loops.ints if row[LOOP_KIND] not in (CLOSE_DISTANCE, CLOSE_COUPLER)]
        return {frozenset((bodies[int(row[LOOP_A])], bodies[int(row[LOOP_B])])) for row in jointed}

    @property
    def pair_table(self) -> PairTable:
        """Laws and further coefficients of every row of `pairs`."""
        return pair_table(self)

    def pair_names(self, pair: int) -> tuple[str, str]:
        """Names of the geoms A and B of a row of `pairs`."""
        a, b = self.pairs[pair]
        return self.geoms[a].name, self.geoms[b].name

    @property
    def smallest_radius(self) -> float:
        """Smallest radius of the spheres and half widths of other shapes, m; 1 where there are none."""
        return min((least_width(geom.shape) for geom in self.geoms if not isinstance(geom.shape, FIXED)), default=1.0)

    @property
    def least_width(self) -> float:
        """Least half width of two shapes that might pass through each other, m; infinite where there are none."""
        ints, floats = self.tables.ints, self.tables.floats
        simple = [ints[a, GEOM_SHAPE] == SPHERE and ints[b, GEOM_SHAPE] <= HALF_SPACE for a, b in self.pairs]
        widths = [
            floats[pair, GEOM_WIDTH].min() for pair, spheres in zip(self.pairs, simple, strict=True) if not spheres
        ]
        return float(min(widths, default=1e300))

    @property
    def pair_rows(self) -> IntArray:
        """Row of every pair of geoms (-1: none) and an order of the geoms, (n + 1, n); empty for few geoms."""
        n = len(self.geoms)
        if n < SWEEP_FROM:
            return np.zeros((0, n), dtype=np.int64)
        rows = np.full((n + 1, n), -1, dtype=np.int64)
        rows[self.pairs[:, 0], self.pairs[:, 1]] = rows[self.pairs[:, 1], self.pairs[:, 0]] = np.arange(len(self.pairs))
        rows[n] = np.arange(n)
        return rows

    def to_data(self) -> dict[str, Any]:
        """The geoms, closures and ignored pairs as plain data (the model is stored apart)."""
        geoms = [
            {**{key.name: getattr(geom, key.name) for key in fields(geom)}, "shape": shape_data(geom.shape)}
            for geom in self.geoms
        ]
        loops = [loop.to_data() for loop in self.loops.items]
        pairs = {name: [list(pair) for pair in getattr(self, name)] for name in ("ignore", "include")}
        laws = [pair.to_data() for pair in self.pair_laws]
        return {"geoms": geoms, "loops": loops, **pairs, "pair_laws": laws}

    @classmethod
    def from_data(cls, model: Model, data: dict[str, Any], state: State) -> Scene:
        """Inverse of `to_data`."""
        geoms = [Geom(**{**entry, "shape": shape_from_data(entry["shape"])}) for entry in data["geoms"]]
        loops = [Loop.from_data(entry) for entry in data.get("loops", ())]
        return cls(
            model,
            geoms,
            loops=loops,
            state=state,
            pair_laws=[Pair(**entry) for entry in data.get("pair_laws", ())],
            **{name: [(a, b) for a, b in data.get(name, ())] for name in ("ignore", "include")},
        )


def _geoms(geoms: Any) -> tuple[Geom, ...]:
    if isinstance(geoms, (str, Geom)) or not isinstance(geoms, Iterable):
        raise ShapeError(f"geoms: expected a sequence of Geom, got {type(geoms).__name__}")
    checked = tuple(geoms)
    for i, geom in enumerate(checked):
        if not isinstance(geom, Geom):
            raise ShapeError(f"geoms[{i}]: expected a Geom, got {geom!r}")
    return checked


def _goes_second(first: Shape, second: Shape) -> bool:
    """Whether a pair is turned round: what does not move comes second, and a sphere comes first."""
    if isinstance(first, FIXED):
        return True
    return isinstance(second, Sphere) and not isinstance(first, Sphere)


def _name_pairs(given: Any, option: str) -> tuple[tuple[str, str], ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ShapeError(f"{option}: expected pairs of geom names, got {given!r}")
    pairs = []
    for pair in given:
        if isinstance(pair, str) or not isinstance(pair, Iterable) or len(names := tuple(pair)) != 2:
            raise ShapeError(f"{option}: expected a pair of geom names, got {pair!r}")
        pairs.append((str(names[0]), str(names[1])))
    return tuple(pairs)
