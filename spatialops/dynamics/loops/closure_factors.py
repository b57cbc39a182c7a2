"""Closures at one configuration: frames, terms, errors and factored rows, outside the loop."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import Array, IntArray, not_finite
from spatialops.algebra.rotation import from_rotation_vector
from spatialops.dynamics.kinematics import poses_kernel
from spatialops.dynamics.loops.elimination import (
    TOLERANCE,
    combine_rows,
    coordinates_of,
    factor_rows,
    multipliers_of,
)
from spatialops.dynamics.loops.rows import closure_rows
from spatialops.dynamics.loops.terms import closure_errors, put_terms
from spatialops.dynamics.response import velocities_from
from spatialops.errors import ArgumentError
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


class Span:
    """Poses, terms and rows of closures at one configuration, and factors of the rows.

    The factors are L = Z R Q; see `elimination`.
    """

    def __init__(self, model: Model, loops: Loops) -> None:
        n = loops.n_rows
        self.model, self.loops = model, loops
        self.work, self.terms = np.zeros((model.nv, layout.WORK_COLUMNS)), loops.empty_terms()
        self.L, self.Q, self.Z, self.R = (
            np.zeros(shape) for shape in ((n, model.nv), (n, model.nv), (n, n), (n, n))
        )
        self.order: IntArray = np.zeros(n, dtype=np.int64)
        self.rooms = np.zeros((2, n))
        self.part = np.zeros(n)
        self.rank = 0

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

    def factor(self, tolerance: float = TOLERANCE, most: int | None = None) -> None:
        """Factors of the rows, of so many at most; those of the tree must be in `work`."""
        model, at = self.model, self.loops
        corner = 0, 0
        closure_rows(model.tree, model.links, self.work, at.term_ints, self.terms, corner, self.L)
        n = self.loops.n_rows
        self.rank = factor_rows(
            self.L,
            n if most is None else most,
            tolerance,
            self.Q,
            self.Z,
            self.R,
            self.order,
            *self.rooms,
        )

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
        return tuple(self.loops.row_names[i] for i in sorted(self.order[self.rank :]))


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
