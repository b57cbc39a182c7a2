"""Piles of other shapes: thin ones stacked loosely, and round ones dropped into a pen."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial.transform import Rotation

from spatialops._arrays import Array
from spatialops.bench.contacts.piles import bodies_scene
from spatialops.bench.contacts.setting import Setting
from spatialops.collision.shapes import (
    Box,
    Capsule,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    Shape,
    Sphere,
)

_CORNERS = 16  # of a hull
_RADIUS = 0.07  # m, of a hull
_LEAN = 2.0  # degrees at most, of thin shapes that lie over one another


def hull(rng: np.random.Generator) -> ConvexHull:
    """Corners about an ellipsoid."""
    corners = rng.normal(size=(_CORNERS, 3))
    corners /= np.linalg.norm(corners, axis=1)[:, None]
    return ConvexHull(_RADIUS * corners * rng.uniform(0.8, 1.2, 3))


def mixed(rng: np.random.Generator, n: int) -> list[Shape]:
    """Six kinds of shapes in turns."""
    some: tuple[Callable[[], Shape], ...] = (
        lambda: Sphere(0.06),
        lambda: Box((0.1, 0.12, 0.08)),
        lambda: Capsule(0.04, 0.1),
        lambda: Cylinder(0.05, 0.1),
        lambda: Ellipsoid((0.05, 0.06, 0.07)),
        lambda: hull(rng),
    )
    return [some[i % len(some)]() for i in range(n)]


def strewn(shape: Shape, n: int, pitch: float) -> Setting:
    """Thin shapes over one another, turned about the vertical, with room between them."""
    rng = np.random.default_rng(n)
    heights = 0.05 + pitch * np.arange(n)
    places = np.column_stack([rng.uniform(-0.05, 0.05, (n, 2)), heights])
    turns = Rotation.from_euler("z", rng.uniform(0.0, 360.0, (n, 1)), degrees=True)
    leans = Rotation.from_euler("xy", rng.uniform(-_LEAN, _LEAN, (n, 2)), degrees=True)
    return Setting(bodies_scene([shape] * n, places, (turns * leans).as_quat(), walls=0.6))


def penned(kind: str, n: int) -> Setting:
    """Cylinders, hulls or mixed shapes of any attitude, in layers above the floor of a pen."""
    rng = np.random.default_rng(n)
    kinds: dict[str, Callable[[], list[Shape]]] = {
        "cylinders": lambda: [Cylinder(0.05, 0.1)] * n,
        "hulls": lambda: [hull(rng) for _ in range(n)],
        "mixed": lambda: mixed(rng, n),
    }
    shapes = kinds[kind]()
    turns: Array = Rotation.random(n, random_state=rng).as_quat()
    k = np.arange(n)
    grid = np.column_stack([k % 3 - 1, k // 3 % 3 - 1, k // 9 + 1]).astype(float)
    places = 0.16 * grid + rng.uniform(-0.01, 0.01, (n, 3))
    return Setting(bodies_scene(shapes, places, turns, walls=0.35))
