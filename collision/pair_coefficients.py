"""What holds between two geoms: their coefficients, mixed as they say.

Geoms with the same coefficients are of one kind, and pairs of the same two kinds of one class: most
scenes have few, and far fewer than pairs. Pairs with something of their own are classes of their
own, behind all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spatialops._arrays import Array, IntArray, in_parts
from spatialops._compile.jit import inlined, kernel
from spatialops.collision import _layout as col
from spatialops.collision.pair_runs import sides_of
from spatialops.collision.shapes import Geom

_LEAST = {"friction": 3, "torsion": 4, "rolling": 6}  # condim that lets a coefficient act


class PairClasses(NamedTuple):
    """Coefficients by class, as kernels see them.

    Attributes
    ----------
    values : (c, PAIR_COLUMNS) array
    own : (o,) int array
        Pairs, in order, whose classes are the last ones.
    """

    values: Array
    own: IntArray


class Coefficients(NamedTuple):
    """Coefficients of n classes of pairs.

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
    """What kinds of geoms have, (k,) each."""

    larger: Array  # 1: the larger of two coefficients counts
    priority: Array
    condim: Array
    friction: Array
    restitution: Array
    torsion: Array
    rolling: Array


@inlined
def class_of(classes: PairClasses, geom_ints: IntArray, p: int, a: int, b: int) -> int:
    """Class of pair p, of geoms A and B."""
    if classes.own.size > 0:
        i = place_among(classes.own, p)
        if i < classes.own.size and classes.own[i] == p:
            return classes.values.shape[0] - classes.own.size + i
    return geom_ints[a, col.GEOM_KINDS] + geom_ints[b, col.GEOM_KIND]


@inlined
def class_of_pair(classes: PairClasses, geom_ints: IntArray, runs: IntArray, p: int) -> int:
    """Class of pair p, of the geoms that its run says."""
    a, b = sides_of(geom_ints, runs, p)
    return class_of(classes, geom_ints, p, a, b)


@kernel
def place_among(numbers: IntArray, number: int) -> int:
    """How many of some numbers in order are less than one."""
    low, high = 0, numbers.size
    while low < high:
        middle = (low + high) // 2
        if numbers[middle] < number:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def put_classes(
    classes: PairClasses, geom_ints: IntArray, runs: IntArray, pairs: IntArray, found: IntArray
) -> None:
    """Classes of pairs."""
    for i in range(pairs.size):
        found[i] = class_of_pair(classes, geom_ints, runs, pairs[i])


def geom_kinds(geoms: Sequence[Geom]) -> tuple[Array, IntArray]:
    """What each kind of geoms has, (k, .) as `_Columns`, and the kind of each geom, (n,)."""
    names = _Columns._fields[1:]
    table = np.array(
        [[geom.mixing == "maximum", *(getattr(geom, name) for name in names)] for geom in geoms],
        dtype=np.float64,
    ).reshape(len(geoms), len(_Columns._fields))
    kinds, kind_of = np.unique(table, axis=0, return_inverse=True)
    return kinds, kind_of.astype(np.int64).ravel()


def class_coefficients(geoms: Sequence[Geom]) -> Coefficients:
    """Coefficients of all k k classes of geoms, by their `mixing`, `priority` and `condim`.

    References
    ----------
    E. Todorov et al., *MuJoCo documentation*, "Contact parameters": the element-wise maximum, or
    those of the geom of higher priority; the larger condim.
    """
    kinds = geom_kinds(geoms)[0]
    both = np.indices((len(kinds), len(kinds))).reshape(2, -1).T
    parts = [np.zeros((len(Coefficients._fields), 0))]
    parts += [np.stack(_mixed(_Columns(*kinds.T), part)) for part in in_parts(both)]
    return Coefficients(*np.concatenate(parts, axis=1))


def _mixed(columns: _Columns, kinds: IntArray) -> Coefficients:
    first, second = (_Columns(*(column[side] for column in columns)) for side in kinds.T)
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
    return Coefficients(restitution=np.sqrt(first.restitution * second.restitution), **found)
