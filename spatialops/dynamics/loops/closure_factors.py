"""Closures at one configuration: frames, terms, errors and factored rows, outside the loop."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from itertools import repeat
from typing import NamedTuple, TypeAlias

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, not_finite
from spatialops.algebra.rotation import from_rotation_vector
from spatialops.dynamics.kinematics import poses_kernel
from spatialops.dynamics.loops.elimination import (
    TOLERANCE,
    combine_rows,
    coordinates_of,
    factor_columns,
    factor_rows,
    multipliers_of,
)
from spatialops.dynamics.loops.rows import closure_rows
from spatialops.dynamics.loops.terms import closure_errors, put_terms
from spatialops.dynamics.response import velocities_from
from spatialops.errors import ArgumentError
from spatialops.tree.closed_extents import ClosedExtent
from spatialops.tree.loop import Loop
from spatialops.tree.loops import Loops
from spatialops.tree.model import Model

# How closures may be given to a public function.
LoopsLike: TypeAlias = Loops | Loop | Sequence[Loop]


def checked_loops(model: Model, loops: LoopsLike) -> Loops:
    """Closures of the model from what a public function was given; not those of another model."""
    if not isinstance(loops, Loops):
        loops = Loops(model, [loops] if isinstance(loops, Loop) else loops)
    if loops.model is not model:
        raise ArgumentError("loops: were made for another model; make them with Loops(model, ...)")
    return loops


class _Part(NamedTuple):
    """Factors of a mechanism's rows, where these and its columns stand among all."""

    rows: slice
    columns: slice
    Q: Array
    Z: Array
    R: Array
    order: IntArray
    rank: int


class Span:
    """Poses, terms and rows of closures at one configuration, and factors of the rows.

    The factors L = Z R Q are there once it is factored; see `elimination`. `ranks` are those of the
    mechanisms of the closures' `extents`, `rank` their sum.
    """

    def __init__(self, model: Model, loops: Loops) -> None:
        n = loops.n_rows
        self.model, self.loops = model, loops
        self.work, self.terms = np.zeros((model.nv, layout.WORK_COLUMNS)), loops.empty_terms()
        self.L = np.zeros((n, model.nv))
        self.order: IntArray = np.zeros(n, dtype=np.int64)
        self.part = np.zeros(n)
        self.rank = 0
        self.ranks: list[int] = []

    def place(self, q: Array) -> None:
        """Poses and terms at q."""
        if poses_kernel(self.model.tree, self.model.links, q, self.work) != layout.OK:
            raise not_finite(q=q)
        self.put_terms()

    def put_terms(self) -> None:
        """Terms at the poses in `work`."""
        at = self.loops
        put_terms(
            self.model.tree, at.ints, at.floats, at.ratios, at.term_ints, self.work, self.terms
        )

    def errors(self, q: Array) -> Array:
        """Errors of the rows; q must have been placed."""
        at, errors = self.loops, np.empty(self.loops.n_rows)
        closure_errors(
            self.model.tree, at.ints, at.floats, at.ratios, at.term_ints, q, self.work, errors
        )
        return errors

    def factor(self, tolerance: float = TOLERANCE, most: Sequence[int] | None = None) -> None:
        """Factors of the rows, of so many of each mechanism at most.

        The factors of the tree must be in `work`. Mechanisms that no closure joins are factored
        one by one: the basis of one has no columns of another.
        """
        at, n = self.loops, self.loops.n_rows
        most = [rows[1] - rows[0] for rows, _ in at.extents] if most is None else most
        parts = [self._factored(*both) for both in zip(at.extents, most, repeat(tolerance))]
        self.ranks = [part.rank for part in parts]
        self.rank = sum(self.ranks)
        self.Q = np.zeros(self.L.shape)
        self.Z, self.R = (np.zeros((n, n)) for _ in range(2))
        first, left = 0, self.rank
        for part in parts:
            if self.rank < n and part.rank == len(part.order):
                factor_columns(part.Z, part.R, part.rank)
            first, left = self._put(part, first, left)

    def _factored(self, extent: ClosedExtent, most: int, tolerance: float) -> _Part:
        """Rows of one mechanism, and their factors."""
        rows, columns = slice(*extent.rows), slice(*extent.columns)
        model, ints = self.model, self.loops.term_ints
        own = slice(*np.searchsorted(ints[:, layout.TERM_ROW], extent.rows))
        L = np.zeros((rows.stop - rows.start, columns.stop - columns.start))
        corner = rows.start, columns.start
        closure_rows(model.tree, model.links, self.work, ints[own], self.terms[own], corner, L)
        self.L[rows, columns] = L
        n, Q = len(L), np.zeros(L.shape)
        Z, R = np.zeros((2, n, n))
        order: IntArray = np.zeros(n, dtype=np.int64)
        rank = factor_rows(L, most, tolerance, Q, Z, R, order, *np.zeros((2, n)))
        return _Part(rows, columns, Q, Z, R, order, rank)

    def _put(self, part: _Part, first: int, left: int) -> tuple[int, int]:
        """Rows taken of a mechanism go on from `first`, those left out from `left`; both ends."""
        taken = slice(first, first + part.rank)
        out = slice(left, left + len(part.order) - part.rank)
        self.Q[taken, part.columns] = part.Q[: part.rank]
        self.Z[part.rows, taken] = part.Z[:, : part.rank]
        self.R[taken, taken] = part.R[: part.rank, : part.rank]
        self.order[taken] = part.rows.start + part.order[: part.rank]
        self.order[out] = part.rows.start + part.order[part.rank :]
        return taken.stop, out.stop

    def multipliers(self, u: Array) -> Array:
        """The smallest multipliers (n_rows,) of the least motion with G dv = u."""
        forces = np.empty(self.loops.n_rows)
        coordinates_of(self.Z, self.R, self.order, self.rank, u, self.part)
        multipliers_of(self.Z, self.R, self.order, self.rank, self.part, forces)
        return forces

    def answer(self, u: Array) -> tuple[Array, Array]:
        """The least motion with G dv = u, (nv,), and its multipliers (n_rows,).

        Acceleration columns of `work` are used up.
        """
        dv, forces = np.empty(self.model.nv), np.empty(self.loops.n_rows)
        coordinates_of(self.Z, self.R, self.order, self.rank, u, self.part)
        combine_rows(self.Q, self.rank, self.part, dv)
        multipliers_of(self.Z, self.R, self.order, self.rank, self.part, forces)
        velocities_from(self.model.tree, self.model.links, self.work, dv)
        return dv, forces

    def redundant(self) -> tuple[str, ...]:
        """Names of the rows that others imply, in the order of the closures."""
        names = self.loops.row_names
        return tuple(names[i] for i in sorted(self.order[self.rank :]))


