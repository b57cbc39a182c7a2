"""Which pairs of a scene's geoms may touch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import BoolArray, IntArray
from spatialops.collision.shapes import FIXED, Geom, Sphere, may_collide
from spatialops.errors import ArgumentError
from spatialops.tree.loops import Loops
from spatialops.tree.model import Model

NamePairs = tuple[tuple[str, str], ...]
_MOST = 250_000_000  # pairs, of 22 000 geoms: 8 GB of tables


def touching_pairs(
    model: Model,
    geoms: Sequence[Geom],
    bodies: Sequence[int],
    loops: Loops,
    ignore: NamePairs,
    include: NamePairs,
) -> IntArray:
    """Indices (a, b), (p, 2), of all pairs that may touch, what does not move as b.

    All but those on one body, on neighbours and on the world, those whose masks keep them apart,
    and those to ignore; and those to include. In the order of a, then b, before they are turned.
    """
    never = _later_of(geoms, ignore)
    always = _later_of(geoms, include)
    masks, allowed = _masks(geoms)
    of = np.asarray(bodies, dtype=np.int64)
    beside = _beside(_neighbours(model, of) | _tied_bodies(model, loops))
    found = [np.zeros((0, 2), dtype=np.int64)]
    count = 0
    for a in range(len(geoms)):
        may = allowed[masks[a], masks[a + 1 :]]
        for body in beside.get(int(of[a]), ()):
            may &= of[a + 1 :] != body
        may[np.asarray(always.get(a, ()), dtype=np.int64) - a - 1] = True
        may[np.asarray(never.get(a, ()), dtype=np.int64) - a - 1] = False
        may &= of[a + 1 :] != of[a]
        later = a + 1 + np.flatnonzero(may)
        found.append(np.stack([np.full_like(later, a), later], axis=1))
        count += len(later)
        if count > _MOST:
            raise ArgumentError(
                f"geoms: {len(geoms)} of them make more than {_MOST:.0e} pairs that may touch, "
                "which are listed one by one; keep apart those that never do, by `group` and "
                "`collides_with`"
            )
    pairs = np.concatenate(found)
    turned = _go_second(geoms, pairs)
    pairs[turned] = pairs[turned, ::-1]
    return pairs


def _later_of(geoms: Sequence[Geom], names: NamePairs) -> dict[int, list[int]]:
    """Pairs of names as the later geoms of each geom."""
    numbers = {geom.name: i for i, geom in enumerate(geoms)}
    found: dict[int, list[int]] = {}
    for pair in names:
        low, high = sorted(numbers[name] for name in pair)
        if low < high:
            found.setdefault(low, []).append(high)
    return found


def _masks(geoms: Sequence[Geom]) -> tuple[IntArray, BoolArray]:
    """Which masks each geom has, (n,), and which masks may touch which."""
    kinds: dict[tuple[int, int], Geom] = {}
    for geom in geoms:
        kinds.setdefault((geom.group, geom.collides_with), geom)
    numbers = {key: i for i, key in enumerate(kinds)}
    masks = [numbers[geom.group, geom.collides_with] for geom in geoms]
    allowed = [[may_collide(a, b) for b in kinds.values()] for a in kinds.values()]
    table = np.array(allowed, dtype=bool).reshape(len(kinds), len(kinds))
    return np.array(masks, dtype=np.int64), table


def _beside(neighbours: set[frozenset[int]]) -> dict[int, list[int]]:
    """Bodies that each body cannot touch; the world can be touched."""
    found: dict[int, list[int]] = {}
    for pair in neighbours:
        if min(pair) < 0:
            continue
        a, b = min(pair), max(pair)
        found.setdefault(a, []).append(b)
        found.setdefault(b, []).append(a)
    return found


def _neighbours(model: Model, of: IntArray) -> set[frozenset[int]]:
    """Pairs of bodies that joints join, of which one carries the other.

    What stands between several joints, weighs nothing and has no geoms is none of them.
    """
    bare = model.links[model.body_links, layout.MASS] == 0.0
    bare[of[of >= 0]] = False
    above: list[int] = []
    for parent in model.body_parents.tolist():
        above.append(above[parent] if parent >= 0 and bare[parent] else parent)
    return {frozenset(pair) for pair in enumerate(above)}


def _tied_bodies(model: Model, loops: Loops) -> set[frozenset[int]]:
    """Pairs of bodies that a closure joins like a joint."""
    bodies = {int(link): i for i, link in enumerate(model.body_links)} | {-1: -1}
    jointed = [
        row
        for row in loops.ints
        if row[layout.LOOP_KIND] not in (layout.CLOSE_DISTANCE, layout.CLOSE_COUPLER)
    ]
    return {
        frozenset((bodies[int(row[layout.LOOP_A])], bodies[int(row[layout.LOOP_B])]))
        for row in jointed
    }


def _go_second(geoms: Sequence[Geom], pairs: IntArray) -> BoolArray:
    """Which pairs are turned round: what does not move comes second, and a sphere comes first."""
    fixed = np.array([isinstance(geom.shape, FIXED) for geom in geoms], dtype=bool)
    sphere = np.array([isinstance(geom.shape, Sphere) for geom in geoms], dtype=bool)
    a, b = pairs.T
    return fixed[a] | (sphere[b] & ~sphere[a])
