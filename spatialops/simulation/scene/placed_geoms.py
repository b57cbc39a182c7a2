"""Geoms of a scene, checked and placed on the model's bodies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from spatialops.collision.geom_tables import GeomTables, Placed, geom_tables
from spatialops.collision.shapes import FIXED, Geom, shape_data
from spatialops.errors import ShapeError
from spatialops.tree.model import Model
from spatialops.tree.node import Node


def checked_geoms(given: object) -> tuple[Geom, ...]:
    """`given` as geoms whose names differ.

    Raises
    ------
    ShapeError
        For anything else.
    """
    if isinstance(given, (str, Geom)) or not isinstance(given, Iterable):
        raise ShapeError(f"geoms: expected a sequence of Geom, got {type(given).__name__}")
    geoms = tuple(given)
    names: set[str] = set()
    for i, geom in enumerate(geoms):
        if not isinstance(geom, Geom):
            raise ShapeError(f"geoms[{i}]: expected a Geom, got {geom!r}")
        if geom.name in names:
            raise ShapeError(f"geom {geom.name!r}: the name is already taken")
        names.add(geom.name)
    return geoms


def bodies_of(model: Model, geoms: Sequence[Geom]) -> list[int]:
    """Index of every geom's moving body, -1 for the world.

    Raises
    ------
    ShapeError
        For an unknown body, and for shapes on a body that moves which must not.
    """
    bodies = []
    for geom in geoms:
        if geom.body not in model.frames:
            raise ShapeError(f"geom {geom.name!r}: body: there is no body {geom.body!r}")
        body = model.frame(geom.body).body
        if isinstance(geom.shape, FIXED) and body >= 0:
            kind = str(shape_data(geom.shape)["kind"]).replace("_", "-")
            raise ShapeError(
                f"geom {geom.name!r}: a {kind} must sit on the world, not on {geom.body!r}"
            )
        bodies.append(body)
    return bodies


def tables_of(model: Model, geoms: Sequence[Geom], bodies: Sequence[int]) -> GeomTables:
    """The geoms as tables for kernels, on the links of their bodies."""
    nodes = model.resolve([Node(geom.body, geom.position) for geom in geoms])
    places = []
    for geom, body, link, offset in zip(geoms, bodies, nodes.links, nodes.offsets, strict=True):
        turn = model.frame(geom.body).rotation @ geom.turn
        own = turn if body < 0 else model.turns[link].T @ turn
        places.append(Placed(body, int(link), offset, own))
    return geom_tables(geoms, places)


def name_pairs(given: object, option: str, geoms: Sequence[Geom]) -> tuple[tuple[str, str], ...]:
    """`given` as pairs of names of geoms.

    Raises
    ------
    ShapeError
        For anything else.
    """
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ShapeError(f"{option}: expected pairs of geom names, got {given!r}")
    known = {geom.name for geom in geoms}
    pairs = []
    for pair in given:
        names = () if isinstance(pair, str) or not isinstance(pair, Iterable) else tuple(pair)
        if len(names) != 2:
            raise ShapeError(f"{option}: expected a pair of geom names, got {pair!r}")
        for name in names:
            if str(name) not in known:
                raise ShapeError(f"{option}: there is no geom {str(name)!r}")
        pairs.append((str(names[0]), str(names[1])))
    return tuple(pairs)
