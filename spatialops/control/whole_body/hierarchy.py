"""Least squares in strict order under hard constraints: a level never gives way to a lower one.

Level k minimizes |J_k x - r_k|^2 over all x that satisfy the constraints and keep what the levels
above have reached, J_j x = J_j x_j. Equalities are eliminated: x = x0 + Z y, with ever fewer y.
Where all levels can be met at once, one program with all of them as equalities is the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops._compile.jit import kernel
from spatialops.control.whole_body.order_kernel import (
    MET,
    NO_POINT,
    Problem,
    in_order,
    ints_of,
    numbers_of,
    room_of,
)


class Constraints(NamedTuple):
    """E x = e and low <= C x <= high."""

    E: Array
    e: Array
    C: Array
    low: Array
    high: Array


class Level(NamedTuple):
    """Rows J x = r that are met as well as those of the levels above allow, weighted."""

    J: Array
    r: Array


class Cost(NamedTuple):
    """x.H x / 2 + f x, which decides what no level does."""

    H: Array
    f: Array


class Answer(NamedTuple):
    """The unknowns; whether all levels are met; iterations of all programs."""

    x: Array
    met: bool
    iterations: int


def lexicographic(constraints: Constraints, levels: Sequence[Level], cost: Cost) -> Answer | None:
    """The point that is best for the levels in their order, then for the cost.

    Parameters
    ----------
    constraints : Constraints
        What holds whatever levels ask.
    levels : sequence of Level
        The first is the strictest.
    cost : Cost
        Convex, and strictly so where nothing else decides.

    Returns
    -------
    Answer or None
        None where the constraints have no point.

    References
    ----------
    A. Escande, N. Mansard, P.-B. Wieber, Int. J. Robotics Research 33 (2014).
    """
    n = cost.f.size
    i = constraints.low.size
    rows = [level.r.size for level in levels]
    starts = np.cumsum([0, *rows])
    J = np.vstack([level.J for level in levels]) if levels else np.zeros((0, n))
    r = np.concatenate([np.zeros(0), *(level.r for level in levels)])
    problem = tuple(
        np.ascontiguousarray(table, dtype=np.float64) for table in (*constraints, J, r, *cost)
    )
    most = max(constraints.e.size, *rows, 0)
    x = np.zeros(n)
    floats = np.zeros(numbers_of(n, i, most))
    ints = np.zeros(ints_of(n, i, most), dtype=np.int64)
    status = order_kernel(problem, starts, x, most, floats, ints)
    return None if status == NO_POINT else Answer(x, status == MET, int(ints[-1]))


@kernel
def order_kernel(
    problem: tuple[Array, ...], starts: IntArray, x: Array, most: int, floats: Array, ints: IntArray
) -> int:
    """`in_order` with the arrays of `Problem`; `most` is the most rows of a group."""
    named = Problem(*problem)
    room = room_of(x.size, named.low.size, most, floats, ints)
    status = in_order(named, starts, x, room)
    ints[ints.size - 1] = room.ints[0]
    return status
