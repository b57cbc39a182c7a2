"""What holds between two geoms: their coefficients, mixed as they say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray
from spatialops.collision.shapes import Geom

_LEAST = {"friction": 3, "torsion": 4, "rolling": 6}  # condim that lets a coefficient act
_AT_ONCE = 1 << 16  # pairs: what is made on the way to their coefficients stays small


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
    columns = _Columns(
        np.array([geom.mixing == "maximum" for geom in geoms], dtype=np.float64),
        *(np.array([getattr(geom, name) for geom in geoms], dtype=np.float64) for name in names),
    )
    found = np.empty((len(PairCoefficients._fields), len(pairs)))
    for start in range(0, len(pairs), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        found[:, part] = _mixed(columns, pairs[part])
    return PairCoefficients(*(alike(row) for row in found))


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


def alike(values: Array) -> Array:
    """A copy of values (n,), or one number in their place, read-only, where all are the same."""
    if len(values) and (values == values[0]).all():
        return np.broadcast_to(values[:1].copy(), values.shape)
    return values.copy()
