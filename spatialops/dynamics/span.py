"""Closures at one configuration: their frames, terms, errors and factored rows, for code outside the stepping loop."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from spatialops._arrays import Array, IntArray, not_finite
from spatialops._layout import (
    CLOSE_COUPLER,
    CLOSE_DISTANCE,
    LOOP_AXES_B,
    LOOP_KIND,
    LOOP_POINT_B,
    LOOP_SPIN,
    LOOP_TARGET,
    OK,
    WORK_COLUMNS,
)
from spatialops.algebra.rotation import from_rotation_vector
from spatialops.dynamics.elimination import TOLERANCE, combine_rows, coordinates_of, factor_rows, multipliers_of
from spatialops.dynamics.kinematics import poses_kernel
from spatialops.dynamics.loop_rows import closure_rows
from spatialops.dynamics.loops import closure_errors, put_terms
from spatialops.dynamics.response import velocities_from
from spatialops.errors import ArgumentError
from spatialops.tree.loop import Loop
from spatialops.tree.loops import Loops
from spatialops.tree.model import Model


def checked_loops(model: Model, loops: Any) -> Loops:
    """Closures of the model, from what a public function was given; ArgumentError for those of another model."""
    if not isinstance(loops, Loops):
        loops = Loops(model, [loops] if isinstance(loops, Loop) else loops)
    if loops.model is not model:
        raise ArgumentError("loops: were made for another model; make them with Loops(model, ...)")
    checked: Loops = loops
    return checked


class Span:
    """Poses, terms and rows of closures at one configuration, and the factors L = Z R Q of the rows."""

    def __init__(self, model: Model, loops: Loops) -> None:
        n = loops.n_rows
        self.model, self.loops = model, loops
        self.work, self.terms = np.zeros((model.nv, WORK_COLUMNS)), loops.empty_terms()
        self.L, self.Q, self.Z, self.R = (np.zeros(shape) for shape in ((n, model.nv), (n, model.nv), (n, n), (n, n)))
        self.order: IntArray = np.zeros(n, dtype=np.int64)
        self.rooms, self.part, self.rank = np.zeros((2, n)), np.zeros(n), 0

    def place(self, q: Array) -> None:
        """Poses and terms at q."""
        if poses_kernel(self.model.tree, self.model.links, q, self.work) != OK:
            raise not_finite(q=q)
        self.put_terms()

    def put_terms(self) -> None:
        """Terms at the poses in `work`."""
        at = self.loops
        put_terms(self.model.tree, at.ints, at.floats, at.ratios, at.term_ints, self.work, self.terms)

    def errors(self, q: Array) -> Array:
        """Errors of the rows; q must have been placed."""
        at, errors = self.loops, np.empty(self.loops.n_rows)
        closure_errors(self.model.tree, at.ints, at.floats, at.ratios, at.term_ints, q, self.work, errors)
        return errors

    def factor(self, tolerance: float = TOLERANCE) -> None:
        """Factors of the rows; those of the articulated-body pass must be in `work`."""
        closure_rows(self.model.tree, self.model.links, self.work, self.loops.term_ints, self.terms, self.L)
        n = self.loops.n_rows
        self.rank = factor_rows(self.L, n, tolerance, self.Q, self.Z, self.R, self.order, *self.rooms)

    def answer(self, u: Array) -> tuple[Array, Array]:
        """The least motion with G dv = u, (nv,), and its multipliers (n_rows,); uses acceleration columns of `work`."""
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
    """Put the frames on B of driven closures where those on A are, and give them their spin at a time.

    Only in the directions, linear or angular, in which there is a rate: the others are to be closed like any closure.
    """
    for loop, ints, floats in zip(loops.items, loops.ints, loops.floats, strict=True):
        if loop.rate is None:
            continue
        own, rates = errors[loops.rows(loop.name)], loop.rates(time)
        if ints[LOOP_KIND] in (CLOSE_DISTANCE, CLOSE_COUPLER):
            floats[LOOP_TARGET] += own[0] if callable(loop.rate) or rates[0] else 0.0
            continue
        slides = loop.n_slides
        axes, moves = floats[LOOP_AXES_B : LOOP_AXES_B + 9].reshape(3, 3), np.zeros((3, 3))  # slide, turn, spin
        if callable(loop.rate) or rates[:slides].any():
            moves[0, :slides] = own[:slides]
        if callable(loop.rate) or rates[slides:].any():
            moves[1, : own.size - slides] = own[slides:]
        moves[2, : own.size - slides] = rates[slides:]
        floats[LOOP_POINT_B : LOOP_POINT_B + 3] += axes @ moves[0]
        floats[LOOP_AXES_B : LOOP_AXES_B + 9] = (axes @ from_rotation_vector(moves[1])).ravel()
        floats[LOOP_SPIN : LOOP_SPIN + 3] = moves[2]


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