def put_driven(loops: Loops, errors: Array, time: float) -> None:
    """Put driven closures' frames on B where those on A are, with their spin at a time.

    Only in the directions, linear or angular, in which there is a rate: the others are to be closed
    like any closure.
    """
    for loop, ints, floats in zip(loops.items, loops.ints, loops.floats, strict=True):
        if loop.rate is None:
            continue
        own, rates = errors[loops.rows(loop.name)], loop.rates(time)
        if ints[layout.LOOP_KIND] in (layout.CLOSE_DISTANCE, layout.CLOSE_COUPLER):
            floats[layout.LOOP_TARGET] += own[0] if callable(loop.rate) or rates[0] else 0.0
            continue
        slides = loop.n_slides
        axes, moves = (
            floats[layout.LOOP_AXES_B : layout.LOOP_AXES_B + 9].reshape(3, 3),
            np.zeros((3, 3)),
        )  # slide, turn, spin
        if callable(loop.rate) or rates[:slides].any():
            moves[0, :slides] = own[:slides]
        if callable(loop.rate) or rates[slides:].any():
            moves[1, : own.size - slides] = own[slides:]
        moves[2, : own.size - slides] = rates[slides:]
        floats[layout.LOOP_POINT_B : layout.LOOP_POINT_B + 3] += axes @ moves[0]
        floats[layout.LOOP_AXES_B : layout.LOOP_AXES_B + 9] = (
            axes @ from_rotation_vector(moves[1])
        ).ravel()
        floats[layout.LOOP_SPIN : layout.LOOP_SPIN + 3] = moves[2]


def present(loops: Loops, q: Array, time: float) -> Loops:
    """The closures with driven frames where they stand at q."""
    if all(loop.rate is None for loop in loops.items):
        return loops
    placed = copy.copy(loops)
    placed.floats = loops.floats.copy()
    span = Span(loops.model, placed)
    span.place(q)
    put_driven(placed, span.errors(q), time)
    return placed
