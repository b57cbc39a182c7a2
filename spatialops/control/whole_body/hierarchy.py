"""Least squares in strict order under hard constraints: a level never gives way to a lower one.

Level k minimizes |J_k x - r_k|^2 over all x that satisfy the constraints and keep what the levels
above have reached, J_j x = J_j x_j. Equalities are eliminated: x = x0 + Z y, with ever fewer y.
Where all levels can be met at once, one program with all of them as equalities is the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spatialops._arrays import NOTHING, Array
from spatialops.algebra.pivoted_qr import row_basis
from spatialops.contact.qp import QuadraticProgram, by_daqp

_RANK = 1e-10  # what is left of equalities, relative, that count as zero
_TASK_RANK = 1e-8  # the same of tasks among the motions that are left
_EQUAL = 1e-8  # of the scale of the equalities: missed by more, they contradict each other
_STILL = 1e-9  # weight of unknowns that a level leaves free, relative to its own
# What daqp is asked for.
_PRIMAL = 1e-9
_DUAL = 1e-10
_PROXIMAL = 1e-7


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


class _Motions(NamedTuple):
    """All x = x0 + Z y that satisfy equalities."""

    x0: Array
    Z: Array


def lexicographic(
    constraints: Constraints, levels: Sequence[Level], cost: Cost, who: str
) -> Answer | None:
    """The point that is best for the levels in their order, then for the cost.

    Parameters
    ----------
    constraints : Constraints
        What holds whatever levels ask.
    levels : sequence of Level
        The first is the strictest.
    cost : Cost
        Convex, and strictly so where nothing else decides.
    who : str
        Whom a missing daqp is reported for.

    Returns
    -------
    Answer or None
        None where the constraints have no point.

    References
    ----------
    A. Escande, N. Mansard, P.-B. Wieber, Int. J. Robotics Research 33 (2014).
    """
    free = _satisfying(constraints.E, constraints.e, _size(constraints.E))
    if free is None:
        return None
    found = _in_order(free, constraints, levels, cost, who, exactly=True)
    if found is not None:
        return found
    return _in_order(free, constraints, levels, cost, who, exactly=False)


def _in_order(
    free: _Motions,
    constraints: Constraints,
    levels: Sequence[Level],
    cost: Cost,
    who: str,
    *,
    exactly: bool,
) -> Answer | None:
    """Level after level, then the cost.

    `exactly`: levels that equalities allow to be met are met without a program of their own; None
    where inequalities do not let them.
    """
    reached: Answer | None = None
    spent = 0
    met = exactly
    for level in levels:
        within = _within(free, level) if exactly else None
        if within is not None:
            free = within
            continue
        met = False
        found = _nearest(free, constraints, level, who)
        if found is None:
            return None if exactly else reached
        reached = found
        spent += found.iterations
        free = _Motions(found.x, free.Z @ _kernel_of(level.J @ free.Z, level.J))
        constraints = _admitting(found.x, constraints)
    found = _best(free, constraints, cost, who)
    if found is None:
        return None if exactly else reached
    return Answer(found.x, met, found.iterations + spent)


def _admitting(x: Array, constraints: Constraints) -> Constraints:
    """Inequalities that a point which was found satisfies exactly: rounding must not lose it."""
    value = constraints.C @ x
    return constraints._replace(
        low=np.minimum(constraints.low, value), high=np.maximum(constraints.high, value)
    )


def _size(rows: Array) -> float:
    """Largest entry, and never zero."""
    return max(float(np.abs(rows).max(initial=0.0)), NOTHING)


def _satisfying(E: Array, e: Array, size: float) -> _Motions | None:
    """What satisfies E x = e, whose rows may be redundant; None where they contradict.

    `size` is that of the rows before others were eliminated from them: what is left of rows that
    those others decide is rounding.
    """
    found = row_basis(E, _RANK * size)
    x0 = found.particular(e)
    missed = np.abs(E @ x0 - e).max(initial=0.0)
    if not (missed < np.inf and missed <= _EQUAL * (1.0 + np.abs(e).max(initial=0.0))):
        return None  # nor where it is no number
    return _Motions(x0, found.null)


def _within(free: _Motions, level: Level) -> _Motions | None:
    """The motions that also meet J x = r; None where none does."""
    J, r = level
    found = _satisfying(np.asarray(J @ free.Z), r - J @ free.x0, _size(J))
    return None if found is None else _Motions(free.x0 + free.Z @ found.x0, free.Z @ found.Z)


def _kernel_of(reduced: Array, J: Array) -> Array:
    """Directions y that the rows do not see; small ones against the rows J themselves."""
    return row_basis(reduced, _TASK_RANK * _size(J)).null


def _nearest(free: _Motions, constraints: Constraints, level: Level, who: str) -> Answer | None:
    """The motion that misses a level's rows by least."""
    H = 2.0 * level.J.T @ level.J
    H.flat[:: len(H) + 1] += _STILL * 2.0 * _size(level.J) ** 2  # its diagonal
    return _best(free, constraints, Cost(H, -2.0 * level.J.T @ level.r), who)


def _best(free: _Motions, constraints: Constraints, cost: Cost, who: str) -> Answer | None:
    """The motion of least cost."""
    x0, Z = free
    if not Z.shape[1]:
        return Answer(x0, False, 0) if _inside(x0, constraints) else None
    H = Z.T @ cost.H @ Z
    scale = 1.0 / _size(H)
    at = constraints.C @ x0
    program = QuadraticProgram(
        scale * 0.5 * (H + H.T),
        scale * (Z.T @ (cost.H @ x0 + cost.f)),
        constraints.C @ Z,
        constraints.low - at,
        constraints.high - at,
    )
    found = by_daqp(program, who, primal=_PRIMAL, dual=_DUAL, proximal=_PROXIMAL)
    if found.status != "point":
        return None
    return Answer(x0 + Z @ found.x, False, found.iterations)


def _inside(x: Array, constraints: Constraints) -> bool:
    """Whether a single point satisfies the inequalities."""
    value = constraints.C @ x
    slack = _EQUAL * (1.0 + np.abs(value))
    low = value >= constraints.low - slack
    return bool(np.all(low & (value <= constraints.high + slack)))
