"""Which pairs of a scene's geoms may touch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import BoolArray, IntArray
from spatialops.collision import _layout as col
from spatialops.collision.shapes import Geom, may_collide
from spatialops.errors import ArgumentError
from spatialops.tree.loops import Loops
from spatialops.tree.model import Model

NamePairs = tuple[tuple[str, str], ...]
_NONE = np.zeros((0, 2), dtype=np.int64)
_MOST = 100_000_000  # runs: 2.4 GB of tables


def touching_pairs(
    model: Model,
    geoms: Sequence[Geom],
    bodies: Sequence[int],
    loops: Loops,
    ignore: NamePairs,
    include: NamePairs,
) -> IntArray:
    """Runs of all pairs that may touch, see `collision.pair_runs`.

    All but those on one body, on neighbours and on the world, those whose masks keep them apart,
    and those to ignore; and those to include.
    """
    of = np.asarray(bodies, dtype=np.int64)
    never, always = _later_of(geoms, ignore), _later_of(geoms, include)
    masks, allowed = _masks(geoms)
    among = [_spans_where(row[masks]) for row in allowed]
    on_body = _spans_by_body(of)
    beside = _beside(_neighbours(model, of) | _tied_bodies(model, loops))
    found = [np.zeros((0, col.RUN_COLUMNS), dtype=np.int64)]
    count = runs = 0
    for a, body in enumerate(of.tolist()):
        spans = _later(among[masks[a]], a)
        for other in beside.get(body, ()):
            spans = _without(spans, on_body.get(other, _NONE))
        spans = _with(spans, always.get(a, ()))
        for b in never.get(a, ()):
            spans = _without(spans, np.array([[b, b + 1]]))
        spans = _without(spans, on_body[body])
        sizes = np.diff(spans, axis=1).ravel()
        first = count + np.cumsum(sizes) - sizes
        found.append(np.stack([np.full_like(first, a), spans[:, 0], first], axis=1))
        count, runs = count + int(sizes.sum()), runs + len(spans)
        if runs > _MOST:
            raise ArgumentError(
                f"geoms: the pairs that may touch of {len(geoms)} of them are more than "
                f"{_MOST:.0e} runs of geoms that follow one another; order them by `group` and "
                "`collides_with`"
            )
    return np.concatenate([*found, [[len(geoms), 0, count]]])


def _spans_where(chosen: BoolArray) -> IntArray:
    """Spans (begin, end), (k, 2), of chosen geoms that follow one another."""
    edges = np.diff(np.concatenate([[False], chosen, [False]]).astype(np.int64))
    return np.stack([np.flatnonzero(edges > 0), np.flatnonzero(edges < 0)], axis=1)


def _spans_by_body(of: IntArray) -> dict[int, IntArray]:
    """Spans of the geoms of every body."""
    if not len(of):
        return {}
    order = np.argsort(of, kind="stable")
    begins = np.flatnonzero(np.diff(of[order], prepend=-2) != 0)
    found = {}
    for rows in np.split(order, begins[1:]):
        cuts = np.flatnonzero(np.diff(rows) != 1) + 1
        ends = np.append(cuts - 1, len(rows) - 1)
        spans = np.stack([rows[np.append(0, cuts)], rows[ends] + 1], axis=1)
        found[int(of[rows[0]])] = spans
    return found


def _later(spans: IntArray, a: int) -> IntArray:
    """What of some spans, in order, is behind geom a."""
    left = spans[np.searchsorted(spans[:, 1], a + 1, side="right") :]
    if len(left) and left[0, 0] <= a:
        left = left.copy()
        left[0, 0] = a + 1
    return left


def _without(spans: IntArray, others: IntArray) -> IntArray:
    """What of some spans, in order, is in none of others, in order."""
    for begin, end in others.tolist():
        i = int(np.searchsorted(spans[:, 1], begin, side="right"))
        j = int(np.searchsorted(spans[:, 0], end, side="left"))
        if i >= j:
            continue
        pieces = [(spans[i, 0], begin), (end, spans[j - 1, 1])]
        kept = [piece for piece in pieces if piece[0] < piece[1]]
        middle = np.array(kept, dtype=np.int64).reshape(-1, 2)
        spans = np.concatenate([spans[:i], middle, spans[j:]])
    return spans


def _with(spans: IntArray, geoms: Iterable[int]) -> IntArray:
    """Some spans, in order, and single geoms."""
    for b in geoms:
        i = int(np.searchsorted(spans[:, 1], b, side="right"))
        if i < len(spans) and spans[i, 0] <= b:
            continue
        spans = np.concatenate([spans[:i], [[b, b + 1]], spans[i:]])
    return spans


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
