"""Constraint rows from their terms: as rows of the Jacobian G, and of L with G M^-1 G^T = L L^T."""

from __future__ import annotations

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._jit import kernel
from spatialops._layout import (
    LINEAR,
    MOTION,
    ORIGIN,
    PARENT,
    PITCH,
    ROTARY,
    TERM_A,
    TERM_ANGULAR,
    TERM_B,
    TERM_COLUMNS,
    TERM_INTS,
    TERM_LINEAR,
    TERM_POINT,
    TERM_ROW,
)
from spatialops.algebra.vectors import cross, dot, minus, plus, vec3
from spatialops.contact.response import row_response
from spatialops.dynamics.kinematics import axis_of


def contact_terms(links: IntArray, points: Array, frames: Array, first_row: int) -> tuple[IntArray, Array]:
    """Terms of contacts: three rows each along normal and tangents, from `first_row` on."""
    m = len(links)
    ints, terms = np.empty((3 * m, TERM_INTS), dtype=np.int64), np.zeros((3 * m, TERM_COLUMNS))
    ints[:, TERM_ROW] = first_row + np.arange(3 * m)
    ints[:, [TERM_A, TERM_B]] = np.repeat(links, 3, axis=0)
    terms[:, TERM_POINT : TERM_POINT + 3] = np.repeat(points, 3, axis=0)
    terms[:, TERM_LINEAR : TERM_LINEAR + 3] = frames.reshape(-1, 3)
    return ints, terms


@kernel
def jacobian_rows(tree: IntArray, links: Array, work: Array, ints: IntArray, terms: Array, G: Array) -> None:
    """Rows of G: what the unit wrenches of each row do along the axes of all joints; poses must be in `work`."""
    for i in range(G.shape[0]):
        for j in range(G.shape[1]):
            G[i, j] = 0.0
    for t in range(ints.shape[0]):
        row, point = ints[t, TERM_ROW], vec3(terms, t, TERM_POINT)
        angular, linear = vec3(terms, t, TERM_ANGULAR), vec3(terms, t, TERM_LINEAR)
        for side in range(2):
            k, sign = ints[t, TERM_A + side], 1.0 - 2.0 * side
            while k >= 0:
                axis, motion = axis_of(tree, work, k), tree[k, MOTION]
                moment = plus(angular, cross(minus(point, vec3(work, k, ORIGIN)), linear))
                work_done = dot(axis, moment) if motion != LINEAR else 0.0
                if motion != ROTARY:
                    work_done += (1.0 if motion == LINEAR else links[k, PITCH]) * dot(axis, linear)
                G[row, k] += sign * work_done
                k = tree[k, PARENT]


@kernel
def response_rows(tree: IntArray, links: Array, work: Array, ints: IntArray, terms: Array, L: Array) -> None:
    """Rows of L = G psi* H* D^-1/2; factors must be in `work`."""
    for i in range(L.shape[0]):
        for j in range(L.shape[1]):
            L[i, j] = 0.0
    for t in range(ints.shape[0]):
        a, b, point = ints[t, TERM_A], ints[t, TERM_B], vec3(terms, t, TERM_POINT)
        angular, linear = vec3(terms, t, TERM_ANGULAR), vec3(terms, t, TERM_LINEAR)
        row_response(tree, links, work, a, b, point, angular, linear, L[ints[t, TERM_ROW]])
