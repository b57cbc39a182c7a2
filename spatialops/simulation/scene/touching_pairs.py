"""Which pairs of a scene's geoms may touch."""

from __future__ import annotations

from collections.abc import Sequence

from spatialops import _layout as layout
from spatialops.collision.shapes import FIXED, Geom, Shape, Sphere, may_collide
from spatialops.tree.loops import Loops
from spatialops.tree.model import Model

NamePairs = tuple[tuple[str, str], ...]


def touching_pairs(
    model: Model,
    geoms: Sequence[Geom],
    bodies: Sequence[int],
    loops: Loops,
    ignore: NamePairs,
    include: NamePairs,
) -> list[tuple[int, int]]:
    """Indices (a, b) of all pairs that may touch, what does not move as b.

    All but those on one body, on neighbours and on the world, those whose masks keep them apart,
    and those to ignore; and those to include.
    """
    never = {frozenset(pair) for pair in ignore}
    always = {frozenset(pair) for pair in include}
    neighbours = _neighbours(model) | _tied_bodies(model, loops)
    pairs = []
    for a, first in enumerate(geoms):
        for b, second in enumerate(geoms[a + 1 :], start=a + 1):
            names = frozenset((first.name, second.name))
            if bodies[a] == bodies[b] or names in never:
                continue
            near = frozenset((bodies[a], bodies[b])) in neighbours
            on_world = bodies[a] < 0 or bodies[b] < 0
            apart = (near and not on_world) or not may_collide(first, second)
            if not apart or names in always:
                pairs.append((b, a) if _goes_second(first.shape, second.shape) else (a, b))
    return pairs


def _neighbours(model: Model) -> set[frozenset[int]]:
    """Pairs of bodies that a joint joins."""
    return {frozenset((body, int(parent))) for body, parent in enumerate(model.body_parents)}


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


def _goes_second(first: Shape, second: Shape) -> bool:
    """Whether a pair is turned round: what does not move comes second, and a sphere comes first."""
    if isinstance(first, FIXED):
        return True
    return isinstance(second, Sphere) and not isinstance(first, Sphere)
