"""Rays in a scene: what they meet first, and how far away it is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from spatialops import _layout as layout
from spatialops._arrays import (
    Array,
    ArrayLike,
    IntArray,
    array,
    dimensions,
    is_one_of,
    not_finite,
    several,
    vector,
)
from spatialops.collision import _layout as col
from spatialops.collision.detector import place_geoms
from spatialops.collision.rays import HIT_COLUMNS, STACK, cast_kernel
from spatialops.dynamics.kinematics import poses_kernel
from spatialops.errors import ArgumentError
from spatialops.simulation.scene.scene import Scene

_NO_TURN = np.eye(3).ravel()


class RayHits(NamedTuple):
    """What n rays met.

    Parameters
    ----------
    distances : (n,) array
        From the origin to the surface, m; infinite where nothing was met.
    geoms : (n,) int array
        Indices into `scene.geoms`; -1: nothing.
    normals : (n, 3) array
        Outward unit normals of the surfaces, world axes; zero where nothing was met.
    """

    distances: Array
    geoms: IntArray
    normals: Array


def cast_rays(
    scene: Scene,
    q: ArrayLike,
    origins: ArrayLike,
    directions: ArrayLike,
    *,
    ignore: Iterable[str] = (),
) -> RayHits:
    """First surfaces that rays meet.

    A ray that begins within a solid meets its surface from inside.

    Parameters
    ----------
    scene : Scene
        With geoms of any shape.
    q : (nq,) array_like
        Coordinates, rad and m.
    origins : (3,) or (n, 3) array_like
        Where rays begin, in the world, m.
    directions : (3,) or (n, 3) array_like
        Where they go, world axes, of any length but zero. One origin or direction serves all.
    ignore : iterable of str
        Names of geoms that rays go through. Default none.

    Returns
    -------
    RayHits
        Distances (m, whatever the directions' lengths), geoms and normals.

    Raises
    ------
    ArgumentError
        For a wrong shape, NaN or infinity, a direction of no length, or an unknown geom.

    References
    ----------
    Moeller and Trumbore 1997, *Fast, minimum storage ray/triangle intersection*.

    Examples
    --------
    >>> import spatialops as so
    >>> model = so.models.pendulum(1).model
    >>> scene = so.Scene(model, [so.Geom("floor", "world", so.HalfSpace())])
    >>> down = so.cast_rays(scene, [0.0], [(0.0, 0.0, 2.0), (1.0, 0.0, 3.0)], (0.0, 0.0, -1.0))
    >>> down.distances, down.geoms
    (array([2., 3.]), array([0, 0]))
    """
    if not isinstance(scene, Scene):
        raise ArgumentError(f"scene: expected a Scene, got {type(scene).__name__}")
    rays = _rays(origins, directions)
    skipped = _numbers(scene, ignore)
    places = placed_geoms(scene, q)
    hits = np.empty((len(rays), HIT_COLUMNS))
    met = np.empty(len(rays), dtype=np.int64)
    stack = np.empty(STACK, dtype=np.int64)
    cast_kernel(scene.tables, places, skipped, rays, stack, hits, met)
    return RayHits(np.where(met < 0, np.inf, hits[:, 0]), met, hits[:, 1:].copy())


def placed_geoms(scene: Scene, q: ArrayLike) -> Array:
    """Where the geoms are at coordinates (nq,), in the columns of `collision._layout`."""
    model = scene.model
    q = vector(q, model.nq, "q")
    work = np.empty((model.nv, layout.WORK_COLUMNS))
    if poses_kernel(model.tree, model.links, q, work) != layout.OK:
        raise not_finite(q=q)
    places = np.zeros((len(scene.geoms) + 1, col.PLACE_COLUMNS))
    places[:, col.TURN : col.TURN + 9] = _NO_TURN
    place_geoms(scene.geom_ints, scene.geom_floats, work, places)
    return places


def _rays(origins: ArrayLike, directions: ArrayLike) -> Array:
    """Origins and unit directions, (n, 6)."""
    o, d = (
        array(np.atleast_2d(given) if flat else given, (None, 3), name, finite=True)
        for given, name in ((origins, "origins"), (directions, "directions"))
        for flat in (dimensions(given, name) < 2,)
    )
    if len(o) != len(d) and 1 not in (len(o), len(d)):
        raise ArgumentError(f"directions: expected one or {len(o)} of them, got {len(d)}")
    lengths = np.linalg.norm(d, axis=1)
    if not (lengths > 0.0).all():
        raise ArgumentError(f"directions: number {int(lengths.argmin())} has no length")
    n = max(len(o), len(d))
    d = d / lengths[:, None]
    return np.hstack([np.broadcast_to(o, (n, 3)), np.broadcast_to(d, (n, 3))])


def _numbers(scene: Scene, names: Iterable[str]) -> IntArray:
    """1 for the named geoms."""
    number = {geom.name: i for i, geom in enumerate(scene.geoms)}
    flags = np.zeros(len(scene.geoms), dtype=np.int64)
    for name in several(names, "ignore", "names of geoms"):
        if not is_one_of(name, number):
            raise ArgumentError(f"ignore: there is no geom {name!r}; there are {list(number)[:8]}")
        flags[number[name]] = 1
    return flags
