"""What holds between two geoms: their coefficients, mixed as they say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray, in_parts
from spatialops.collision.shapes import Geom

_LEAST = {"friction": 3, "torsion": 4, "rolling": 6}  # condim that lets a coefficient act


class PairCoefficients(NamedTuple):
    """Coefficients of n pairs of geoms; one number stands for all where all have it.

    Attributes
    ----------
    friction, restitution : (n,) arrays
    torsion, rolling : (n,) arrays
        m.
    """

    friction: Array
    restitution: Array
    torsion: Array
    rolling: Array


class _Columns(NamedTuple):
    """What the geoms have, (n_geoms,) each."""

    larger: Array  # 1: the larger of two coefficients counts
    priority: Array
    condim: Array
    friction: Array
    restitution: Array
    torsion: Array
    rolling: Array


def pair_coefficients(geoms: Sequence[Geom], pairs: IntArray) -> PairCoefficients:
    """Coefficients of pairs (n, 2) of geoms, by their `mixing`, `priority` and `condim`.

    References
    ----------
    E. Todorov et al., *MuJoCo documentation*, "Contact parameters": the element-wise maximum, or
    those of the geom of higher priority; the larger condim.
    """
    names = _Columns._fields[1:]
    table = np.array(
        [[geom.mixing == "maximum", *(getattr(geom, name) for name in names)] for geom in geoms],
        dtype=np.float64,
    ).reshape(len(geoms), len(_Columns._fields))
    # Geoms that have the same are alike: most scenes have few kinds, and far fewer pairs of them.
    kinds, kind_of = np.unique(table, axis=0, return_inverse=True)
    n = len(kinds)
    if n * n >= len(pairs):
        return _all_mixed(_Columns(*table.T), pairs)
    of_kinds = _all_mixed(_Columns(*kinds.T), np.indices((n, n)).reshape(2, -1).T)
    which = n * kind_of[pairs[:, 0]] + kind_of[pairs[:, 1]]
    return PairCoefficients(*(_taken(row, which) for row in of_kinds))


def _all_mixed(columns: _Columns, pairs: IntArray) -> PairCoefficients:
    parts = [np.zeros((len(PairCoefficients._fields), 0))]
    parts += [np.stack(_mixed(columns, part)) for part in in_parts(pairs)]
    return PairCoefficients(*(alike(row) for row in np.concatenate(parts, axis=1)))


def _mixed(columns: _Columns, pairs: IntArray) -> PairCoefficients:
    first, second = (_Columns(*(column[side] for column in columns)) for side in pairs.T)
    higher, lower = first.priority > second.priority, first.priority < second.priority
    condim = np.maximum(first.condim, second.condim)
    condim = np.where(higher, first.condim, np.where(lower, second.condim, condim))
    larger = (first.larger + second.larger) > 0.0
    found = {}
    for name, least in _LEAST.items():
        a, b = getattr(first, name), getattr(second, name)
        mixed = np.where(larger, np.maximum(a, b), np.sqrt(a * b))
        chosen = np.where(higher, a, np.where(lower, b, mixed))
        found[name] = np.where(condim >= least, chosen, 0.0)
    return PairCoefficients(restitution=np.sqrt(first.restitution * second.restitution), **found)


def _taken(values: Array, which: IntArray) -> Array:
    """Values of these rows, or one number in their place where all values are the same."""
    if _is_one(values):
        return np.broadcast_to(values[:1], which.shape)
    return alike(values[which])


def _is_one(values: Array) -> bool:
    return len(values) > 0 and bool((values == values[0]).all())


def alike(values: Array) -> Array:
    """A copy of values (n,), or one number in their place, read-only, where all are the same."""
    if _is_one(values):
        return np.broadcast_to(values[:1].copy(), values.shape)
    return values.copy()
