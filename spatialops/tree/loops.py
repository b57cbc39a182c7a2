"""All closures of a model, as the tables that kernels work on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, instance
from spatialops.errors import ArgumentError, ModelError
from spatialops.tree.closed_extents import ClosedExtent, closed_extents
from spatialops.tree.loop import CLOSURES, Loop
from spatialops.tree.model import Model
from spatialops.tree.node import Node


class Loops:
    """Closures of a model made ready for kernels.

    Parameters
    ----------
    model : Model
        The mechanism that they close.
    loops : sequence of Loop
        In the order that their rows are to have; default: none.

    Attributes
    ----------
    items : tuple of Loop
        The closures.
    n_rows : int
        Rows of all closures together.
    ints, floats, ratios, term_ints : arrays
        The kernels' tables; columns in `_layout`.

    Raises
    ------
    ModelError
        For a duplicate name, an unknown body or joint, or a coupler of a joint that has not one
        degree of freedom.

    Examples
    --------
    >>> import spatialops as so
    >>> model = so.models.pendulum(2).model
    >>> so.Loops(model, [so.Loop(kind="ball", a="link2", position_b=(1.0, 0.0, 0.0))])
    Loops(1 closures, 3 rows)
    """

    def __init__(self, model: Model, loops: Sequence[Loop] = ()) -> None:
        self.model = instance(model, Model, "model")
        self.items = _checked(loops)
        self.n_rows = sum(loop.n_rows for loop in self.items)
        self.ints: IntArray = np.zeros((len(self.items), layout.LOOP_INTS), dtype=np.int64)
        self.floats: Array = np.zeros((len(self.items), layout.LOOP_FLOATS))
        terms: list[tuple[int, int, int]] = []
        ratios: list[float] = []
        row = 0
        for ints, floats, loop in zip(self.ints, self.floats, self.items, strict=True):
            ints[[layout.LOOP_KIND, layout.LOOP_ROW, layout.LOOP_TERM]] = (
                CLOSURES[loop.kind][0],
                row,
                len(terms),
            )
            ints[layout.LOOP_DRIVEN] = loop.rate is not None
            if loop.kind == "coupler":
                terms += self._put_coupler(row, loop, ints, floats)
                ratios += loop.factors.values()
            else:
                self._put_frames(loop, ints, floats)
                terms += [
                    (row + i, int(ints[layout.LOOP_A]), int(ints[layout.LOOP_B]))
                    for i in range(loop.n_rows)
                ]
                ratios += [1.0] * loop.n_rows
            ints[layout.LOOP_TERMS] = len(terms) - ints[layout.LOOP_TERM]
            row += loop.n_rows
        self.term_ints: IntArray = np.zeros((len(terms), layout.TERM_INTS), dtype=np.int64)
        if terms:
            self.term_ints[:, [layout.TERM_ROW, layout.TERM_A, layout.TERM_B]] = terms
        self.ratios: Array = np.array(ratios, dtype=np.float64)

    def __repr__(self) -> str:
        return f"Loops({len(self.items)} closures, {self.n_rows} rows)"

    def __len__(self) -> int:
        return len(self.items)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the closures."""
        return tuple(loop.name for loop in self.items)

    @cached_property
    def extents(self) -> tuple[ClosedExtent, ...]:
        """Rows and columns of every mechanism that these close."""
        return closed_extents(self)

    @property
    def row_names(self) -> tuple[str, ...]:
        """What each row holds."""
        return tuple(name for loop in self.items for name in loop.row_names)

    def rates(self, time: float) -> Array:
        """Prescribed velocities U(t) of all rows.

        Parameters
        ----------
        time : float
            s.

        Returns
        -------
        (n_rows,) array
            m/s and rad/s, zero where there are none.
        """
        return np.concatenate([np.zeros(0), *(loop.rates(time) for loop in self.items)])

    def rows(self, name: str) -> slice:
        """Where the rows of a closure lie.

        Parameters
        ----------
        name : str
            The closure's name.

        Returns
        -------
        slice
            Of all rows.

        Raises
        ------
        ArgumentError
            For an unknown name.
        """
        if name not in self.names:
            raise ArgumentError(
                f"loop: there is no loop {name!r}; there are {', '.join(map(repr, self.names))}"
            )
        i = self.names.index(name)
        return slice(
            int(self.ints[i, layout.LOOP_ROW]),
            int(self.ints[i, layout.LOOP_ROW]) + self.items[i].n_rows,
        )

    def empty_terms(self) -> Array:
        """Room for the terms that the rows are sums of.

        Returns
        -------
        (n_terms, 9) array
            Zeros; columns in `_layout`.
        """
        return np.zeros((len(self.term_ints), layout.TERM_COLUMNS))

    def _put_frames(self, loop: Loop, ints: IntArray, floats: Array) -> None:
        columns = (
            (layout.LOOP_A, layout.LOOP_POINT_A, layout.LOOP_AXES_A),
            (layout.LOOP_B, layout.LOOP_POINT_B, layout.LOOP_AXES_B),
        )
        bodies = []
        for side, (body, (link, point, axes)) in enumerate(zip(loop.bodies, columns, strict=True)):
            position, rotation = loop.node_frame(side)
            try:
                node = self.model.resolve([Node(body, position)])
                frame = self.model.frame(body).rotation if isinstance(body, str) else np.eye(3)
            except ArgumentError as error:
                raise ModelError(f"loop {loop.name!r}: {'ab'[side]}: {error}") from None
            ints[link], floats[point : point + 3] = node.links[0], node.offsets[0]
            turn = np.eye(3) if ints[link] < 0 else self.model.turns[ints[link]].T
            floats[axes : axes + 9] = (turn @ frame @ rotation).ravel()
            bodies.append(int(ints[link]))
        if bodies[0] == bodies[1]:
            raise ModelError(
                f"loop {loop.name!r}: a and b are one body, {loop.a!r} and {loop.b!r}: nothing to "
                "close"
            )
        floats[layout.LOOP_TARGET] = 0.0 if loop.distance is None else loop.distance

    def _put_coupler(
        self, row: int, loop: Loop, ints: IntArray, floats: Array
    ) -> list[tuple[int, int, int]]:
        links = []
        for joint in loop.factors:
            try:
                at = self.model.v_slice(joint)
            except ArgumentError as error:
                raise ModelError(f"loop {loop.name!r}: joints: {error}") from None
            if at.stop - at.start != 1:
                raise ModelError(
                    f"loop {loop.name!r}: joints: {joint!r} has {at.stop - at.start} velocities, "
                    "not one"
                )
            links.append(at.start)
        ints[[layout.LOOP_A, layout.LOOP_B]] = links[0], self.model.tree[links[0], layout.PARENT]
        floats[[layout.LOOP_AXES_A, layout.LOOP_AXES_A + 4, layout.LOOP_AXES_A + 8]] = 1.0
        floats[[layout.LOOP_AXES_B, layout.LOOP_AXES_B + 4, layout.LOOP_AXES_B + 8]] = 1.0
        floats[layout.LOOP_TARGET] = loop.offset
        return [(row, link, int(self.model.tree[link, layout.PARENT])) for link in links]


def _checked(loops: object) -> tuple[Loop, ...]:
    if isinstance(loops, (str, Loop)) or not isinstance(loops, Sequence):
        raise ArgumentError(f"loops: expected a sequence of Loop, got {type(loops).__name__}")
    names: set[str] = set()
    for i, loop in enumerate(loops):
        if not isinstance(loop, Loop):
            raise ArgumentError(f"loops[{i}]: expected a Loop, got {loop!r}")
        if loop.name in names:
            raise ModelError(f"loop {loop.name!r}: the name is already taken")
        names.add(loop.name)
    return tuple(loops)
